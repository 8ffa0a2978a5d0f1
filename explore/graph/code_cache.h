/* What the machine code of an object comes to, kept in a folder by build-id. */
#ifndef EXPLORE_CODE_CACHE_H
#define EXPLORE_CODE_CACHE_H

#include <gelf.h>
#include <stdbool.h>

#include "explore/graph/code.h"

char *code_cache_name(Elf *elf, const char *folder); /* malloc'd; NULL: no folder or no build-id */
bool code_cache_read(struct code *c, const char *name);
void code_cache_write(struct code *c, const char *name); /* if it fails, nothing is cached */

#endif
