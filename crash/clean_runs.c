/* Runs recovery where nothing is lost, at the beginning and at the end of the trace. If it fails
 * there, the checker is probably wrong, and pmend explores nothing. Two such failures at the end
 * are bugs of the program: recovery dies of a signal, so each start of the program dies; or
 * recovery relies on zeros that nobody stored. If the recorded program was killed, the end of the
 * trace is an ordinary crash: exploring reports a failure there. The walk to the end also counts
 * the failure points, and the duration of these runs gives the time limit of all others. */
#include "crash/clean_runs.h"

#include <signal.h>
#include <string.h>

#include "crash/search/blame.h"
#include "crash/search/state_text.h"
#include "crash/states/beside.h"
#include "crash/states/first_change.h"
#include "crash/zeros.h"

#define TIMEOUT_MIN_MS 2000u
#define TIMEOUT_FACTOR 10u

struct clean_run {
	struct runner *runner;
	const struct recovery *recovery;
	const struct trace *trace;
	const uint64_t *newest;
	struct verdict verdict;
	/* gets a kind if the program's own recovery dies, or relies on zeros that nobody stored */
	struct crash_bug *bug;
};

static int run_clean(struct clean_run *c, struct error *err)
{
	runner_begin(c->runner, c->newest, false);
	return verdict_run(&c->verdict, c->runner, c->recovery, NULL, err);
}

static enum blame_again run_again(void *arg, struct error *err)
{
	const struct clean_run *first = arg;
	struct clean_run again = *first;

	if (run_clean(&again, err) < 0)
		return AGAIN_ERROR;
	return again.verdict.kind == VERDICT_OK                ? AGAIN_FINE
	       : verdict_same(&again.verdict, &first->verdict) ? AGAIN_SAME
							       : AGAIN_OTHER;
}

/* Did the program's own recovery die of a signal? SIGKILL does not count: another process may have
 * sent it. */
static bool is_death(const struct clean_run *c)
{
	const struct verdict *v = &c->verdict;

	return v->kind == VERDICT_SIGNAL && v->code != SIGKILL &&
	       v->command == c->recovery->recover;
}

/* Fills err with the reason why nothing can be explored, after recovery failed though nothing was
 * lost. Describes a bug if the failure is one. */
static void tell_failure(struct clean_run *c, const char *which, bool is_late, struct error *err)
{
	const struct verdict *v = &c->verdict;
	/* copied now, because the next run overwrites the runner's strings */
	char *text = verdict_text(v), *said = verdict_said(v), *limit;
	const char *unseen = trace_unseen(c->trace),
		   *command = v->command ? v->command->shown : "?";
	enum blame blame = BLAME_PROGRAM;
	const bool has_died = is_death(c) && !unseen;
	enum runner_limit struck;
	struct error ignored;

	if (has_died)
		crash_bug_describe(c->bug, v);
	if (!verdict_is_slow(v)) /* a second run would take as long until its time limit */
		blame = blame_find(c->runner, v, true, run_again, c, &struck, &ignored);
	if (blame == BLAME_LIMIT || blame == BLAME_EXCESS) {
		limit = runner_limit_text(c->runner, struck);
		error_set(
			err,
			"recovery reached %s on the %s state, where nothing is lost (%s%s; %s). No crash state was explored",
			limit, which, text, said, command);
		free(limit);
	} else if (is_late) {
		error_set(
			err,
			"nothing could be explored: --max-time ended while recovery ran on the %s state, where nothing is lost (%s); give more time, or find "
			"out why it does not end",
			which, command);
	} else if (unseen) {
		error_set(
			err,
			"recovery fails on the %s state, where nothing is lost: %s%s. That need not be the fault of %s: the trace does not have all that happened "
			"(%s). No crash state was explored",
			which, text, said, command, unseen);
	} else {
		error_set(
			err,
			"recovery fails on the %s state, where nothing is lost: %s%s. The checker (%s) fails even when nothing is lost. Fix it "
			"first; no crash state was explored",
			which, text, said, command);
	}
	if (has_died && blame == BLAME_PROGRAM)
		c->bug->kind = "recovery-failure";
	free(text);
	free(said);
}

int clean_runs_not_opened(const struct recovery *c, struct error *err)
{
	for (int part = 0; part < PART_N; part++) {
		const struct runner_command *command =
			recovery_command(c, (enum recovery_part)part);

		if (command && runner_command_has_pool(command))
			return error_set(
				err,
				"recovery opened no file of the trace, although its command line names the pool (%s); {} must be an "
				"argument that the program opens (in sh -c 'SCRIPT' {}, the script sees it as $0)",
				command->shown);
	}
	return error_set(
		err, "recovery opened no file of the trace; put {} where the pool's path belongs");
}

/* Can recovery rely on zeros that nobody stored? Only at the end of a trace that contains
 * everything that happened. */
static bool may_rely_on_zeros(const struct walk *w, const struct crash_bug *bug)
{
	return bug->is_clean && w->plan->nold_bytes > 0 && !trace_unseen(w->plan->trace);
}

/* Finds out whether a failure of recovery at the end is a bug, because recovery relies on zeros
 * that nobody stored. If it does not, recovery runs once more on the unchanged state, so that the
 * runner's strings are about that run. -1 if recovery cannot be run. */
static int try_zeros(struct walk *w, const struct state_set *set, struct clean_run *c,
		     struct error *err)
{
	struct crash_bug relied = *c->bug;

	/* copied now, because the next run overwrites the runner's strings */
	crash_bug_describe(&relied, &c->verdict);
	if (zeros_are_relied_on(w, c->runner, c->recovery, &relied.allocation)) {
		relied.kind = "uninitialised-read";
		*c->bug = relied;
		return 0;
	}
	crash_bug_release(&relied);
	runner_load(c->runner, &w->image, set);
	return run_clean(c, err);
}

/* Runs recovery with the files beside the pool as they were at this event, if the trace kept
 * them. */
static int run_beside(struct walk *w, const struct state_set *set, struct clean_run *c,
		      const struct beside *files, enum beside_time time, bool *copes,
		      struct error *err)
{
	const struct beside_version *versions[BESIDE_MAX];
	struct crash_image with;
	int result;

	for (size_t i = 0; i < files->files.n; i++) {
		versions[i] =
			beside_at(&files->files.at[i], time, w->is_over ? UINT64_MAX : w->seq);
		if (versions[i]->what == BESIDE_UNKNOWN)
			return 0;
	}
	beside_image(&with, &w->image, files, versions);
	runner_load(c->runner, &with, set);
	result = run_clean(c, err);
	*copes = result == 0 && c->verdict.kind == VERDICT_OK && !c->verdict.why_unsound;
	beside_image_release(&with, &w->image);
	return result;
}

/* Tries whether recovery, which failed with today's files beside the pool, copes with the files of
 * this event, which may differ from them. If it copes, nothing is wrong with it; failures that such
 * files cause are explained at each finding. Otherwise recovery runs once more as before. -1 if
 * recovery cannot be run. */
static int try_beside(struct walk *w, const struct state_set *set, struct clean_run *c,
		      const char *const *paths, bool *copes, struct error *err)
{
	struct beside files = { 0 };
	int result = 0;

	*copes = false;
	beside_read(&files, w->plan->trace, paths);
	for (int time = 0; time < BESIDE_TIMES && files.files.n > 0 && result == 0 && !*copes;
	     time++)
		result = run_beside(w, set, c, &files, (enum beside_time)time, copes, err);
	if (files.files.n > 0) /* otherwise the runner still knows where recovery died */
		runner_load(c->runner, &w->image, set);
	if (result == 0 && files.files.n > 0 && !*copes)
		result = run_clean(c, err);
	beside_release(&files);
	return result;
}

static int try_clean(struct walk *w, struct runner *runner, const struct crash_options *o,
		     const char *which, uint64_t *time_us, struct crash_bug *bug, bool *needs_pool,
		     struct error *err)
{
	struct state_set set = { 0 };
	struct clean_run run = {
		.runner = runner, .recovery = o->recovery, .trace = w->plan->trace, .bug = bug
	};
	uint64_t *newest, start = clock_ns();
	bool is_late = false, copes = false;
	int result;

	states_collect_newest(&set, w->model);
	newest = states_newest(&set);
	runner_load(runner, &w->image, &set);
	recovery_set_moment(o->recovery, runner, w->plan, w->is_over ? UINT64_MAX : w->ev.seq);
	run.newest = newest;
	result = run_clean(&run, err);
	if ((clock_ns() - start) / 1000 > *time_us)
		*time_us = (clock_ns() - start) / 1000;
	if (result == 0 && run.verdict.why_unsound) {
		result = error_set(err, "recovery cannot be run on crash states: %s",
				   run.verdict.why_unsound);
	} else if (result == 0 && verdict_is_refusal(&run.verdict, runner, walk_has_pool(w))) {
		*needs_pool = true;
	} else if (result == 0 && run.verdict.kind != VERDICT_OK && may_rely_on_zeros(w, bug)) {
		result = try_zeros(w, &set, &run, err);
	}
	if (verdict_is_slow(&run.verdict))
		is_late = o->limits.deadline_ns && clock_ns() >= o->limits.deadline_ns;
	else if (result == 0 && !bug->kind && !*needs_pool && run.verdict.kind != VERDICT_OK &&
		 !run.verdict.why_unsound)
		result = try_beside(w, &set, &run, o->runner.paths, &copes, err);
	if (result == 0 && !bug->kind && !*needs_pool && !copes && run.verdict.kind != VERDICT_OK &&
	    !run.verdict.why_unsound) {
		tell_failure(&run, which, is_late, err);
		result = -1;
	}
	if (bug->kind)
		bug->state = state_text(&set, w->point, newest);
	free(newest);
	states_release(&set);
	return result;
}

/* Tests recovery before anything was stored that may be lost. This is earlier than the first
 * failure point, where the first operation is already in progress. *has_died: the program's own
 * recovery died of a signal. If it dies at the end as well, the reason is not a checker that
 * expects a pool that is already set up. */
static int try_begin(const struct plan *p, const struct crash_options *o, struct runner *runner,
		     uint64_t *time_us, bool *has_died, bool *needs_pool, struct error *err)
{
	struct crash_bug bug = { 0 };
	struct walk w;
	int result;

	walk_init(&w, p, o->stops);
	walk_enter(&w);
	result = try_clean(&w, runner, o, "initial", time_us, &bug, needs_pool, err);
	*has_died = bug.kind;
	crash_bug_release(&bug);
	walk_release(&w);
	return result;
}

#define UNREAD_SHOWN 3u

/* Names the PM files that the last run did not read, if it read another one. */
static char *find_unread(const struct crash_image *im, const struct runner *runner)
{
	char *text = NULL, *longer;
	size_t nread = 0, nunread = 0;

	for (size_t i = 1; i < im->files.n; i++) {
		const char *path = im->files.at[i].path;

		if (!path || !im->files.at[i].exists)
			continue;
		if (runner_looked_at(runner, (uint32_t)i)) {
			nread++;
			continue;
		}
		if (nunread++ >= UNREAD_SHOWN)
			continue;
		longer = xasprintf("%s%s%s", text ? text : "", text ? ", " : "", path);
		free(text);
		text = longer;
	}
	if (nunread > UNREAD_SHOWN) {
		longer = xasprintf("%s and %zu more", text, nunread - UNREAD_SHOWN);
		free(text);
		text = longer;
	}
	if (nread > 0)
		return text;
	free(text);
	return NULL;
}

/* Tests recovery at the end of the trace. If recovery dies there, that is the only finding: it
 * would die after every crash, sooner or later. */
static int try_end(struct walk *w, const struct crash_options *o, struct runner *runner,
		   struct crash_result *r, uint64_t *time_us, struct error *err)
{
	struct crash_bug bug = {
		.point = w->point, .seq = w->plan->nevents + 1, .count = 1, .is_clean = true
	};
	bool needs_pool = false;
	int result = try_clean(w, runner, o, "final", time_us, &bug, &needs_pool, err);

	if (!r->unread)
		r->unread = find_unread(&w->image, runner);
	if (bug.kind && runner_has_opened(runner)) {
		*vec_add(&r->bugs) = bug;
		return 0;
	}
	crash_bug_release(&bug);
	if (result == 0 && !runner_has_opened(runner) && image_has_file(&w->image))
		result = clean_runs_not_opened(o->recovery, err);
	return result;
}

/* ---- the walk to the end of the trace ---- */

struct dealing {
	struct dealer dealer;
	struct share *share;
	crash_events *crashes; /* NULL if nobody asked for the events */
	uint64_t window;
	crash_events *window_ends;
};

static void deal(uint64_t seq, uint64_t cost, void *arg)
{
	struct dealing *d = arg;
	const uint64_t number = d->dealer.next - 1;

	if (number % d->window == 0)
		*vec_add(d->window_ends) = seq;
	d->window_ends->at[d->window_ends->n - 1] = seq;
	if (dealer_add(&d->dealer, cost, d->share) && d->crashes)
		*vec_add(d->crashes) = seq;
}

/* Assigns the failure points to the shard. The walk stands at the first failure point and goes to
 * the end. */
static int walk_all(struct walk *w, const struct crash_options *o, struct rep_points *points,
		    struct dealing *d, struct error *err)
{
	int result;

	if (o->index) {
		result = index_each_point(o->index, deal, d, err);
		if (result == 0)
			result = index_seek_event(o->index, w, UINT64_MAX, err);
		while (result == 0 && walk_next(w))
			;
		return result;
	}
	do {
		deal(w->seq, index_cost(w), d);
		if (o->strategy->is_representative)
			rep_points_add(points, w);
	} while (walk_next(w));
	return 0;
}

int clean_runs_try(const struct plan *p, const struct crash_options *o, struct runner *runner,
		   struct crash_result *r, struct rep_points *points, struct share *share,
		   crash_events *crashes, crash_events *window_ends, struct error *err)
{
	struct dealing dealing = {
		.share = share, .crashes = crashes, .window = o->window, .window_ends = window_ends
	};
	bool has_died;
	uint64_t time_us = 0, start_ns;
	struct error failed;
	struct walk w;
	int result;

	if (!o->may_lack_news && !news_in(p))
		return error_set(
			err,
			"nothing could be explored: the program stored nothing new to persistent memory%s",
			p->initial.n > 0
				? "; its files already held the same data: start without them (--fresh), or give the program "
				  "something to do"
				: "");
	walk_init(&w, p, o->stops);
	if (!walk_next(&w)) {
		walk_release(&w);
		return error_set(
			err, "%s holds no failure point: nothing was stored to persistent memory%s",
			p->path, p->has_roi ? " inside the region of interest" : "");
	}
	runner_set_deadline(runner, o->limits.deadline_ns);
	result = try_begin(p, o, runner, &time_us, &has_died, &r->needs_pool, err);
	start_ns = clock_ns();
	dealer_init(&dealing.dealer, o->shard);
	dealing.dealer.together = o->window;
	if ((result == 0 || has_died) && walk_all(&w, o, points, &dealing, err) < 0) {
		result = -1;
		has_died = false;
	}
	dealer_release(&dealing.dealer);
	r->walk_ns = clock_ns() - start_ns;
	r->npoints = w.point;
	if (result == 0 && p->cut == CUT_NONE)
		result = try_end(&w, o, runner, r, &time_us, err);
	else if (has_died && p->cut == CUT_NONE &&
		 try_end(&w, o, runner, r, &time_us, &failed) == 0 && r->bugs.n > 0)
		result = 0;
	runner_set_deadline(runner, 0);
	r->timeout_ms = (uint32_t)(time_us / 1000 * TIMEOUT_FACTOR);
	if (r->timeout_ms < TIMEOUT_MIN_MS)
		r->timeout_ms = TIMEOUT_MIN_MS;
	walk_release(&w);
	return result;
}
