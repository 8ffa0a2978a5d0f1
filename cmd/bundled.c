/* Runs a command on a bundle in place of a trace: afterwards, the trace, the programs and the
 * current folder are as they were when the bundle was packed. The user's options override those of
 * the bundle. */
#include "cmd/bundled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "pmend_run.h"
#include "util/files.h"
#include "util/sysroot.h"

static void unpack(struct bundled *b, const char *file)
{
	struct error err;

	if (bundle_open(&b->bundle, file, &err) < 0)
		die("%s", err.msg);
	if (strcmp(b->bundle.arch, PMEND_ARCH) != 0)
		die("%s was packed on %s, and its programs do not run on %s", file, b->bundle.arch,
		    PMEND_ARCH);
	if (tempdir_open(&b->folder, &err) < 0 ||
	    bundle_unpack(&b->bundle, b->folder.path, &err) < 0 ||
	    bundle_adapt(&b->bundle, b->folder.path, &err) < 0)
		die("%s", err.msg);
}

static bool is_path(const struct option *o)
{
	return o->type == OPTION_STRING && option_is_path(o);
}

static void make_absolute(const struct option *o)
{
	const char **value = o->value;
	struct error err;
	char *path = path_absolute(*value, &err); /* never freed */

	if (!path)
		die("%s", err.msg);
	*value = path;
}

static void parse(struct bundled *b, const struct command *c, const struct option *table,
		  const struct option *packed)
{
	const size_t n = b->bundle.options.n;
	bool *is_given;
	size_t nrows = 0;
	int left;

	while (table[nrows].name)
		nrows++;
	is_given = xcalloc(nrows + 1, sizeof *is_given);
	for (size_t i = 0; i < nrows; i++) {
		is_given[i] = is_path(&table[i]) && *(const char **)table[i].value;
		if (table[i].type == OPTION_LIST) {
			word_list_release(table[i].value);
			*(struct word_list *)table[i].value = (struct word_list){ 0 };
		}
	}
	b->words = xcalloc(n + 2, sizeof *b->words);
	b->words[0] = b->argv[0];
	for (size_t i = 0; i < n; i++)
		b->words[i + 1] = b->bundle.options.at[i];
	left = options_parse(c, packed, OPTIONS_FIRST, (int)n + 1, b->words);
	if (left != 0)
		die("%s: its options are invalid: '%s'; pack it again", b->file, b->words[0]);
	options_parse(c, table, OPTIONS_FIRST, b->argc, b->argv);
	for (size_t i = 0; i < nrows; i++)
		if (is_given[i])
			make_absolute(&table[i]);
	free(is_given);
}

/* Sets PATH and the like, so that programs are searched first where they were when the bundle was
 * packed, then where they are here. */
static void environment_set(const struct bundle *b)
{
	for (size_t i = 0; i < b->environment.n; i++) {
		const char *equals = strchr(b->environment.at[i], '='), *here = getenv("PATH");
		char *name = strndup(b->environment.at[i], (size_t)(equals - b->environment.at[i]));
		char *value = name && strcmp(name, "PATH") == 0 && here
				      ? xasprintf("%s:%s", equals + 1, here)
				      : xstrdup(equals + 1);

		if (name)
			setenv(name, value, 1);
		free(name);
		free(value);
	}
}

/* Enters the folder in which everything is as it was. Returns the trace's path. */
static char *enter(struct bundled *b)
{
	char *cwd, *root;

	root = xasprintf("%s/root", b->folder.path);
	cwd = xasprintf("%s/%s", root, b->bundle.cwd);
	b->trace = xasprintf("%s/%s", root, b->bundle.trace);
	environment_set(&b->bundle);
	setenv(RUN_ENV_ROOT, root, 1);
	setenv(SYSROOT_ENV_IDENTITY, b->bundle.identity, 1);
	if (chdir(cwd) < 0)
		die("cannot go to %s: %s", cwd, strerror(errno));
	free(root);
	free(cwd);
	return b->trace;
}

char *bundled_begin(struct bundled *b, const struct command *c, const struct option *table,
		    const struct option *packed, const char *file)
{
	b->file = file;
	b->home = getcwd(NULL, 0);
	unpack(b, file);
	parse(b, c, table, packed);
	return enter(b);
}

char *bundled_enter(struct bundled *b, const struct option *table, const char *file)
{
	b->file = file;
	b->home = getcwd(NULL, 0);
	unpack(b, file);
	for (; table->name; table++)
		if (is_path(table) && *(const char **)table->value)
			make_absolute(table);
	return enter(b);
}

void bundled_end(struct bundled *b)
{
	words_free(b->argv);
	if (!b->file)
		return;
	if (chdir("/") == 0) /* because the folder is removed */
		unsetenv(RUN_ENV_ROOT);
	unsetenv(SYSROOT_ENV_IDENTITY);
	tempdir_close(&b->folder);
	bundle_release(&b->bundle);
	free(b->words);
	free(b->home);
	free(b->trace);
}
