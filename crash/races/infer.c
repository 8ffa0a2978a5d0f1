/* See infer.h. A location is a commit variable if
 *   (a) its value decides what else recovery reads of what was stored; and with its old value, recovery reads nothing that was stored
 *       after it, and of what was stored since the commit write before and is not durable, nothing before it looks at the variable
 *       and nothing that it would not read with the new value, too;
 *   (b) the program makes its value durable before it writes the next.
 * What is durable by then may have been committed by others: reading it with the old value says nothing. What is read with both values
 * is a matter of its own.
 * One that decides nothing may still be meant so: if it was replaced by one atomic store, and with its old value recovery reads nothing that
 * was stored later, then it finds what the program had before that store, or what it had after it, as if the crash had come then. That
 * must be a state that recovery accepts, and the old value must have been somebody's: not what an allocator handed out.
 * What was stored is watched (stored.h), so reads of durable bytes count as much as those of undecided ones. */
#include "crash/races/infer.h"

#include <string.h>

#include "crash/races/novelty.h"
#include "util/map.h"

#define CACHE_LINE 64u

/* What was stored before the crash, by cache line. */
struct stored {
	uint64_t addr;
	uint64_t recent; /* bytes, since the commit write before */
	uint64_t late;	 /* bytes, since the store in question */
	uint64_t epoch;	 /* that recent is about */
	uint64_t was_read[2]; /* with the old value, with the new one */
	uint64_t was_first; /* with the old value, before the suspect was read */
};

struct inquiry {
	struct explorer *e;
	struct infer_common *common;
	const struct suspect *suspect;
	struct map by_line;
	VEC(struct stored *) lines;
	struct arena arena;
	uint64_t epoch; /* grows with each commit write but the last */
	const struct suspect *harmless; /* other words, whose values do not matter */
	size_t nharmless;
	bool is_sound, is_accepted; /* with the old value and with the new one */
	bool is_without_effect; /* what a dump prints is the same with both; without one, all of the files and the exit status */
	bool is_atomic;	/* the suspect's store is */
	uint64_t was_stored; /* bytes of the suspect, like its mask: before that store, since an allocator handed them out */
	uint64_t ndoubtful; /* stores to it that may be lost */
	uint64_t nothers;   /* words of other stores that may be */
};

static uint64_t mask_of(uint64_t from, uint64_t to)
{
	return (to - from >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (to - from)) - 1) << from;
}

/* ---- what was stored ---- */

static struct stored *stored_at(struct inquiry *q, uint64_t line)
{
	struct stored *s = map_get(&q->by_line, line);

	if (s)
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

/* The bytes of the suspect that these are, like its mask. */
static uint64_t common(const struct suspect *s, uint64_t addr, uint64_t len_bytes)
{
	uint64_t bytes = 0;

	for (uint64_t m = s->mask; m; m &= m - 1)
		if (s->addr + s->at + (uint64_t)__builtin_ctzll(m) - addr < len_bytes)
			bytes |= m & -m;
	return bytes;
}

static void note_suspect(struct inquiry *q, const struct trace_event *ev)
{
	const uint64_t bytes = common(q->suspect, ev->addr, ev->data_len);

	if (ev->seq < q->suspect->seq) {
		q->epoch++;
		q->was_stored |= bytes;
	} else if (ev->seq == q->suspect->seq) {
		q->is_atomic = ev->data_len <= 8 && ev->addr / 8 == (ev->addr + ev->data_len - 1) / 8 && bytes == q->suspect->mask;
	}
}

static void note_store(struct inquiry *q, const struct trace_event *ev)
{
	const bool is_suspect = touches(q->suspect, ev->addr, ev->data_len);
	uint64_t end = ev->addr + ev->data_len;

	if (is_suspect)
		note_suspect(q, ev);
	for (uint64_t line = ev->addr / CACHE_LINE * CACHE_LINE; line < end; line += CACHE_LINE) {
		struct stored *s = stored_at(q, line);
		uint64_t from = ev->addr > line ? ev->addr - line : 0, to = end - line < CACHE_LINE ? end - line : CACHE_LINE;

		if (is_suspect)
			continue;
		if (s->epoch != q->epoch)
			s->recent = 0;
		s->epoch = q->epoch;
		s->recent |= mask_of(from, to);
		s->late |= ev->seq > q->suspect->seq ? mask_of(from, to) : 0;
	}
}

/* When it opens a pool, libpmemobj announces all of the heap, to the end of the file, and then the objects in it as defined, which is not recorded. */
static bool is_heap(const struct walk *w, const struct trace_event *ev)
{
	const struct crash_file *f = image_file(&w->image, PMT_FILE(ev->addr));

	return f && PMT_OFFSET(ev->addr) + ev->arg[0] >= f->size_bytes;
}

static int look_back(struct inquiry *q, struct error *err)
{
	const struct walk *w = q->e->walk;
	struct trace_event ev;
	struct trace *t;

	if (trace_open(&t, w->plan->path, err) < 0)
		return -1;
	q->was_stored = plan_is_initial(w->plan, PMT_FILE(q->suspect->addr)) ? q->suspect->mask : 0;
	while (trace_next(t, &ev) && ev.seq < w->seq)
		if (trace_is_store(ev.kind))
			note_store(q, &ev);
		else if (ev.kind == PMT_UNDEFINED && !is_heap(w, &ev))
			q->was_stored &= ~common(q->suspect, ev.addr, ev.arg[0]);
	trace_close(t);
	return 0;
}

/* ---- what is read ---- */

static void note_read(struct inquiry *q, uint64_t line, uint64_t mask, int which)
{
	struct stored *s = map_get(&q->by_line, line);

	if (s)
		s->was_read[which] |= mask;
}

/* With the old value. */
static void note_reads(struct inquiry *q, const struct state_set *set)
{
	const struct run_decision *d;
	size_t n = runner_decisions(q->e->runner, &d);
	bool is_after = false;

	for (size_t i = 0; i < n; i++) {
		/* what one access reads, it reads at once, whichever of its bytes differ */
		for (uint64_t m = d[i].mask; m; m &= m - 1)
			is_after |= touches(q->suspect, set->lines.at[d[i].line].addr + d[i].at + (uint64_t)__builtin_ctzll(m), 1);
		for (uint64_t m = d[i].mask; m; m &= m - 1) {
			uint64_t addr = set->lines.at[d[i].line].addr + d[i].at + (uint64_t)__builtin_ctzll(m), line = addr / CACHE_LINE * CACHE_LINE;
			struct stored *s = map_get(&q->by_line, line);

			note_read(q, line, (uint64_t)1 << addr % CACHE_LINE, 0);
			if (s && !is_after)
				s->was_first |= (uint64_t)1 << addr % CACHE_LINE;
		}
	}
}

static void keep_reads(struct infer_common *c, const struct explorer *e)
{
	const struct run_decision *d;
	size_t n = runner_decisions(e->runner, &d);

	for (size_t i = 0; i < n; i++) {
		uint64_t addr = c->set->lines.at[d[i].line].addr + d[i].at, at = addr % CACHE_LINE;

		*vec_add(&c->reads) = (struct infer_read){ addr - at, d[i].mask << at };
		if (at && d[i].mask >> (CACHE_LINE - at)) /* of a larger line */
			*vec_add(&c->reads) = (struct infer_read){ addr - at + CACHE_LINE, d[i].mask >> (CACHE_LINE - at) };
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

void infer_note_newest(struct infer_common *c, const struct explorer *e, const struct state_set *set, const struct verdict *v)
{
	c->set = set;
	c->is_run = true;
	c->is_sound = !v->why_unsound;
	c->is_accepted = v->kind == VERDICT_OK;
	c->outcome = v->outcome;
	c->content = e->recovery->dump ? 0 : runner_content(e->runner);
	keep_reads(c, e);
}

/* Recovery with nothing lost, once for all suspects. */
static int run_common(struct inquiry *q, struct error *err)
{
	struct infer_common *c = q->common;
	struct explorer *e = q->e;
	struct verdict v;
	uint64_t *all;
	int result;

	if (c->is_run)
		return 0;
	states_collect(&c->own, e->walk->model);
	if (stored_watch(&c->own, e->walk, err) < 0)
		return -1;
	states_sort(&c->own);
	all = states_all(&c->own);
	runner_load(e->runner, &e->walk->image, &c->own);
	result = explorer_ask(e, all, &v, err);
	free(all);
	if (result == 0)
		infer_note_newest(c, e, &c->own, &v);
	return result;
}

/* The states where the suspect has an older value than the newest. */
static uint64_t *old_states(const struct inquiry *q, const struct state_set *set)
{
	uint64_t *left = states_all(set);

	for (size_t i = 0; i < set->lines.n; i++) {
		const struct state_line *l = &set->lines.at[i];

		for (uint32_t c = 0; l->addr == q->suspect->addr && c < l->ncontents; c++)
			if (has_newest(set, l, q->suspect, c))
				bit_put(left + l->set, c, false);
	}
	return left;
}

static bool is_same_end(const struct inquiry *q, const struct verdict *v)
{
	return v->outcome == q->common->outcome && (q->e->recovery->dump ? 0 : runner_content(q->e->runner)) == q->common->content;
}

static int run_old(struct inquiry *q, struct error *err)
{
	const struct state_set *set = q->common->set;
	uint64_t *left = old_states(q, set);
	struct verdict v;
	int result = explorer_ask(q->e, left, &v, err);

	free(left);
	if (result < 0)
		return -1;
	q->is_sound = q->common->is_sound && !v.why_unsound;
	q->is_accepted = q->common->is_accepted && v.kind == VERDICT_OK;
	q->is_without_effect = is_same_end(q, &v);
	note_reads(q, set);
	for (size_t i = 0; i < q->common->reads.n; i++)
		note_read(q, q->common->reads.at[i].line, q->common->reads.at[i].mask, 1);
	return 0;
}

/* On a whole image: cheaper, but tells only how it ends. */
static int run_whole(const struct inquiry *q, struct verdict *v, struct error *err)
{
	const struct state_set *set = q->common->is_run ? q->common->set : &q->e->set;
	uint64_t *state = old_states(q, set);
	int result;

	for (size_t i = 0; i < set->lines.n; i++)
		states_only(&set->lines.at[i], state, states_newest_left(&set->lines.at[i], state));
	result = explorer_try(q->e, state, v, err);
	free(state);
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

/* Without what PMDK stored last, for itself: where that leads, its own code goes. */
static uint64_t without_library(const struct inquiry *q, uint64_t line, uint64_t bytes)
{
	for (uint64_t m = bytes; m; m &= m - 1) {
		const struct trace_site *site = shadow_byte(q->e->walk->shadow, line + (uint64_t)__builtin_ctzll(m)).last.site;

		if (site && site->id < q->common->nlibrary_sites && q->common->library_sites[site->id])
			bytes &= ~(m & -m);
	}
	return bytes;
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

static void count_doubtful(const struct model_store *s, void *arg)
{
	struct inquiry *q = arg;

	q->ndoubtful += touches(q->suspect, s->addr, s->size_bytes);
}

/* Replaced at once, from something to something. */
static bool is_replaced(struct inquiry *q)
{
	model_each(q->e->walk->model, q->suspect->addr, CACHE_LINE, count_doubtful, q);
	return q->is_atomic && q->ndoubtful == 1 && q->is_accepted && q->was_stored == q->suspect->mask;
}

/* Before any run: something was stored that would tell against it if recovery read it. */
static bool is_refutable(const struct inquiry *q)
{
	if (plan_is_unkept(q->e->walk->plan, q->suspect->seq))
		return true;
	for (size_t i = 0; i < q->lines.n; i++) {
		const struct stored *s = q->lines.at[i];

		if (without_harmless(q, s->addr, s->late) ||
		    (s->epoch == q->epoch && is_undecided(q, s->addr, without_harmless(q, s->addr, s->recent))))
			return true;
	}
	return false;
}

static enum inference compare(struct inquiry *q)
{
	bool differs = false, is_led_to = false; /* by something else that is in doubt */

	if (plan_is_unkept(q->e->walk->plan, q->suspect->seq))
		return INFER_REFUTED;

	for (size_t i = 0; i < q->lines.n; i++) {
		const struct stored *s = q->lines.at[i];
		uint64_t recent = s->epoch == q->epoch ? s->recent : 0;

		if (without_harmless(q, s->addr, s->late & s->was_read[0]) ||
		    is_undecided(q, s->addr, without_harmless(q, s->addr, recent & (s->was_first | (s->was_read[0] & ~s->was_read[1])))))
			return INFER_REFUTED;
		differs |= without_library(q, s->addr, s->was_read[0] ^ s->was_read[1]) != 0; /* its own reads differ from run to run */
		is_led_to |= is_undecided(q, s->addr, without_library(q, s->addr, without_harmless(q, s->addr, s->was_first)));
	}
	return differs ? INFER_COMMIT : !is_led_to && is_replaced(q) ? INFER_ATOMIC : INFER_NOTHING;
}

static void count_others(const struct model_store *s, void *arg)
{
	struct inquiry *q = arg;

	for (uint64_t at = s->addr / 8 * 8; s->seq != q->suspect->seq && at < s->addr + s->size_bytes; at += 8)
		q->nothers += !is_harmless(q, at);
}

/* Nothing leads recovery to the suspect that may be lost. */
static bool is_alone(struct inquiry *q)
{
	model_each(q->e->walk->model, 0, UINT64_MAX, count_others, q);
	return q->nothers == 0;
}

/* Does what was found before hold without asking what is read? 1: yes; 0: ask. */
static int confirm(struct inquiry *q, enum inference before, struct error *err)
{
	const bool is_safe = before != INFER_NOTHING && !is_refutable(q);
	struct verdict v;

	if (is_safe && (before == INFER_COMMIT || before == INFER_HARMLESS))
		return 1;
	if (is_safe && before == INFER_ATOMIC) {
		q->is_accepted = q->common->is_accepted;
		if (!is_replaced(q) || !is_alone(q))
			return 0;
		if (run_whole(q, &v, err) < 0)
			return -1;
		return !v.why_unsound && v.kind == VERDICT_OK;
	}
	if (before == INFER_HARMLESS && q->common->is_run) {
		if (run_whole(q, &v, err) < 0)
			return -1;
		return q->common->is_sound && !v.why_unsound && is_same_end(q, &v);
	}
	return 0;
}

enum inference infer_commit(struct explorer *e, struct infer_common *c, const struct suspect *s, const struct suspect *harmless, size_t nharmless,
			    enum inference before, struct error *err)
{
	struct inquiry q = { .e = e, .common = c, .suspect = s, .epoch = 1, .harmless = harmless, .nharmless = nharmless };
	enum inference result = INFER_ERROR;
	int confirmed;

	if (look_back(&q, err) < 0 || (confirmed = confirm(&q, before, err)) < 0)
		goto out;
	q.ndoubtful = 0;
	if (confirmed)
		result = INFER_UNASKED;
	else if (run_common(&q, err) == 0 && run_old(&q, err) == 0)
		result = !q.is_sound ? INFER_NOTHING : q.is_without_effect ? INFER_HARMLESS : compare(&q);
out:
	map_release(&q.by_line);
	vec_release(&q.lines);
	arena_release(&q.arena);
	return result;
}

void infer_common_release(struct infer_common *c)
{
	states_release(&c->own);
	vec_release(&c->reads);
}
