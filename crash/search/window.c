/* Keeps the runs of a window as a tree of what they read, in order. A place in the tree stands for
 * the reads so far, and says what recovery reads next; each value of that read leads to another
 * place:
 *
 *	read count -> 3: read entry 3 -> "abc": run ended, exit status 0
 *	              4: read entry 4 -> ...
 *
 * Recovery that does the same on the same memory reads one thing at each place. If threads make it
 * differ, a place has several reads, and the first one that has the value is taken.
 *
 * A byte is listed when a run first reads it, unless the run has written it. So the bytes of a
 * decision of another failure point are always among those listed at its place. */
#include "crash/search/window.h"

#include <string.h>

#define TEXT_OK 256u      /* bytes of output that are kept if recovery copes */
#define TEXT_FAILED 4096u /* the same if it fails */

struct read {
	uint64_t addr;  /* address of the first byte of the piece */
	uint64_t place; /* the reading instruction; 0: unknown */
	uint32_t access_bytes, thread;
	uint16_t flags; /* enum run_read_flags */
	uint8_t mask;   /* which of the 8 bytes from addr were read first here */
};

struct run {
	struct verdict verdict; /* its numbers of decisions count reads */
	bool has_text;
};

/* What recovery did after certain reads. */
struct place {
	struct run *run;    /* recovery ended here; NULL: it did not */
	struct step *steps; /* alternatives of the next read */
};

struct value {
	uint64_t bytes; /* bytes that were not listed are 0 */
	struct place then;
	struct value *other;
};

struct step {
	struct read read;
	struct value *values;
	struct step *other;
};

struct beginning {
	uint64_t moment;
	struct place place;
};

/* Up to 64 bytes of a line that may differ between failure points. */
struct piece {
	uint64_t addr; /* a multiple of 64 */
	uint64_t mask;
};

struct window {
	uint64_t first, last;         /* numbers of failure points; `last` is the last one so far */
	uint64_t first_seq, last_seq; /* their events */
	VEC(struct piece) pieces;
	VEC(uint64_t) changes; /* events at which files change */
	VEC(struct beginning) beginnings;
	struct arena arena;
};

/* ---- what differs in the window ---- */

void window_ahead_release(struct window_ahead *a)
{
	trace_close(a->trace);
	*a = (struct window_ahead){ 0 };
}

/* Adds bytes that may differ. False: the window would be too large. */
static bool add_bytes(struct window *w, uint64_t addr, uint64_t mask)
{
	for (size_t i = w->pieces.n; i-- > 0;)
		if (w->pieces.at[i].addr == addr) {
			w->pieces.at[i].mask |= mask;
			return true;
		}
	if ((w->pieces.n + 1) * 64 > WINDOW_BYTES)
		return false;
	*vec_add(&w->pieces) = (struct piece){ addr, mask };
	return true;
}

static bool add_store(struct window *w, const struct trace_event *ev)
{
	const uint64_t end =
		ev->addr + (ev->data_len > ev->size_bytes ? ev->data_len : ev->size_bytes);

	for (uint64_t at = ev->addr / 64 * 64; at < end; at += 64) {
		const uint64_t from = ev->addr > at ? ev->addr - at : 0,
			       to = end - at < 64 ? end - at : 64;
		const uint64_t mask = (to < 64 ? ((uint64_t)1 << to) - 1 : UINT64_MAX) &
				      ~(((uint64_t)1 << from) - 1);

		if (!add_bytes(w, at, mask))
			return false;
	}
	return true;
}

static uint64_t differing(const uint8_t *a, const uint8_t *b)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < 64; i++)
		mask |= (uint64_t)(a[i] != b[i]) << i;
	return mask;
}

/* Adds the bytes of a line that may differ: what may be lost at the first failure point may be
 * durable at the next. */
static bool add_line(struct window *w, const struct crash_image *im, const struct state_set *s,
		     const struct state_line *l)
{
	uint8_t durable[64];

	for (uint32_t from = 0; from < s->line_bytes; from += 64) {
		/* contents that are not listed may differ in any byte */
		uint64_t mask = l->asked == UINT64_MAX ? 0 : UINT64_MAX;

		image_read(im, l->addr + from, durable, sizeof durable);
		for (uint32_t c = 0; c < l->ncontents; c++)
			mask |= differing(durable, state_content(s, l, c) + from);
		if (mask && !add_bytes(w, l->addr + from, mask))
			return false;
	}
	return true;
}

static bool is_image_change(const struct trace_event *ev)
{
	return ev->kind == PMT_FILE || ev->kind == PMT_CONTENT || ev->kind == PMT_OLD ||
	       ev->kind == PMT_SIZE || ev->kind == PMT_FALLOCATE || ev->kind == PMT_RENAME ||
	       ev->kind == PMT_UNLINK;
}

static bool ahead_next(struct window_ahead *a)
{
	if (!a->has_event)
		a->has_event = trace_next(a->trace, &a->ev);
	return a->has_event;
}

static void note_changes(struct window *w, const struct plan *p, struct window_ahead *a)
{
	bool is_changed = is_image_change(&a->ev);

	for (; a->nlate < p->late.n && p->late.at[a->nlate].since < a->ev.seq; a->nlate++)
		is_changed = true;
	if (is_changed && a->ev.seq >= w->first_seq)
		*vec_add(&w->changes) = a->ev.seq;
}

/* Adds the bytes that stores up to the window's last failure point write. The event of that failure
 * point itself counts if it changes a file. */
static void look_ahead(struct window *w, const struct plan *p, struct window_ahead *a)
{
	if (!a->trace || (a->has_event && a->ev.seq > w->first_seq)) {
		window_ahead_release(a);
		a->trace = trace_cursor(p->trace);
	}
	while (ahead_next(a) && a->ev.seq < w->last_seq) {
		if (a->ev.seq >= w->first_seq && trace_is_store(a->ev.kind) &&
		    !add_store(w, &a->ev)) {
			w->last_seq = a->ev.seq; /* too many bytes: the window ends here */
			break;
		}
		note_changes(w, p, a);
		a->has_event = false;
	}
	if (a->has_event && a->ev.seq == w->last_seq)
		note_changes(w, p, a);
}

struct window *window_new(const struct walk *walk, uint64_t last_seq, struct window_ahead *a)
{
	struct window *w = xcalloc(1, sizeof *w);
	struct state_set set = { 0 };
	bool fits = true;

	states_collect_newest(&set, walk->model);
	w->first = w->last = walk->point;
	w->first_seq = walk->seq;
	w->last_seq = last_seq > walk->seq ? last_seq : walk->seq;
	for (size_t i = 0; i < set.lines.n && fits; i++)
		fits = add_line(w, &walk->image, &set, &set.lines.at[i]);
	states_release(&set);
	if (fits) {
		look_ahead(w, walk->plan, a);
	} else { /* too many bytes may be lost here: this failure point is alone */
		w->pieces.n = 0;
		w->last_seq = w->first_seq;
		*vec_add(&w->changes) = w->first_seq;
	}
	return w;
}

void window_free(struct window *w)
{
	if (!w)
		return;
	vec_release(&w->pieces);
	vec_release(&w->changes);
	window_forget(w);
	free(w);
}

bool window_has(struct window *w, uint64_t point, uint64_t seq)
{
	if (point < w->first || seq > w->last_seq)
		return false;
	if (point > w->last)
		w->last = point;
	return true;
}

uint64_t window_first_point(const struct window *w)
{
	return w->first;
}

uint64_t window_last_point(const struct window *w)
{
	return w->last;
}

size_t window_bytes(const struct window *w)
{
	return w->arena.total_bytes;
}

void window_forget(struct window *w)
{
	arena_release(&w->arena);
	vec_release(&w->beginnings);
}

void window_watch(const struct window *w, struct state_set *s, const struct crash_image *im)
{
	for (size_t i = 0; i < w->pieces.n; i++)
		states_watch(s, im, w->pieces.at[i].addr, w->pieces.at[i].mask);
	states_sort(s);
}

uint64_t window_moment(const struct window *w, uint64_t seq, uint64_t operation)
{
	uint64_t n = 1;

	for (size_t i = 0; i < w->changes.n; i++) {
		if (w->changes.at[i] == seq)
			return 0;
		n += w->changes.at[i] < seq;
	}
	return operation << 32 | n;
}

/* ---- keeping runs ---- */

static struct place *beginning_of(const struct window *w, uint64_t moment)
{
	for (size_t i = 0; i < w->beginnings.n; i++)
		if (w->beginnings.at[i].moment == moment)
			return &w->beginnings.at[i].place;
	return NULL;
}

/* Computes the value that this read of recovery gets in a state. */
static bool value_of(const struct state_set *s, const uint64_t *states, const struct read *r,
		     uint64_t *bytes)
{
	const struct state_line *l = states_line(s, r->addr);
	const uint8_t *content;

	if (!l)
		return false;
	content = state_content(s, l, states_newest_left(l, states)) + (r->addr - l->addr);
	*bytes = 0;
	for (uint32_t m = r->mask; m; m &= m - 1)
		*bytes |= (uint64_t)content[__builtin_ctz(m)] << 8 * __builtin_ctz(m);
	return true;
}

static struct step *step_of(struct place *p, const struct read *r)
{
	struct step *s = p->steps;

	while (s && (s->read.addr != r->addr || s->read.mask != r->mask))
		s = s->other;
	return s;
}

static struct step *step_add(struct window *w, struct place *p, const struct read *r)
{
	struct step *s = arena_alloc(&w->arena, sizeof *s);

	*s = (struct step){ .read = *r, .other = p->steps };
	p->steps = s;
	return s;
}

static struct value *value_find(const struct step *s, uint64_t bytes)
{
	struct value *v = s->values;

	while (v && v->bytes != bytes)
		v = v->other;
	return v;
}

static struct value *value_add(struct window *w, struct step *s, uint64_t bytes)
{
	struct value *v = arena_alloc(&w->arena, sizeof *v);

	*v = (struct value){ .bytes = bytes, .other = s->values };
	s->values = v;
	return v;
}

static const char *keep_text(struct window *w, const char *text, size_t len_bytes, bool is_kept)
{
	return is_kept && text ? arena_string(&w->arena, text, len_bytes) : "";
}

static void keep_verdict(struct window *w, const struct verdict *v, struct run *run)
{
	const size_t n = v->result.output_len + v->result.errors_len + v->output_len;
	struct run_result *r = &run->verdict.result;
	uint64_t *stack;

	run->verdict = *v;
	run->has_text = n <= (v->kind == VERDICT_OK ? TEXT_OK : TEXT_FAILED);
	run->verdict.output = keep_text(w, v->output, v->output_len, run->has_text);
	r->output = keep_text(w, r->output, r->output_len, run->has_text);
	r->errors = keep_text(w, r->errors, r->errors_len, run->has_text);
	if (!run->has_text)
		r->output_len = r->errors_len = run->verdict.output_len = 0;
	if (r->signal_nframes == 0)
		return;
	stack = arena_alloc(&w->arena, r->signal_nframes * sizeof *stack);
	memcpy(stack, r->signal_stack, r->signal_nframes * sizeof *stack);
	r->signal_stack = stack;
}

static bool is_read(const struct run_decision *d)
{
	return d->nvalues == 1;
}

/* Of the first decisions of a list, counts those that are reads of watched bytes, or those that are
 * not. */
static size_t count(const struct run_decision *list, size_t n, size_t first, bool are_reads)
{
	size_t count = 0;

	for (size_t i = 0; i < n && i < first; i++)
		count += is_read(&list[i]) == are_reads;
	return count;
}

static void renumber(const struct run_decision *list, size_t n, bool are_reads, struct verdict *v)
{
	for (size_t i = 0; i < PART_N; i++)
		v->ndecisions[i] = count(list, n, v->ndecisions[i], are_reads);
	if (v->ndone != SIZE_MAX)
		v->ndone = count(list, n, v->ndone, are_reads);
}

void window_strip(const struct run_decision *list, size_t n, decision_list *taken,
		  struct verdict *v)
{
	taken->n = 0;
	for (size_t i = 0; i < n; i++)
		if (!is_read(&list[i]))
			*vec_add(taken) = list[i];
	renumber(list, n, false, v);
}

void window_keep(struct window *w, uint64_t moment, const struct state_set *s, const uint64_t *left,
		 const struct run_decision *list, size_t n, const struct verdict *v)
{
	struct place *p = beginning_of(w, moment);

	if (!p) {
		*vec_add(&w->beginnings) = (struct beginning){ .moment = moment };
		p = &w->beginnings.at[w->beginnings.n - 1].place;
	}
	for (size_t i = 0; i < n; i++) {
		const struct run_decision *d = &list[i];
		struct read r = { .addr = s->lines.at[d->line].addr + d->at,
				  .place = d->nframes > 0 ? d->stack[0] : 0,
				  .access_bytes = d->access_bytes,
				  .thread = d->thread,
				  .flags = (uint16_t)d->flags,
				  .mask = (uint8_t)d->mask };
		struct step *step;
		struct value *value;
		uint64_t bytes;

		if (!is_read(d))
			continue;
		if (!value_of(s, left, &r, &bytes))
			return;
		step = step_of(p, &r);
		if (!step)
			step = step_add(w, p, &r);
		value = value_find(step, bytes);
		if (!value)
			value = value_add(w, step, bytes);
		p = &value->then;
	}
	if (!p->run)
		p->run = arena_alloc(&w->arena, sizeof *p->run);
	keep_verdict(w, v, p->run);
	renumber(list, n, true, &p->run->verdict);
}

/* ---- finding runs ---- */

struct path {
	VEC(const struct read *) reads;
	const struct run *run;
};

static bool follow(const struct place *p, const struct state_set *s, const uint64_t *states,
		   struct path *path)
{
	while (p && !p->run) {
		const struct value *found = NULL;

		for (const struct step *step = p->steps; step && !found; step = step->other) {
			uint64_t bytes;

			if (!value_of(s, states, &step->read, &bytes))
				return false;
			found = value_find(step, bytes);
			if (found)
				*vec_add(&path->reads) = &step->read;
		}
		p = found ? &found->then : NULL;
	}
	path->run = p ? p->run : NULL;
	return p;
}

static uint64_t masked(const uint8_t *bytes, uint64_t mask)
{
	uint64_t v = 0;

	for (; mask; mask &= mask - 1)
		v |= (uint64_t)bytes[__builtin_ctzll(mask)] << 8 * __builtin_ctzll(mask);
	return v;
}

/* Of the bytes read, gives those in which the contents left differ. */
static uint64_t find_difference(const struct state_set *s, const struct state_line *l,
				const uint64_t *left, uint32_t newest, uint32_t at, uint64_t mask)
{
	const uint8_t *a = state_content(s, l, newest) + at;
	uint64_t differ = 0;

	for (uint32_t c = 0; c < newest; c++) {
		const uint8_t *b = state_content(s, l, c) + at;

		if (!bit_get(left + l->set, c))
			continue;
		for (uint64_t m = mask & ~differ; m; m &= m - 1)
			if (a[__builtin_ctzll(m)] != b[__builtin_ctzll(m)])
				differ |= m & -m;
	}
	return differ;
}

/* Counts the different values of the contents left, and excludes those with another value than the
 * newest. */
static uint32_t narrow(const struct state_set *s, const struct state_line *l, uint64_t *left,
		       uint32_t newest, uint32_t at, uint64_t mask)
{
	const uint64_t taken = masked(state_content(s, l, newest) + at, mask);
	VEC(uint64_t) values = { 0 };
	uint32_t n;

	*vec_add(&values) = taken;
	for (uint32_t c = 0; c < newest; c++) {
		const uint64_t value = masked(state_content(s, l, c) + at, mask);
		size_t i = 0;

		if (!bit_get(left + l->set, c))
			continue;
		while (i < values.n && values.at[i] != value)
			i++;
		if (i == values.n)
			*vec_add(&values) = value;
		if (value != taken)
			bit_put(left + l->set, c, false);
	}
	n = (uint32_t)values.n;
	vec_release(&values);
	return n;
}

static void decide(const struct state_set *s, const struct read *r, struct window_hit *hit)
{
	const struct state_line *l = states_line(s, r->addr);
	const uint32_t at = (uint32_t)(r->addr - l->addr),
		       newest = states_newest_left(l, hit->left);
	const uint64_t differ = find_difference(s, l, hit->left, newest, at, r->mask);
	const uint64_t unasked = s->line_bytes == 64 ? r->mask & ~l->asked >> at : 0;
	struct run_decision d = { .line = (uint32_t)(l - s->lines.at),
				  .at = at,
				  .chosen = newest,
				  .nframes = r->place != 0,
				  .thread = r->thread,
				  .flags = r->flags,
				  .access_bytes = r->access_bytes,
				  .stack = { r->place } };

	if (differ) {
		d.mask = differ;
		d.nvalues = narrow(s, l, hit->left, newest, at, differ);
		*vec_add(&hit->decisions) = d;
	}
	if (unasked) {
		d.mask = unasked;
		d.nvalues = 0;
		*vec_add(&hit->decisions) = d;
	}
}

/* The number of decisions before read number `first`; after[i] is the number after read i. */
static size_t decisions_at(const size_t *after, size_t nreads, size_t first)
{
	return first == 0 ? 0 : after[first < nreads ? first - 1 : nreads - 1];
}

static void replay(const struct path *path, const struct state_set *s, struct window_hit *hit)
{
	const size_t n = path->reads.n;
	size_t *after = xcalloc(n + 1, sizeof *after);
	struct verdict *v = &hit->verdict;

	for (size_t i = 0; i < n; i++) {
		decide(s, path->reads.at[i], hit);
		after[i] = hit->decisions.n;
	}
	for (size_t i = 0; i < PART_N && n > 0; i++)
		v->ndecisions[i] = decisions_at(after, n, v->ndecisions[i]);
	if (v->ndone != SIZE_MAX && n > 0)
		v->ndone = decisions_at(after, n, v->ndone);
	free(after);
}

bool window_find(const struct window *w, uint64_t moment, const struct state_set *s,
		 const uint64_t *states, struct window_hit *hit)
{
	struct path path = { 0 };
	const struct place *begin = beginning_of(w, moment);

	*hit = (struct window_hit){ 0 };
	if (!begin || !follow(begin, s, states, &path)) {
		vec_release(&path.reads);
		return false;
	}
	hit->verdict = path.run->verdict;
	hit->has_text = path.run->has_text;
	hit->left = states_copy(s, states);
	replay(&path, s, hit);
	vec_release(&path.reads);
	return true;
}

void window_hit_release(struct window_hit *hit)
{
	vec_release(&hit->decisions);
	free(hit->left);
}
