/* The oracle assert-ordered reports wrong assertions PMEND_ASSERT_ORDERED(a, b). Such an assertion
 * says: if a crash at any moment until now shows b's newest value, it shows a's, too. So each
 * newest store to a must have been durable when each newest store to b was made; or both are plain
 * stores to one line, a's first, which become durable in this order anyway.
 *
 *	a = 1; persist(a); b = 1; PMEND_ASSERT_ORDERED(a, b)       right
 *	a = 1; b = 1; persist(a, b); PMEND_ASSERT_ORDERED(a, b)    wrong: a crash may show only b
 *
 * The assertion comes after its stores, when the model has forgotten them. Remembering for all of
 * PM when it became durable would cost memory in proportion to the pool. So if there are such
 * assertions, the trace is read twice: the first pass collects their ranges; the second remembers
 * the newest stores to bytes of these ranges, and no others.
 *
 * Whether a store is durable is asked only at stores to a second range, because only these are
 * compared with it. */
#include "check/oracle.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/map.h"
#include "util/vec.h"

static const char KIND[] = "assert-ordered", KIND_PORTING[] = "porting";

/* The newest store to some bytes of a line. */
struct stored {
	const struct trace_site *site;
	uint64_t seq, addr;
	/* bit i: addr + i is in an asserted range, and was not stored to since */
	uint64_t live;
	/* the first store to a second range that came when this store was durable; 0: none yet */
	uint64_t durable_seq;
	bool is_whole; /* becomes durable as a whole */
	/* if it is not whole: aligned words of so many bytes become durable separately */
	uint8_t unit_bytes;
	bool is_unordered; /* non-temporal: not ordered with other stores to its line */
	/* if the line's order is partial: the bytes of the line that survive whenever this store
	 * does */
	uint64_t held;
};

/* The newest stores to one line. */
struct track {
	VEC(struct stored) stores; /* the oldest first */
	bool is_waiting;           /* is in state.waiting */
};

struct state {
	VEC(struct range) first, second; /* as asserted, in the order of the trace */
	struct ranges all, seconds;      /* for the second pass */
	struct map lines;                /* address → track */
	/* all tracks; and those with a store that is not known to be durable */
	VEC(struct track *) tracks, waiting;
	/* the store to a second range that the model takes now; 0: none */
	uint64_t asked_seq;
	bool is_ready;
};

static void *ordered_begin(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void ordered_end(void *arg)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->tracks.n; i++) {
		vec_release(&s->tracks.at[i]->stores);
		free(s->tracks.at[i]);
	}
	vec_release(&s->tracks);
	vec_release(&s->waiting);
	vec_release(&s->first);
	vec_release(&s->second);
	ranges_release(&s->all);
	ranges_release(&s->seconds);
	map_release(&s->lines);
	free(s);
}

/* ---- the first pass ---- */

static void ordered_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;

	(void)c;
	if (ev->kind != PMT_ASSERT_ORDERED)
		return;
	*vec_add(&s->first) = range_in_file(ev->addr, ev->arg[0]);
	*vec_add(&s->second) = range_in_file(ev->arg[1], ev->arg[2]);
}

static bool ordered_wants_again(const void *arg)
{
	return ((const struct state *)arg)->first.n > 0;
}

/* ---- the second pass: the newest stores ---- */

static int range_compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts the ranges before they are added, because adding them in any other order would move many
 * ranges again and again. */
static void ready(struct state *s)
{
	qsort(s->second.at, s->second.n, sizeof *s->second.at, range_compare);
	for (size_t i = 0; i < s->second.n; i++) {
		ranges_add(&s->seconds, s->second.at[i].from,
			   s->second.at[i].to - s->second.at[i].from);
		*vec_add(&s->first) = s->second.at[i];
	}
	qsort(s->first.at, s->first.n, sizeof *s->first.at, range_compare);
	for (size_t i = 0; i < s->first.n; i++)
		ranges_add(&s->all, s->first.at[i].from, s->first.at[i].to - s->first.at[i].from);
	s->is_ready = true;
}

static struct track *track_of(struct state *s, uint64_t line)
{
	struct track *t = map_get(&s->lines, line);

	if (!t) {
		t = xcalloc(1, sizeof *t);
		map_set(&s->lines, line, t);
		*vec_add(&s->tracks) = t;
	}
	return t;
}

/* Gives the bytes of s that are in [addr, addr + len_bytes), as bits. */
static uint64_t bits_in(const struct stored *s, uint64_t addr, uint64_t len_bytes)
{
	uint64_t bits = ~(uint64_t)0;

	if (addr > s->addr)
		bits = addr - s->addr < 64 ? bits << (addr - s->addr) : 0;
	if (addr + len_bytes <= s->addr)
		return 0;
	if (addr + len_bytes - s->addr < 64)
		bits &= ((uint64_t)1 << (addr + len_bytes - s->addr)) - 1;
	return s->live & bits;
}

static void track_add(struct state *s, struct track *t, const struct stored *fresh,
		      uint32_t len_bytes)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->stores.n; i++) {
		struct stored *old = &t->stores.at[i];

		old->live &= ~bits_in(old, fresh->addr, len_bytes);
		if (old->live)
			t->stores.at[kept++] = *old;
	}
	t->stores.n = kept;
	*vec_add(&t->stores) = *fresh;
	if (!t->is_waiting)
		*vec_add(&s->waiting) = t;
	t->is_waiting = true;
}

static void note_store(struct state *s, const struct check *c, const struct trace_event *ev)
{
	const struct platform *p = check_platform(c);
	uint64_t line_bytes = p->line_bytes, end = ev->addr + ev->size_bytes, addr, next;
	uint32_t unit_bytes = model_unit_bytes(check_model(c), ev);
	/* each unit becomes durable separately */
	bool is_split = unit_bytes && model_is_partial_order(check_model(c));

	if (!ranges_touch(&s->all, ev->addr, ev->size_bytes))
		return;
	for (addr = ev->addr; addr < end; addr = next) {
		struct stored fresh = { .site = ev->site,
					.seq = ev->seq,
					.addr = addr,
					.is_whole = !unit_bytes || is_split,
					.unit_bytes = (uint8_t)unit_bytes,
					.is_unordered = platform_is_unordered(p, ev) };

		next = (addr & ~(line_bytes - 1)) + line_bytes;
		if (is_split)
			next = (addr & ~(uint64_t)(unit_bytes - 1)) + unit_bytes;
		next = next < end ? next : end;
		fresh.live = ranges_mask(&s->all, addr, (uint32_t)(next - addr));
		if (fresh.live)
			track_add(s, track_of(s, addr & ~(line_bytes - 1)), &fresh,
				  (uint32_t)(next - addr));
	}
	if (ranges_touch(&s->seconds, ev->addr, ev->size_bytes))
		s->asked_seq = ev->seq;
}

/* ---- what is durable at stores to a second range ---- */

static bool is_durable(const struct model *m, const struct stored *s)
{
	for (uint64_t i = 0; i < 64; i++)
		if (s->live >> i & 1 && !model_is_durable(m, s->addr + i, 1))
			return false;
	return true;
}

static void note_held(struct stored *s, const struct model *m)
{
	s->held = model_is_partial_order(m)
			  ? model_kept_with(m, s->addr + (uint64_t)__builtin_ctzll(s->live))
			  : ~(uint64_t)0;
}

static void note_durable(struct state *s, const struct model *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->waiting.n; i++) {
		struct track *t = s->waiting.at[i];

		t->is_waiting = false;
		for (size_t k = 0; k < t->stores.n; k++) {
			if (t->stores.at[k].seq == s->asked_seq)
				note_held(&t->stores.at[k], m);
			if (t->stores.at[k].durable_seq == 0 && is_durable(m, &t->stores.at[k]))
				t->stores.at[k].durable_seq = s->asked_seq;
			t->is_waiting |= t->stores.at[k].durable_seq == 0;
		}
		if (t->is_waiting)
			s->waiting.at[kept++] = t;
	}
	s->waiting.n = kept;
	s->asked_seq = 0;
}

/* ---- judging ---- */

typedef VEC(struct stored) stored_list;

static void collect_line(const struct track *t, const struct range *r, stored_list *list)
{
	for (size_t i = 0; t && i < t->stores.n; i++) {
		struct stored one = t->stores.at[i];

		one.live = bits_in(&one, r->from, r->to - r->from);
		if (one.live)
			*vec_add(list) = one;
	}
}

/* Collects the newest stores to a range, with only the range's bytes live. */
static void collect(const struct state *s, uint64_t line_bytes, const struct range *r,
		    stored_list *list)
{
	/* most of the range was never stored to */
	if ((r->to - r->from) / line_bytes > s->tracks.n) {
		for (size_t i = 0; i < s->tracks.n; i++)
			collect_line(s->tracks.at[i], r, list);
		return;
	}
	for (uint64_t line = r->from & ~(line_bytes - 1); line < r->to; line += line_bytes)
		collect_line(map_get(&s->lines, line), r, list);
}

/* Are the bytes of a and of b in one unit of the same store? */
static bool is_one_unit(const struct stored *a, const struct stored *b)
{
	uint64_t bits = a->live | b->live;
	uint64_t first = a->addr + (uint64_t)__builtin_ctzll(bits),
		 last = a->addr + 63 - (uint64_t)__builtin_clzll(bits);

	return first / a->unit_bytes == last / a->unit_bytes;
}

static bool is_ordered(const struct stored *a, const struct stored *b, uint64_t line_bytes)
{
	if (a->durable_seq && a->durable_seq <= b->seq)
		return true;
	if (a->addr / line_bytes != b->addr / line_bytes)
		return false;
	if (a->seq == b->seq)
		return a->is_whole ? a->addr == b->addr : is_one_unit(a, b);
	if (a->seq > b->seq || a->is_unordered || b->is_unordered)
		return false;
	return b->held == ~(uint64_t)0 || !(a->live << a->addr % PMT_LINE_BYTES & ~b->held);
}

/* Does amd64 order the stores a and b? On amd64, the earlier store of a line is durable first. */
static bool is_ordered_on_amd64(const struct check *c, const struct stored *a,
				const struct stored *b)
{
	return model_is_ported(check_model(c)) && a->seq < b->seq &&
	       a->addr / PMT_LINE_BYTES == b->addr / PMT_LINE_BYTES;
}

static void report(struct check *c, const struct trace_event *ev, const struct stored *a,
		   const struct stored *b)
{
	bool is_porting = is_ordered_on_amd64(c, a, b);
	struct finding f = { .kind = is_porting ? KIND_PORTING : KIND,
			     .first_seq = ev->seq,
			     .nplaces = 3 };

	f.message =
		is_porting
			? "asserted to be ordered, as stores to one line are on amd64; on arm64 only if the second store is a release"
		: a->seq > b->seq
			? "PMEND_ASSERT_ORDERED fails: the first range was stored after the second"
		: a->seq == b->seq
			? "PMEND_ASSERT_ORDERED fails: one store wrote both ranges, in no order"
			: "PMEND_ASSERT_ORDERED fails: the first range was not durable when the second was stored";
	f.places[0] = (struct finding_place){ "assert", ev->site };
	f.places[1] = (struct finding_place){ "lost", a->site };
	f.places[2] = (struct finding_place){ "survived", b->site };
	check_report(c, &f);
}

static void judge(const struct state *s, struct check *c, const struct trace_event *ev)
{
	const struct range first = range_in_file(ev->addr, ev->arg[0]),
			   second = range_in_file(ev->arg[1], ev->arg[2]);
	uint64_t line_bytes = check_platform(c)->line_bytes, first_b = UINT64_MAX;
	const struct stored *worst[2] = { NULL, NULL };
	stored_list a = { 0 }, b = { 0 };
	bool is_wrong = false;

	collect(s, line_bytes, &first, &a);
	collect(s, line_bytes, &second, &b);
	for (size_t k = 0; k < b.n; k++)
		first_b = b.at[k].seq < first_b ? b.at[k].seq : first_b;
	for (size_t i = 0; i < a.n && !is_wrong; i++) {
		/* a was durable before all of b's stores; avoids comparing long ranges store by
		 * store */
		if (a.at[i].durable_seq && a.at[i].durable_seq <= first_b)
			continue;
		for (size_t k = 0; k < b.n && !is_wrong; k++) {
			if (is_ordered(&a.at[i], &b.at[k], line_bytes))
				continue;
			worst[0] = &a.at[i];
			worst[1] = &b.at[k];
			/* otherwise look for a worse pair */
			is_wrong = !is_ordered_on_amd64(c, worst[0], worst[1]);
		}
	}
	if (worst[0])
		report(c, ev, worst[0], worst[1]);
	vec_release(&a);
	vec_release(&b);
}

static void ordered_step_again(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;

	if (!s->is_ready)
		ready(s);
	/* asked after the model took the store, because a locked store begins with a fence */
	if (s->asked_seq)
		note_durable(s, check_model(c));
	if (trace_kinds[ev->kind].carries & PMT_HAS_VALUE)
		note_store(s, c, ev);
	else if (ev->kind == PMT_ASSERT_ORDERED)
		judge(s, c, ev);
}

const struct oracle oracle_ordered = {
	.name = "ordered",
	.help = "the program's own assertions of order: assert-ordered",
	.begin = ordered_begin,
	.step = ordered_step,
	.end = ordered_end,
	.wants_again = ordered_wants_again,
	.step_again = ordered_step_again,
};
