/* Collects what goes into a bundle: the trace, what the command lines name, what recovery opens,
 * the recorded objects, and what all of these need. Files are searched in the order in which they
 * are found, until there is no new one. */
#include "distribute/packing/packing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/bug.h"
#include "crash/setup/crash_command.h"
#include "distribute/packing/internal.h"
#include "util/files.h"
#include "util/proc.h"

extern char **environ;

/* ---- command lines ---- */

/* Packs a file that a word of the command line names, relative to the current folder. */
static bool word_add(struct packing *p, const char *word)
{
	char *path = word[0] == '/' ? xstrdup(word) : xasprintf("/%s/%s", p->b->cwd, word);
	const bool is_added = access(path, F_OK) == 0 && tree_add(p, path);

	free(path);
	return is_added;
}

static void program_add(struct packing *p, const char *name)
{
	char *path = proc_find(name);

	if (path)
		word_add(p, path);
	free(path);
}

/* Packs what "sh -c TEXT" names: each word that is a file, and each word in the place of a
 * program. */
static void script_add(struct packing *p, const char *text)
{
	static const char *const before[] = { "if", "then", "else", "elif", "while", "until",
					      "do", "!",    "exec", "time", "env" };
	char *copy = xstrdup(text), *rest = copy;
	bool is_program = true;

	while (*rest) {
		const size_t blanks = strspn(rest, " \t\n\"'"),
			     n = strcspn(rest += blanks, " \t\n\"';|&()<>`");
		const char stop = rest[n];
		bool is_before = false;

		rest[n] = 0;
		for (size_t i = 0; i < sizeof before / sizeof *before; i++)
			is_before |= strcmp(rest, before[i]) == 0;
		if (n > 0 && is_program && !strchr(rest, '/') && !strchr(rest, '='))
			program_add(p, rest);
		if (n > 0)
			word_add(p, rest);
		if (n > 0)
			is_program = is_before;
		is_program |= stop && strchr(";|&(`\n", stop);
		rest += n + (stop != 0);
	}
	free(copy);
}

/* Packs the file that a word of the command line names as "{rest:FILE}". */
static void rest_add(struct packing *p, const char *word)
{
	const char *at = strstr(word, "{rest:"), *end = at ? strchr(at, '}') : NULL;
	char *name = end ? strndup(at + 6, (size_t)(end - at - 6)) : NULL;

	if (name)
		word_add(p, name);
	free(name);
}

static void command_add(struct packing *p, const struct runner_command *c)
{
	program_add(p, c->argv[0]);
	for (char **a = c->argv + 1; *a; a++) {
		const char *equals = strchr(*a, '=');

		rest_add(p, *a);
		if (strcmp(a[-1], "-c") == 0)
			script_add(p, *a);
		else if (**a && !word_add(p, *a) && equals && equals[1])
			word_add(p, equals + 1);
	}
}

/* ---- the trace ---- */

static void objects_add(struct packing *p, const struct plan *plan)
{
	for (size_t i = 0; i < plan->sites.n; i++) {
		const struct trace_site *site = plan->sites.at[i];

		if (site && site->object)
			tree_add(p, site->object->path);
		for (const struct trace_node *n = site ? site->node : NULL; n; n = n->parent)
			if (n->object)
				tree_add(p, n->object->path);
	}
}

/* Leaves followed files out of the bundle, because recovery gets them from the trace. */
static void followed_leave_out(struct packing *p, const struct plan *plan)
{
	for (uint32_t i = 1; i <= trace_nfiles(plan->trace); i++) {
		const struct trace_file *f = trace_file(plan->trace, i);

		if (f && (f->flags & PMT_FILE_FOLLOWED) && !(f->flags & PMT_FILE_FOLDER))
			*vec_add(&p->left_out) = xstrdup(f->path);
	}
}

/* Leaves the PM files out of the bundle, because recovery gets them from the trace. Packs the
 * folders of these files. */
static void pools_leave_out(struct packing *p, const struct plan *plan)
{
	for (size_t i = 0; plan->paths.at && plan->paths.at[i]; i++) {
		const char *slash = strrchr(plan->paths.at[i], '/');
		char *folder =
			slash && slash > plan->paths.at[i]
				? strndup(plan->paths.at[i], (size_t)(slash - plan->paths.at[i]))
				: NULL;

		*vec_add(&p->left_out) = xstrdup(plan->paths.at[i]);
		if (folder)
			tree_add_folder(p, folder);
		free(folder);
	}
}

/* ---- options, environment ---- */

static void options_add(struct bundle *b, const struct crash_setup *s)
{
	struct report *r = report_new();

	crash_command_tell(s, r);
	for (size_t i = 0; i < report_ncrash_options(r); i++)
		*vec_add(&b->options) = xstrdup(report_crash_option(r, i));
	report_free(r);
}

static void environment_add(struct packing *p)
{
	for (char **e = environ; *e; e++)
		if (bundle_takes_variable(*e))
			*vec_add(&p->b->environment) = xstrdup(*e);
	if (getenv("LD_PRELOAD"))
		tree_lack(
			p,
			"LD_PRELOAD is set here, but is not packed: if recovery needs it, set it where the bundle runs, too");
}

/* Adds the trace's index, if the user made one: with it, parts of the bundle can begin in the
 * middle. */
static void index_add(struct packing *p, const char *trace)
{
	char *path = xasprintf("%s" INDEX_ENDING, trace);

	if (access(path, R_OK) == 0)
		tree_add(p, path);
	free(path);
}

/* ---- the whole bundle ---- */

static void needs_add(struct packing *p)
{
	while (p->nlooked_at < p->files.n) {
		/* copied, because the list may grow */
		char *file = xstrdup(p->files.at[p->nlooked_at++]);

		objects_add_needs(p, file);
		free(file);
	}
}

/* Collects everything; folders around entries need no entries of their own. */
static int collect(struct packing *p, struct crash_setup *s, const char *trace, struct error *err)
{
	struct plan *plan = crash_setup_plan(s, trace, err);
	int result;

	if (!plan)
		return -1;
	if (s->has_files)
		followed_leave_out(p, plan);
	else
		pools_leave_out(p, plan);
	for (int part = 0; part < PART_N; part++)
		if (recovery_command(&s->recovery, (enum recovery_part)part))
			command_add(p, recovery_command(&s->recovery, (enum recovery_part)part));
	result = opened_add(p, s, plan, err);
	objects_add(p, plan);
	if (s->stdin_path && !word_add(p, s->stdin_path))
		tree_lack(p, "--stdin %s is not a file that can be packed", s->stdin_path);
	needs_add(p);
	if (s->build_dir)
		tree_lack(
			p,
			"--build %s is not packed: where the bundle runs, types come from debug information only",
			s->build_dir);
	if (s->failures.n > 1)
		tree_lack(
			p,
			"--failures records recovery under Valgrind where the bundle runs: that machine needs Valgrind and the same C library as this one");
	options_add(p->b, s);
	environment_add(p);
	plan_free(plan);
	return result;
}

int packing_collect(struct bundle *b, struct crash_setup *s, const char *trace, struct error *err)
{
	struct packing p = { .b = b };
	char *here = path_absolute(".", err), *own = here ? realpath(trace, NULL) : NULL;
	char *real = here ? realpath(".", NULL) : NULL;
	int result = -1;

	if (!own || !real) {
		error_set(err, "cannot open %s", trace);
		goto out;
	}
	b->version = xstrdup(PMEND_VERSION);
	b->arch = xstrdup(PMEND_ARCH);
	b->cwd = xstrdup(real + 1);
	b->trace = xstrdup(own + 1);
	index_add(&p, own);
	if (tree_add(&p, own) && (strcmp(real, "/") == 0 || tree_add(&p, real)))
		result = collect(&p, s, trace, err);
	else
		error_set(err, "%s cannot be packed", own);
out:
	for (size_t i = 0; i < p.files.n; i++)
		free(p.files.at[i]);
	for (size_t i = 0; i < p.left_out.n; i++)
		free(p.left_out.at[i]);
	vec_release(&p.files);
	vec_release(&p.left_out);
	map_release(&p.known);
	map_release(&p.said);
	free(p.loader);
	free(here);
	free(own);
	free(real);
	return result;
}
