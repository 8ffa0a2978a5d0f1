/* Runs the dump at the ends of operations with nothing lost, and says which of these outputs are
 * right after a crash. With one operation in flight, they are the output before it and the output
 * after it; if operations of several threads overlap, in_flight.c builds the states. Where another
 * thread is in the middle of an operation, the dump says nothing about the end of this one. */
#include "crash/search/references.h"

#include <string.h>

#include "util/order.h"

static int run_now(struct walk *w, struct state_set *s, struct runner *runner,
		   const struct recovery *c, struct verdict *v, struct error *err)
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

/* Runs recovery and dump at the present event, and sets the hash, or that there is no pool. 1: the
 * program's own recovery dies, which exploring reports; there is nothing to compare with. */
static int dump_now(struct walk *w, struct state_set *s, struct runner *runner,
		    const struct recovery *c, struct dump_texts *texts, struct reference *out,
		    struct error *err)
{
	struct verdict v;
	const char *unseen = trace_unseen(w->plan->trace);
	char *text, *said;

	if (run_now(w, s, runner, c, &v, err) < 0)
		return -1;
	if (v.kind == VERDICT_OK) {
		*out = (struct reference){ .hash = v.dump_hash };
		if (texts)
			dump_texts_add(texts, v.dump_hash, v.result.output, v.result.output_len);
		return 0;
	}
	if (verdict_is_refusal(&v, runner, walk_has_pool(w))) {
		*out = (struct reference){ .is_absent = true };
		return 0;
	}
	text = verdict_text(&v);
	said = verdict_said(&v);
	error_set(
		err,
		"recovery fails between two operations, where nothing is lost (before event %llu%s): %s%s. Make sure that this command succeeds "
		"whenever nothing is lost: %s%s%s",
		(unsigned long long)w->seq, walk_has_pool(w) ? "" : ", where there is no pool",
		text, said, v.command ? v.command->shown : "?",
		unseen ? ". But it need not be its fault, the trace does not have all that happened: "
		       : "",
		unseen ? unseen : "");
	free(text);
	free(said);
	return v.kind == VERDICT_SIGNAL && v.command == c->recover ? 1 : -1;
}

/* Takes the reference of the end. If the program was killed, the end is in the middle of something:
 * recovery may fail there, and exploring reports that. */
static int dump_final(struct references *r, struct walk *w, struct state_set *s,
		      struct runner *runner, const struct recovery *c, struct error *err)
{
	struct verdict v;

	r->has_final = true;
	if (w->plan->cut == CUT_NONE)
		return dump_now(w, s, runner, c, r->texts, &r->final, err) == 0 ? 0 : -1;
	if (run_now(w, s, runner, c, &v, err) < 0)
		return -1;
	r->has_final = v.kind == VERDICT_OK;
	r->final = (struct reference){ .hash = v.dump_hash };
	if (r->has_final && r->texts)
		dump_texts_add(r->texts, v.dump_hash, v.result.output, v.result.output_len);
	return 0;
}

/* Fills `ended`: by operation, the event at which it and all earlier ones had ended. */
static void note_ends(struct references *r, const struct plan *p)
{
	uint64_t last = 0;

	for (size_t i = r->ended.n; i < p->operations.n; i++) {
		last = p->operations.at[i].end_seq > last ? p->operations.at[i].end_seq : last;
		*vec_add(&r->ended) = last;
	}
}

/* The index of the first operation that begins at the event or later. */
static size_t first_after(const struct plan *p, uint64_t seq)
{
	size_t low = 0, high = p->operations.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (p->operations.at[middle].begin_seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Finds the boundaries whose state a crash before event seq may show: from *from to *to. Returns
 * the number of operations in flight. Of nested ones, the outermost counts. */
static size_t span_of(const struct references *r, const struct plan *p, uint64_t seq,
		      uint64_t *from, uint64_t *to)
{
	const size_t next = first_after(p, seq);
	uint64_t last = 0;
	size_t nflying = 0;

	for (size_t i = next; i-- > 0;) {
		const struct operation *o = &p->operations.at[i];

		if (r->ended.at[i] < seq) { /* all earlier operations ended before the crash, too */
			last = r->ended.at[i] > last ? r->ended.at[i] : last;
			break;
		}
		if (o->end_seq >= seq) {
			*from = o->begin_seq; /* it began before those that were looked at */
			*to = nflying++ && *to > o->end_seq ? *to : o->end_seq;
		} else if (o->end_seq < seq && o->end_seq > last) {
			last = o->end_seq;
		}
	}
	if (nflying == 0) { /* the crash comes between two operations */
		*from = last;
		*to = next < p->operations.n ? p->operations.at[next].begin_seq : UINT64_MAX;
	}
	return nflying;
}

/* ---- operations of several threads ---- */

static bool is_same_thread(const struct operation *a, const struct operation *b)
{
	return a->stream == b->stream && a->thread == b->thread;
}

/* Is an operation in flight at a crash before event seq that overlaps with one of another thread?
 * That may be in flight, too, or have ended, or begin later. */
static bool is_overlapped(const struct references *r, const struct plan *p, uint64_t seq)
{
	const struct operation *flying = NULL; /* the one that began first */
	const size_t next = first_after(p, seq);

	for (size_t i = next; i-- > 0 && r->ended.at[i] >= seq;) {
		const struct operation *o = &p->operations.at[i];

		if (o->end_seq < seq)
			continue;
		if (flying && !is_same_thread(o, flying))
			return true;
		flying = o;
	}
	for (size_t i = next; flying && i-- > 0 && r->ended.at[i] > flying->begin_seq;)
		if (p->operations.at[i].end_seq > flying->begin_seq &&
		    !is_same_thread(&p->operations.at[i], flying))
			return true;
	for (size_t i = next;
	     flying && i < p->operations.n && p->operations.at[i].begin_seq < flying->end_seq; i++)
		if (!is_same_thread(&p->operations.at[i], flying))
			return true;
	return false;
}

/* Is another thread in an operation where this one begins or ends one? Then the state there is in
 * the middle of something. */
static bool is_amid(const struct references *r, const struct plan *p, uint64_t seq)
{
	const struct operation *own = NULL;
	const size_t next = first_after(p, seq + 1);

	for (size_t i = next; !own && i-- > 0 && r->ended.at[i] >= seq;)
		if (p->operations.at[i].begin_seq == seq || p->operations.at[i].end_seq == seq)
			own = &p->operations.at[i];
	for (size_t i = next; i-- > 0 && r->ended.at[i] > seq;) {
		const struct operation *o = &p->operations.at[i];

		if (o->begin_seq < seq && o->end_seq > seq && !(own && is_same_thread(o, own)))
			return true;
	}
	return false;
}

/* An operation that makes durable what was acknowledged before it. */
static bool is_sync(const struct operation *o)
{
	return strncmp(o->name, "sync", 4) == 0;
}

/* With --buffered: gives the event from which on what was acknowledged may be lost, which is the
 * begin of the last sync that ended before event seq. */
static uint64_t buffered_since(const struct plan *p, uint64_t seq)
{
	for (size_t i = first_after(p, seq); i-- > 0;)
		if (p->operations.at[i].end_seq < seq && is_sync(&p->operations.at[i]))
			return p->operations.at[i].begin_seq;
	return 0;
}

/* ---- where references are needed ---- */

struct span {
	uint64_t from, to;
};
typedef VEC(struct span) spans;

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Makes the spans of all crashes, in order, and joins those that touch. */
static void spans_of(const struct references *r, const struct plan *p, const uint64_t *crashes,
		     size_t ncrashes, spans *out)
{
	size_t n = 0;

	for (size_t i = 0; i < ncrashes; i++) {
		struct span s;

		span_of(r, p, crashes[i], &s.from, &s.to);
		if (r->is_buffered)
			s.from = buffered_since(p, crashes[i]);
		if (out->n == 0 || out->at[out->n - 1].from != s.from ||
		    out->at[out->n - 1].to != s.to)
			*vec_add(out) = s;
	}
	if (out->n > 0)
		qsort(out->at, out->n, sizeof *out->at, compare_spans);
	for (size_t i = 0; i < out->n; i++)
		if (n > 0 && out->at[i].from <= out->at[n - 1].to)
			out->at[n - 1].to = out->at[i].to > out->at[n - 1].to ? out->at[i].to
									      : out->at[n - 1].to;
		else
			out->at[n++] = out->at[i];
	out->n = n;
}

/* The index of the first reference at or after the event, of the first n. */
static size_t first_from(const struct references *r, size_t n, uint64_t seq)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (r->list.at[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Must a reference be taken at this boundary? nknown: number of references that were there before,
 * in order. *at: the present span; it moves on with the events. */
static bool is_wanted(const struct references *r, size_t nknown, const spans *wanted, size_t *at,
		      uint64_t seq)
{
	const size_t known = first_from(r, nknown, seq);

	while (*at < wanted->n && wanted->at[*at].to < seq)
		++*at;
	return *at < wanted->n && wanted->at[*at].from <= seq &&
	       !(known < nknown && r->list.at[known].seq == seq);
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

/* Skips to the next span that is wanted; after the last one, to the end. */
static int seek_wanted(const struct references *r, struct walk *w, const spans *wanted, size_t at,
		       struct error *err)
{
	return wanted ? index_seek_event(r->index, w,
					 at < wanted->n ? wanted->at[at].from : UINT64_MAX, err)
		      : 0;
}

/* Takes references at all boundaries, or at the wanted ones. */
static int take_list(struct references *r, struct walk *w, struct state_set *set,
		     struct runner *runner, const struct recovery *c, const spans *wanted,
		     struct error *err)
{
	const size_t nknown = r->list.n;
	uint64_t version = 0, nlost = 0;
	struct reference now = { 0 };
	bool is_first = true;
	int result = 0, known = 0;
	size_t at = 0;

	while (result == 0 && !is_late(r) && (result = seek_wanted(r, w, wanted, at, err)) == 0 &&
	       walk_next(w)) {
		if (wanted && !is_wanted(r, nknown, wanted, &at, w->seq))
			continue;
		if (r->is_building && is_amid(r, w->plan, w->seq))
			continue;
		/* the end of an operation is often the beginning of the next: same state, same
		 * dump */
		if (is_first || version != w->image.version || nlost != w->nstores)
			known = dump_now(w, set, runner, c, r->texts, &now, err);
		is_first = false;
		version = w->image.version;
		nlost = w->nstores;
		now.seq = w->seq;
		if (known == 0)
			*vec_add(&r->list) = now;
		result = known < 0 ? -1 : 0;
	}
	if (r->list.n > 0)
		qsort(r->list.at, r->list.n, sizeof *r->list.at, compare_references);
	return result;
}

typedef VEC(uint64_t) events;

static void add_moment(const struct references *r, const struct plan *p, uint64_t seq, events *out)
{
	if (is_overlapped(r, p, seq) && !in_flight_find(&r->in_flight, seq))
		*vec_add(out) = seq;
}

/* Lists the moments whose outcomes are to be built. With --buffered, what was allowed where an
 * operation began or ended counts later, too. */
static void list_moments(const struct references *r, const struct plan *p, const uint64_t *crashes,
			 size_t ncrashes, events *out)
{
	size_t n = 0;

	for (size_t i = 0; i < ncrashes; i++)
		add_moment(r, p, crashes[i], out);
	for (size_t i = 0; r->is_buffered && i < p->operations.n; i++) {
		add_moment(r, p, p->operations.at[i].begin_seq, out);
		add_moment(r, p, p->operations.at[i].end_seq, out);
	}
	if (out->n > 0)
		qsort(out->at, out->n, sizeof *out->at, order_u64);
	for (size_t i = 0; i < out->n; i++)
		if ((n == 0 || out->at[n - 1] != out->at[i]) && out->at[i] != UINT64_MAX)
			out->at[n++] = out->at[i];
	out->n = n;
}

int references_take(struct references *r, const struct plan *p, struct runner *runner,
		    const struct recovery *c, const uint64_t *crashes, size_t ncrashes,
		    struct error *err)
{
	struct state_set set = { 0 };
	bool is_first = !r->is_known;
	events moments = { 0 };
	spans wanted = { 0 };
	struct walk w;
	int result = 0;

	walk_init(&w, p, WALK_BOUNDARIES);
	note_ends(r, p);
	r->is_buffered = c->is_buffered;
	r->is_building = true;
	spans_of(r, p, crashes, ncrashes, &wanted);
	if (is_first)
		result = dump_now(&w, &set, runner, c, r->texts, &r->initial, err) == 0 ? 0 : -1;
	if (result == 0)
		result = take_list(r, &w, &set, runner, c, crashes ? &wanted : NULL, err);
	if (result == 0 && is_first && !is_late(r))
		result = dump_final(r, &w, &set, runner, c, err);
	if (is_first)
		overlap_find(p, &r->overlaps);
	list_moments(r, p, crashes ? crashes : r->points, crashes ? ncrashes : r->npoints,
		     &moments);
	if (result == 0 && !is_late(r))
		result = in_flight_take(&r->in_flight, p, runner, c, r->texts, r->deadline_ns,
					moments.at, moments.n, err);
	r->is_known = result == 0 && !is_late(r);
	vec_release(&moments);
	vec_release(&wanted);
	states_release(&set);
	walk_release(&w);
	return result;
}

void references_know(struct references *r, const struct plan *p)
{
	note_ends(r, p);
	overlap_find(p, &r->overlaps);
}

void references_release(struct references *r)
{
	vec_release(&r->list);
	vec_release(&r->ended);
	in_flight_release(&r->in_flight);
	vec_release(&r->overlaps);
}

/* Allows the states at the boundaries in [from, to]; before the first boundary it is the initial
 * state, after the last the final one. False: one of them has no pool. */
static bool allow_between(const struct references *r, uint64_t from, uint64_t to,
			  struct allowed *out)
{
	const bool has_initial = from == 0, has_final = to == UINT64_MAX && r->has_final;
	bool is_absent = (has_initial && r->initial.is_absent) || (has_final && r->final.is_absent);

	if (has_initial)
		allowed_add(out, r->initial.hash);
	for (size_t i = first_from(r, r->list.n, from); i < r->list.n && r->list.at[i].seq <= to;
	     i++) {
		allowed_add(out, r->list.at[i].hash);
		is_absent |= r->list.at[i].is_absent;
	}
	if (has_final)
		allowed_add(out, r->final.hash);
	return !is_absent;
}

bool references_overlap(const struct references *r, const struct plan *p, uint64_t seq)
{
	const size_t next = first_after(p, seq);

	return next > 0 && next <= r->overlaps.n && r->overlaps.at[next - 1];
}

/* Allows what was built for all moments after event `from` up to event `to`. False: it could not be
 * built for one of them. */
static bool allow_moments(const struct references *r, uint64_t from, uint64_t to,
			  struct allowed *out)
{
	for (size_t i = in_flight_first(&r->in_flight, from + 1);
	     i < r->in_flight.list.n && r->in_flight.list.at[i].seq <= to; i++) {
		const struct allowed *a = &r->in_flight.list.at[i].allowed;

		for (size_t k = 0; k < a->hashes.n; k++)
			allowed_add(out, a->hashes.at[k]);
		if (a->hashes.n == 0 || out->hashes.n > IN_FLIGHT_OUTCOMES)
			return false;
	}
	return true;
}

void references_allow(const struct references *r, const struct plan *p, uint64_t seq,
		      struct allowed *out)
{
	const bool is_built = r->is_building && is_overlapped(r, p, seq);
	const struct in_flight_moment *m = in_flight_find(&r->in_flight, seq);
	uint64_t from, to;
	bool is_complete = true;
	size_t nflying;

	out->hashes.n = out->denied.n = 0;
	if (!r->is_known || references_overlap(r, p, seq))
		return;
	nflying = span_of(r, p, seq, &from, &to);
	if (is_built)
		to = seq - 1;
	if (r->is_buffered) {
		from = buffered_since(p, seq);
		is_complete = allow_between(r, from, to, out) && allow_moments(r, from, seq, out) &&
			      (m || !is_built);
	} else if (is_built) {
		is_complete = m && allow_moments(r, seq - 1, seq, out);
		for (size_t i = 0; m && i < m->allowed.denied.n; i++)
			*vec_add(&out->denied) = m->allowed.denied.at[i];
	} else {
		/* nothing is built for files that are followed */
		is_complete = (nflying <= 1 || r->is_building) && allow_between(r, from, to, out);
	}
	if (!is_complete)
		out->hashes.n = 0;
}

/* ---- taking references on demand ---- */

static bool has_reference(const struct references *r, uint64_t seq)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (r->list.at[i].seq == seq)
			return true;
	return false;
}

/* Are the references on both sides of a crash known? */
static bool has_references(const struct references *r, const struct plan *p, uint64_t seq)
{
	uint64_t last = 0, next = UINT64_MAX;

	if (r->is_known && is_overlapped(r, p, seq))
		return in_flight_find(&r->in_flight, seq) != NULL;
	for (size_t i = 0; i < p->operations.n; i++) {
		const struct operation *o = &p->operations.at[i];
		const uint64_t ends[] = { o->begin_seq, o->end_seq };

		for (int k = 0; k < 2; k++) {
			if (ends[k] < seq && ends[k] > last)
				last = ends[k];
			if (ends[k] >= seq && ends[k] < next)
				next = ends[k];
		}
	}
	return r->is_known && (last == 0 || has_reference(r, last)) &&
	       (next == UINT64_MAX || has_reference(r, next));
}

/* Takes references only around this crash, because most operations are far from any failure. */
int references_allow_at(struct references *r, const struct plan *p, struct runner *runner,
			const struct recovery *c, uint64_t seq, struct allowed *out,
			struct error *err)
{
	out->hashes.n = out->denied.n = 0;
	if (!c->dump || p->operations.n == 0)
		return 0;
	if (!has_references(r, p, seq) && references_take(r, p, runner, c, &seq, 1, err) < 0)
		return -1;
	references_allow(r, p, seq, out);
	return 0;
}
