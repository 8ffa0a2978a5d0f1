/* See infer.h. A location is a commit variable if
 *   (a) its value decides what else recovery reads of what was stored; and with its old value, recovery reads nothing that was stored
 *       after it, and of what was stored since the commit write before and is not durable, nothing before it looks at the variable
 *       and nothing that it would not read with the new value, too;
 *   (b) the program makes its value durable before it writes the next.
 * What is durable by then may have been committed by others: reading it with the old value says nothing. What is read with both values
 * is a matter of its own.
 * What was stored is watched (states_watch()), up to LINES_MAX lines, so reads of durable bytes count as much as those of undecided ones. */
#include "crash/infer.h"

#include <string.h>

#include "util/map.h"

#define CACHE_LINE 64u
#define LINES_MAX 2048u

/* What was stored before the crash, by cache line. */
struct stored {
	uint64_t addr;
	uint64_t all;	 /* bytes */
	uint64_t recent; /* bytes, since the commit write before */
	uint64_t late;	 /* bytes, since the store in question */
	uint64_t epoch;	 /* that recent is about */
	uint64_t was_read[2]; /* with the old value, with the new one */
	uint64_t was_first; /* with the old value, before the suspect was read */
};

struct inquiry {
	struct explorer *e;
	const struct suspect *suspect;
	struct map by_line;
	VEC(struct stored *) lines;
	struct arena arena;
	uint64_t epoch; /* grows with each commit write but the last */
	const struct suspect *harmless; /* other words, whose values do not matter */
	size_t nharmless;
	uint64_t outcome[2]; /* with the old value, with the new one */
};

static uint64_t mask_of(uint64_t from, uint64_t to)
{
	return (to - from >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (to - from)) - 1) << from;
}

/* ---- what was stored ---- */

static struct stored *stored_at(struct inquiry *q, uint64_t line)
{
	struct stored *s = map_get(&q->by_line, line);

	if (s || q->lines.n >= LINES_MAX)
		return s;
	s = arena_alloc(&q->arena, sizeof *s);
	*s = (struct stored){ .addr = line };
	map_set(&q->by_line, line, s);
	*vec_add(&q->lines) = s;
	return s;
}

static bool touches(const struct suspect *s, uint64_t addr, uint64_t len_bytes)
{
	for (uint64_t m = s->mask; m; m &= m - 1)
		if (s->addr + s->at + (uint64_t)__builtin_ctzll(m) - addr < len_bytes)
			return true;
	return false;
}

static void note_store(struct inquiry *q, const struct trace_event *ev)
{
	uint64_t end = ev->addr + ev->data_len;

	if (touches(q->suspect, ev->addr, ev->data_len)) {
		if (ev->seq < q->suspect->seq)
			q->epoch++;
		return;
	}
	for (uint64_t line = ev->addr / CACHE_LINE * CACHE_LINE; line < end; line += CACHE_LINE) {
		struct stored *s = stored_at(q, line);
		uint64_t from = ev->addr > line ? ev->addr - line : 0, to = end - line < CACHE_LINE ? end - line : CACHE_LINE;

		if (!s)
			continue;
		if (s->epoch != q->epoch)
			s->recent = 0;
		s->epoch = q->epoch;
		s->all |= mask_of(from, to);
		s->recent |= mask_of(from, to);
		s->late |= ev->seq > q->suspect->seq ? mask_of(from, to) : 0;
	}
}

static int look_back(struct inquiry *q, struct error *err)
{
	const struct walk *w = q->e->walk;
	struct trace_event ev;
	struct trace *t;

	if (trace_open(&t, w->plan->path, err) < 0)
		return -1;
	while (trace_next(t, &ev) && ev.seq < w->seq)
		if (trace_is_store(ev.kind))
			note_store(q, &ev);
	trace_close(t);
	return 0;
}

/* ---- what is read ---- */

static void watch_all(struct inquiry *q, struct state_set *set)
{
	states_collect(set, q->e->walk->model);
	for (size_t i = 0; i < q->lines.n; i++)
		states_watch(set, &q->e->walk->image, q->lines.at[i]->addr, q->lines.at[i]->all);
	states_watch(set, &q->e->walk->image, q->suspect->addr + q->suspect->at, q->suspect->mask); /* to know when it is read */
	states_sort(set);
}

static void note_reads(struct inquiry *q, const struct state_set *set, int which)
{
	const struct run_decision *d;
	size_t n = runner_decisions(q->e->runner, &d);
	bool is_after = false;

	for (size_t i = 0; i < n; i++)
		for (uint64_t m = d[i].mask; m; m &= m - 1) {
			uint64_t addr = set->lines.at[d[i].line].addr + d[i].at + (uint64_t)__builtin_ctzll(m);
			struct stored *s = map_get(&q->by_line, addr / CACHE_LINE * CACHE_LINE);

			is_after |= touches(q->suspect, addr, 1);
			if (s)
				s->was_read[which] |= (uint64_t)1 << addr % CACHE_LINE;
			if (s && which == 0 && !is_after)
				s->was_first |= (uint64_t)1 << addr % CACHE_LINE;
		}
}

static bool has_newest(const struct state_set *s, const struct state_line *l, const struct suspect *x, uint32_t c)
{
	const uint8_t *a = state_content(s, l, c) + x->at, *b = state_content(s, l, l->ncontents - 1) + x->at;

	for (uint64_t m = x->mask; m; m &= m - 1)
		if (a[__builtin_ctzll(m)] != b[__builtin_ctzll(m)])
			return false;
	return true;
}

/* Recovery on the states where the suspect has its newest value, or another one. False: the run tells nothing. */
static int run_with(struct inquiry *q, const struct state_set *set, int is_new, bool *is_sound, struct error *err)
{
	struct explorer *e = q->e;
	uint64_t *left = states_all(set);
	struct verdict v;
	int result;

	for (size_t i = 0; i < set->lines.n; i++) {
		const struct state_line *l = &set->lines.at[i];

		for (uint32_t c = 0; l->addr == q->suspect->addr && c < l->ncontents; c++)
			if (has_newest(set, l, q->suspect, c) != (is_new != 0))
				bit_put(left + l->set, c, false);
	}
	result = explore_ask(e, left, &v, err);
	free(left);
	*is_sound &= result == 0 && !v.why_unsound;
	if (result == 0 && !v.why_unsound)
		note_reads(q, set, is_new);
	q->outcome[is_new] = v.outcome;
	return result;
}

/* ---- the verdict ---- */

static bool is_undecided(const struct inquiry *q, uint64_t line, uint64_t bytes)
{
	for (; bytes; bytes &= bytes - 1)
		if (!model_is_durable(q->e->walk->model, line + (uint64_t)__builtin_ctzll(bytes), 1))
			return true;
	return false;
}

/* What a dump prints tells the whole state; a mere exit status does not. */
static bool is_without_effect(const struct inquiry *q)
{
	return q->e->recovery->dump && q->outcome[0] == q->outcome[1];
}

/* By words: bytes on which the contents agree belong to it. */
static bool is_harmless(const struct inquiry *q, uint64_t addr)
{
	for (size_t i = 0; i < q->nharmless; i++)
		if (touches(&q->harmless[i], addr / 8 * 8, 8))
			return true;
	return false;
}

static uint64_t without_harmless(const struct inquiry *q, uint64_t line, uint64_t bytes)
{
	for (uint64_t m = q->nharmless ? bytes : 0; m; m &= m - 1)
		if (is_harmless(q, line + (uint64_t)__builtin_ctzll(m)))
			bytes &= ~(m & -m);
	return bytes;
}

static enum inference compare(const struct inquiry *q)
{
	bool differs = false;

	if (plan_is_unkept(q->e->walk->plan, q->suspect->seq))
		return INFER_REFUTED;

	for (size_t i = 0; i < q->lines.n; i++) {
		const struct stored *s = q->lines.at[i];
		uint64_t recent = s->epoch == q->epoch ? s->recent : 0;

		if (without_harmless(q, s->addr, s->late & s->was_read[0]) ||
		    is_undecided(q, s->addr, without_harmless(q, s->addr, recent & (s->was_first | (s->was_read[0] & ~s->was_read[1])))))
			return INFER_REFUTED;
		differs |= s->was_read[0] != s->was_read[1];
	}
	return differs ? INFER_COMMIT : INFER_NOTHING;
}

enum inference infer_commit(struct explorer *e, const struct suspect *s, const struct suspect *harmless, size_t nharmless,
			    struct error *err)
{
	struct inquiry q = { .e = e, .suspect = s, .epoch = 1, .harmless = harmless, .nharmless = nharmless };
	enum inference result = INFER_ERROR;
	struct state_set set = { 0 };
	bool is_sound = true;

	if (look_back(&q, err) == 0) {
		watch_all(&q, &set);
		runner_load(e->runner, &e->walk->image, &set);
		if (run_with(&q, &set, 0, &is_sound, err) == 0 && run_with(&q, &set, 1, &is_sound, err) == 0)
			result = !is_sound ? INFER_NOTHING : is_without_effect(&q) ? INFER_HARMLESS : compare(&q);
	}
	states_release(&set);
	map_release(&q.by_line);
	vec_release(&q.lines);
	arena_release(&q.arena);
	return result;
}
