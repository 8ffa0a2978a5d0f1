/* Builds the states that recovery may find after a crash while operations of several threads are in
 * flight, and asks what the dump prints for each.
 *
 *	thread 1:  |- put a -|     |------- put c ------|
 *	thread 2:       |------- put b -------|
 *	                                 ^ crash: a is there; b and c each may be, as a whole
 *
 * A state is made of the stores of whole operations, in the order in which they were recorded: all
 * that were acknowledged before the crash, and a subset of those in flight, also with what they
 * store after the crash. No other order is tried, because a crash keeps the order of stores to the
 * same bytes. Four rules make the subsets fewer:
 *
 *   - An operation that has not stored anything before the crash cannot be seen.
 *   - An operation that has nothing more to store, and can lose nothing, is there.
 *   - An operation that another one has shown in its answer is there (shown.h).
 *   - Equal contents of the files are tried once.
 *
 * A subset on which recovery fails is left out: one operation may build on what another one stored.
 * Nothing can be built where a file changes its size or name meanwhile. */
#include "crash/search/in_flight.h"

#include <string.h>

#include "crash/search/explorer.h"
#include "crash/search/shown.h"
#include "util/hash.h"
#include "util/order.h"

#define UNDECIDED_MAX 12u            /* 2^12 subsets */
#define PIECES_MAX ((size_t)1 << 20) /* stores that are kept */
#define LOOK_BACK 4096u              /* stores among which that of a load is looked for */

/* A store, or another change of a file, that is not in `base`. */
struct piece {
	uint64_t seq, addr;
	/* NULL: a store; a copy of the event that changes a file otherwise */
	struct trace_event *change;
	size_t op; /* number of its operation, from 1; 0: none */
	uint32_t len_bytes;
	uint8_t *bytes;
};

/* What an operation stores, as far as the trace was read. */
struct op_stores {
	uint64_t first_seq, last_seq; /* 0: nothing */
	/* another thread got the number of its thread at this event; 0: none did */
	uint64_t gone_seq;
};

struct flying {
	size_t op; /* number, from 1 */
	bool is_lossy, is_there, is_undecided;
	bool is_shown; /* it is there because of an answer */
};

struct stage {
	const struct plan *plan;
	struct runner *runner;
	const struct recovery *recovery;
	struct dump_texts *texts;
	struct in_flight *known;
	/* the trace is read ahead of the moment, because operations go on after a crash */
	struct trace *ahead;
	struct trace_event ev;
	bool has_event, is_over, is_full;
	/* the files with all stores before the first piece; only the bytes count */
	struct crash_image base;
	uint64_t base_hash;
	VEC(struct piece) pieces; /* ascending seq; the first npassed are in base */
	size_t npassed;
	VEC(struct op_stores) stores; /* by operation */
	VEC(size_t) open;             /* operations in progress where the trace is read, from 0 */
	size_t nbegun;
	size_t nended;         /* operations that ended before the moment; more may have */
	VEC(uint64_t) changes; /* events that change files in another way than by stores */
	size_t nchanged;       /* those that are in base */
	struct shown_list shown;
	/* of the present moment */
	uint64_t now;
	VEC(struct flying) flying;
	VEC(uint64_t) words; /* addresses of the words that pieces store to, sorted */
	struct walk walk;
};

static const struct operation *op_at(const struct stage *s, size_t number)
{
	return &s->plan->operations.at[number - 1];
}

/* ---- reading ahead ---- */

/* Gives the number of the thread's operation, 0: none. Of nested ones, it is the outermost. */
static size_t owner_of(const struct stage *s, uint32_t stream, uint32_t thread)
{
	for (size_t i = 0; i < s->open.n; i++) {
		const struct operation *o = &s->plan->operations.at[s->open.at[i]];

		if (o->stream == stream && o->thread == thread)
			return s->open.at[i] + 1;
	}
	return 0;
}

static void end_open(struct stage *s, const struct trace_event *ev)
{
	const bool is_new = ev->kind == PMT_THREAD_BEGIN;
	size_t n = 0;

	for (size_t i = 0; i < s->open.n; i++) {
		const struct operation *o = &s->plan->operations.at[s->open.at[i]];
		/* numbers of threads are used again */
		const bool is_gone =
			is_new && o->stream == ev->stream && o->thread == (uint32_t)ev->arg[0];

		if (is_gone)
			s->stores.at[s->open.at[i]].gone_seq = ev->seq;
		else if (o->end_seq >= ev->seq)
			s->open.at[n++] = s->open.at[i];
	}
	s->open.n = n;
}

static void begin_open(struct stage *s, uint64_t seq)
{
	for (;
	     s->nbegun < s->plan->operations.n && s->plan->operations.at[s->nbegun].begin_seq < seq;
	     s->nbegun++) {
		const struct operation *o = &s->plan->operations.at[s->nbegun];

		if (!owner_of(s, o->stream, o->thread))
			shown_forget(&s->shown, o->stream, o->thread);
		*vec_add(&s->open) = s->nbegun;
	}
}

static void add_piece(struct stage *s, const struct trace_event *ev)
{
	struct piece p = { .seq = ev->seq,
			   .addr = ev->addr,
			   .op = owner_of(s, ev->stream, ev->thread),
			   .len_bytes = ev->data_len };

	p.bytes = xcalloc(1, ev->data_len + 1);
	memcpy(p.bytes, ev->data, ev->data_len);
	*vec_add(&s->pieces) = p;
	if (p.op) {
		struct op_stores *o = &s->stores.at[p.op - 1];

		o->first_seq = o->first_seq ? o->first_seq : ev->seq;
		o->last_seq = ev->seq;
	}
}

/* Keeps a change until all stores before it are in base: a store that is older must not come over
 * what cuts or writes the file. */
static void add_change(struct stage *s, const struct trace_event *ev)
{
	struct piece p = { .seq = ev->seq, .bytes = xcalloc(1, ev->data_len + 1) };

	if (ev->data_len)
		memcpy(p.bytes, ev->data, ev->data_len);
	p.change = xcalloc(1, sizeof *p.change);
	*p.change = *ev;
	p.change->data = p.bytes;
	*vec_add(&s->pieces) = p;
	*vec_add(&s->changes) = ev->seq;
}

/* Notes what the event loads, if an operation of another thread in flight has stored it. */
static void note_load(struct stage *s, const struct trace_event *ev)
{
	const size_t own = owner_of(s, ev->stream, ev->thread);

	for (size_t i = s->pieces.n, n = 0; i-- > s->npassed && n < LOOK_BACK; n++) {
		const struct piece *p = &s->pieces.at[i];

		if (p->change || p->addr >= ev->addr + ev->size_bytes ||
		    ev->addr >= p->addr + p->len_bytes)
			continue;
		if (p->op && p->op != own && op_at(s, p->op)->end_seq >= ev->seq)
			shown_load(&s->shown, ev,
				   &(struct shown_store){ p->op, p->bytes, p->len_bytes });
		return;
	}
}

static void note_event(struct stage *s, const struct trace_event *ev)
{
	begin_open(s, ev->seq);
	end_open(s, ev);
	if (trace_is_store(ev->kind)) {
		add_piece(s, ev);
	} else if (ev->kind == PMT_LOAD) {
		note_load(s, ev);
	} else if (ev->kind == PMT_OUTPUT) {
		shown_output(&s->shown, ev);
	} else if (ev->kind == PMT_OLD || ev->kind == PMT_CONTENT || ev->kind == PMT_FILE ||
		   ev->kind == PMT_SIZE || ev->kind == PMT_FALLOCATE || ev->kind == PMT_RENAME ||
		   ev->kind == PMT_UNLINK) {
		add_change(s, ev);
	}
}

static uint64_t word_hash(uint64_t addr, const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof value);
	return value ? hash_mix(hash_mix(1, addr), value) : 0;
}

static uint64_t image_word_hash(const struct crash_image *im, uint64_t addr)
{
	uint8_t bytes[8];

	image_read(im, addr, bytes, sizeof bytes);
	return word_hash(addr, bytes);
}

static void piece_release(struct piece *p)
{
	free(p->bytes);
	free(p->change);
}

/* Stores a piece in base. */
static void pass_piece(struct stage *s, struct piece *p)
{
	const uint64_t from = p->addr & ~(uint64_t)7, to = p->addr + p->len_bytes;

	if (p->change) {
		image_event(&s->base, p->change);
		s->nchanged++;
		return;
	}
	for (uint64_t a = from; a < to; a += 8)
		s->base_hash -= image_word_hash(&s->base, a);
	image_write(&s->base, p->addr, p->bytes, p->len_bytes);
	for (uint64_t a = from; a < to; a += 8)
		s->base_hash += image_word_hash(&s->base, a);
}

/* Stores in base what no operation that is in flight at the moment or later can precede. */
static void pass_pieces(struct stage *s)
{
	while (s->npassed < s->pieces.n) {
		struct piece *p = &s->pieces.at[s->npassed];

		if (p->seq >= s->now || (p->op && op_at(s, p->op)->end_seq >= s->now))
			break;
		pass_piece(s, p);
		piece_release(p);
		s->npassed++;
	}
	if (s->npassed < s->pieces.n / 2 || s->npassed == 0)
		return;
	s->pieces.n -= s->npassed;
	memmove(s->pieces.at, s->pieces.at + s->npassed, s->pieces.n * sizeof *s->pieces.at);
	s->npassed = 0;
}

/* Reads all events up to this one, unless too many stores are in flight. It goes on at a later
 * moment, when operations have ended that held them. */
static void read_until(struct stage *s, uint64_t seq)
{
	if (s->is_full) {
		pass_pieces(s);
		s->is_full = s->pieces.n - s->npassed > PIECES_MAX;
	}
	while (!s->is_over && !s->is_full) {
		if (!s->has_event && !trace_next(s->ahead, &s->ev)) {
			s->is_over = true;
			break;
		}
		s->has_event = s->ev.seq > seq;
		if (s->has_event)
			break;
		note_event(s, &s->ev);
		if (s->pieces.n - s->npassed > PIECES_MAX / 2)
			pass_pieces(s);
		s->is_full = s->pieces.n - s->npassed > PIECES_MAX;
	}
}

/* ---- a moment ---- */

static struct flying *flying_of(const struct stage *s, size_t op)
{
	for (size_t i = 0; i < s->flying.n; i++)
		if (s->flying.at[i].op == op)
			return &s->flying.at[i];
	return NULL;
}

static bool has_thread(const struct stage *s, const struct operation *o)
{
	for (size_t i = 0; i < s->flying.n; i++) {
		const struct operation *other = op_at(s, s->flying.at[i].op);
		const uint64_t gone_seq = s->stores.at[s->flying.at[i].op - 1].gone_seq;

		if (other->stream == o->stream && other->thread == o->thread &&
		    (!gone_seq || gone_seq > o->begin_seq))
			return true;
	}
	return false;
}

/* Lists the operations in flight, the outermost of each thread. */
static void list_flying(struct stage *s)
{
	const struct plan *p = s->plan;

	s->flying.n = 0;
	while (s->nended < p->operations.n && p->operations.at[s->nended].end_seq < s->now)
		s->nended++;
	for (size_t i = s->nended; i < p->operations.n && p->operations.at[i].begin_seq < s->now;
	     i++)
		if (p->operations.at[i].end_seq >= s->now && !has_thread(s, &p->operations.at[i]))
			*vec_add(&s->flying) = (struct flying){ .op = i + 1 };
}

static void note_lossy(const struct model_store *m, void *arg)
{
	struct stage *s = arg;

	for (size_t i = 0; i < s->flying.n; i++) {
		const struct operation *o = op_at(s, s->flying.at[i].op);

		if (o->stream == m->stream && o->thread == m->thread && m->seq > o->begin_seq &&
		    m->seq <= s->stores.at[s->flying.at[i].op - 1].last_seq)
			s->flying.at[i].is_lossy = true;
	}
}

/* Moves the walk to the moment. False: it has no stop there, so more may be durable where it
 * stands. */
static bool walk_to(struct walk *w, uint64_t seq)
{
	while (w->seq < seq && walk_next(w))
		;
	return w->seq == seq;
}

/* Decides which operations are there, and which may be. Returns the number of the latter. */
static size_t decide(struct stage *s, bool is_exact)
{
	size_t n = 0, nshown = 0;

	model_each(s->walk.model, 0, UINT64_MAX, note_lossy, s);
	for (size_t i = 0; i < s->shown.list.n; i++) {
		const struct shown d = s->shown.list.at[i];
		struct flying *f = d.answer_seq < s->now ? flying_of(s, d.by) : NULL;

		/* an operation in the middle of its stores need not have taken effect */
		if (f && s->stores.at[d.by - 1].last_seq < d.read_seq)
			f->is_shown = true;
		if (op_at(s, d.by)->end_seq >= s->now)
			s->shown.list.at[nshown++] = d;
	}
	s->shown.list.n = nshown;
	for (size_t i = 0; i < s->flying.n; i++) {
		struct flying *f = &s->flying.at[i];
		const struct op_stores *o = &s->stores.at[f->op - 1];

		if (!o->first_seq || o->first_seq >= s->now)
			continue;
		f->is_there = is_exact && !f->is_lossy && o->last_seq < s->now;
		f->is_shown &= !f->is_there;
		f->is_there |= f->is_shown;
		f->is_undecided = !f->is_there;
		n += f->is_undecided;
	}
	return n;
}

/* Does a file change in another way than by stores while one of the operations is in flight? */
static bool is_changing(const struct stage *s)
{
	uint64_t from = s->now, to = s->now;

	for (size_t i = 0; i < s->flying.n; i++) {
		const struct operation *o = op_at(s, s->flying.at[i].op);

		from = o->begin_seq < from ? o->begin_seq : from;
		to = o->end_seq > to ? o->end_seq : to;
	}
	if (s->npassed < s->pieces.n && s->pieces.at[s->npassed].seq < from)
		from = s->pieces.at[s->npassed].seq;
	for (size_t i = s->changes.n; i-- > 0 && s->changes.at[i] >= from;)
		if (s->changes.at[i] <= to)
			return true;
	return false;
}

/* Can the piece be in a state of this moment? */
static bool is_of_moment(const struct stage *s, const struct piece *p)
{
	return p->seq < s->now || (p->op && flying_of(s, p->op));
}

static void list_words(struct stage *s)
{
	size_t n = 0;

	s->words.n = 0;
	for (size_t i = s->npassed; i < s->pieces.n; i++) {
		const struct piece *p = &s->pieces.at[i];

		for (uint64_t a = p->addr & ~(uint64_t)7;
		     is_of_moment(s, p) && a < p->addr + p->len_bytes; a += 8)
			*vec_add(&s->words) = a;
	}
	if (s->words.n > 0)
		qsort(s->words.at, s->words.n, sizeof *s->words.at, order_u64);
	for (size_t i = 0; i < s->words.n; i++)
		if (n == 0 || s->words.at[n - 1] != s->words.at[i])
			s->words.at[n++] = s->words.at[i];
	s->words.n = n;
}

/* ---- a state ---- */

/* Is an operation in the state? subset: a bit for each one that may be there, in order. */
static bool is_taken(const struct stage *s, size_t op, uint32_t subset)
{
	for (size_t i = 0, bit = 0; i < s->flying.n; i++) {
		const struct flying *f = &s->flying.at[i];

		if (f->op == op)
			return f->is_there || (f->is_undecided && subset >> bit & 1);
		bit += f->is_undecided;
	}
	return true; /* it is not in flight */
}

static void build(struct stage *s, struct crash_image *im, uint32_t subset)
{
	for (size_t i = 0; i < s->words.n; i++) {
		uint8_t bytes[8];

		image_read(&s->base, s->words.at[i], bytes, sizeof bytes);
		image_write(im, s->words.at[i], bytes, sizeof bytes);
	}
	for (size_t i = s->npassed; i < s->pieces.n; i++) {
		const struct piece *p = &s->pieces.at[i];

		if (!p->change && is_of_moment(s, p) && (!p->op || is_taken(s, p->op, subset)))
			image_write(im, p->addr, p->bytes, p->len_bytes);
	}
}

/* Gives the number of the operation that recovery is told, or 0. */
static uint64_t operation_of(const struct stage *s, uint32_t subset)
{
	uint64_t n = recovery_operation(s->recovery, s->plan, s->now);

	if (!n || s->recovery->operation)
		return n;
	for (size_t i = 0; i < s->flying.n; i++)
		n += (s->flying.at[i].is_there || s->flying.at[i].is_undecided) &&
		     is_taken(s, s->flying.at[i].op, subset);
	return n;
}

/* Hashes the contents of all files. */
static uint64_t content_of(const struct stage *s, const struct crash_image *im, uint64_t operation)
{
	uint64_t sum = s->base_hash, h;

	for (size_t i = 0; i < s->words.n; i++)
		sum += image_word_hash(im, s->words.at[i]) -
		       image_word_hash(&s->base, s->words.at[i]);
	h = hash_mix(hash_mix(operation + 1, sum), s->nchanged);
	for (size_t i = 0; i < im->files.n; i++)
		h = hash_mix(hash_mix(h, im->files.at[i].exists), im->files.at[i].size_bytes);
	return h;
}

/* Runs recovery and dump on the image. */
static int run(struct stage *s, struct crash_image *im, uint64_t operation,
	       struct in_flight_outcome *out, struct error *err)
{
	struct state_set none = { .line_bytes = s->plan->platform->line_bytes };
	struct verdict v = { 0 };

	runner_load(s->runner, im, &none);
	if (operation)
		runner_set_operation(s->runner, operation);
	runner_begin(s->runner, NULL, false);
	if (verdict_run(&v, s->runner, s->recovery, NULL, err) < 0)
		return -1;
	*out = (struct in_flight_outcome){ v.dump_hash, v.kind == VERDICT_OK && !v.why_unsound };
	if (out->is_known && s->texts)
		dump_texts_add(s->texts, v.dump_hash, v.result.output, v.result.output_len);
	return 0;
}

static int try_subset(struct stage *s, struct crash_image *im, uint32_t subset, struct allowed *out,
		      struct error *err)
{
	const uint64_t operation = operation_of(s, subset);
	struct in_flight_outcome outcome;
	uint64_t content;
	uintptr_t known;

	build(s, im, subset);
	content = content_of(s, im, operation);
	known = (uintptr_t)map_get(&s->known->by_content, content);
	if (known) {
		outcome = s->known->outcomes.at[known - 1];
	} else {
		if (run(s, im, operation, &outcome, err) < 0)
			return -1;
		*vec_add(&s->known->outcomes) = outcome;
		map_set(&s->known->by_content, content, (void *)(uintptr_t)s->known->outcomes.n);
	}
	if (outcome.is_known)
		allowed_add(out, outcome.hash);
	return 0;
}

/* ---- the files at a moment ---- */

/* Bytes of the walk's image that are to be written back. */
struct kept {
	uint64_t addr;
	uint32_t len_bytes;
	uint8_t bytes[PMT_LINE_BYTES];
};
typedef VEC(struct kept) kept_list;

static void keep(kept_list *list, const struct crash_image *im, uint64_t addr, uint32_t len_bytes)
{
	while (len_bytes > 0) {
		struct kept *k = vec_add(list);

		k->addr = addr;
		k->len_bytes = len_bytes < sizeof k->bytes ? len_bytes : sizeof k->bytes;
		image_read(im, addr, k->bytes, k->len_bytes);
		addr += k->len_bytes;
		len_bytes -= k->len_bytes;
	}
}

/* Makes the walk's image that of the moment with nothing lost. list: gets what was there. */
static void lose_nothing(struct stage *s, kept_list *list)
{
	struct crash_image *im = &s->walk.image;
	struct state_set set = { 0 };

	states_collect_newest(&set, s->walk.model);
	for (size_t i = 0; i < set.lines.n; i++) {
		const struct state_line *l = &set.lines.at[i];
		const uint32_t len_bytes = state_line_bytes(&set, l);

		keep(list, im, l->addr, len_bytes);
		image_write(im, l->addr, state_content(&set, l, l->ncontents - 1), len_bytes);
	}
	for (size_t i = 0; i < s->words.n; i++)
		keep(list, im, s->words.at[i], 8);
	states_release(&set);
}

static void put_back(struct crash_image *im, kept_list *list)
{
	for (size_t i = list->n; i-- > 0;)
		image_write(im, list->at[i].addr, list->at[i].bytes, list->at[i].len_bytes);
	vec_release(list);
}

static int try_subsets(struct stage *s, size_t n, struct allowed *out, struct error *err)
{
	for (uint32_t subset = 0; subset < (uint32_t)1 << n; subset++)
		if (try_subset(s, &s->walk.image, subset, out, err) < 0)
			return -1;
	return 0;
}

/* Lists what would be allowed if no answer had shown anything. It only names the reason of a
 * failure, so it may be incomplete. */
static int try_denied(struct stage *s, size_t n, struct allowed *out, struct error *err)
{
	struct allowed all = { { 0 }, { 0 } };
	const size_t nbefore = n;
	int result;

	for (size_t i = 0; i < s->flying.n && n < UNDECIDED_MAX; i++) {
		struct flying *f = &s->flying.at[i];

		if (!f->is_shown)
			continue;
		f->is_there = false;
		f->is_undecided = true;
		n++;
	}
	if (n == nbefore)
		return 0;
	result = try_subsets(s, n, &all, err);
	for (size_t i = 0; i < all.hashes.n; i++) {
		bool is_allowed = false;

		for (size_t k = 0; k < out->hashes.n; k++)
			is_allowed |= out->hashes.at[k] == all.hashes.at[i];
		if (!is_allowed)
			*vec_add(&out->denied) = all.hashes.at[i];
	}
	allowed_release(&all);
	return result;
}

static int take_moment(struct stage *s, struct allowed *out, struct error *err)
{
	const bool is_exact = walk_to(&s->walk, s->now);
	kept_list list = { 0 };
	uint64_t last = s->now;
	int result;
	size_t n;

	read_until(s, s->now);
	list_flying(s);
	for (size_t i = 0; i < s->flying.n; i++)
		if (op_at(s, s->flying.at[i].op)->end_seq > last)
			last = op_at(s, s->flying.at[i].op)->end_seq;
	read_until(s, last);
	pass_pieces(s);
	n = decide(s, is_exact);
	if (s->is_full || is_changing(s) || n > UNDECIDED_MAX)
		return 0;
	list_words(s);
	lose_nothing(s, &list);
	result = try_subsets(s, n, out, err);
	if (result == 0)
		result = try_denied(s, n, out, err);
	put_back(&s->walk.image, &list);
	return result;
}

/* ---- all moments ---- */

static int compare_moments(const void *a, const void *b)
{
	const struct in_flight_moment *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static void stage_release(struct stage *s)
{
	for (size_t i = s->npassed; i < s->pieces.n; i++)
		piece_release(&s->pieces.at[i]);
	vec_release(&s->pieces);
	vec_release(&s->stores);
	vec_release(&s->open);
	vec_release(&s->changes);
	vec_release(&s->flying);
	vec_release(&s->words);
	shown_release(&s->shown);
	image_release(&s->base);
	trace_close(s->ahead);
	walk_release(&s->walk);
}

int in_flight_take(struct in_flight *f, const struct plan *p, struct runner *runner,
		   const struct recovery *c, struct dump_texts *texts, uint64_t deadline_ns,
		   const uint64_t *moments, size_t nmoments, struct error *err)
{
	struct stage s = { .plan = p, .runner = runner, .recovery = c, .texts = texts, .known = f };
	const size_t nknown = f->list.n;
	int result = 0;

	if (nmoments == 0)
		return 0;
	s.ahead = trace_cursor(p->trace);
	image_init(&s.base, p->sizes.at, p->sizes.n);
	walk_init(&s.walk, p, WALK_POINTS | WALK_STORES | WALK_BOUNDARIES | WALK_OVERTAKEN);
	for (size_t i = 0; i < p->operations.n; i++)
		*vec_add(&s.stores) = (struct op_stores){ 0 };
	for (size_t i = 0;
	     i < nmoments && result == 0 && (!deadline_ns || clock_ns() < deadline_ns); i++) {
		struct allowed allowed = { { 0 }, { 0 } };

		s.now = moments[i];
		result = take_moment(&s, &allowed, err);
		*vec_add(&f->list) = (struct in_flight_moment){ moments[i], allowed };
	}
	if (nknown > 0)
		qsort(f->list.at, f->list.n, sizeof *f->list.at, compare_moments);
	stage_release(&s);
	return result;
}

void in_flight_release(struct in_flight *f)
{
	for (size_t i = 0; i < f->list.n; i++)
		allowed_release(&f->list.at[i].allowed);
	vec_release(&f->list);
	vec_release(&f->outcomes);
	map_release(&f->by_content);
}

size_t in_flight_first(const struct in_flight *f, uint64_t seq)
{
	size_t low = 0, high = f->list.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (f->list.at[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct in_flight_moment *in_flight_find(const struct in_flight *f, uint64_t seq)
{
	const size_t i = in_flight_first(f, seq);

	return i < f->list.n && f->list.at[i].seq == seq ? &f->list.at[i] : NULL;
}
