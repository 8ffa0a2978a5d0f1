/* Runs the dump at the ends of operations with nothing lost, and tells which of these outputs are right after a crash. With one operation in flight, those
 * before and after it; with several, in_flight.c finds them. */
#include "crash/search/references.h"

#include <string.h>

static int run_now(struct walk *w, struct state_set *s, struct runner *runner, const struct recovery *c, struct verdict *v, struct error *err)
{
	uint64_t *newest;

	states_collect_newest(s, w->model);
	newest = states_newest(s);
	runner_load(runner, &w->image, s);
	recovery_set_moment(c, runner, w->plan, w->is_over ? UINT64_MAX : w->seq);
	runner_begin(runner, newest, false);
	free(newest);
	return verdict_run(v, runner, c, NULL, err);
}

/* 1: the program's own recovery dies, so that there is nothing to compare with; exploring finds that. */
static int dump_now(struct walk *w, struct state_set *s, struct runner *runner, const struct recovery *c, struct dump_texts *texts, uint64_t *hash,
		    struct error *err)
{
	struct verdict v;
	char *text;

	if (run_now(w, s, runner, c, &v, err) < 0)
		return -1;
	if (v.kind == VERDICT_OK) {
		*hash = v.dump_hash;
		if (texts)
			dump_texts_add(texts, v.dump_hash, v.result.output, v.result.output_len);
		return 0;
	}
	text = verdict_text(&v);
	error_set(err, "recovery fails between two operations, where nothing is lost (before event %llu): %s",
		  (unsigned long long)w->seq, text);
	free(text);
	return v.kind == VERDICT_SIGNAL && v.command == c->recover ? 1 : -1;
}

/* After everything. A program that was killed was in the middle of something: that recovery fails there is for the exploration to find. */
static int dump_final(struct references *r, struct walk *w, struct state_set *s, struct runner *runner, const struct recovery *c, struct error *err)
{
	struct verdict v;

	r->has_final = true;
	if (w->plan->cut == CUT_NONE)
		return dump_now(w, s, runner, c, r->texts, &r->final, err) == 0 ? 0 : -1;
	if (run_now(w, s, runner, c, &v, err) < 0)
		return -1;
	r->has_final = v.kind == VERDICT_OK;
	r->final = v.dump_hash;
	if (r->has_final && r->texts)
		dump_texts_add(r->texts, v.dump_hash, v.result.output, v.result.output_len);
	return 0;
}

/* The boundaries that a crash before event seq may show: those in from … to. Gives the number of operations in flight. */
static size_t span_of(const struct plan *p, uint64_t seq, uint64_t *from, uint64_t *to)
{
	uint64_t last = 0, next = UINT64_MAX;
	size_t nflying = 0;

	*from = UINT64_MAX;
	*to = 0;
	for (size_t i = 0; i < p->operations.n; i++) {
		const struct operation *o = &p->operations.at[i];

		if (o->begin_seq < seq && seq <= o->end_seq) {
			*from = o->begin_seq;
			*to = o->end_seq;
			nflying++;
		}
		if (o->end_seq < seq && o->end_seq > last)
			last = o->end_seq;
		if (o->begin_seq >= seq && o->begin_seq < next)
			next = o->begin_seq;
	}
	if (nflying == 0) { /* between operations */
		*from = last;
		*to = next;
	}
	return nflying;
}

struct span {
	uint64_t from, to;
};
typedef VEC(struct span) spans;

static void spans_of(const struct plan *p, const uint64_t *crashes, size_t ncrashes, spans *out)
{
	for (size_t i = 0; i < ncrashes; i++) {
		struct span s;

		span_of(p, crashes[i], &s.from, &s.to);
		if (out->n == 0 || out->at[out->n - 1].from != s.from || out->at[out->n - 1].to != s.to)
			*vec_add(out) = s;
	}
}

static bool is_wanted(const struct references *r, const spans *wanted, uint64_t seq)
{
	bool is_in = false;

	for (size_t i = 0; i < wanted->n && !is_in; i++)
		is_in = wanted->at[i].from <= seq && seq <= wanted->at[i].to;
	for (size_t i = 0; i < r->list.n && is_in; i++)
		is_in = r->list.at[i].seq != seq;
	return is_in;
}

static int compare_references(const void *a, const void *b)
{
	const struct reference *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static bool is_late(struct references *r)
{
	r->is_late |= r->deadline_ns && clock_ns() >= r->deadline_ns;
	return r->is_late;
}

/* All boundaries, or the wanted ones. */
static int take_list(struct references *r, struct walk *w, struct state_set *set, struct runner *runner, const struct recovery *c, const spans *wanted,
		     struct error *err)
{
	uint64_t version = 0, nlost = 0, hash = 0;
	bool is_first = true;
	int result = 0, known = 0;

	while (result == 0 && !is_late(r) && walk_next(w)) {
		if (wanted && !is_wanted(r, wanted, w->seq))
			continue;
		/* An operation's end is mostly the next one's beginning. */
		if (is_first || version != w->image.version || nlost != w->nstores)
			known = dump_now(w, set, runner, c, r->texts, &hash, err);
		is_first = false;
		version = w->image.version;
		nlost = w->nstores;
		if (known == 0)
			*vec_add(&r->list) = (struct reference){ w->seq, hash };
		result = known < 0 ? -1 : 0;
	}
	if (r->list.n > 0)
		qsort(r->list.at, r->list.n, sizeof *r->list.at, compare_references);
	return result;
}

int references_take(struct references *r, const struct plan *p, struct runner *runner, const struct recovery *c, const uint64_t *crashes, size_t ncrashes,
		    struct error *err)
{
	struct state_set set = { 0 };
	bool is_first = !r->is_known;
	spans wanted = { 0 };
	struct walk w;
	int result = 0;

	walk_init(&w, p, WALK_BOUNDARIES);
	spans_of(p, crashes, ncrashes, &wanted);
	if (is_first)
		result = dump_now(&w, &set, runner, c, r->texts, &r->initial, err) == 0 ? 0 : -1;
	if (result == 0)
		result = take_list(r, &w, &set, runner, c, crashes ? &wanted : NULL, err);
	if (result == 0 && is_first && !is_late(r))
		result = dump_final(r, &w, &set, runner, c, err);
	if (result == 0 && is_first)
		result = in_flight_take(&r->in_flight, p, runner, c, r->texts, r->deadline_ns, err);
	r->is_known = result == 0 && !is_late(r);
	vec_release(&wanted);
	states_release(&set);
	walk_release(&w);
	return result;
}

void references_release(struct references *r)
{
	vec_release(&r->list);
	in_flight_release(&r->in_flight);
}

static void allow(struct allowed *out, uint64_t hash)
{
	for (size_t i = 0; i < out->hashes.n; i++)
		if (out->hashes.at[i] == hash)
			return;
	*vec_add(&out->hashes) = hash;
}

/* States at the boundaries in [from, to]; before the first there is the initial state, after the last the final one. */
static void allow_between(const struct references *r, uint64_t from, uint64_t to, struct allowed *out)
{
	if (from == 0)
		allow(out, r->initial);
	for (size_t i = 0; i < r->list.n; i++) {
		const struct reference *b = &r->list.at[i];

		if (b->seq < from || b->seq > to)
			continue;
		allow(out, b->hash);
	}
	if (to == UINT64_MAX && r->has_final)
		allow(out, r->final);
}

void references_allow(const struct references *r, const struct plan *p, uint64_t seq, struct allowed *out)
{
	const struct in_flight_stretch *several = in_flight_find(&r->in_flight, seq);
	uint64_t from, to;
	size_t nflying;

	out->hashes.n = 0;
	if (!r->is_known)
		return;
	nflying = span_of(p, seq, &from, &to);
	for (size_t i = 0; several && i < several->allowed.hashes.n; i++)
		allow(out, several->allowed.hashes.at[i]);
	if (nflying > 1)
		return;
	allow_between(r, from, to, out);
}
