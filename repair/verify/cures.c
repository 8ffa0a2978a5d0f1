/* Tries on the trace what would fix the bugs that a crash shows, before anything is written.
 * Recovery runs on the crash states that failed and on those around them, as they would be with
 * another barrier (flush and fence) or another transaction. Barriers come first, as they cost
 * least, then the smallest transaction. If nothing helps, the bug gets the evidence. The report's
 * replay command says how recovery is run, and on which trace. */
#include "repair/verify/cures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repair/verify/cures_internal.h"
#include "util/alloc.h"

#define RUNS_LEAST 16u /* runs of recovery that are allowed at least */

/* ---- the replay command ---- */

/* Reads the options of `pmend crash … --replay STATE TRACE`, except for the state. False with a
 * reason: they cannot be used. */
static bool read_replay(struct cures *c, const char *line, const char **why)
{
	struct error err;
	int n = 0;

	c->replay = runner_command_new(line, &err);
	for (n = 0; c->replay && c->replay->argv[n]; n++)
		;
	if (n < 3) {
		*why = "its replay command cannot be read";
		return false;
	}
	c->argv = xcalloc((size_t)n + 1, sizeof *c->argv);
	memcpy(c->argv, c->replay->argv + 1, (size_t)(n - 1) * sizeof *c->argv);
	if (c->reader->parse(&c->setup, n - 1, c->argv) != 1) {
		*why = "its replay command cannot be read";
		return false;
	}
	c->trace = c->argv[0];
	if (access(c->trace, R_OK) != 0) {
		*why = cures_keep(
			c,
			xasprintf(
				"its trace %s is not there, so no fix can be tried: run 'pmend crash --trace FILE.pmt' again, "
				"and 'pmend fix' in the same folder",
				c->trace));
		return false;
	}
	return true;
}

/* ---- trying ---- */

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static int find_window(struct cures *c, struct candidate *x, struct cure_points *points,
		       const struct whatif *none, struct error *err)
{
	if (cure_window_find(&x->window, points, c->plan, none, &c->judge.judge, x->seq, err) < 0)
		return -1;
	if (!x->window.is_failing) {
		cures_decline(
			c, x->bug,
			xstrdup("recovery succeeds on all crash states of its failure point when they are tried again, so nothing shows whether a fix works"));
		x->is_done = true;
	}
	return 0;
}

/* Finds the event of each crash, and the failure points around it at which recovery succeeds. */
static int find_windows(struct cures *c, struct error *err)
{
	struct whatif none = { .places = c->whatif.places, .nplaces = c->whatif.nplaces };
	struct cure_points *points = &c->points;
	int result = 0;

	cure_points_find(points, c->plan, &none, &c->judge.judge);
	for (size_t i = 0; i < c->candidates.n; i++) {
		uint64_t number =
			report_bug(c->report, c->candidates.at[i].bug)->crash->failure_point;

		c->candidates.at[i].seq =
			number > 0 && number <= points->seqs.n ? points->seqs.at[number - 1] : 0;
	}
	qsort(c->candidates.at, c->candidates.n, sizeof *c->candidates.at, compare_candidates);
	for (size_t i = 0; result == 0 && i < c->candidates.n; i++)
		result = find_window(c, &c->candidates.at[i], points, &none, err);
	return result;
}

/* Returns how many runs of recovery all bugs together may use: twice those of the exploration, if
 * that number is known. */
static uint64_t runs_allowed(const struct cures *c)
{
	const struct report_coverage *coverage = report_coverage(c->report);
	uint64_t runs = coverage ? coverage->runs : 0;

	if (c->options->max_runs.is_set)
		return c->options->max_runs.n;
	for (size_t i = 0; i < c->candidates.n && (!coverage || !coverage->runs); i++) {
		const struct bug *b = report_bug(c->report, c->candidates.at[i].bug);

		if (b->crash->runs > runs)
			runs = b->crash->runs;
	}
	return runs == 0 ? 0 : runs * 2 > RUNS_LEAST ? runs * 2 : RUNS_LEAST;
}

static void number_places(struct cures *c)
{
	call_paths_find(&c->places, c->plan, &c->setup.libraries);
	c->whatif.places = c->places.by_site.at;
	c->whatif.nplaces = c->places.by_site.n;
}

static int try_all(struct cures *c, struct error *err)
{
	int macros = 0;

	call_paths_split(&c->places, c->report);
	number_places(c);
	c->judge.watch = c->options->watch;
	if (point_judge_init(&c->judge, &c->setup, c->plan, runs_allowed(c), err) < 0 ||
	    find_windows(c, err) < 0)
		return -1;
	if (c->places.split.n > 0) {
		macros = cures_try_macros(c, err);
		if (macros != 0)
			return macros < 0 ? -1 : 0;
		call_paths_release(&c->places); /* now without telling stores of one line apart */
		number_places(c);
	}
	if (cures_try_barriers(c, err) < 0)
		return -1;
	if (cures_try_transactions(c, err) < 0)
		return -1;
	cures_try_late_fences(c);
	return 0;
}

static void tell_effort(const struct cures *c)
{
	uint64_t ntried = c->judge.judge.ntried, nruns = c->judge.counters.runs;

	notes_say(c->notes,
		  "%" PRIu64 " %s tried on the trace, %" PRIu64 " failed; %" PRIu64
		  " run%s of recovery, %.1f s",
		  ntried, ntried == 1 ? "fix" : "fixes", c->judge.judge.nfailed, nruns,
		  nruns == 1 ? "" : "s", (double)(clock_ns() - c->start_ns) / 1e9);
}

/* Tries cures on the trace of the report. Returns -1 if the trace cannot be opened. If nothing can
 * be tried on it, each bug gets the reason. */
static int try_trace(struct cures *c, struct error *err)
{
	int result = 0;

	c->reader->begin(&c->setup);
	c->plan = crash_setup_plan(&c->setup, c->trace, err);
	if (!c->plan) {
		result = -1;
	} else if (!c->setup.options.platform->has_flush) {
		for (size_t i = 0; i < c->candidates.n; i++)
			cures_decline(c, c->candidates.at[i].bug,
				      xasprintf("fixes cannot be tried on platform %s",
						c->setup.options.platform->name));
	} else if (try_all(c, err) < 0) {
		for (size_t i = 0; i < c->candidates.n; i++)
			if (!c->candidates.at[i].is_done)
				cures_decline(c, c->candidates.at[i].bug,
					      xasprintf("no fix was found: %s", err->msg));
	}
	if (c->judge.judge.ntried || c->judge.counters.runs)
		tell_effort(c);
	point_judge_release(&c->judge); /* ends its processes now and not after --verify */
	crash_setup_end(&c->setup);
	return result;
}

struct cures *cures_find(const struct report *report, struct repair_bug **bugs,
			 const struct crash_reader *reader, const struct notes *notes,
			 const struct cure_options *options, struct error *err)
{
	struct cures *c = xcalloc(1, sizeof *c);
	const char *replay = NULL, *why = NULL;

	*c = (struct cures){ .report = report,
			     .bugs = bugs,
			     .reader = reader,
			     .notes = notes,
			     .options = options,
			     .start_ns = clock_ns() };
	cures_list(c);
	if (c->candidates.n == 0)
		return c;
	replay = report_bug(report, c->candidates.at[0].bug)->crash->replay;
	if (read_replay(c, replay, &why) && try_trace(c, err) < 0) {
		cures_free(c);
		return NULL;
	}
	for (size_t i = 0; why && i < c->candidates.n; i++)
		cures_decline(c, c->candidates.at[i].bug, xstrdup(why));
	return c;
}

const char *cures_trace(const struct cures *c)
{
	return c ? c->trace : NULL;
}

struct cure_effort cures_effort(const struct cures *c)
{
	return c ? (struct cure_effort){ c->judge.judge.ntried, c->judge.judge.nfailed,
					 c->judge.counters.runs }
		 : (struct cure_effort){ 0 };
}

void cures_free(struct cures *c)
{
	if (!c)
		return;
	plan_free(c->plan);
	cure_points_release(&c->points);
	whatif_release(&c->whatif);
	call_paths_release(&c->places);
	runner_command_free(c->replay);
	free(c->argv);
	for (size_t i = 0; i < c->lists.n; i++)
		free(c->lists.at[i]);
	for (size_t i = 0; i < c->texts.n; i++)
		free(c->texts.at[i]);
	vec_release(&c->lists);
	vec_release(&c->texts);
	vec_release(&c->candidates);
	free(c);
}
