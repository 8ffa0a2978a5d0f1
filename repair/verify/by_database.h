/* Makes a shell script that builds a program according to compile_commands.json. */
#ifndef REPAIR_VERIFY_BY_DATABASE_H
#define REPAIR_VERIFY_BY_DATABASE_H

#include "util/error.h"

/* Returns a shell script that builds the program, with the paths of the original tree; free() it.
 * NULL with err, which says what is missing. program: the recorded command. */
char *database_script(const char *build_dir, const char *root, const char *program,
		      struct error *err);

#endif
