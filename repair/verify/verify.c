/* Proves a patch. The original and the fixed tree are copied to a scratch folder and built, and the
 * program runs in both under the recorder. Each fixed bug must be there before and gone after, no
 * new bug may appear, and output and exit status must be the same. For a report of `crash`, crashes
 * are explored again, too; those of the original only if the report cannot take their place. */
#include "repair/verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash/run/runner.h"
#include "repair/verify/by_database.h"
#include "repair/verify/shell.h"
#include "repair/verify/trial.h"
#include "util/alloc.h"
#include "util/tempdir.h"

/* Asks whether the report has this bug on this call path. (Reports are unfolded here: a bug is one
 * call path.) */
static bool has_bug(const struct report *r, const struct bug *b)
{
	for (size_t i = 0; r && i < report_nbugs(r); i++)
		if (strcmp(report_bug(r, i)->id, b->id) == 0 &&
		    bug_is_same_path(report_bug(r, i), b))
			return true;
	return false;
}

static bool shows(const struct trial *t, const struct bug *b)
{
	return has_bug(t->checked, b) || has_bug(t->crashed, b) || has_bug(t->reported, b);
}

static void tell_bug(const struct notes *n, const char *what, const struct bug *b)
{
	const struct bug_frame *at = bug_frame(b);
	char *text = xasprintf("%s:%u: %s: %s\n", at && at->file ? at->file : "?",
			       at ? at->line : 0, b->kind, what);

	notes_quote(n, text, strlen(text));
	free(text);
}

/* Asks whether the bug is gone on this call path; if not, tells the user why. */
static bool is_gone(const struct verifying *v, const struct trial *before,
		    const struct trial *after, const struct bug *b)
{
	if (shows(after, b))
		tell_bug(v->notes, "is still there after the patch", b);
	else if (!shows(before, b))
		tell_bug(
			v->notes,
			"was not found before the patch either; say how to run the program with --run",
			b);
	else
		return true;
	return false;
}

/* Counts the bugs of which something was fixed (*nmended, as the report counts them), and returns
 * how many are gone on all call paths, with all findings listed under them. */
static size_t count_gone(const struct verifying *v, const struct trial *before,
			 const struct trial *after, size_t *nmended)
{
	enum {
		NOT_MENDED,
		GONE,
		THERE
	} *by_bug = xcalloc(report_norigins(v->report) + 1, sizeof *by_bug);
	size_t gone = 0;

	for (size_t i = 0; i < report_nbugs(v->report); i++) {
		size_t cause = report_origin_cause(v->report, i),
		       bug = cause != REPORT_NO_CAUSE ? cause : report_origin(v->report, i);

		if (repair_outcome(v->repair, i).status != REPAIR_MENDED)
			continue;
		if (!is_gone(v, before, after, report_bug(v->report, i)))
			by_bug[bug] = THERE;
		else if (by_bug[bug] == NOT_MENDED)
			by_bug[bug] = GONE;
	}
	*nmended = 0;
	for (size_t i = 0; i < report_norigins(v->report); i++) {
		*nmended += by_bug[i] != NOT_MENDED;
		gone += by_bug[i] == GONE;
	}
	free(by_bug);
	return gone;
}

static size_t count_new(const struct verifying *v, const struct report *found,
			const struct trial *before)
{
	size_t n = 0;

	for (size_t i = 0; found && i < report_nbugs(found); i++) {
		const struct bug *b = report_bug(found, i);

		if (b->severity != BUG_CORRECTNESS || shows(before, b))
			continue;
		tell_bug(v->notes, "is new", b);
		n++;
	}
	return n;
}

static void tell_cost(const struct notes *n, const struct trial *before, const struct trial *after)
{
	const struct execution *b = &before->execution, *a = &after->execution;
	double more = b->ninstructions
			      ? 100.0 * ((double)a->ninstructions / (double)b->ninstructions - 1)
			      : 0;

	notes_say(n,
		  "flushes: %" PRIu64 " before, %" PRIu64 " after; fences: %" PRIu64
		  " before, %" PRIu64 " after; performance findings: %zu before, %zu after",
		  b->nflushes, a->nflushes, b->nfences, a->nfences,
		  report_count(before->checked, BUG_PERFORMANCE),
		  report_count(after->checked, BUG_PERFORMANCE));
	if (b->nlogged_bytes || a->nlogged_bytes)
		notes_say(n,
			  "bytes logged or allocated by transactions: %" PRIu64 " before, %" PRIu64
			  " after",
			  b->nlogged_bytes, a->nlogged_bytes);
	notes_say(n, "instructions: %" PRIu64 " before, %" PRIu64 " after (%+.2f %%)",
		  b->ninstructions, a->ninstructions, more);
}

/* Counts the bugs with which recovery fails; a report of `test` has others, too. */
static size_t count_failures(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < report_nbugs(r); i++)
		n += report_bug(r, i)->crash != NULL;
	return n;
}

static void tell_crashes(const struct notes *n, const struct report *before,
			 const struct report *after)
{
	const struct report_coverage *b = report_coverage(before), *a = report_coverage(after);

	notes_say(n,
		  "recovery fails in %zu way%s before, in %zu after; failure points: %" PRIu64
		  " before, %" PRIu64 " after",
		  count_failures(before), count_failures(before) == 1 ? "" : "s",
		  count_failures(after), b ? b->failure_points : 0, a ? a->failure_points : 0);
	if (a && !a->is_complete)
		notes_say(n, "not all crashes of the fixed program were explored: %s",
			  a->why_incomplete ? a->why_incomplete : "?");
}

static int compare(const struct verifying *v, const struct trial *before, const struct trial *after,
		   struct error *err)
{
	size_t nmended, gone = count_gone(v, before, after, &nmended);
	size_t fresh = count_new(v, after->checked, before) + count_new(v, after->crashed, before);
	int differs = shell_run(err, "cmp -s \"$1\" \"$2\"", before->output, after->output, NULL);

	if (differs < 0)
		return -1;
	notes_say(v->notes, "%zu of %zu fixed bug%s %s gone, %zu new; output %s, exit status %s",
		  gone, nmended, nmended == 1 ? "" : "s", gone == 1 ? "is" : "are", fresh,
		  differs ? "changed" : "unchanged",
		  before->status == after->status ? "unchanged" : "changed");
	if (after->crashed)
		tell_crashes(v->notes, before->crashed ? before->crashed : before->reported,
			     after->crashed);
	tell_cost(v->notes, before, after);
	return gone == nmended && fresh == 0 && !differs && before->status == after->status;
}

/* Warns if the report has failing crash states but not the options that found them. */
static void check_crash_options(const struct verifying *v)
{
	for (size_t i = 0; report_ncrash_options(v->report) == 0 && i < report_nbugs(v->report);
	     i++)
		if (report_bug(v->report, i)->crash &&
		    repair_outcome(v->repair, i).status == REPAIR_MENDED) {
			notes_say(
				v->notes,
				"%s does not say how crashes were explored, so they are not explored again",
				v->report_path);
			return;
		}
}

/* Asks whether the report has every finding of the fixed tree. Then further findings of the
 * original do not matter. */
static bool is_reported(const struct verifying *v, const struct trial *after)
{
	for (size_t i = 0; i < report_nbugs(after->crashed); i++)
		if (!has_bug(v->report, report_bug(after->crashed, i)))
			return false;
	return true;
}

/* Explores crashes. The report takes the place of the original's crashes if it is of the same
 * execution. It may lack bugs that were suppressed, so if a bug is not in it, the original is
 * explored, too. */
static int explore(const struct verifying *v, struct trial *before, struct trial *after,
		   const char *pmend, struct error *err)
{
	if (report_ncrash_options(v->report) == 0)
		return 0;
	if (trial_crash(after, pmend, err) < 0)
		return -1;
	if (trial_is_execution(before, v->trace) && is_reported(v, after))
		before->reported = v->report;
	else if (trial_crash(before, pmend, err) < 0)
		return -1;
	return 0;
}

static int compare_trials(const struct verifying *v, struct trial trial[2], const char *pmend,
			  struct error *err)
{
	for (int i = 0; i < 2; i++)
		if (trial_copy(&trial[i], err) < 0 ||
		    (i == 1 && trial_change(&trial[i], err) < 0) ||
		    trial_build(&trial[i], err) < 0 || trial_run(&trial[i], pmend, err) < 0)
			return -1;
	if (explore(v, &trial[0], &trial[1], pmend, err) < 0)
		return -1;
	return compare(v, &trial[0], &trial[1], err);
}

/* Returns the build script from the compilation database, for the program that is run. */
static char *script_of(const struct verifying *v, struct error *err)
{
	struct runner_command *c = v->run ? runner_command_new(v->run, err) : NULL;
	const char *program = c                            ? c->argv[0]
			      : report_ncommand(v->report) ? report_argument(v->report, 0)
							   : NULL;
	char *script = v->run && !c ? NULL : database_script(v->build_dir, v->root, program, err);

	runner_command_free(c);
	return script;
}

int verify_patch(const struct verifying *v, struct error *err)
{
	char pmend[PATH_MAX], *kept;
	ssize_t n = readlink("/proc/self/exe", pmend, sizeof pmend - 1);
	char *script = NULL;
	struct tempdir scratch;
	struct trial trial[2];
	int result;

	if (n < 0)
		return error_set(err, "cannot read /proc/self/exe: %s; is /proc mounted?",
				 strerror(errno));
	if (!*v->build && !(script = script_of(v, err)))
		return -1;
	if (tempdir_open(&scratch, err) < 0) {
		free(script);
		return -1;
	}
	pmend[n] = 0;
	check_crash_options(v);
	trial_init(&trial[0], v, "original", scratch.path, script);
	trial_init(&trial[1], v, "fixed", scratch.path, script);
	result = compare_trials(v, trial, pmend, err);
	trial_release(&trial[0]);
	trial_release(&trial[1]);
	if (v->keeps_scratch) {
		kept = tempdir_keep(&scratch);
		notes_say(v->notes, "both trees and the recordings are in %s", kept);
		free(kept);
	}
	tempdir_close(&scratch);
	free(script);
	return result;
}
