/* Keeps the result of reading an object's machine code in a folder, by build-id. */
#ifndef EXPLORE_CODE_CACHE_H
#define EXPLORE_CODE_CACHE_H

#include <gelf.h>
#include <stdbool.h>

#include "explore/graph/code.h"

/* Names the cache file of an object by its build-id. free() it; NULL without a folder or a
 * build-id. */
char *code_cache_name(Elf *elf, const char *folder);
bool code_cache_read(struct code *c, const char *name);
void code_cache_write(struct code *c, const char *name); /* does nothing if it fails */

#endif
