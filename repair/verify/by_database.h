/* How to build a program according to compile_commands.json. */
#ifndef REPAIR_VERIFY_BY_DATABASE_H
#define REPAIR_VERIFY_BY_DATABASE_H

#include "util/error.h"

/* A shell script with the paths of the original tree; free() it. NULL with what is missing.
 * program: the recorded command. */
char *database_script(const char *build_dir, const char *root, const char *program,
		      struct error *err);

#endif
