/* How to build a program, by compile_commands.json. */
#ifndef REPAIR_VERIFY_BY_DATABASE_H
#define REPAIR_VERIFY_BY_DATABASE_H

#include "util/error.h"

/* A script for the shell, with the paths of the tree as it is; free() it. NULL with what is
 * missing. program: as it was run. */
char *database_script(const char *build_dir, const char *root, const char *program,
		      struct error *err);

#endif
