/* Reads the compilation database: the file compile_commands.json in a build folder. */
#ifndef SOURCE_CLANG_DATABASE_H
#define SOURCE_CLANG_DATABASE_H

#include "source/source.h"
#include "util/alloc.h"

int database_open(const char *build_dir, struct source_database *out, struct error *err);
void database_close(struct source_database *db);

/* How one file is compiled. Lives in the arena. */
struct database_command {
	const char *directory; /* NULL if the database does not say */
	/* without the compiler, the output and the file itself; has room for four more */
	char **argv;
	int argc;
};

struct source_commands *commands_new(const char *build_dir, struct error *err);
void commands_free(struct source_commands *s);
int commands_find(const struct source_commands *s, const char *file, struct arena *a,
		  struct database_command *out, struct error *err);

#endif
