/* Makes the report of an exploration with its coverage note, and keeps a copy of the report in the
 * folder, which is written again whenever there is a new bug. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/session/exploring.h"
#include "report/format.h"
#include "util/alloc.h"
#include "util/whole_file.h"

static char *note_make(const struct exploring *x)
{
	struct explore_stats s = explore_stats(x->explore);
	const struct path_count *c = explore_counts(x->explore);
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	uint64_t lost = 0;

	for (size_t i = 0; c[i].what; i++)
		lost += c[i].is_loss ? c[i].n : 0;
	fprintf(f,
		"%" PRIu64 " conditions on the input, %" PRIu64 " queries (%" PRIu64
		" without solution, %" PRIu64 " out of time, %" PRIu64
		" answers used again) in %.1f s; %" PRIu64 " of %" PRIu64
		" PM-modifying instructions and calls executed",
		s.steps, s.flips.queries, s.flips.no, s.flips.unknown, s.flips.cached,
		s.flips.solver_s, s.pm_covered, s.pm_known);
	if (s.diverged)
		fprintf(f, "; %" PRIu64 " runs took another path than expected", s.diverged);
	if (lost)
		fprintf(f,
			"; %" PRIu64
			" values became concrete in operations that are not followed (for example floating point)",
			lost);
	if (sharing_nothers(x->sharing))
		fprintf(f,
			"; this exploration ran %" PRIu64
			" of the inputs, and %zu others that share %s ran %" PRIu64,
			s.runs - x->ntaken, sharing_nothers(x->sharing), x->shared,
			sharing_nruns(x->sharing));
	fclose(f);
	return text;
}

/* Adds a reason why the exploration is incomplete; frees the text. */
static void add_reason(struct exploring *x, char *why)
{
	report_add_reason(x->report, why);
	free(why);
}

void exploring_cover(struct exploring *x)
{
	struct explore_stats s = explore_stats(x->explore);
	char *note = note_make(x);
	struct report_found *found;
	size_t nfound = exploring_found_list(x, &found);
	struct report_coverage c = { .events = x->nevents,
				     .inputs = s.runs - x->ntaken + sharing_nruns(x->sharing),
				     .note = note,
				     .found = found,
				     .nfound =
					     nfound < REPORT_FOUND_MAX ? nfound : REPORT_FOUND_MAX,
				     .nfound_all = nfound };

	c.is_complete = true;
	report_set_coverage(x->report, &c);
	schedules_sum_tell(&x->schedules, x->report);
	if (x->nshortened)
		add_reason(
			x,
			xasprintf(
				"the exploration ended before all schedules of %zu inputs were recorded",
				x->nshortened));
	if (x->nflooded)
		add_reason(
			x,
			xasprintf(
				"%zu runs were ended because they printed more than 64 MiB; make the program print less",
				x->nflooded));
	if (s.waiting)
		add_reason(
			x,
			xasprintf(
				"%" PRIu64
				" branches were not tried yet; run again with --out %s to continue",
				s.waiting, x->shared));
	if (s.flips.unknown + x->nunknown)
		add_reason(x, xasprintf("the solver ran out of time on %" PRIu64
					" queries; see --solver-timeout",
					s.flips.unknown + x->nunknown));
	if (x->nbad)
		add_reason(x, xasprintf("the paths of %zu runs could not be read", x->nbad));
	free(found);
	free(note);
}

struct report *exploring_report(const struct exploring *x)
{
	struct report *r = report_new();

	report_set_platform(r, x->checking.recording.platform->name);
	for (size_t i = 0; x->shown[i]; i++)
		report_add_argument(r, x->shown[i]);
	return r;
}

int exploring_report_save(struct exploring *x, struct error *err)
{
	char *name = xasprintf("%s/report.json", x->out);
	struct whole_file file;
	int result;

	whole_file_begin(&file, name);
	report_format_find("json")->render(file.out, x->report, &(struct report_options){ 0 });
	result = whole_file_end(&file, err);
	free(name);
	return result;
}

/* Saves what was found so far. A finished report cannot be extended, so a new one continues it. */
int exploring_report_keep(struct exploring *x, struct error *err)
{
	struct report *before = x->report;

	if (x->nbugs == x->nbugs_kept)
		return 0;
	x->nbugs_kept = x->nbugs;
	exploring_cover(x);
	report_finish(before);
	if (exploring_report_save(x, err) < 0)
		return -1;
	x->report = exploring_report(x);
	report_add_run(x->report, before, NULL);
	report_free(before);
	return 0;
}

struct report *exploring_report_end(struct exploring *x)
{
	struct report *own = x->report, *all;

	x->report = NULL;
	if (!sharing_nothers(x->sharing))
		return own;
	all = x->report = exploring_report(x);
	report_add_run(all, own, NULL);
	report_free(own);
	sharing_add_reports(x->sharing, all);
	exploring_cover(x);
	report_finish(all);
	x->report = NULL;
	return all;
}
