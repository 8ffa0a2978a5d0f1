/* Decides which failure point is explored next, and how far. The first round gives each failure
 * point its first runs, before any gets more. Each further round goes over the trace again and
 * gives failure points with states left several times as many runs as the round before: first where
 * recovery read something for the first time, then elsewhere. States that can only repeat a known
 * failure come when nothing else is left, and those whose run the short limit ended come last. So a
 * bug that shows everywhere does not use up the runs, and recovery that hangs not the time.
 * Neither does the creation of a pool: where recovery fails alike at neighbouring failure points
 * although nothing is lost, most of these wait until the others are done.
 *
 *	points          1    2    3    4
 *	round 0         2    2    2    2    runs
 *	round 1         8    -    8    -    points 2 and 4 are done
 *	round 2        32    -   11    -
 *
 * Which state of a failure point comes next depends only on that failure point; rounds only divide
 * its runs. A failure point stays with the worker that claimed it. */
#include <inttypes.h>
#include <time.h>

#include "crash/workers/internal.h"
#include "crash/workers/messages.h"

#define WAIT_NS 500000
#define FIRST_RUNS 2u /* runs of a failure point: one with nothing lost, one that loses something */
#define GROWTH 4u     /* factor for the runs from round to round */
/* In the first round, only some failure points of a stretch that fails alike are visited: the first
 * STRETCH_FIRST, and then one of STRETCH_STEP. */
#define STRETCH_FIRST 4u
#define STRETCH_STEP 16u
/* waiting sets of one worker; if there are more, a failure point is finished at once */
#define WAITING_MAX ((size_t)1 << 19)

static bool is_stopped(const struct worker *w)
{
	return __atomic_load_n(&w->explorer.counters->is_stopped, __ATOMIC_RELAXED);
}

/* ---- a failure point ---- */

static void add_tests(struct worker *w)
{
	for (size_t i = 0; i < w->stop->n; i++) {
		const struct variant *v =
			&w->reps->groups.variants.at[w->reps->tests.at[w->stop->first + i]];

		explorer_add_test(&w->explorer, v->seqs, v->nseqs);
	}
}

static void allow(struct worker *w, bool is_first)
{
	struct explorer *e = &w->explorer;

	if (!w->is_allowed_fixed)
		references_allow(w->refs, e->walk->plan, e->walk->seq, &e->allowed);
	if (!is_first || !e->recovery->dump || e->allowed.hashes.n > 0)
		return;
	__atomic_fetch_add(&e->counters->uncompared, 1, __ATOMIC_RELAXED);
	if (!w->is_allowed_fixed && references_overlap(w->refs, e->walk->plan, e->walk->seq))
		__atomic_fetch_add(&e->counters->overlapping, 1, __ATOMIC_RELAXED);
}

/* Restores what was known at a failure point when its last visit ended. */
static void take_up(struct worker *w, struct pause *p)
{
	known_take_up(w, p);
	if (p->races)
		races_take_up(w->races, p->point, p->races);
	p->races = NULL;
}

static void put_away(struct worker *w, struct pause *p)
{
	known_put_away(w, p);
	if (w->races)
		p->races = races_put_away(w->races, p->point);
	point_rest_put_away(p->rest, &w->explorer);
}

/* Reports progress of the present stop of representative testing. */
static void send_stop(struct worker *w, enum worker_message kind)
{
	struct wire m = worker_message_begin(kind);

	wire_number(&m, (uint64_t)(w->stop - w->reps->stops.at));
	worker_message_send(w->fd, &m);
}

static int end_visit(struct worker *w, struct pause *p, struct error *err)
{
	struct explorer *e = &w->explorer;

	if (is_stopped(w))
		/* the failure point is not done: runs that would excuse a race are missing */
		return 0;
	p->nvisits++;
	if (w->races && (p->rest ? races_end_visit : races_end_point)(w->races, e, err) < 0)
		return -1;
	if (w->reps && p->nvisits == 1)
		send_stop(w, MESSAGE_STOP_BEGUN);
	if (w->reps && !p->rest && !is_stopped(w))
		send_stop(w, MESSAGE_STOP_DONE);
	if (p->rest)
		put_away(w, p);
	return 0;
}

/* ---- windows ---- */

#define WINDOWS_BYTES ((size_t)64 << 20) /* memory for the runs of all windows */

static void windows_drop_all(struct worker *w)
{
	while (w->windows.n > 0)
		window_free(w->windows.at[--w->windows.n]);
	vec_release(&w->windows);
	window_ahead_release(&w->ahead);
}

/* Will no failure point of this window be visited again? */
static bool is_over(const struct worker *w, const struct window *window)
{
	size_t low = 0, high = w->pauses.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (w->pauses.at[middle].point < window_first_point(window))
			low = middle + 1;
		else
			high = middle;
	}
	return low == w->pauses.n || w->pauses.at[low].point > window_last_point(window);
}

static void windows_drop(struct worker *w)
{
	size_t n = 0, bytes = 0;

	for (size_t i = 0; i < w->windows.n; i++)
		if (is_over(w, w->windows.at[i])) {
			window_free(w->windows.at[i]);
		} else {
			bytes += window_bytes(w->windows.at[i]);
			w->windows.at[n++] = w->windows.at[i];
		}
	w->windows.n = n;
	for (size_t i = 0; i < n && bytes > WINDOWS_BYTES; i++)
		window_forget(w->windows.at[i]);
}

/* Gives the window of the walk's failure point. A point that is visited again belongs to an
 * existing window, because its lines must be those of its first visit. */
static struct window *window_here(struct worker *w)
{
	const struct walk *walk = w->explorer.walk;
	size_t low = 0, high = w->windows.n;

	if (w->window <= 1)
		return NULL;
	while (low < high) { /* binary search: the first window behind it */
		const size_t middle = low + (high - low) / 2;

		if (window_first_point(w->windows.at[middle]) <= walk->point)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && window_has(w->windows.at[low - 1], walk->point, walk->seq))
		return w->windows.at[low - 1];
	*vec_add(&w->windows) =
		window_new(walk, w->window_ends->at[(walk->point - 1) / w->window], &w->ahead);
	return w->windows.at[w->windows.n - 1];
}

/* Visits the walk's failure point. runs, wants_known: as for explorer_visit(). */
static int visit(struct worker *w, struct pause *p, uint64_t runs, bool wants_known,
		 struct error *err)
{
	const bool has_room = w->nwaiting <= WAITING_MAX;

	w->stop = p->stop;
	if (w->reps)
		add_tests(w);
	allow(w, p->nvisits == 0);
	if (p->rest)
		w->nwaiting -= point_rest_size(p->rest);
	take_up(w, p);
	w->explorer.window = window_here(w);
	if (explorer_visit(&w->explorer, &p->rest, has_room ? runs : 0, wants_known || !has_room,
			   err) < 0)
		return -1;
	if (p->rest)
		w->nwaiting += point_rest_size(p->rest);
	return end_visit(w, p, err);
}

static void pause_release(struct worker *w, struct pause *p)
{
	if (p->nvisits > 1)
		__atomic_fetch_add(&w->explorer.counters->deeper, 1, __ATOMIC_RELAXED);
	if (p->rest)
		__atomic_fetch_add(&w->explorer.counters->slow, point_rest_slow(p->rest),
				   __ATOMIC_RELAXED);
	if (p->rest)
		point_rest_free(p->rest, &w->explorer);
	known_pause_release(p);
	race_notes_free(p->races);
}

void rounds_release(struct worker *w)
{
	for (size_t i = 0; i < w->pauses.n; i++)
		pause_release(w, &w->pauses.at[i]);
	vec_release(&w->pauses);
	windows_drop_all(w);
}

/* ---- walking to a failure point ---- */

static void begin_walk(struct walk *walk)
{
	const struct plan *plan = walk->plan;
	const unsigned stops = walk->stops;
	const bool has_shadow = walk->shadow != NULL;

	walk_release(walk);
	walk_init(walk, plan, stops);
	if (has_shadow)
		walk_add_shadow(walk);
}

/* Moves the walk to a failure point. is_first: it was not visited yet. */
static int walk_to(struct worker *w, uint64_t point, bool is_first, struct error *err)
{
	struct walk *walk = w->explorer.walk;

	if (walk->point >= point)
		begin_walk(walk);
	if (index_seek_point(w->index, walk, point, err) < 0)
		return -1;
	while (walk->point < point) {
		if (!walk_next(walk))
			return error_set(err,
					 "failure point %" PRIu64
					 " is not there: the trace was changed, or is damaged",
					 point);
		if (w->races && is_first)
			races_pass_point(w->races, &w->explorer);
	}
	return 0;
}

/* ---- the first round ---- */

/* The number of the last failure point, or stop, of the lot. */
static uint64_t last_of(const struct lot *l)
{
	return share_at(l->share, l->first + l->n - 1);
}

/* Claims the next failure point; UINT64_MAX: none is left for this worker. Whole windows are
 * claimed: a share consists of whole windows, except at the end of the trace. */
static uint64_t claim(struct worker *w)
{
	const struct lot *l = w->lot;
	uint64_t i, n;

	if (w->claimed == w->claimed_end) {
		windows_drop(w);
		w->claimed = w->window * __atomic_fetch_add(&w->explorer.counters->next_window, 1,
							    __ATOMIC_RELAXED);
		w->claimed_end = w->claimed + w->window;
	}
	i = w->claimed++;
	n = i < l->n ? share_at(l->share, l->first + i) : last_of(l) + 1 + (i - l->n);

	if (w->table)
		race_table_begin(w->table, w->number, n);
	if (i >= l->n)
		return UINT64_MAX;
	if (!w->reps)
		return n;
	w->stop = &w->reps->stops.at[n - 1];
	return w->stop->point;
}

static void keep(struct worker *w, const struct pause *p)
{
	size_t i = w->pauses.n;

	*vec_add(&w->pauses) = *p;
	for (; i > 0 && w->pauses.at[i - 1].point > p->point; i--)
		w->pauses.at[i] = w->pauses.at[i - 1];
	w->pauses.at[i] = *p;
}

static int first_visit(struct worker *w, struct pause *p, struct error *err)
{
	bool is_whole;

	if (walk_to(w, p->point, true, err) < 0)
		return -1;
	/* Races are concluded where their stores may be lost for the first time, and from all
	 * states of that failure point. */
	is_whole = w->is_whole || w->explorer.strategy->is_single ||
		   (w->races && races_is_novel(w->races));
	return visit(w, p, is_whole ? 0 : FIRST_RUNS, is_whole || w->races, err);
}

static void forget_done(struct worker *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->pauses.n; i++)
		if (w->pauses.at[i].rest || w->pauses.at[i].is_alike)
			w->pauses.at[n++] = w->pauses.at[i];
		else
			known_pause_release(&w->pauses.at[i]);
	w->pauses.n = n;
}

/* ---- stretches of failure points that fail alike ---- */

/* May failure points that fail like their neighbours wait? Not with races, which are concluded in
 * the order of failure points; not with behaviours, which choose their failure points; and not
 * without a budget, because the order does not matter then. */
static bool has_stretches(const struct worker *w)
{
	return !w->races && !w->reps && !w->is_whole;
}

static bool is_to_wait(struct worker *w)
{
	struct stretch *s = &w->stretch;

	if (!has_stretches(w) || !s->end)
		return false;
	s->n++;
	return s->n > STRETCH_FIRST && s->n % STRETCH_STEP != 0;
}

/* Lets a failure point wait until the others are done. Its window begins all the same, because a
 * window must begin at its first failure point, whichever of its points is visited first. */
static int put_off(struct worker *w, uint64_t point, struct error *err)
{
	if (w->window > 1) {
		if (walk_to(w, point, true, err) < 0)
			return -1;
		window_here(w);
	}
	keep(w, &(struct pause){ .point = point, .is_alike = true });
	__atomic_fetch_add(&w->explorer.counters->alike, 1, __ATOMIC_RELAXED);
	return 0;
}

static void no_longer_waits(struct worker *w, struct pause *p)
{
	p->is_alike = false;
	__atomic_fetch_sub(&w->explorer.counters->alike, 1, __ATOMIC_RELAXED);
}

/* Visits failure points that wait, from the present one backwards, until one fails as the stretch
 * does. The stretch has ended somewhere between its last visited point and the present one. */
static int look_back(struct worker *w, struct error *err)
{
	const struct stretch s = w->stretch;
	int result = 0;

	for (size_t i = w->pauses.n; i-- > 0 && result == 0 && explorer_may_run(&w->explorer);) {
		struct pause *p = &w->pauses.at[i];

		if (p->point <= s.last)
			break;
		if (!p->is_alike)
			continue; /* the one that showed that it is over */
		no_longer_waits(w, p);
		result = first_visit(w, p, err);
		if (w->explorer.first_end == s.end)
			break;
	}
	forget_done(w);
	return result;
}

/* Notes how a visited failure point failed: the present stretch goes on, or ends and a new one
 * begins. */
static int go_on(struct worker *w, uint64_t point, struct error *err)
{
	const uint64_t end = w->explorer.first_end;
	int result = 0;

	if (end != w->stretch.end) {
		if (w->stretch.end)
			result = look_back(w, err);
		w->stretch = (struct stretch){ .end = end, .n = 1 };
	}
	w->stretch.last = point;
	return result;
}

/* ---- all of the first round ---- */

static int first_round(struct worker *w, struct error *err)
{
	int result = 0;

	for (uint64_t claimed = claim(w);
	     result == 0 && claimed != UINT64_MAX && explorer_may_run(&w->explorer);
	     claimed = claim(w)) {
		struct pause p = { .point = claimed, .stop = w->stop };

		if (is_to_wait(w)) {
			result = put_off(w, claimed, err);
			continue;
		}
		result = first_visit(w, &p, err);
		if (p.rest)
			keep(w, &p);
		else
			known_pause_release(&p);
		if (result == 0 && has_stretches(w))
			result = go_on(w, claimed, err);
	}
	return result == 0 && w->stretch.end ? look_back(w, err) : result;
}

/* ---- further rounds ---- */

enum which { WHICH_NEW, WHICH_UNKNOWN, WHICH_ALIKE, WHICH_KNOWN, WHICH_ALL };

static bool is_wanted(const struct pause *p, enum which which, uint64_t round)
{
	if (p->round == round || p->is_alike != (which == WHICH_ALIKE))
		return false;
	if (which == WHICH_ALIKE)
		return true;
	if (which == WHICH_KNOWN)
		return point_rest_size(p->rest) > point_rest_slow(p->rest);
	return which == WHICH_ALL || (point_rest_has_unknown(p->rest) &&
				      (which == WHICH_UNKNOWN || point_rest_is_new(p->rest)));
}

static bool has_any(const struct worker *w, enum which which, uint64_t round)
{
	for (size_t i = 0; i < w->pauses.n; i++)
		if (is_wanted(&w->pauses.at[i], which, round))
			return true;
	return false;
}

/* Begins a turn: races are concluded in the order of rounds, then of failure points. */
static void begin_turn(struct worker *w, const struct pause *p, uint64_t round)
{
	if (w->table)
		race_table_begin(w->table, w->number,
				 round * (last_of(w->lot) + w->jobs + 1) + p->point);
}

static int go_over(struct worker *w, enum which which, uint64_t round, uint64_t runs,
		   struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < w->pauses.n && result == 0 && explorer_may_run(&w->explorer); i++) {
		struct pause *p = &w->pauses.at[i];

		if (!is_wanted(p, which, round))
			continue;
		if (p->is_alike)
			no_longer_waits(w, p);
		p->round = w->explorer.round = round;
		w->explorer.wants_slow = which == WHICH_ALL;
		begin_turn(w, p, round);
		result = walk_to(w, p->point, false, err);
		if (result == 0)
			result = visit(w, p, runs, which >= WHICH_KNOWN, err);
	}
	forget_done(w);
	windows_drop(w);
	return result;
}

/* Notes that this worker is done with a stage and with those before it. */
static void leave_stage(struct worker *w, enum search_stage stage)
{
	for (; w->stage <= stage; w->stage++)
		__atomic_fetch_sub(&w->explorer.counters->busy[w->stage], 1, __ATOMIC_RELAXED);
}

/* Waits until all workers have left a stage. Only needed if the number of runs is limited: what
 * others still have to do comes before this worker's next stage. */
static void wait_for_stage(const struct worker *w, enum search_stage stage)
{
	while (w->explorer.limits.max_runs && w->pauses.n > 0 && !is_stopped(w) &&
	       __atomic_load_n(&w->explorer.counters->busy[stage], __ATOMIC_RELAXED) > 0)
		nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
}

/* Runs of each failure point in the present round: of all states, of those that can only repeat a
 * known bug, and of those whose run the short limit ended. */
struct round_runs {
	uint64_t all, known, slow;
};

/* Runs one more round: for states that may fail in a way that is not known yet, if there are any,
 * otherwise for those of the next stage. */
static int further_round(struct worker *w, uint64_t round, struct round_runs *runs,
			 struct error *err)
{
	int result = 0;

	if (w->races) {
		runs->all *= GROWTH;
		return go_over(w, WHICH_ALL, round, runs->all, err);
	}
	if (!has_any(w, WHICH_UNKNOWN, round)) {
		leave_stage(w, STAGE_UNKNOWN);
		wait_for_stage(w, STAGE_UNKNOWN);
		if (has_any(w, WHICH_ALIKE, round))
			return go_over(w, WHICH_ALIKE, round, FIRST_RUNS, err);
		leave_stage(w, STAGE_ALIKE);
		wait_for_stage(w, STAGE_ALIKE);
		if (has_any(w, WHICH_KNOWN, round)) {
			runs->known *= GROWTH;
			return go_over(w, WHICH_KNOWN, round, runs->known, err);
		}
		leave_stage(w, STAGE_KNOWN);
		wait_for_stage(w, STAGE_KNOWN);
		runs->slow *= GROWTH;
		return go_over(w, WHICH_ALL, round, runs->slow, err);
	}
	runs->all *= GROWTH;
	if (has_any(w, WHICH_NEW, round))
		result = go_over(w, WHICH_NEW, round, runs->all, err);
	return result == 0 ? go_over(w, WHICH_UNKNOWN, round, runs->all, err) : result;
}

int rounds_explore(struct worker *w, struct error *err)
{
	struct round_runs runs = { FIRST_RUNS, FIRST_RUNS, 1 };
	int result = first_round(w, err);

	leave_stage(w, STAGE_FIRST_RUNS);
	wait_for_stage(w, STAGE_FIRST_RUNS);
	for (uint64_t round = 1; result == 0 && w->pauses.n > 0 && explorer_may_run(&w->explorer);
	     round++)
		result = further_round(w, round, &runs, err);
	leave_stage(w, STAGE_KNOWN);
	return result;
}
