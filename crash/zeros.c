/* Runs recovery with zeros where allocated memory still has old bytes. Searches the first
 * allocation without whose zeros recovery fails by halving; that takes about ten runs, whatever the
 * number of allocations. */
#include "crash/zeros.h"

#include <string.h>

#include "crash/search/verdict.h"
#include "crash/states/states.h"

#define STEP_BYTES 4096u

/* Bytes of an allocation that nobody has stored to. */
struct left {
	uint64_t addr, len_bytes;
	struct crash_store by;
};

struct trial {
	struct walk *walk;
	struct runner *runner;
	const struct recovery *recovery;
	VEC(struct left) left;
	size_t nzero; /* in the image, the first nzero entries of left are zero */
};

static void add_left(struct trial *t, const struct trace_event *ev, uint64_t addr)
{
	struct left *last = t->left.n > 0 ? &t->left.at[t->left.n - 1] : NULL;

	if (last && last->by.seq == ev->seq && last->addr + last->len_bytes == addr)
		last->len_bytes++;
	else
		*vec_add(&t->left) = (struct left){ addr, 1, { ev->seq, site_id(ev->site) } };
}

/* Adds to t->left the bytes of an allocation that still have their old contents. A byte that was
 * overwritten with the same value is included by mistake, which does no harm. */
static void find_left(struct trial *t, const struct trace_event *ev)
{
	uint8_t old[STEP_BYTES], now[STEP_BYTES];
	const uint64_t len_bytes = trace_old_len(ev);

	for (uint64_t at = 0; at < len_bytes; at += STEP_BYTES) {
		const uint32_t n =
			len_bytes - at < STEP_BYTES ? (uint32_t)(len_bytes - at) : STEP_BYTES;

		pmt_old_bytes(old, PMT_OFFSET(ev->addr + at), n);
		image_read(&t->walk->image, ev->addr + at, now, n);
		for (uint32_t i = 0; i < n; i++)
			if (old[i] == now[i])
				add_left(t, ev, ev->addr + at + i);
	}
}

static void fill_left(struct trial *t, const struct left *l, bool is_zero)
{
	uint8_t bytes[STEP_BYTES] = { 0 };

	for (uint64_t at = 0; at < l->len_bytes; at += STEP_BYTES) {
		const uint32_t n =
			l->len_bytes - at < STEP_BYTES ? (uint32_t)(l->len_bytes - at) : STEP_BYTES;

		if (!is_zero)
			pmt_old_bytes(bytes, PMT_OFFSET(l->addr + at), n);
		image_write(&t->walk->image, l->addr + at, bytes, n);
	}
}

/* Sets the first n entries of t->left (pieces of memory with old bytes) to zero, and all other
 * entries to their old bytes. */
static void zero(struct trial *t, size_t n)
{
	for (; t->nzero < n; t->nzero++)
		fill_left(t, &t->left.at[t->nzero], true);
	while (t->nzero > n)
		fill_left(t, &t->left.at[--t->nzero], false);
}

/* Does recovery cope if the first n entries are zero, and only those? */
static bool copes(struct trial *t, size_t n)
{
	static const struct state_set none; /* nothing is undecided: the image is the whole state */
	struct verdict v;
	struct error ignored;

	zero(t, n);
	runner_load(t->runner, &t->walk->image, &none);
	runner_begin(t->runner, NULL, false);
	return verdict_run(&v, t->runner, t->recovery, NULL, &ignored) == 0 && v.kind == VERDICT_OK;
}

/* Writes all stores into the image. */
static void settle(struct walk *w)
{
	struct state_set set = { 0 };

	states_collect_newest(&set, w->model);
	for (size_t i = 0; i < set.lines.n; i++)
		image_write(&w->image, set.lines.at[i].addr,
			    state_content(&set, &set.lines.at[i], set.lines.at[i].ncontents - 1),
			    set.line_bytes);
	states_release(&set);
}

bool zeros_are_relied_on(struct walk *w, struct runner *runner, const struct recovery *recovery,
			 struct crash_store *allocation)
{
	struct trial t = { .walk = w, .runner = runner, .recovery = recovery };
	struct trace *trace = trace_cursor(w->plan->trace);
	size_t fails = 0, passes;
	bool is_relied;
	struct trace_event ev;

	settle(w);
	while (trace_next(trace, &ev))
		if (ev.kind == PMT_OLD)
			find_left(&t, &ev);
	trace_close(trace);
	passes = t.left.n;
	is_relied = passes > 0 && copes(&t, passes) && !copes(&t, 0);
	while (is_relied && passes - fails > 1) {
		const size_t middle = fails + (passes - fails) / 2;

		*(copes(&t, middle) ? &passes : &fails) = middle;
	}
	if (is_relied)
		*allocation = t.left.at[fails].by;
	zero(&t, 0);
	vec_release(&t.left);
	return is_relied;
}
