/* Reads the compilation database with libclang, and finds the command of a file by its path.
 * Options that would write files, or that need a library at run time, are left out of the
 * command. */
#include "source/clang/database.h"

#include <clang-c/CXCompilationDatabase.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/clang/cxstring.h"

static CXCompilationDatabase database_load(const char *build_dir, struct error *err)
{
	CXCompilationDatabase_Error why = CXCompilationDatabase_CanNotLoadDatabase;
	char *path = xasprintf("%s/compile_commands.json", build_dir);
	/* checked before, because libclang would print an error of its own */
	CXCompilationDatabase db =
		access(path, R_OK) == 0 ? clang_CompilationDatabase_fromDirectory(build_dir, &why)
					: NULL;

	free(path);
	if (why != CXCompilationDatabase_NoError) {
		error_set(
			err,
			"there is no compile_commands.json in %s; make one with 'bear -- make' (Debian's bear) or "
			"CMake's -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; docs/tutorial.md shows how to write it by hand",
			build_dir);
		return NULL;
	}
	return db;
}

/* Gives realpath(directory/name); free() it. */
static char *command_path(CXString directory, CXString name)
{
	const char *d = clang_getCString(directory), *f = clang_getCString(name);
	char *path = f[0] == '/' ? xstrdup(f) : xasprintf("%s/%s", d, f),
	     *real = realpath(path, NULL);

	clang_disposeString(directory);
	clang_disposeString(name);
	if (!real)
		return path;
	free(path);
	return real;
}

/* Lists the folders that the command names by -I and -iquote, each followed by a newline; free()
 * the text. */
static char *include_folders(CXCompileCommand c)
{
	static const char *const options[] = { "-I", "-iquote" };
	unsigned n = clang_CompileCommand_getNumArgs(c);
	char *all = xstrdup("");
	struct arena a = { 0 };

	for (unsigned i = 1; i < n; i++) {
		const char *arg = cxstring_take(&a, clang_CompileCommand_getArg(c, i)),
			   *folder = NULL;

		for (size_t k = 0; arg && !folder && k < sizeof options / sizeof *options; k++)
			if (strncmp(arg, options[k], strlen(options[k])) == 0)
				folder = arg[strlen(options[k])] ? arg + strlen(options[k])
					 : i + 1 < n
						 ? cxstring_take(&a, clang_CompileCommand_getArg(
									     c, i + 1))
						 : NULL;
		if (folder) {
			char *longer =
				folder[0] == '/'
					? xasprintf("%s%s\n", all, folder)
					: xasprintf(
						  "%s%s/%s\n", all,
						  cxstring_take(
							  &a, clang_CompileCommand_getDirectory(c)),
						  folder);

			free(all);
			all = longer;
		}
	}
	arena_release(&a);
	return all;
}

/* ---- commands, by path ---- */

struct source_commands {
	char *build_dir;
	CXCompilationDatabase db;
	CXCompileCommands all;
	struct by_path {
		char *path;
		unsigned number;
	} * paths; /* sorted */
	unsigned n;
};

/* Orders commands by file. Several commands of one file stay in the database's order. */
static int compare(const void *a, const void *b)
{
	const struct by_path *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

struct source_commands *commands_new(const char *build_dir, struct error *err)
{
	CXCompilationDatabase db = database_load(build_dir, err);
	struct source_commands *s;

	if (!db)
		return NULL;
	s = xcalloc(1, sizeof *s);
	s->build_dir = xstrdup(build_dir);
	s->db = db;
	s->all = clang_CompilationDatabase_getAllCompileCommands(db);
	s->n = clang_CompileCommands_getSize(s->all);
	s->paths = xcalloc(s->n + 1, sizeof *s->paths);
	for (unsigned i = 0; i < s->n; i++) {
		CXCompileCommand c = clang_CompileCommands_getCommand(s->all, i);

		s->paths[i] = (struct by_path){ command_path(clang_CompileCommand_getDirectory(c),
							     clang_CompileCommand_getFilename(c)),
						i };
	}
	qsort(s->paths, s->n, sizeof *s->paths, compare);
	return s;
}

void commands_free(struct source_commands *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->n; i++)
		free(s->paths[i].path);
	free(s->paths);
	clang_CompileCommands_dispose(s->all);
	clang_CompilationDatabase_dispose(s->db);
	free(s->build_dir);
	free(s);
}

/* ---- the whole database ---- */

int database_open(const char *build_dir, struct source_database *out, struct error *err)
{
	struct source_commands *s = commands_new(build_dir, err);

	if (!s)
		return -1;
	*out = (struct source_database){ .n = s->n, .commands = s };
	out->files = xcalloc(out->n + 1, sizeof *out->files);
	out->directories = xcalloc(out->n + 1, sizeof *out->directories);
	out->includes = xcalloc(out->n + 1, sizeof *out->includes);
	for (unsigned i = 0; i < s->n; i++) {
		CXCompileCommand c = clang_CompileCommands_getCommand(s->all, i);
		CXString directory = clang_CompileCommand_getDirectory(c);

		out->directories[i] = xstrdup(clang_getCString(directory));
		clang_disposeString(directory);
		out->includes[i] = include_folders(c);
		out->files[s->paths[i].number] = s->paths[i].path;
	}
	return 0;
}

void database_close(struct source_database *db)
{
	for (size_t i = 0; i < db->n; i++) {
		free((char *)db->directories[i]);
		free((char *)db->includes[i]);
	}
	free(db->files);
	free(db->directories);
	free(db->includes);
	/* this frees the files' names, too */
	commands_free((struct source_commands *)db->commands);
}

/* ---- one command ---- */

/* Asks whether the option makes the compiler write another file. *takes_next: the next argument
 * belongs to the option. */
static bool is_output_option(const char *arg, bool *takes_next)
{
	static const char *const with_next[] = { "-MF", "-MT", "-MQ", "-MJ" };
	static const char *const alone[] = { "-M",          "-MM",           "-MD",
					     "-MMD",        "-MP",           "-MG",
					     "-save-temps", "-gsplit-dwarf", "--coverage" };

	*takes_next = false;
	for (size_t i = 0; i < sizeof with_next / sizeof with_next[0]; i++)
		if (strncmp(arg, with_next[i], 3) == 0) {
			*takes_next = arg[3] == 0;
			return true;
		}
	for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
		if (strcmp(arg, alone[i]) == 0)
			return true;
	return strncmp(arg, "-Wp,-M", 6) == 0 || strncmp(arg, "-fprofile", 9) == 0 ||
	       strncmp(arg, "-save-temps=", 12) == 0 || strncmp(arg, "-fsanitize", 10) == 0;
}

/* Asks whether the argument is the file that is compiled: it has that name, or is the last argument
 * and a file. */
static bool is_input(CXCompileCommand c, unsigned i, const char *arg, const char *file)
{
	char *path = arg[0] != '-' ? command_path(clang_CompileCommand_getDirectory(c),
						  clang_CompileCommand_getArg(c, i))
				   : NULL;
	bool is_it =
		path && (strcmp(path, file) == 0 || i + 1 == clang_CompileCommand_getNumArgs(c));

	free(path);
	return is_it;
}

static void command_copy(CXCompileCommand c, const char *file, struct arena *a,
			 struct database_command *out)
{
	unsigned n = clang_CompileCommand_getNumArgs(c);

	*out = (struct database_command){ .directory = cxstring_take(
						  a, clang_CompileCommand_getDirectory(c)),
					  .argv = arena_alloc(a, (n + 4) * sizeof *out->argv) };
	for (unsigned i = 1; i < n; i++) {
		const char *arg = cxstring_take(a, clang_CompileCommand_getArg(c, i));
		bool takes_next = false;

		if (!arg)
			continue;
		if (strcmp(arg, "-o") == 0)
			i++;
		else if (is_output_option(arg, &takes_next))
			i += takes_next;
		else if (strcmp(arg, "-c") != 0 && strcmp(arg, "--") != 0 &&
			 !is_input(c, i, arg, file))
			out->argv[out->argc++] = (char *)arg;
	}
}

/* Finds the first command of the file; NULL if there is none. */
static const struct by_path *path_find(const struct source_commands *s, const char *file)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(s->paths[middle].path, file) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->n && strcmp(s->paths[low].path, file) == 0 ? &s->paths[low] : NULL;
}

int commands_find(const struct source_commands *s, const char *file, struct arena *a,
		  struct database_command *out, struct error *err)
{
	const struct by_path *found = path_find(s, file);

	if (!found)
		return error_set(err, "%s is not in the compile_commands.json of %s", file,
				 s->build_dir);
	command_copy(clang_CompileCommands_getCommand(s->all, found->number), file, a, out);
	return 0;
}
