/* Finds the ranges that transactions change at some places, and writes them into a crash state as
 * they are after the transaction. The bytes are those of program order: a log restores them
 * whatever a crash loses. */
#include "crash/states/logged.h"

#include <string.h>

/* A thread's open transaction. */
struct open_tx {
	uint32_t stream, thread, depth;
	uint64_t begin_seq;
	VEC(size_t) ranges; /* indices of ranges in the list */
};

typedef VEC(struct open_tx) open_txs;

struct finding_pass {
	struct logged *out;
	open_txs open;
	struct crash_image image; /* the content in program order, with nothing lost */
};

static struct open_tx *tx_of(open_txs *all, const struct trace_event *ev)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].stream == ev->stream && all->at[i].thread == ev->thread)
			return &all->at[i];
	*vec_add(all) = (struct open_tx){ .stream = ev->stream, .thread = ev->thread };
	return &all->at[all->n - 1];
}

static void end_tx(struct finding_pass *p, struct open_tx *tx, uint64_t seq)
{
	for (size_t i = 0; i < tx->ranges.n; i++) {
		struct logged_range *r = &p->out->list.at[tx->ranges.at[i]];

		r->end_seq = seq;
		image_read(&p->image, r->addr, r->after, r->len_bytes);
	}
	tx->ranges.n = 0;
}

static void add_range(struct finding_pass *p, struct open_tx *tx, const struct trace_event *ev)
{
	struct logged_range *r;

	for (size_t i = 0; i < tx->ranges.n; i++) {
		r = &p->out->list.at[tx->ranges.at[i]];
		if (r->addr <= ev->addr && ev->addr + ev->size_bytes <= r->addr + r->len_bytes)
			return;
	}
	*vec_add(&tx->ranges) = p->out->list.n;
	r = vec_add(&p->out->list);
	*r = (struct logged_range){ .begin_seq = tx->begin_seq,
				    .seq = ev->seq,
				    .end_seq = UINT64_MAX,
				    .addr = ev->addr,
				    .len_bytes = ev->size_bytes };
}

static void pass_event(struct finding_pass *p, const struct trace_event *ev, bool is_wanted)
{
	struct open_tx *tx = tx_of(&p->open, ev);

	if (ev->kind == PMT_TX_BEGIN && tx->depth++ == 0)
		tx->begin_seq = ev->seq;
	else if (ev->kind == PMT_TX_END && tx->depth && --tx->depth == 0)
		end_tx(p, tx, ev->seq);
	else if (trace_is_store(ev->kind) && tx->depth && is_wanted)
		add_range(p, tx, ev);
	if (trace_is_store(ev->kind))
		image_write(&p->image, ev->addr, ev->data, ev->size_bytes);
}

void logged_find(struct logged *l, const struct plan *plan, const uint32_t *classes,
		 size_t nclasses, const bool *is_wanted)
{
	struct trace *t = trace_cursor(plan->trace);
	struct finding_pass p = { .out = l };
	struct trace_event ev;

	image_init(&p.image, plan->sizes.at, plan->sizes.n);
	for (size_t i = 0; i < plan->initial.n; i++)
		image_event(&p.image, &plan->initial.at[i]);
	while (trace_next(t, &ev)) {
		if (!plan_is_initial_event(plan, &ev))
			image_event(&p.image, &ev);
		pass_event(&p, &ev,
			   ev.site && ev.site->id < nclasses && is_wanted[classes[ev.site->id]]);
	}
	for (size_t i = 0; i < p.open.n; i++) {
		end_tx(&p, &p.open.at[i], UINT64_MAX);
		vec_release(&p.open.at[i].ranges);
	}
	vec_release(&p.open);
	image_release(&p.image);
	trace_close(t);
}

void logged_release(struct logged *l)
{
	vec_release(&l->list);
}

bool logged_range_is_open(const struct logged_range *r, uint64_t seq)
{
	return r->seq < seq && seq <= r->end_seq;
}

bool logged_is_open(const struct logged *l, uint64_t seq)
{
	for (size_t i = 0; i < l->list.n && l->list.at[i].seq < seq; i++)
		if (logged_range_is_open(&l->list.at[i], seq))
			return true;
	return false;
}

/* Writes the range into all contents of a line. */
static void put_in_line(struct state_set *s, const struct state_line *l,
			const struct logged_range *r, const uint8_t *bytes)
{
	const uint64_t from = r->addr > l->addr ? r->addr : l->addr, end = r->addr + r->len_bytes,
		       line_end = l->addr + s->line_bytes, to = end < line_end ? end : line_end;

	for (uint32_t c = 0; from < to && c < l->ncontents; c++)
		memcpy(s->bytes.at + l->contents + (size_t)c * s->line_bytes + (from - l->addr),
		       bytes + (from - r->addr), to - from);
}

static void keep(struct logged_undo *undo, const struct crash_image *im, const struct state_set *s,
		 const struct logged_range *r)
{
	uint8_t bytes[PMT_STORE_MAX_BYTES];

	image_read(im, r->addr, bytes, r->len_bytes);
	for (uint32_t i = 0; i < r->len_bytes; i++)
		*vec_add(&undo->image) = bytes[i];
	if (undo->contents.n == 0)
		for (size_t i = 0; i < s->bytes.n; i++)
			*vec_add(&undo->contents) = s->bytes.at[i];
}

void logged_apply(const struct logged *l, uint64_t seq, struct crash_image *im, struct state_set *s,
		  struct logged_undo *undo)
{
	for (size_t i = 0; i < l->list.n && l->list.at[i].seq < seq; i++) {
		const struct logged_range *r = &l->list.at[i];

		if (!logged_range_is_open(r, seq))
			continue;
		keep(undo, im, s, r);
		image_write(im, r->addr, r->after, r->len_bytes);
		for (size_t k = 0; k < s->lines.n; k++)
			put_in_line(s, &s->lines.at[k], r, r->after);
	}
}

void logged_undo(const struct logged *l, uint64_t seq, struct crash_image *im, struct state_set *s,
		 struct logged_undo *undo)
{
	size_t at = undo->image.n;

	/* from the last to the first, because ranges may overlap */
	for (size_t i = l->list.n; i-- > 0;) {
		const struct logged_range *r = &l->list.at[i];

		if (!logged_range_is_open(r, seq))
			continue;
		at -= r->len_bytes;
		image_write(im, r->addr, undo->image.at + at, r->len_bytes);
	}
	if (undo->contents.n)
		memcpy(s->bytes.at, undo->contents.at, undo->contents.n);
	vec_release(&undo->image);
	vec_release(&undo->contents);
}
