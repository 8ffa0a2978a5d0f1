/* Copies a tree, builds it, runs the program under the recorder and checks the recording. The
 * program runs in the copy's root, or where its command says; paths below the original root are
 * replaced by those of the copy. */
#include "repair/verify/trial.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repair/edit/paths.h"
#include "repair/verify/shell.h"
#include "record/machine.h"
#include "util/alloc.h"
#include "util/shell_word.h"

enum {
	STATUS_FOUND = 1,  /* exit status of pmend if there are bugs; a larger one means failure */
	QUOTED_LINES = 20, /* lines of a build's output to show */
};

void trial_init(struct trial *t, const struct verifying *v, const char *name, const char *scratch,
		const char *script)
{
	*t = (struct trial){ .v = v, .name = name, .script = script, .scratch = xstrdup(scratch) };
	t->tree = xasprintf("%s/%s", scratch, name);
	t->trace = xasprintf("%s/%s.pmt", scratch, name);
	t->output = xasprintf("%s/%s.out", scratch, name);
	t->log = xasprintf("%s/%s.log", scratch, name);
}

void trial_release(struct trial *t)
{
	report_free(t->checked);
	report_free(t->crashed);
	free(t->tree);
	free(t->trace);
	free(t->output);
	free(t->log);
	free(t->scratch);
}

/* ---- building ---- */

int trial_copy(struct trial *t, struct error *err)
{
	int status = shell_run(err, "cp -a \"$1/.\" \"$2\"", t->v->root, t->tree, NULL);

	if (status > 0)
		error_set(err, "cannot copy %s to %s; set TMPDIR to a folder with more free space",
			  t->v->root, t->scratch);
	return status == 0 ? 0 : -1;
}

int trial_change(const struct trial *t, struct error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < repair_nfiles(t->v->repair); i++) {
		struct repair_file file = repair_file(t->v->repair, i);
		char *path = xasprintf("%s/%s", t->tree, path_from(file.path, t->v->root));
		FILE *out = fopen(path, "we");

		if (!out || fputs(file.after, out) < 0 || fclose(out))
			result = error_set(err, "cannot write %s: %s", path, strerror(errno));
		free(path);
	}
	return result;
}

/* Returns the folder in the copy that corresponds to the current folder, if that is below the root;
 * otherwise the copy's root. */
static char *build_folder(const struct trial *t, struct error *err)
{
	const char *root = t->v->root;
	char here[PATH_MAX];

	if (!getcwd(here, sizeof here)) {
		error_set(err, "cannot find the current folder: %s", strerror(errno));
		return NULL;
	}
	return strcmp(here, root) == 0 || strncmp(here, root, strlen(root)) != 0
		       ? xstrdup(t->tree)
		       : xasprintf("%s%s", t->tree, here + strlen(root));
}

/* Asks whether the build failed because a file is missing. Then perhaps the copied root does not
 * contain all that is needed. The messages are those of the C locale. */
static bool misses_file(const char *said)
{
	static const char *const words[] = { ": No such file or directory", "file not found",
					     "No rule to make target" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(said, words[i]))
			return true;
	return false;
}

/* Shows the last lines of the build's output. *is_missing: a file was missing. */
static void quote_log(const struct trial *t, bool *is_missing)
{
	FILE *f = fopen(t->log, "re");
	unsigned nlines = 0;
	size_t len, from;
	char *text;

	*is_missing = false;
	if (!f)
		return;
	fseek(f, 0, SEEK_END);
	len = ftell(f) > 0 ? (size_t)ftell(f) : 0;
	rewind(f);
	text = xcalloc(1, len + 1);
	len = fread(text, 1, len, f);
	fclose(f);
	for (from = len; from > 0; from--)
		if (text[from - 1] == '\n' && from < len && ++nlines == QUOTED_LINES)
			break;
	notes_quote(t->v->notes, text + from, len - from);
	*is_missing = misses_file(text);
	free(text);
}

int trial_build(const struct trial *t, struct error *err)
{
	char *folder = build_folder(t, err),
	     *script = t->script ? shell_replaced(t->script, t->v->root, t->tree)
				 : xstrdup(t->v->build);
	bool is_kept = t->v->keeps_scratch, is_missing;
	int status;

	watch_tell(t->v->watch, "building a copy of the tree", 0, 0);
	status = folder ? shell_run(err, "cd \"$1\" && eval \"$2\" >\"$3\" 2>&1", folder, script,
				    t->log, NULL)
			: -1;

	free(folder);
	free(script);
	if (status <= 0)
		return status;
	quote_log(t, &is_missing);
	return error_set(
		err, "the %s tree does not build with %s%s%s; %s%s%s%s%s", t->name,
		t->script ? "" : "'",
		t->script ? "the commands of compile_commands.json; say how with --verify COMMAND"
			  : t->v->build,
		t->script ? "" : "'",
		is_missing ? "a file was not found, and only what is below " : "",
		is_missing ? t->v->root : "",
		is_missing
			? " was copied: name a folder that contains everything that the build needs with --root; "
			: "",
		is_kept ? "its whole output is in "
			: "the last lines of its output are above; --keep-scratch keeps all of it",
		is_kept ? t->log : "");
}

/* ---- running ---- */

bool trial_is_execution(const struct trial *t, const char *trace)
{
	struct execution other;
	struct error err;

	return trace && execution_read(&other, trace, &err) == 0 &&
	       other.signature == t->execution.signature;
}

static const char *word_of(const struct word_list *words, const struct report *r, size_t i)
{
	return r ? report_recipe(r, i) : words->item[i];
}

/* Returns the options for recording a server, quoted for the shell: the user's, in which {} is the
 * new folder, or those of the report. pmend splits their values into words, so paths in them are
 * quoted if needed. */
static char *recipe_for(const struct trial *t, const char *fresh, const char *pool)
{
	const struct report *r = t->v->recipe->client ? NULL : t->v->report;
	char *quoted_fresh = shell_word(fresh), *quoted_pool = shell_word(pool), *text = NULL,
	     *filled, *own;
	struct word_list words = { 0 };
	size_t room = 0;
	FILE *f = open_memstream(&text, &room);

	recipe_words(t->v->recipe, &words);
	for (size_t i = 0; i < (r ? report_nrecipe(r) : words.n); i++) {
		own = shell_replaced(word_of(&words, r, i), "{pool}", quoted_pool);
		filled = r ? xstrdup(own) : shell_replaced(own, "{}", quoted_fresh);
		shell_put_word(f, filled);
		free(filled);
		free(own);
	}
	fclose(f);
	word_list_release(&words);
	free(quoted_fresh);
	free(quoted_pool);
	return text;
}

/* Returns the options that follow the same files again, quoted for the shell. A command of the user
 * with {dir} says itself which folder is followed. */
static char *files_options_for(const struct trial *t)
{
	const struct report *r = t->v->report;
	const bool has_folder = t->v->run && strstr(t->v->run, "{dir}");
	char *text = NULL;
	size_t room = 0;
	FILE *f = open_memstream(&text, &room);

	for (size_t i = 0; i + 1 < report_nfiles_options(r); i += 2) {
		if (has_folder && strcmp(report_files_option(r, i), "--files") == 0)
			continue;
		shell_put_word(f, report_files_option(r, i));
		shell_put_word(f, report_files_option(r, i + 1));
	}
	fclose(f);
	return text;
}

static char *command_for(const struct trial *t, const char *fresh)
{
	const struct report *r = t->v->report;
	char *pool = xasprintf("%s/pool", fresh),
	     *program = t->v->run ? xstrdup(t->v->run)
				  : shell_quoted(r, report_ncommand(r), report_argument),
	     *own = shell_replaced(program, "{pool}", pool),
	     *filled = shell_replaced(own, "{}", fresh), *recipe = recipe_for(t, fresh, pool),
	     *files = files_options_for(t), *line = xasprintf("%s%s -- %s", recipe, files, filled),
	     *moved = shell_replaced(line, t->v->root, t->tree);

	free(pool);
	free(program);
	free(own);
	free(filled);
	free(recipe);
	free(files);
	free(line);
	return moved;
}

/* Finds the platform of the report, since what is right on one platform may be wrong on another;
 * NULL: the report names none. */
static const struct platform *platform_of(const struct trial *t)
{
	const char *name = report_platform(t->v->report);

	return name ? platform_find(name) : NULL;
}

static int record(struct trial *t, const char *pmend, const char *line, const char *fresh,
		  struct error *err)
{
	const struct platform *p =
		platform_of(t) ? machine_recording(platform_of(t)) : machine_platform();

	watch_tell(t->v->watch, "recording the copy", 0, 0);
	if (shell_run(err, "rm -rf \"$1\" && mkdir \"$1\"", fresh, NULL) < 0)
		return -1;
	t->status = shell_run(
		err,
		"cd \"$1\" && platform=$6 && eval \"set -- \\\"\\$2\\\" \\\"\\$3\\\" \\\"\\$4\\\" $5\" && pmend=$1 trace=$2 output=$3 && shift 3 && "
		"exec \"$pmend\" record -q --platform \"$platform\" --instructions -o \"$trace\" \"$@\" >\"$output\"",
		t->tree, pmend, t->trace, t->output, line, p->name, NULL);
	if (t->status < 0)
		return -1;
	if (access(t->trace, R_OK) != 0)
		return error_set(
			err,
			"'%s' could not be recorded in a copy of the tree; say what to run with --run",
			line);
	return 0;
}

/* ---- judging ---- */

/* Reads a report with every finding on its own: each one that was fixed must be gone, whether it
 * was listed under a cause or not. */
static struct report *read_unfolded(const char *path, struct error *err)
{
	struct report *r = report_read(path, err);

	if (r)
		report_unfold(r);
	return r;
}

static char *platform_option_of(const struct trial *t)
{
	bool is_only;
	const char *files = report_files(t->v->report, &is_only);

	if (!platform_of(t))
		return xstrdup("");
	return files && strcmp(files, "files") != 0
		       ? xasprintf("--platform=%s,%s", platform_of(t)->name, files)
		       : xasprintf("--platform=%s", platform_of(t)->name);
}

static int check(struct trial *t, const char *pmend, struct error *err)
{
	const struct report *r = t->v->report;
	char *path = xasprintf("%s/%s.json", t->scratch, t->name);
	char *line = shell_quoted(r, report_nlibrary_globs(r), report_library_glob),
	     *globs = shell_replaced(line, t->v->root, t->tree);
	char *option = platform_option_of(t);
	int status = shell_run(
		err,
		"option=$5 && eval \"set -- \\\"\\$1\\\" \\\"\\$2\\\" \\\"\\$3\\\" $4\" && pmend=$1 path=$2 trace=$3 && shift 3 && "
		"for glob; do shift; set -- \"$@\" --library \"$glob\"; done && "
		"exec \"$pmend\" check -q $option --libraries --format json -o \"$path\" \"$@\" \"$trace\"",
		pmend, path, t->trace, globs, option, NULL);

	if (status > STATUS_FOUND)
		error_set(err, "the recording of the %s tree cannot be checked", t->name);
	else if (status >= 0)
		t->checked = read_unfolded(path, err);
	free(path);
	free(line);
	free(globs);
	free(option);
	return t->checked ? 0 : -1;
}

int trial_crash(struct trial *t, const char *pmend, struct error *err)
{
	const struct report *r = t->v->report;
	char *path = xasprintf("%s/%s.crash.json", t->scratch, t->name);
	char *line = shell_quoted(r, report_ncrash_options(r), report_crash_option),
	     *options = shell_replaced(line, t->v->root, t->tree);
	char *option = platform_option_of(t);
	int status = shell_run(
		err,
		"cd \"$1\" && option=$6 && eval \"set -- \\\"\\$2\\\" \\\"\\$3\\\" \\\"\\$4\\\" $5\" && pmend=$1 path=$2 trace=$3 && shift 3 && "
		"exec \"$pmend\" crash -q $option --libraries --format json -o \"$path\" \"$@\" \"$trace\"",
		t->tree, pmend, path, t->trace, options, option, NULL);

	if (status > STATUS_FOUND)
		error_set(err, "the crashes of the recording of the %s tree cannot be explored",
			  t->name);
	else if (status >= 0)
		t->crashed = read_unfolded(path, err);
	free(path);
	free(line);
	free(options);
	free(option);
	return t->crashed ? 0 : -1;
}

int trial_run(struct trial *t, const char *pmend, struct error *err)
{
	char *fresh = xasprintf("%s/run", t->scratch), *line = command_for(t, fresh);
	int result = -1;

	if (!t->v->run && report_ncommand(t->v->report) == 0)
		error_set(err, "%s does not say which program was recorded; give it with --run",
			  t->v->report_path);
	else if (record(t, pmend, line, fresh, err) == 0 && check(t, pmend, err) == 0 &&
		 execution_read(&t->execution, t->trace, err) == 0)
		result = 0;
	free(line);
	free(fresh);
	return result;
}
