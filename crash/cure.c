/* Finds the smallest interval of a thread's work that cures a failing crash state if it is made
 * atomic. If an interval cures, every larger interval between the same two acknowledgements does,
 * too; so both ends are found by halving. */
#include "crash/cure.h"

#define POINTS_MAX 64u /* failure points that are searched on each side */

/* ---- judging failure points ---- */

/* The index of the last failure point that is not after seq. */
static size_t point_find(const struct cure_points *points, uint64_t seq)
{
	size_t i = points->seqs.n;

	while (i > 1 && points->seqs.at[i - 1] > seq)
		i--;
	return i > 0 ? i - 1 : 0;
}

/* Begins a walk over the trace with the supposed change; walk_next() goes from one failure point to
 * the next. */
static void walk_begin(struct walk *w, const struct plan *p, const struct whatif *supposed,
		       const struct cure_judge *j)
{
	walk_init(w, p, j->stops);
	walk_suppose(w, supposed);
}

static bool is_known(const struct cure_points *known, uint64_t seq)
{
	size_t i = known && known->seqs.n ? point_find(known, seq) : 0;

	return known && known->seqs.n && known->seqs.at[i] == seq && known->verdicts.at[i] > 0;
}

int cure_holds(const struct cure_window *w, const struct plan *p, const struct whatif *supposed,
	       const struct cure_points *known, struct cure_judge *j, struct error *err)
{
	int result = 1;
	struct walk walk;

	j->ntried++;
	walk_begin(&walk, p, supposed, j);
	while (result > 0 && walk_next(&walk) && walk.seq <= w->last_seq)
		if (walk.seq >= w->first_seq && !is_known(known, walk.seq))
			result = j->at(&walk, j->arg, err);
	walk_release(&walk);
	j->nfailed += result == 0;
	return result > 0 ? 1 : result;
}

/* ---- the window ---- */

/* Is the event an acknowledgement, or the beginning of an operation? Others may look at the state
 * there. */
static bool is_watched_event(const struct plan *p, const struct trace_event *ev)
{
	return ev->kind == PMT_OUTPUT || (p->has_annotated_operations &&
					  (ev->kind == PMT_OP_BEGIN || ev->kind == PMT_OP_END));
}

/* Finds the acknowledgements before and after a crash before event seq. Nobody outside sees a state
 * between the two. */
static void find_acknowledgements(const struct plan *p, uint64_t seq, uint64_t *before,
				  uint64_t *after)
{
	struct trace *t = trace_cursor(p->trace);
	struct trace_event ev;

	*before = 0;
	*after = UINT64_MAX;
	while (*after == UINT64_MAX && trace_next(t, &ev)) {
		if (is_watched_event(p, &ev) && ev.seq < seq)
			*before = ev.seq;
		else if (is_watched_event(p, &ev))
			*after = ev.seq;
	}
	trace_close(t);
}

void cure_points_find(struct cure_points *out, const struct plan *p, const struct whatif *supposed,
		      const struct cure_judge *j)
{
	struct walk w;

	walk_begin(&w, p, supposed, j);
	while (walk_next(&w)) {
		*vec_add(&out->seqs) = w.seq;
		*vec_add(&out->verdicts) = CURE_UNJUDGED;
	}
	walk_release(&w);
}

void cure_points_release(struct cure_points *points)
{
	vec_release(&points->seqs);
	vec_release(&points->verdicts);
}

static bool needs_judging(const struct cure_points *points, size_t from, size_t to, bool wants_all)
{
	for (size_t i = from; i <= to; i++) {
		if (points->verdicts.at[i] == CURE_UNJUDGED)
			return true;
		if (points->verdicts.at[i] > 0 && !wants_all)
			return false;
	}
	return false;
}

/* Judges the failure points from..to. Stops at the first where recovery copes, unless all are
 * wanted. */
static int points_judge(struct cure_points *points, size_t from, size_t to, bool wants_all,
			const struct plan *p, const struct whatif *supposed, struct cure_judge *j,
			struct error *err)
{
	int result = 0;
	struct walk w;

	if (!needs_judging(points, from, to, wants_all))
		return 0;
	walk_begin(&w, p, supposed, j);
	for (size_t i = 0; i <= to && result >= 0 && walk_next(&w); i++) {
		if (i < from)
			continue;
		if (points->verdicts.at[i] == CURE_UNJUDGED)
			points->verdicts.at[i] = j->at(&w, j->arg, err);
		result = points->verdicts.at[i];
		if (result > 0 && !wants_all)
			break;
	}
	walk_release(&w);
	return result < 0 ? -1 : 0;
}

static size_t reach(const struct cure_judge *j)
{
	return j->npoints_max && j->npoints_max < POINTS_MAX ? j->npoints_max : POINTS_MAX;
}

/* Finds the first failure point from `at` on where recovery copes. If there is none, *last is the
 * last one before the acknowledgement, or the last one in reach. */
static int look_ahead(struct cure_points *points, size_t at, uint64_t after, size_t *last,
		      const struct plan *p, const struct whatif *supposed, struct cure_judge *j,
		      struct error *err)
{
	size_t end = at + reach(j) < points->seqs.n ? at + reach(j) : points->seqs.n - 1;

	while (end > at && points->seqs.at[end] > after)
		end--;
	if (points_judge(points, at, end, false, p, supposed, j, err) < 0)
		return -1;
	for (*last = at; *last < end && points->verdicts.at[*last] <= 0;)
		++*last;
	return 0;
}

/* Finds the nearest failure point before `at` where recovery copes. If there is none, *first is the
 * first one after the acknowledgement, or the first one in reach. The searched pieces double in
 * size, because each costs a walk. */
static int look_back(struct cure_points *points, size_t at, uint64_t before, size_t *first,
		     const struct plan *p, const struct whatif *supposed, struct cure_judge *j,
		     struct error *err)
{
	size_t step = 1;

	for (*first = at; *first > 0 && at - *first < reach(j) &&
			  points->verdicts.at[*first] <= 0 && points->seqs.at[*first - 1] > before;
	     step *= 2) {
		size_t to = *first - 1, from = *first > step ? *first - step : 0;

		if (points_judge(points, from, to, true, p, supposed, j, err) < 0)
			return -1;
		for (*first = to; *first > from && points->verdicts.at[*first] <= 0;)
			--*first;
	}
	return 0;
}

int cure_window_find(struct cure_window *w, struct cure_points *points, const struct plan *p,
		     const struct whatif *supposed, struct cure_judge *j, uint64_t seq,
		     struct error *err)
{
	size_t at, first, last;
	uint64_t before, after;

	*w = (struct cure_window){ 0 }; /* without failure points, nothing can fail */
	if (points->seqs.n == 0)
		return 0;
	at = point_find(points, seq);
	find_acknowledgements(p, seq, &before, &after);
	if (points_judge(points, at, at, true, p, supposed, j, err) < 0)
		return -1;
	if (points->verdicts.at[at] == CURE_SAMPLED)
		/* recovery coped with a sample; the failing state was not in it */
		points->verdicts.at[at] = 0;
	if (look_ahead(points, at, after, &last, p, supposed, j, err) < 0 ||
	    look_back(points, at, before, &first, p, supposed, j, err) < 0)
		return -1;
	*w = (struct cure_window){
		.first_seq = points->seqs.at[first] > before ? points->seqs.at[first] : before + 1,
		.last_seq = points->seqs.at[last],
		.from_seq = points->verdicts.at[first] > 0 && points->seqs.at[first] > before
				    ? points->seqs.at[first]
				    : before + 1,
		.to_seq = points->verdicts.at[last] > 0 ? points->seqs.at[last] : after,
		.is_failing = points->verdicts.at[at] == 0
	};
	return 0;
}

/* ---- steps ---- */

static void step_add(struct cure_steps *s, const struct trace_event *ev, uint32_t place, bool is_tx,
		     bool is_new)
{
	struct cure_step *last = s->list.n > 0 ? &s->list.at[s->list.n - 1] : NULL;

	if (!is_new && last && (is_tx ? last->is_tx : !last->is_tx && last->place == place)) {
		last->last_seq = ev->seq;
		return;
	}
	*vec_add(&s->list) = (struct cure_step){ ev->seq, ev->seq, place, is_tx };
}

void cure_steps_find(struct cure_steps *s, const struct plan *p, const struct whatif *supposed,
		     const struct cure_window *w, uint64_t seq, uint32_t stream, uint32_t thread)
{
	struct trace *t = trace_cursor(p->trace);
	bool is_new_tx = false;
	struct trace_event ev;
	int depth = 0;

	s->stream = stream;
	s->thread = thread;
	s->list.n = 0;
	while (trace_next(t, &ev) && ev.seq <= w->to_seq) {
		if (ev.stream != stream || ev.thread != thread)
			continue;
		if (is_watched_event(p, &ev) && ev.seq >= seq && s->list.n > 0)
			break;
		if (is_watched_event(p, &ev))
			s->list.n = 0;
		if (ev.kind == PMT_TX_BEGIN && depth++ == 0)
			is_new_tx = true;
		if (trace_is_store(ev.kind) && ev.seq >= w->from_seq) {
			step_add(s, &ev, whatif_place(supposed, ev.site), depth > 0, is_new_tx);
			is_new_tx = false;
		}
		if (ev.kind == PMT_TX_END && depth > 0)
			depth--;
	}
	trace_close(t);
}

/* ---- intervals ---- */

static void add_interval(struct whatif *supposed, const struct cure_steps *s, uint64_t first_seq,
			 uint64_t last_seq)
{
	*vec_add(&supposed->intervals) =
		(struct whatif_interval){ s->stream, s->thread, first_seq, last_seq };
}

/* Adds the interval, and every other execution of the same lines of source: from a store of the
 * first step's place to the next store of the last step's place, unless an acknowledgement is in
 * between. */
static void add_instances(const struct plan *p, struct whatif *supposed, const struct cure_steps *s,
			  size_t first, size_t last)
{
	const struct cure_step *a = &s->list.at[first], *b = &s->list.at[last];
	uint64_t begin = 0, end = 0;
	struct trace_event ev;
	struct trace *t;

	add_interval(supposed, s, a->first_seq, b->last_seq);
	if (!a->place || !b->place || a->is_tx || b->is_tx)
		return;
	t = trace_cursor(p->trace);
	while (trace_next(t, &ev)) {
		uint32_t place = trace_is_store(ev.kind) ? whatif_place(supposed, ev.site) : 0;

		if (ev.stream != s->stream || ev.thread != s->thread ||
		    (!place && !is_watched_event(p, &ev)))
			continue;
		if (begin && end && place != b->place) {
			if (end < a->first_seq || begin > b->last_seq)
				add_interval(supposed, s, begin, end);
			begin = end = 0;
		}
		if (!place)
			begin = end = 0;
		else if (!begin && place == a->place)
			begin = ev.seq;
		if (begin && place == b->place)
			end = ev.seq;
	}
	if (begin && end && (end < a->first_seq || begin > b->last_seq))
		add_interval(supposed, s, begin, end);
	trace_close(t);
}

static int try_interval(const struct cure_window *w, const struct plan *p, struct whatif *supposed,
			const struct cure_steps *s, size_t first, size_t last, struct cure_judge *j,
			struct error *err)
{
	size_t n = supposed->intervals.n;
	int result;

	add_instances(p, supposed, s, first, last);
	result = cure_holds(w, p, supposed, NULL, j, err);
	if (result == 0 && j->on_failure)
		j->on_failure(s->list.at[first].first_seq, s->list.at[last].last_seq,
			      j->on_failure_arg);
	supposed->intervals.n = n;
	return result;
}

int cure_interval_find(const struct cure_window *w, const struct plan *p, struct whatif *supposed,
		       const struct cure_steps *s, struct cure_judge *j, size_t *first,
		       size_t *last, struct error *err)
{
	size_t low, high;
	int result;

	if (s->list.n == 0)
		return 0;
	*first = 0;
	*last = s->list.n - 1;
	result = try_interval(w, p, supposed, s, *first, *last, j, err);
	if (result <= 0)
		return result;
	/* finds the latest beginning: the interval from `low` cures, the interval from `high` does
	 * not */
	for (low = 0, high = s->list.n; high - low > 1 && result >= 0;) {
		size_t middle = low + (high - low) / 2;

		result = try_interval(w, p, supposed, s, middle, *last, j, err);
		*(result > 0 ? &low : &high) = middle;
	}
	*first = low;
	/* finds the earliest end: the interval up to `high` cures, the interval up to `low` - 1
	 * does not */
	for (low = *first, high = *last; high > low && result >= 0;) {
		size_t middle = low + (high - low) / 2;

		result = try_interval(w, p, supposed, s, *first, middle, j, err);
		if (result > 0)
			high = middle;
		else
			low = middle + 1;
	}
	*last = high;
	if (result < 0)
		return -1;
	add_instances(p, supposed, s, *first, *last);
	return 1;
}
