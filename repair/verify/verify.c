/* The proof of a patch: the original and the mended tree are copied to a scratch folder, built with the user's command, and the
 * program runs in both under the recorder. What was mended must have been there before and be gone after, nothing new may have come,
 * output and exit status must be the same. A report of `crash` is verified by exploring crashes again, too: those of the original only if
 * the report cannot stand for that. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repair/verify/trial.h"
#include "session/scratch.h"
#include "util/alloc.h"

static bool has_bug(const struct report *r, const char *id)
{
	for (size_t i = 0; r && i < report_nbugs(r); i++)
		if (strcmp(report_bug(r, i)->id, id) == 0)
			return true;
	return false;
}

static bool shows(const struct fix_side *s, const struct bug *b)
{
	return has_bug(s->checked, b->id) || has_bug(s->crashed, b->id) || has_bug(s->reported, b->id);
}

static void tell_bug(const char *what, const struct bug *b)
{
	const struct bug_frame *at = bug_frame(b);

	fprintf(stderr, "%s:%u: %s: %s\n", at && at->file ? at->file : "?", at ? at->line : 0, b->kind, what);
}

/* Gives how many of the mended ones are proven; the others are told. */
static size_t count_gone(const struct fixing *f, const struct fix_side *before, const struct fix_side *after, size_t *nmended)
{
	size_t gone = 0;

	*nmended = 0;
	for (size_t i = 0; i < report_nbugs(f->report); i++) {
		const struct bug *b = report_bug(f->report, i);

		if (repair_outcome(f->repair, i).status != REPAIR_MENDED)
			continue;
		*nmended += 1;
		if (shows(after, b))
			tell_bug("is still there after the patch", b);
		else if (!shows(before, b))
			tell_bug("did not show before the patch either; say how to run the program with --run", b);
		else
			gone++;
	}
	return gone;
}

static size_t count_new(const struct report *found, const struct fix_side *before)
{
	size_t n = 0;

	for (size_t i = 0; found && i < report_nbugs(found); i++) {
		const struct bug *b = report_bug(found, i);

		if (b->severity != BUG_CORRECTNESS || shows(before, b))
			continue;
		tell_bug("is new", b);
		n++;
	}
	return n;
}

static void tell_cost(const struct fix_side *before, const struct fix_side *after)
{
	double more = before->ninstructions ? 100.0 * ((double)after->ninstructions / (double)before->ninstructions - 1) : 0;

	warn("flushes %" PRIu64 " before, %" PRIu64 " after; fences %" PRIu64 " before, %" PRIu64 " after; performance findings %zu before, %zu after",
	     before->nflushes, after->nflushes, before->nfences, after->nfences, report_count(before->checked, BUG_PERFORMANCE),
	     report_count(after->checked, BUG_PERFORMANCE));
	if (before->nlogged_bytes || after->nlogged_bytes)
		warn("bytes logged or allocated by transactions %" PRIu64 " before, %" PRIu64 " after", before->nlogged_bytes, after->nlogged_bytes);
	warn("instructions %" PRIu64 " before, %" PRIu64 " after (%+.2f %%)", before->ninstructions, after->ninstructions, more);
}

/* Bugs by which recovery fails; a report of `test` has others, too. */
static size_t count_failures(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < report_nbugs(r); i++)
		n += report_bug(r, i)->crash != NULL;
	return n;
}

static void tell_crashes(const struct report *before, const struct report *after)
{
	const struct report_coverage *b = report_coverage(before), *a = report_coverage(after);

	warn("recovery fails in %zu ways before, %zu after, at %" PRIu64 " failure points before, %" PRIu64 " after", count_failures(before),
	     count_failures(after), b ? b->failure_points : 0, a ? a->failure_points : 0);
	if (a && !a->is_complete)
		warn("crashes of the mended program were not all explored: %s", a->why_incomplete ? a->why_incomplete : "?");
}

static int compare(const struct fixing *f, const struct fix_side *before, const struct fix_side *after)
{
	size_t nmended, gone = count_gone(f, before, after, &nmended);
	size_t fresh = count_new(after->checked, before) + count_new(after->crashed, before);
	bool same_output = fix_shell("cmp -s \"$1\" \"$2\"", before->output, after->output, NULL) == 0;

	warn("%zu of %zu mended bugs are gone, %zu new; output %s, exit status %s", gone, nmended, fresh,
	     same_output ? "unchanged" : "changed", before->status == after->status ? "unchanged" : "changed");
	if (after->crashed)
		tell_crashes(before->crashed ? before->crashed : before->reported, after->crashed);
	tell_cost(before, after);
	return gone == nmended && fresh == 0 && same_output && before->status == after->status ? CMD_CLEAN : CMD_FAILED;
}

/* A report that has failing crash states says how they were found. */
static void check_crash_options(const struct fixing *f)
{
	for (size_t i = 0; report_ncrash_options(f->report) == 0 && i < report_nbugs(f->report); i++)
		if (report_bug(f->report, i)->crash && repair_outcome(f->repair, i).status == REPAIR_MENDED) {
			warn("%s does not say how crashes were explored; they are not explored again", f->report_path);
			return;
		}
}

/* Everything that shows in the mended tree is in the report: then it does not matter what else the original shows. */
static bool is_reported(const struct fixing *f, const struct fix_side *after)
{
	for (size_t i = 0; i < report_nbugs(after->crashed); i++)
		if (!has_bug(f->report, report_bug(after->crashed, i)->id))
			return false;
	return true;
}

/* The original's crashes were explored when the report was made, if that was the same execution. The report may lack what was suppressed
 * then, so a bug that is not in it is looked for. */
static int explore(const struct fixing *f, struct fix_side *before, struct fix_side *after, const char *pmend, struct error *err)
{
	if (report_ncrash_options(f->report) == 0)
		return 0;
	if (fix_side_crash(f, after, pmend, err) < 0)
		return -1;
	if (fix_side_is_execution(before, f->trace) && is_reported(f, after))
		before->reported = f->report;
	else if (fix_side_crash(f, before, pmend, err) < 0)
		return -1;
	return 0;
}

static int compare_sides(const struct fixing *f, struct fix_side side[2], const char *pmend, struct error *err)
{
	for (int i = 0; i < 2; i++)
		if (fix_side_copy(f, &side[i], err) < 0 || (i == 1 && fix_side_change(f, &side[i], err) < 0) || fix_side_build(f, &side[i], err) < 0 ||
		    fix_side_run(f, &side[i], pmend, err) < 0)
			return -1;
	if (explore(f, &side[0], &side[1], pmend, err) < 0)
		return -1;
	return compare(f, &side[0], &side[1]);
}

int fixing_verify(struct fixing *f)
{
	struct error err;
	char *scratch = scratch_folder(&err), pmend[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", pmend, sizeof pmend - 1);
	struct fix_side side[2];
	int status;

	if (!scratch)
		die("%s", err.msg);
	if (n < 0)
		die("cannot read /proc/self/exe: %s; is /proc mounted?", strerror(errno));
	pmend[n] = 0;
	check_crash_options(f);
	fix_side_init(&side[0], "original", scratch);
	fix_side_init(&side[1], "mended", scratch);
	status = compare_sides(f, side, pmend, &err);
	fix_side_release(&side[0]);
	fix_side_release(&side[1]);
	if (f->keeps_scratch)
		warn("both trees and what was recorded are in %s", scratch);
	else
		fix_shell("rm -rf \"$1\"", scratch, NULL);
	free(scratch);
	if (status < 0)
		die("%s", err.msg);
	return status;
}
