/* Makes a shell script from compile_commands.json that builds the recorded program: the commands of
 * all its sources and, if none of them links, a link of their objects with the shared libraries
 * that the program needs. Static libraries, linker scripts and generated sources are not known; if
 * they matter, the original tree does not build. */
#include "repair/verify/by_database.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash/run/runner.h"
#include "repair/edit/paths.h"
#include "repair/verify/linked.h"
#include "repair/verify/shell.h"
#include "util/alloc.h"
#include "util/proc.h"
#include "util/files.h"

struct building {
	const char *root;
	char *program; /* absolute path */
	struct linked linked;
	FILE *script;
	VEC(char *) objects; /* absolute paths */
	char *linker;        /* the compiler that links; a C++ compiler has precedence */
	size_t ncommands;
	bool is_linked;
};

/* Returns the words of an entry: "arguments", or "command" as a shell splits it. NULL: it has
 * neither. */
static struct runner_command *words_of(const json_t *entry)
{
	const json_t *list = json_object_get(entry, "arguments");
	const char *line = json_string_value(json_object_get(entry, "command"));
	struct runner_command *c;
	struct error err;
	char **argv;

	if (!json_is_array(list))
		return line ? runner_command_new(line, &err) : NULL;
	argv = xcalloc(json_array_size(list) + 1, sizeof *argv);
	for (size_t i = 0; i < json_array_size(list); i++)
		argv[i] = (char *)json_string_value(json_array_get(list, i));
	c = argv[0] ? runner_command_of(argv) : NULL;
	free(argv);
	return c;
}

static bool compiles_only(char *const *argv)
{
	for (; *argv; argv++)
		if (strcmp(*argv, "-c") == 0)
			return true;
	return false;
}

/* Returns the file that the command writes; free() it. */
static char *output_of(char *const *argv, const char *folder, const char *file)
{
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file,
		   *dot = strrchr(base, '.');
	char *name, *path;

	for (; *argv; argv++) {
		if (strcmp(*argv, "-o") == 0 && argv[1])
			return path_real(folder, argv[1]);
		if (strncmp(*argv, "-o", 2) == 0 && (*argv)[2])
			return path_real(folder, *argv + 2);
	}
	name = xasprintf("%.*s.o", (int)(dot ? dot - base : (ptrdiff_t)strlen(base)), base);
	path = path_real(folder, name);
	free(name);
	return path;
}

static void write_words(struct building *b, const char *folder, char *const *argv)
{
	shell_put_word(b->script, "cd");
	shell_put_word(b->script, folder);
	fputs(" &&", b->script);
	for (; *argv; argv++)
		shell_put_word(b->script, *argv);
	fputs(" &&\n", b->script);
}

static void choose_linker(struct building *b, const char *compiler)
{
	bool is_cplusplus = strstr(compiler, "++") != NULL;

	if (b->linker && !(is_cplusplus && !strstr(b->linker, "++")))
		return;
	free(b->linker);
	b->linker = xstrdup(compiler);
}

static int add_entry(struct building *b, const json_t *entry, struct error *err)
{
	const char *given = json_string_value(json_object_get(entry, "directory")),
		   *name = json_string_value(json_object_get(entry, "file"));
	char *folder = given ? path_real("/", given) : NULL;
	struct runner_command *c = folder && name ? words_of(entry) : NULL;
	char *file = folder && name ? path_real(folder, name) : NULL,
	     *output = c ? output_of(c->argv, folder, name) : NULL;
	int result = 0;

	if (!output || !linked_has(&b->linked, file))
		goto out;
	if (!path_is_below(folder, b->root) && strcmp(folder, b->root) != 0) {
		result = error_set(
			err,
			"%s is compiled in %s, which is not below %s and so is not copied; name a folder that contains both with --root",
			file, folder, b->root);
		goto out;
	}
	write_words(b, folder, c->argv);
	b->ncommands++;
	choose_linker(b, c->argv[0]);
	if (!compiles_only(c->argv)) {
		b->is_linked |= strcmp(output, b->program) == 0;
	} else {
		*vec_add(&b->objects) = output;
		output = NULL;
	}
out:
	runner_command_free(c);
	free(folder);
	free(file);
	free(output);
	return result;
}

/* Writes the link command. It names libraries that the compiler adds anyway, which is harmless. */
static void write_link(struct building *b)
{
	VEC(char *) words = { 0 };
	size_t nown;

	*vec_add(&words) = xstrdup(b->linker);
	*vec_add(&words) = xstrdup("-o");
	*vec_add(&words) = xstrdup(b->program);
	for (size_t i = 0; i < b->objects.n; i++)
		*vec_add(&words) = xstrdup(b->objects.at[i]);
	if (b->linked.runpath) {
		*vec_add(&words) = xasprintf("-Wl,-rpath,%s", b->linked.runpath);
		*vec_add(&words) = xasprintf("-L%s", b->linked.runpath);
	}
	for (size_t i = 0; i < b->linked.libraries.n; i++)
		*vec_add(&words) = xasprintf("-l:%s", b->linked.libraries.at[i]);
	nown = words.n;
	*vec_add(&words) = NULL;
	write_words(b, b->root, words.at);
	for (size_t i = 0; i < nown; i++)
		free(words.at[i]);
	vec_release(&words);
}

static int read_database(struct building *b, const char *build_dir, struct error *err)
{
	char *path = xasprintf("%s/compile_commands.json", build_dir);
	json_error_t why;
	json_t *all = json_load_file(path, 0, &why);
	int result = all ? 0 : error_set(err, "%s: %s", path, why.text);

	for (size_t i = 0; result == 0 && i < json_array_size(all); i++)
		result = add_entry(b, json_array_get(all, i), err);
	if (result == 0 && b->ncommands == 0)
		result = error_set(
			err,
			"no command of %s compiles a source of %s; say how to build with --verify COMMAND",
			path, b->program);
	json_decref(all);
	free(path);
	return result;
}

static int find_program(struct building *b, const char *name, struct error *err)
{
	char *path = name ? proc_find(name) : NULL;

	b->program = path ? realpath(path, NULL) : NULL;
	free(path);
	if (!b->program)
		return error_set(
			err,
			"the program %s does not exist, so its sources are not known; say how to build it with --verify COMMAND",
			name ? name : "");
	if (!path_is_below(b->program, b->root))
		return error_set(
			err,
			"the program %s is not below %s and so is not copied; name a folder that contains both with --root",
			b->program, b->root);
	return linked_open(&b->linked, b->program, err) < 0
		       ? error_set(
				 err,
				 "%s is not a program with debug information, so its sources are not known; say how to build it with --verify COMMAND",
				 b->program)
		       : 0;
}

char *database_script(const char *build_dir, const char *root, const char *program,
		      struct error *err)
{
	struct building b = { .root = root };
	char *text = NULL;
	size_t len;
	int result;

	b.script = open_memstream(&text, &len);
	result = find_program(&b, program, err);
	if (result == 0)
		result = read_database(&b, build_dir, err);
	if (result == 0 && !b.is_linked)
		write_link(&b);
	fputs(":\n", b.script);
	fclose(b.script);
	for (size_t i = 0; i < b.objects.n; i++)
		free(b.objects.at[i]);
	vec_release(&b.objects);
	linked_close(&b.linked);
	free(b.program);
	free(b.linker);
	if (result == 0)
		return text;
	free(text);
	return NULL;
}
