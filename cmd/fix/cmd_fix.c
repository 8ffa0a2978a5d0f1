/* pmend fix: patches the source for the durability, ordering and atomicity bugs of a report. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/check_options.h"
#include "cmd/crash_words.h"
#include "cmd/project_options.h"
#include "cmd/recipe_option.h"
#include "cmd/fix/account.h"
#include "report/tests.h"
#include "repair/edit/diff.h"
#include "repair/edit/paths.h"
#include "repair/verify/cures.h"
#include "repair/verify/verify.h"
#include "record/recorder.h"
#include "util/alloc.h"
#include "util/whole_file.h"

/* ---- the report's bugs, in repair's format ---- */

static struct repair_place place_of(const struct bug_location *l)
{
	const struct bug_frame *first = bug_location_origin(l);
	size_t shown = first ? (size_t)(first - l->frames) : 0;
	struct repair_place p = { .role = l->role, .nframes = first ? l->nframes - shown : 0 };
	struct repair_frame *frames = xcalloc(p.nframes + 1, sizeof *frames);

	for (size_t i = 0; i < p.nframes; i++)
		frames[i] = (struct repair_frame){ first[i].function, first[i].file, first[i].text,
						   first[i].line, first[i].column };
	p.frames = frames;
	return p;
}

static struct repair_bug *bug_of(const struct report *r, size_t number)
{
	const struct bug *b = report_bug(r, number);
	struct repair_bug *out = xcalloc(1, sizeof *out);
	struct repair_place *places = xcalloc(b->nlocations + 1, sizeof *places);

	for (size_t i = 0; i < b->nlocations; i++)
		places[i] = place_of(&b->locations[i]);
	*out = (struct repair_bug){ .id = b->id,
				    .kind = b->kind,
				    .places = places,
				    .nplaces = b->nlocations,
				    .count = b->count,
				    .executions = b->executions,
				    .origin = report_origin(r, number),
				    .cause = report_origin_cause(r, number),
				    .has_cause = report_origin_cause(r, number) != REPORT_NO_CAUSE,
				    .library = b->library,
				    .is_of_files = b->nprofiles > 0 };
	return out;
}

static void bug_free(struct repair_bug *b)
{
	for (size_t i = 0; i < b->nplaces; i++)
		free((struct repair_frame *)b->places[i].frames);
	free((struct repair_place *)b->places);
	free(b);
}

/* Returns the index of the bug whose ID begins with the word; for a finding that is listed under
 * another one, the index of that one. SIZE_MAX: none or several begin so, as err says. */
static size_t bug_named(const struct report *r, const char *word, struct error *err)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < report_nbugs(r); i++) {
		const char *id = report_bug(r, i)->id;

		if (strncmp(id, word, strlen(word)) != 0)
			continue;
		if (found != SIZE_MAX && strcmp(report_bug(r, found)->id, id) != 0) {
			error_set(err, "--only %s: several findings begin so: %s and %s", word,
				  report_bug(r, found)->id, id);
			return SIZE_MAX;
		}
		found = i;
	}
	if (found == SIZE_MAX)
		error_set(err, "--only %s: no finding of the report has such an ID", word);
	return found == SIZE_MAX                                  ? found
	       : report_origin_cause(r, found) != REPORT_NO_CAUSE ? report_origin_cause(r, found)
								  : report_origin(r, found);
}

static void leave_out_others(struct fixing *f)
{
	size_t n = report_nbugs(f->report);
	struct error err;

	for (size_t i = 0; f->only.n && i < n; i++)
		f->bugs[i]->is_left_out = true;
	for (size_t k = 0; k < f->only.n; k++) {
		size_t bug = bug_named(f->report, f->only.item[k], &err);

		if (bug == SIZE_MAX)
			die_usage(&cmd_fix, "%s", err.msg);
		for (size_t i = 0; i < n; i++)
			if (report_origin(f->report, i) == bug ||
			    report_origin_cause(f->report, i) == bug)
				f->bugs[i]->is_left_out = false;
	}
}

/* ---- the root for the patch's paths ---- */

static void read_root(struct fixing *f)
{
	f->real_root = realpath(f->root ? f->root : ".", NULL);
	if (!f->real_root)
		die("%s: %s", f->root ? f->root : "the current folder", strerror(errno));
	f->options.root = f->root ? f->real_root : NULL;
}

/* Finds the root: the current folder, or the nearest one above it that contains all changed
 * files. */
static void find_root(struct fixing *f)
{
	for (size_t i = 0; !f->root && i < repair_nfiles(f->repair); i++)
		while (!path_is_below(repair_file(f->repair, i).path, f->real_root) &&
		       strrchr(f->real_root, '/') != f->real_root)
			*strrchr(f->real_root, '/') = 0;
	for (size_t i = 0; !f->root && i < repair_nfiles(f->repair); i++)
		if (!path_is_below(repair_file(f->repair, i).path, f->real_root))
			f->real_root[1] = 0;
}

/* ---- the result ---- */

static void write_patch(const struct fixing *f, FILE *out)
{
	for (size_t i = 0; i < repair_nfiles(f->repair); i++) {
		struct repair_file file = repair_file(f->repair, i);

		diff_print(out, path_from(file.path, f->real_root), file.before, file.after);
	}
}

static void output_patch(const struct fixing *f)
{
	struct whole_file file;
	struct error err;

	if (!f->output) {
		write_patch(f, stdout);
		if (fflush(stdout))
			die("cannot write the patch: %s", strerror(errno));
		return;
	}
	whole_file_begin(&file, f->output);
	write_patch(f, file.out);
	if (whole_file_end(&file, &err) < 0)
		die("%s; there is no patch", err.msg);
}

/* Writes a file beside the old one and renames it, so that the file is complete at every moment. */
static void apply_file(const struct repair_file *file)
{
	char *partial = xasprintf("%s.pmend", file->path);
	FILE *out = fopen(partial, "we");
	struct stat st;

	if (!out || stat(file->path, &st) < 0 || fchmod(fileno(out), st.st_mode & 07777) < 0 ||
	    fputs(file->after, out) < 0 || fclose(out) || rename(partial, file->path) < 0)
		die("cannot write %s: %s", file->path, strerror(errno));
	free(partial);
}

/* Writes all files or none: it checks that all can be written before it writes the first. */
static void apply(const struct fixing *f)
{
	for (size_t i = 0; i < repair_nfiles(f->repair); i++) {
		struct repair_file file = repair_file(f->repair, i);
		char *copy = xstrdup(file.path), *folder = dirname(copy);

		if (access(file.path, W_OK) < 0)
			die("cannot write %s: %s; nothing was changed", file.path, strerror(errno));
		if (access(folder, W_OK) < 0)
			die("cannot write in %s: %s; nothing was changed", folder, strerror(errno));
		free(copy);
	}
	for (size_t i = 0; i < repair_nfiles(f->repair); i++) {
		struct repair_file file = repair_file(f->repair, i);

		apply_file(&file);
	}
}

/* Prints the outcome; returns how many bugs that set the exit status are left. */
static size_t print_account(const struct fixing *f)
{
	struct account a;
	size_t left;

	account_init(&a, f);
	if (!f->quiet)
		account_tell(&a);
	if (f->outcome)
		account_write(&a, f->outcome);
	left = a.nfailing;
	account_release(&a);
	return left;
}

static int verify(struct fixing *f, const char *trace)
{
	const struct verifying v = { .build = f->verify,
				     .build_dir = f->build_dir,
				     .run = f->run,
				     .recipe = &f->recipe,
				     .root = f->real_root,
				     .report_path = f->report_path,
				     .report = f->report,
				     .repair = f->repair,
				     .trace = trace,
				     .keeps_scratch = f->keeps_scratch,
				     .watch = &f->progress.watch,
				     .notes = &user_notes };
	struct error err;
	int result = verify_patch(&v, &err);

	fix_progress_pause(&f->progress);
	if (result < 0 && strcmp(err.msg, "interrupted") == 0) {
		if (!f->output)
			output_patch(f);
		die("interrupted: the patch %s%s is not verified",
		    f->output ? "in " : "on standard output", f->output ? f->output : "");
	}
	if (result < 0)
		die("%s", err.msg);
	return result ? CMD_CLEAN : CMD_FAILED;
}

/* Makes the patch. trace: the one with which cures were tried; NULL if there is none. */
static int fix(struct fixing *f, const char *trace)
{
	int status = CMD_CLEAN;
	size_t left;

	find_root(f);
	if (repair_missing(f->repair) && !f->quiet)
		warn("pmend cannot analyse the pointers, so it counted callers instead: %s",
		     repair_missing(f->repair));
	if (f->interactive && !f->was_interrupted) {
		fix_progress_end(&f->progress);
		fixing_ask(f);
	}
	left = print_account(f);
	if (f->output || f->was_interrupted || !(f->apply || f->verify))
		output_patch(f);
	if (f->was_interrupted && !f->quiet)
		warn("interrupted: the patch has the fixes found so far%s",
		     f->apply || f->verify ? ", and is neither verified nor applied" : "");
	if (repair_nunchecked(f->repair) && !f->quiet)
		warn("interrupted: %zu of the files that change were not compiled with the change",
		     repair_nunchecked(f->repair));
	if (f->was_interrupted)
		return left ? CMD_FOUND : CMD_FAILED;
	if (f->verify && repair_nfiles(f->repair) == 0)
		warn("the patch is empty, so there is nothing to verify");
	else if (f->verify)
		status = verify(f, trace);
	if (f->verify && !f->apply && !f->output && repair_nfiles(f->repair) > 0 && !f->quiet)
		warn("the patch was not written: -o FIX.patch writes it, --apply changes the sources");
	if (f->apply && status != CMD_FAILED)
		apply(f);
	return status != CMD_CLEAN ? status : left ? CMD_FOUND : CMD_CLEAN;
}

static bool is_page_cache(const struct report *r)
{
	const struct platform *p = report_platform(r) ? platform_find(report_platform(r)) : NULL;
	bool is_files_only;

	return (report_files(r, &is_files_only) && is_files_only) || (p && p->is_page_cache);
}

static int fix_report(struct fixing *f, const char *path)
{
	struct error err;
	struct source_database db;
	struct report *report;
	const struct source_api *api;
	struct cures *cures = NULL;
	char *libexec;
	size_t n;
	int status;

	if (f->outcome && whole_file_check(f->outcome, &err) < 0)
		die("%s; choose another file with --outcome", err.msg);
	watch_tell(&f->progress.watch, "reading the report and the sources", 0, 0);
	report = report_read(path, &err);
	if (!report)
		die("%s", err.msg);
	if (report_ntests(report))
		die("%s is about several tests, and each has a recovery of its own; run one with 'pmend test --format json -o FILE NAME' and fix what is in FILE",
		    path);
	libexec = recorder_folder(&err);
	if (!libexec)
		die("%s", err.msg);
	api = source_load(libexec, &err);
	free(libexec);
	if (!api || api->open(f->build_dir, &db, &err) < 0)
		die("%s", err.msg);
	f->report = report;
	f->options.is_page_cache = is_page_cache(report);
	read_root(f);
	f->repair = repair_new(api, &db, &f->options);
	report_unfold(report); /* each call path may need its own change */
	n = report_nbugs(report);
	f->bugs = xcalloc(n + 1, sizeof(struct repair_bug *));
	for (size_t i = 0; i < n; i++)
		f->bugs[i] = bug_of(report, i);
	leave_out_others(f);
	for (size_t i = 0; i < n; i++)
		repair_add(f->repair, f->bugs[i]);
	if (!f->no_whatif) {
		cures = cures_find(report, f->bugs, &crash_words, f->quiet ? NULL : &user_notes,
				   &f->cures, &err);
		if (!cures)
			die("%s", err.msg);
	}
	f->effort = cures_effort(cures);
	f->was_interrupted = fix_progress_pause(&f->progress);
	if (f->was_interrupted && !f->quiet)
		warn("interrupted: no more fixes are tried; those found so far are written");
	repair_plan(f->repair);
	f->was_interrupted |= fix_progress_pause(&f->progress);
	status = fix(f, cures_trace(cures));
	repair_free(f->repair);
	cures_free(cures);
	for (size_t i = 0; i < n; i++)
		bug_free(f->bugs[i]);
	free(f->bugs);
	free(f->real_root);
	api->close(&db);
	report_free(report);
	return status;
}

/* Finds the folder of the compilation database, if it is at one of the usual places; NULL: it is
 * not. */
static const char *build_dir_find(void)
{
	if (access("compile_commands.json", R_OK) == 0)
		return ".";
	return access("build/compile_commands.json", R_OK) == 0 ? "build" : NULL;
}

static int fix_run(const struct command *c, int argc, char **argv)
{
	struct fixing f = { 0 };
	bool is_asked = false, no_project = false;
	struct error err;
	const struct option table[] = {
		{ "build", 'p', "BUILD_DIR",
		  "the folder with compile_commands.json (default: the current folder or build/)",
		  OPTION_STRING, &f.build_dir },
		{ "output", 'o', "FILE.patch",
		  "write the patch to FILE.patch (default: to standard output)", OPTION_STRING,
		  &f.output },
		{ "root", 0, "DIR",
		  "make paths in the patch relative to DIR (default: the current folder, or one above)",
		  OPTION_STRING, &f.root },
		{ "apply", 0, NULL, "change the sources", OPTION_FLAG, &f.apply },
		{ "interactive", 0, NULL, "show each change and ask whether to make it",
		  OPTION_FLAG, &f.interactive },
		{ "only", 0, "ID",
		  "fix only the bug with this ID, or whose ID begins so; may be repeated",
		  OPTION_LIST, &f.only },
		{ "keep-redundant", 0, NULL, "remove no redundant flushes and fences", OPTION_FLAG,
		  &f.options.keeps_redundant },
		{ "no-what-if", 0, NULL,
		  "do not try fixes on the trace first; write no transactions", OPTION_FLAG,
		  &f.no_whatif },
		{ "max-runs", 0, "N",
		  "recovery runs for trying fixes (default: twice those that found the bugs; 0: no limit)",
		  OPTION_NUMBER, &f.cures.max_runs },
		{ "verify", 0, "[COMMAND]",
		  "prove the patch: build a fixed copy with COMMAND (default: as in compile_commands.json), run and check it",
		  OPTION_MAYBE, &f.verify },
		{ "run", 0, "CMDLINE",
		  "the command that --verify runs (default: the recorded one); {} is a new folder",
		  OPTION_STRING, &f.run },
		RECIPE_OPTIONS(&f.recipe),
		{ "keep-scratch", 0, NULL, "keep what --verify built and recorded", OPTION_FLAG,
		  &f.keeps_scratch },
		{ "flush-call", 0, "CALL", "flush with this call: NAME or 'NAME({addr}, {len})'",
		  OPTION_STRING, &f.options.flush_call },
		{ "fence-call", 0, "CALL", "fence with this call: NAME or 'NAME()'", OPTION_STRING,
		  &f.options.fence_call },
		{ "no-hoist", 0, NULL, "change only the function that stores, never its callers",
		  OPTION_FLAG, &f.options.no_hoist },
		{ "explain", 0, NULL,
		  "add a comment to each change; print how places were chosen, and which fixes failed",
		  OPTION_FLAG, &f.options.is_explained },
		{ "outcome", 0, "FILE.json", "write the outcome of each bug to FILE.json",
		  OPTION_STRING, &f.outcome },
		{ "fail-on", 0, "WHAT",
		  "exit with 1 if this is left, too: performance, porting or warning (correctness always counts); may be repeated",
		  OPTION_LIST, &f.fail_on_words },
		PROGRESS_OPTION(&is_asked),
		PROJECT_OPTION(&no_project),
		{ "quiet", 'q', NULL, "write only the patch, print nothing about the bugs",
		  OPTION_FLAG, &f.quiet },
		{ 0 },
	};

	if (project_parse(c, table, OPTIONS_ANYWHERE, argc, argv) != 1)
		die_usage(c, "exactly one report is needed: 'pmend check --format json' writes it");
	if (!f.build_dir)
		f.build_dir = build_dir_find();
	if (!f.build_dir)
		die_usage(
			c,
			"-p BUILD_DIR is needed, the folder with compile_commands.json: there is none here or in build/; 'bear -- make' makes one");
	if (f.run && !f.verify)
		die_usage(c, "--run needs --verify");
	if ((f.recipe.client || f.recipe.ready.n > 0 || f.recipe.stop) && !f.verify)
		die_usage(c, "--client, --ready and --stop need --verify");
	if (recipe_check(&f.recipe, NULL, &err) < 0)
		die_usage(c, "%s", err.msg);
	if (f.keeps_scratch && !f.verify)
		die_usage(c, "--keep-scratch needs --verify");
	for (size_t i = 0; i < f.fail_on_words.n; i++)
		if (!report_fail_on_add(&f.fail_on, f.fail_on_words.item[i]) ||
		    f.fail_on.libraries || f.fail_on.incomplete)
			die_usage(
				c,
				"--fail-on is one of correctness, performance, porting, warning, not '%s'",
				f.fail_on_words.item[i]);
	f.cures.is_explained = f.options.is_explained;
	fix_progress_begin(&f.progress, is_asked, f.quiet);
	f.options.watch = f.cures.watch = &f.progress.watch;
	f.report_path = argv[0];
	return fix_report(&f, argv[0]);
}

const struct command cmd_fix = {
	.name = "fix",
	.help = "fix durability, ordering and atomicity bugs in the source",
	.operands = "REPORT.json",
	.run = fix_run,
};
