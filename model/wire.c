/* Sends a model through a wire, or receives it: threads, lines with their stores, and pendings.
 * Lines go in the order of their addresses, a thread's pendings in the order in which they came. */
#include "model/wire.h"

#include <string.h>

#include "model/internal.h"
#include "trace/position.h"

#define MAX_THREADS ((uint64_t)1 << 20)

static const struct trace_site *pass_site(struct wire *w, const struct trace *t,
					  const struct trace_site *site)
{
	const uint64_t id = wire_number(w, site ? site->id : 0);

	if (!w->is_received)
		return site;
	site = id ? trace_site(t, id) : NULL;
	w->is_bad |= id && !site;
	return site;
}

static void pass_thread(struct model *m, struct wire *w, size_t i)
{
	struct thread t = w->is_received ? (struct thread){ .index = (uint32_t)i }
					 : *m->thread_list.at[i],
		      *thread;

	wire_pass(w, t.stream);
	wire_pass(w, t.number);
	wire_pass(w, t.epoch);
	wire_pass(w, t.after);
	wire_pass(w, t.released);
	wire_pass(w, t.after_seq);
	wire_pass(w, t.released_seq);
	if (!w->is_received)
		return;
	thread = arena_alloc(&m->arena, sizeof *thread);
	*thread = t;
	*vec_add(&m->thread_list) = thread;
	map_set(&m->threads, thread_key(t.stream, t.number), thread);
}

/* ---- lines ---- */

/* Passes the bytes of a store; a large one keeps them outside of the array. */
static void pass_content(struct model *m, struct wire *w, struct store *s)
{
	uint64_t live;

	wire_pass(w, s->size_bytes);
	w->is_bad |= s->size_bytes == 0 || s->size_bytes > PMT_STORE_MAX_BYTES ||
		     (uint32_t)s->at + s->size_bytes > m->platform->line_bytes;
	if (w->is_bad)
		return;
	if (w->is_received && s->size_bytes > STORE_SMALL_BYTES)
		s->bytes.rest = pool_get(&m->rests, &m->arena);
	live = wire_number(w, w->is_received ? 0 : store_live(s));
	if (w->is_received)
		store_set_live(s, live);
	wire_bytes(w, s->size_bytes <= STORE_SMALL_BYTES ? s->bytes.few : s->bytes.rest->bytes,
		   s->size_bytes);
}

static void pass_store(struct model *m, struct wire *w, const struct trace *t, struct store *s)
{
	s->site = pass_site(w, t, s->site);
	wire_pass(w, s->seq);
	wire_pass(w, s->thread);
	wire_pass(w, s->at);
	wire_pass(w, s->kind);
	wire_pass(w, s->unit_bytes);
	wire_pass(w, s->flags);
	wire_pass(w, s->back);
	wire_pass(w, s->epoch);
	w->is_bad |= s->thread >= m->thread_list.n;
	pass_content(m, w, s);
}

static void add_store(struct model *m, struct wire *w, const struct trace *t, struct line *l)
{
	struct store s = { 0 };

	pass_store(m, w, t, &s);
	if (w->is_bad)
		return;
	if (l->nstores == STORES_ROOM(l->room)) {
		w->is_bad |= l->room + 1u == STORES_ROOMS;
		if (w->is_bad)
			return;
		stores_move(m, l, l->room + 1);
	}
	l->stores[l->nstores++] = s;
	m->nstores++;
}

static void pass_line(struct model *m, struct wire *w, const struct trace *t, struct line *sent)
{
	const uint64_t addr = wire_number(w, sent ? sent->addr : 0),
		       nstores = wire_number(w, sent ? sent->nstores : 0);
	struct line *l = sent ? sent : line_find_or_add(m, addr);

	wire_pass(w, l->floor);
	wire_pass(w, l->is_newer);
	wire_bytes(w, l->base, m->platform->line_bytes);
	w->is_bad |= nstores == 0 || (!sent && l->nstores > 0);
	for (uint64_t i = 0; i < nstores && !w->is_bad; i++) {
		if (sent)
			pass_store(m, w, t, &sent->stores[i]);
		else
			add_store(m, w, t, l);
	}
}

static void send_lines(struct model *m, struct wire *w, const struct trace *t)
{
	struct line_walk walk;
	struct line *l;

	line_walk_init(&walk, m, 0, UINT64_MAX);
	while ((l = line_walk_next(&walk)))
		pass_line(m, w, t, l);
	line_walk_release(&walk);
}

/* ---- pendings ---- */

static void send_pendings(struct wire *w, const struct trace *t, const struct thread *thread)
{
	struct pending *p = thread->pendings;
	uint64_t n = 0;

	for (; p && p->next; p = p->next)
		n++;
	wire_number(w, n + (p != NULL));
	for (; p; p = p->prev) {
		wire_number(w, p->line->addr);
		wire_number(w, p->upto);
		pass_site(w, t, p->flush);
	}
}

static void receive_pendings(struct model *m, struct wire *w, const struct trace *t,
			     struct thread *thread)
{
	for (uint64_t n = wire_number(w, 0); n > 0 && !w->is_bad; n--) {
		struct line *l = line_find(m, wire_number(w, 0));
		const uint64_t upto = wire_number(w, 0);
		const struct trace_site *flush = pass_site(w, t, NULL);
		struct pending *p;

		w->is_bad |= !l || line_pending(l, thread);
		if (w->is_bad)
			return;
		p = pending_add(m, l, thread);
		p->upto = upto;
		p->flush = flush;
	}
}

/* ---- all of it ---- */

void model_pass(struct model *m, struct wire *w, const struct trace *t)
{
	uint64_t nthreads = wire_number(w, m->thread_list.n), nlines;

	w->is_bad |= nthreads > MAX_THREADS;
	for (uint64_t i = 0; i < nthreads && !w->is_bad; i++)
		pass_thread(m, w, i);
	nlines = wire_number(w, m->nlines);
	if (!w->is_received)
		send_lines(m, w, t);
	for (uint64_t i = 0; w->is_received && i < nlines && !w->is_bad; i++)
		pass_line(m, w, t, NULL);
	for (uint64_t i = 0; i < nthreads && !w->is_bad; i++) {
		if (w->is_received)
			receive_pendings(m, w, t, m->thread_list.at[i]);
		else
			send_pendings(w, t, m->thread_list.at[i]);
	}
	wire_pass(w, m->open.addr);
	wire_pass(w, m->open.len_bytes);
	wire_pass(w, m->open.seq);
	wire_pass(w, m->is_exact);
	wire_pass(w, m->is_arm64);
	wire_pass(w, m->has_lse2);
	wire_pass(w, m->ntrusted);
}
