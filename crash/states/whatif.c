/* Produces the events of a trace with additional barriers and transactions. The next event of the
 * trace is held back until the supposed events before it are given out. */
#include "crash/states/whatif.h"

#include <string.h>
#include <sys/mman.h>

#include "trace/owner.h"
#include "util/alloc.h"

enum { PAGE_BYTES = 4096 }; /* bytes that msync writes at once */

struct made {
	struct trace_event ev;
	enum whatif_mark mark;
	uint8_t data[PMT_STORE_MAX_BYTES];
};

typedef VEC(uint64_t) line_list;

/* A run of events: what a thread did last at one place that has a barrier, while the run may still
 * go on. */
struct run {
	uint32_t stream, thread;
	const struct whatif_barrier *barrier; /* NULL: no barrier is due */
	uint32_t place;                       /* place of the last event */
	uint64_t seq;
	const struct trace_site *site;
	line_list lines;
};

/* The lines that a thread touched for a supposed call that comes later. */
struct due {
	uint32_t stream, thread;
	size_t call;
	/* the thread's last event was of the place after, or before, which the call comes */
	bool is_near;
	line_list lines;
};

struct added_range {
	uint64_t addr, end;
};

typedef VEC(struct added_range) added_list;

struct withheld {
	/* of a logged store: the thread; last_seq is set when its end is known */
	struct whatif_interval interval;
	VEC(struct made) stores;
	uint32_t depth;   /* depth of nested transactions */
	added_list added; /* ranges that are supposed to be added to the transaction */
};

/* A thread's transaction that is supposed to end earlier. */
struct ending {
	uint32_t stream, thread;
	uint32_t depth;
	bool is_wanted; /* it begins at a place of whatif->ended */
	/* the thread is inside an operation; the transaction began in that operation */
	bool in_operation, is_of_operation;
	/* ends of the trace that are dropped, because the transaction has ended already */
	uint32_t nsurplus;
	added_list added;
	/* whatif->forgets: the library logs nothing until the transaction's real end */
	bool is_forgotten;
	struct withheld held;
};

struct rewriter {
	const struct whatif *whatif;
	struct trace *trace;
	VEC(struct made) queue; /* events to give out before `held` */
	size_t next;
	size_t next_flush; /* index in whatif->flushes */
	struct trace_event held;
	bool has_held, is_over;
	VEC(struct run) runs;
	VEC(struct due) dues;      /* for each thread, one per call */
	VEC(struct withheld) open; /* for each thread, what its transaction logged */
	VEC(struct ending) endings;
	VEC(struct withheld) withheld; /* one per interval; intervals that overlap share one */
};

void whatif_release(struct whatif *w)
{
	vec_release(&w->barriers);
	vec_release(&w->intervals);
	vec_release(&w->calls);
	vec_release(&w->flushes);
	vec_release(&w->named);
	vec_release(&w->logged);
	vec_release(&w->ended);
}

uint32_t whatif_place(const struct whatif *w, const struct trace_site *site)
{
	return site && site->id < w->nplaces ? w->places[site->id] : 0;
}

/* Adds an interval and joins it with those that overlap: a nested transaction ends with the outer
 * one. */
static void add_interval(struct rewriter *r, struct whatif_interval v)
{
	for (size_t i = 0; i < r->withheld.n;) {
		const struct whatif_interval *o = &r->withheld.at[i].interval;

		if (o->stream != v.stream || o->thread != v.thread || o->first_seq > v.last_seq ||
		    v.first_seq > o->last_seq) {
			i++;
			continue;
		}
		v.first_seq = o->first_seq < v.first_seq ? o->first_seq : v.first_seq;
		v.last_seq = o->last_seq > v.last_seq ? o->last_seq : v.last_seq;
		r->withheld.at[i] = r->withheld.at[--r->withheld.n];
		i = 0; /* start again, because the interval has grown */
	}
	*vec_add(&r->withheld) = (struct withheld){ .interval = v };
}

struct rewriter *rewriter_new(const struct whatif *w, struct trace *t)
{
	struct rewriter *r = xcalloc(1, sizeof *r);

	r->whatif = w;
	r->trace = t;
	for (size_t i = 0; i < w->intervals.n; i++)
		add_interval(r, w->intervals.at[i]);
	return r;
}

void rewriter_free(struct rewriter *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->runs.n; i++)
		vec_release(&r->runs.at[i].lines);
	for (size_t i = 0; i < r->withheld.n; i++)
		vec_release(&r->withheld.at[i].stores);
	for (size_t i = 0; i < r->dues.n; i++)
		vec_release(&r->dues.at[i].lines);
	for (size_t i = 0; i < r->open.n; i++) {
		vec_release(&r->open.at[i].stores);
		vec_release(&r->open.at[i].added);
	}
	for (size_t i = 0; i < r->endings.n; i++) {
		vec_release(&r->endings.at[i].added);
		vec_release(&r->endings.at[i].held.stores);
	}
	vec_release(&r->endings);
	vec_release(&r->dues);
	vec_release(&r->open);
	vec_release(&r->runs);
	vec_release(&r->withheld);
	vec_release(&r->queue);
	free(r);
}

/* ---- supposed events ---- */

static void make(struct rewriter *r, enum pmt_kind kind, uint64_t addr, uint64_t seq,
		 const struct trace_site *site, uint32_t stream, uint32_t thread,
		 enum whatif_mark mark)
{
	*vec_add(&r->queue) = (struct made){
		.ev = { .seq = seq,
			.site = site,
			.kind = kind,
			.stream = stream,
			.thread = thread,
			.addr = addr,
			.size_bytes = PMT_LINE_BYTES },
		.mark = mark,
	};
}

/* Makes a fence that every platform knows; on eadr for arm64, the DSB counts. */
static void make_fence(struct rewriter *r, uint64_t seq, const struct trace_site *site,
		       uint32_t stream, uint32_t thread)
{
	make(r, PMT_DSB, 0, seq, site, stream, thread, WHATIF_PLAIN);
	r->queue.at[r->queue.n - 1].ev.arg[0] = 15; /* sy: the full system */
}

static void end_run(struct rewriter *r, struct run *run)
{
	if (!run->barrier)
		return;
	for (size_t i = 0; i < run->lines.n && run->barrier->has_flush; i++)
		make(r, PMT_CLWB, run->lines.at[i], run->seq, run->site, run->stream, run->thread,
		     WHATIF_PLAIN);
	if (run->barrier->has_fence)
		make_fence(r, run->seq, run->site, run->stream, run->thread);
	run->barrier = NULL;
	run->lines.n = 0;
}

static void make_sync(struct rewriter *r, uint64_t line, enum model_supposed how, uint64_t seq,
		      const struct trace_site *site, uint32_t stream, uint32_t thread,
		      enum whatif_mark mark)
{
	struct trace_event *ev;

	make(r, PMT_MSYNC, line, seq, site, stream, thread, mark);
	ev = &r->queue.at[r->queue.n - 1].ev;
	ev->arg[0] = PMT_LINE_BYTES;
	ev->arg[1] = MS_SYNC;
	ev->arg[2] = how;
}

/* Makes the lines durable together: a crash between two of them shows nothing that a crash before
 * the first does not. */
static void make_durable(struct rewriter *r, struct due *d, enum model_supposed how, uint64_t seq,
			 const struct trace_site *site)
{
	for (size_t i = 0; i < d->lines.n; i++)
		make_sync(r, d->lines.at[i], how, seq, site, d->stream, d->thread,
			  i ? WHATIF_INSIDE : WHATIF_PLAIN);
	d->lines.n = 0;
}

/* Gives out the withheld stores, one by one, and then makes their lines durable. The marks allow no
 * crash in between. */
static void commit(struct rewriter *r, struct withheld *w)
{
	enum whatif_mark mark = WHATIF_COMMIT;

	for (size_t i = 0; i < w->stores.n; i++, mark = WHATIF_INSIDE) {
		struct made *m = vec_add(&r->queue);

		*m = w->stores.at[i];
		m->ev.seq = w->interval.last_seq;
		m->mark = mark;
	}
	for (size_t i = 0; i < w->stores.n; i++) {
		const struct trace_event *ev = &w->stores.at[i].ev;

		for (uint64_t line = ev->addr & ~(uint64_t)(PMT_LINE_BYTES - 1);
		     line < ev->addr + ev->size_bytes; line += PMT_LINE_BYTES)
			make_sync(r, line, MODEL_SETTLE, w->interval.last_seq, ev->site, ev->stream,
				  ev->thread, WHATIF_INSIDE);
	}
	if (w->stores.n > 0) /* a crash right after the commit, before anything else happens */
		make(r, PMT_FAILURE_POINT, 0, w->interval.last_seq, NULL, w->interval.stream,
		     w->interval.thread, WHATIF_PLAIN);
	w->stores.n = 0;
}

/* ---- events of the trace ---- */

static struct run *run_of(struct rewriter *r, const struct trace_event *ev)
{
	for (size_t i = 0; i < r->runs.n; i++)
		if (r->runs.at[i].stream == ev->stream && r->runs.at[i].thread == ev->thread)
			return &r->runs.at[i];
	*vec_add(&r->runs) = (struct run){ .stream = ev->stream, .thread = ev->thread };
	return &r->runs.at[r->runs.n - 1];
}

static const struct whatif_barrier *barrier_of(const struct whatif *w, uint32_t place,
					       bool is_before)
{
	for (size_t i = 0; place && i < w->barriers.n; i++)
		if (w->barriers.at[i].place == place && w->barriers.at[i].is_before == is_before)
			return &w->barriers.at[i];
	return NULL;
}

/* Adds the lines of a store or a flush. */
static void add_lines(line_list *list, const struct trace_event *ev)
{
	uint64_t len_bytes = ev->size_bytes, start = ev->addr;

	if (trace_is_flush(ev->kind))
		start = platform_flushed(ev, &len_bytes);
	for (uint64_t line = start & ~(uint64_t)(PMT_LINE_BYTES - 1); line < start + len_bytes;
	     line += PMT_LINE_BYTES) {
		size_t i = list->n;

		while (i > 0 && list->at[i - 1] != line)
			i--;
		if (i == 0)
			*vec_add(list) = line;
	}
}

static bool is_among(const uint32_t *list, size_t n, uint32_t place)
{
	for (size_t i = 0; place && i < n; i++)
		if (list[i] == place)
			return true;
	return false;
}

static struct due *due_of(struct rewriter *r, const struct trace_event *ev, size_t call)
{
	for (size_t i = 0; i < r->dues.n; i++)
		if (r->dues.at[i].stream == ev->stream && r->dues.at[i].thread == ev->thread &&
		    r->dues.at[i].call == call)
			return &r->dues.at[i];
	*vec_add(&r->dues) =
		(struct due){ .stream = ev->stream, .thread = ev->thread, .call = call };
	return &r->dues.at[r->dues.n - 1];
}

static void make_call(struct rewriter *r, struct due *d, uint64_t seq,
		      const struct trace_site *site)
{
	make_durable(r, d, r->whatif->calls.at[d->call].is_fence ? MODEL_COMPLETE : MODEL_SETTLE,
		     seq, site);
}

/* Makes the calls that belong before this event, and notes the event's lines for later calls. */
static void note_calls(struct rewriter *r, const struct trace_event *ev)
{
	const uint32_t place = whatif_place(r->whatif, ev->site);
	const uint64_t seq = ev->seq > 0 ? ev->seq - 1 : 0;

	for (size_t i = 0; i < r->whatif->calls.n; i++) {
		const struct whatif_call *c = &r->whatif->calls.at[i];
		struct due *d = due_of(r, ev, i);
		const bool is_near = place && place == (c->after ? c->after : c->before);

		if (c->after ? d->is_near && !is_near : is_near && !d->is_near)
			make_call(r, d, seq, ev->site);
		if ((trace_is_store(ev->kind) || trace_is_flush(ev->kind)) &&
		    is_among(c->of, WHATIF_PLACES, place))
			add_lines(&d->lines, ev);
		d->is_near = is_near;
	}
}

/* Makes the barrier that is due before the thread does something else. */
static void note_barrier(struct rewriter *r, const struct trace_event *ev)
{
	uint32_t place = whatif_place(r->whatif, ev->site);
	const struct whatif_barrier *b = barrier_of(r->whatif, place, false);
	struct run *run = run_of(r, ev);

	if (b != run->barrier)
		end_run(r, run);
	if (place != run->place && barrier_of(r->whatif, place, true))
		make_fence(r, ev->seq > 0 ? ev->seq - 1 : 0, ev->site, ev->stream, ev->thread);
	run->place = place;
	if (!b)
		return;
	run->barrier = b;
	run->seq = ev->seq;
	run->site = ev->site;
	if (trace_is_store(ev->kind))
		add_lines(&run->lines, ev);
}

static bool is_inside(const struct whatif_interval *i, const struct trace_event *ev)
{
	return i->stream == ev->stream && i->thread == ev->thread && i->first_seq <= ev->seq &&
	       ev->seq <= i->last_seq;
}

static bool is_named(const struct whatif *w, const struct trace_event *ev)
{
	return w->named.n == 0 || is_among(w->named.at, w->named.n, whatif_place(w, ev->site));
}

/* Copies a store that is not withheld over earlier withheld stores, so that they do not undo it
 * when they are given out. */
static void overwrite(struct withheld *w, const struct trace_event *ev)
{
	for (size_t i = 0; i < w->stores.n; i++) {
		struct made *m = &w->stores.at[i];
		const uint64_t from = ev->addr > m->ev.addr ? ev->addr : m->ev.addr,
			       end = ev->addr + ev->size_bytes,
			       own_end = m->ev.addr + m->ev.size_bytes,
			       to = end < own_end ? end : own_end;

		if (from < to)
			memcpy(m->data + (from - m->ev.addr), ev->data + (from - ev->addr),
			       to - from);
	}
}

/* Copies old bytes of newly allocated memory over earlier withheld stores, so that these do not
 * undo them when they are given out. */
static void overwrite_by_old(struct withheld *w, const struct trace_event *ev)
{
	for (size_t i = 0; i < w->stores.n; i++) {
		struct made *m = &w->stores.at[i];
		const uint64_t from = ev->addr > m->ev.addr ? ev->addr : m->ev.addr,
			       end = ev->addr + trace_old_len(ev),
			       own_end = m->ev.addr + m->ev.size_bytes,
			       to = end < own_end ? end : own_end;

		if (from < to)
			pmt_old_bytes(m->data + (from - m->ev.addr), PMT_OFFSET(from), to - from);
	}
}

static void withhold_store(struct withheld *w, const struct trace_event *ev)
{
	struct made *m = vec_add(&w->stores);

	*m = (struct made){ .ev = *ev };
	memcpy(m->data, ev->data, ev->size_bytes);
	/* a non-temporal store, or one of the kernel, is not durable earlier either */
	m->ev.kind = PMT_STORE;
}

static bool withhold(struct rewriter *r, const struct trace_event *ev)
{
	for (size_t i = 0; ev->kind == PMT_OLD && i < r->withheld.n; i++)
		overwrite_by_old(&r->withheld.at[i], ev);
	for (size_t i = 0; ev->kind == PMT_OLD && i < r->open.n; i++)
		overwrite_by_old(&r->open.at[i], ev);
	for (size_t i = 0; trace_is_store(ev->kind) && i < r->withheld.n; i++) {
		if (!is_named(r->whatif, ev))
			overwrite(&r->withheld.at[i], ev);
		if (!is_named(r->whatif, ev) || !is_inside(&r->withheld.at[i].interval, ev))
			continue;
		withhold_store(&r->withheld.at[i], ev);
		return true;
	}
	return false;
}

/* ---- what transactions log ---- */

static struct withheld *open_of(struct rewriter *r, const struct trace_event *ev)
{
	for (size_t i = 0; i < r->open.n; i++)
		if (r->open.at[i].interval.stream == ev->stream &&
		    r->open.at[i].interval.thread == ev->thread)
			return &r->open.at[i];
	*vec_add(&r->open) =
		(struct withheld){ .interval = { .stream = ev->stream, .thread = ev->thread } };
	return &r->open.at[r->open.n - 1];
}

static bool is_added(const added_list *added, const struct trace_event *ev)
{
	for (size_t i = 0; i < added->n; i++)
		if (added->at[i].addr <= ev->addr && ev->addr + ev->size_bytes <= added->at[i].end)
			return true;
	return false;
}

static void add_range(struct rewriter *r, struct withheld *w, const struct trace_event *ev)
{
	make(r, PMT_TX_ADD, ev->addr, ev->seq > 0 ? ev->seq - 1 : 0, ev->site, ev->stream,
	     ev->thread, WHATIF_PLAIN);
	r->queue.at[r->queue.n - 1].ev.arg[0] = ev->size_bytes;
	*vec_add(&w->added) = (struct added_range){ ev->addr, ev->addr + ev->size_bytes };
}

/* Logs a store: announces its range to the transaction, and withholds it and all later stores there
 * until the transaction ends. */
static bool log_store(struct rewriter *r, const struct trace_event *ev)
{
	struct withheld *w = open_of(r, ev);

	if (!trace_is_store(ev->kind))
		return false;
	if (!w->depth ||
	    (!is_added(&w->added, ev) && !is_among(r->whatif->logged.at, r->whatif->logged.n,
						   whatif_place(r->whatif, ev->site)))) {
		for (size_t i = 0; i < r->open.n; i++)
			overwrite(&r->open.at[i], ev);
		return false;
	}
	if (!is_added(&w->added, ev))
		add_range(r, w, ev);
	withhold_store(w, ev);
	return true;
}

static void note_tx(struct rewriter *r, const struct trace_event *ev)
{
	struct withheld *w = open_of(r, ev);

	if (ev->kind == PMT_TX_BEGIN)
		w->depth++;
	if (ev->kind != PMT_TX_END || !w->depth || --w->depth > 0)
		return;
	w->interval.last_seq = ev->seq > 0 ? ev->seq - 1 : 0;
	w->added.n = 0;
	commit(r, w);
}

/* ---- transactions that are never ended ---- */

static struct ending *ending_of(struct rewriter *r, const struct trace_event *ev)
{
	for (size_t i = 0; i < r->endings.n; i++)
		if (r->endings.at[i].stream == ev->stream && r->endings.at[i].thread == ev->thread)
			return &r->endings.at[i];
	*vec_add(&r->endings) = (struct ending){ .stream = ev->stream, .thread = ev->thread };
	return &r->endings.at[r->endings.n - 1];
}

/* Gives out the withheld stores right before this event. */
static void commit_at(struct rewriter *r, struct withheld *w, const struct trace_event *ev)
{
	w->interval = (struct whatif_interval){ ev->stream, ev->thread, 0,
						ev->seq > 0 ? ev->seq - 1 : 0 };
	commit(r, w);
}

/* Ends the transaction right before this event. */
static void make_end(struct rewriter *r, struct ending *e, const struct trace_event *ev)
{
	const uint64_t seq = ev->seq > 0 ? ev->seq - 1 : 0;

	commit_at(r, &e->held, ev);
	for (size_t i = 0; i < e->added.n; i++)
		for (uint64_t line = e->added.at[i].addr & ~(uint64_t)(PMT_LINE_BYTES - 1);
		     line < e->added.at[i].end; line += PMT_LINE_BYTES)
			make_sync(r, line, MODEL_SETTLE, seq, ev->site, e->stream, e->thread,
				  WHATIF_PLAIN);
	for (; e->depth > 0; e->depth--, e->nsurplus++)
		make(r, PMT_TX_END, 0, seq, ev->site, e->stream, e->thread, WHATIF_PLAIN);
	e->added.n = 0;
	e->is_wanted = false;
}

static void begin_ending(const struct rewriter *r, struct ending *e, const struct trace_event *ev)
{
	if (e->depth++ > 0)
		return;
	e->added.n = e->nsurplus = 0;
	e->is_of_operation = e->in_operation;
	e->is_wanted = e->is_forgotten || is_among(r->whatif->ended.at, r->whatif->ended.n,
						   whatif_place(r->whatif, ev->site));
	e->is_forgotten |= e->is_wanted && r->whatif->forgets;
}

static bool covers(const struct trace_event *ev, uint64_t addr, uint64_t end)
{
	return ev->addr <= addr && end <= ev->addr + ev->arg[0];
}

/* Removes the library's own log, which it adds to the transaction while it writes there. The end
 * does not make that durable. */
static void take_back(struct ending *e, const struct trace_event *ev)
{
	size_t n = 0;

	for (size_t i = 0; i < e->added.n; i++)
		if (!covers(ev, e->added.at[i].addr, e->added.at[i].end))
			e->added.at[n++] = e->added.at[i];
	e->added.n = n;
	n = 0;
	for (size_t i = 0; i < e->held.stores.n; i++) {
		const struct trace_event *s = &e->held.stores.at[i].ev;

		if (!covers(ev, s->addr, s->addr + s->size_bytes))
			e->held.stores.at[n++] = e->held.stores.at[i];
	}
	e->held.stores.n = n;
}

/* Follows a transaction. False: the event is left out, because the transaction has ended
 * already. */
static bool note_ending(struct rewriter *r, const struct trace_event *ev)
{
	struct ending *e = ending_of(r, ev);
	bool is_kept = true;

	if (ev->kind == PMT_OP_BEGIN) {
		e->in_operation = true;
	} else if (ev->kind == PMT_OP_END) {
		if (e->is_wanted && e->is_of_operation)
			make_end(r, e, ev);
		e->in_operation = false;
	} else if (ev->kind == PMT_TX_BEGIN && ev->arg[0] == 0) {
		begin_ending(r, e, ev);
	} else if (ev->kind == PMT_TX_ADD && ev->arg[1] == 0 && e->is_wanted) {
		*vec_add(&e->added) = (struct added_range){ ev->addr, ev->addr + ev->arg[0] };
	} else if (ev->kind == PMT_TX_REMOVE && ev->arg[1] == 0 && e->is_forgotten) {
		take_back(e, ev);
	} else if (ev->kind == PMT_TX_END && ev->arg[0] == 0) {
		is_kept = e->depth > 0 || e->nsurplus == 0;
		if (e->depth == 1 && e->is_forgotten)
			commit_at(r, &e->held, ev);
		e->nsurplus -= !is_kept;
		e->depth -= is_kept && e->depth > 0;
		e->is_wanted &= e->depth > 0;
		e->is_forgotten &= e->depth > 0 || e->nsurplus > 0;
	}
	for (size_t i = 0; ev->kind == PMT_EXIT && i < r->endings.n; i++)
		if (r->endings.at[i].stream == ev->stream && r->endings.at[i].is_wanted)
			make_end(r, &r->endings.at[i], ev);
	return is_kept;
}

/* Does the store come later, or never? The library's stores for a forgotten transaction are
 * dropped; the program's stores to added ranges come when the transaction ends. */
static bool forget_store(struct rewriter *r, const struct trace_event *ev)
{
	struct ending *e = ending_of(r, ev);

	if (!trace_is_store(ev->kind))
		return false;
	if (e->is_forgotten && is_added(&e->added, ev)) {
		withhold_store(&e->held, ev);
		return true;
	}
	for (size_t i = 0; i < r->endings.n; i++)
		overwrite(&r->endings.at[i].held, ev);
	return e->is_forgotten && owner_of_site(ev->site) == OWNER_PMDK;
}

static void commit_before(struct rewriter *r, uint64_t seq)
{
	for (size_t i = 0; i < r->withheld.n; i++)
		if (r->withheld.at[i].interval.last_seq < seq)
			commit(r, &r->withheld.at[i]);
}

/* Makes the flushes that belong before event seq. Earlier ones are dropped if the walk began in the
 * middle of the trace. */
static void flush_before(struct rewriter *r, uint64_t seq)
{
	for (;
	     r->next_flush < r->whatif->flushes.n && r->whatif->flushes.at[r->next_flush].seq < seq;
	     r->next_flush++) {
		const struct whatif_flush *f = &r->whatif->flushes.at[r->next_flush];

		if (!r->held.seq && f->seq + 1 != seq)
			continue;
		make(r, f->kind, f->addr & ~(uint64_t)(PMT_LINE_BYTES - 1), f->seq, NULL, f->stream,
		     f->thread, WHATIF_PLAIN);
		if (f->kind == PMT_MSYNC) {
			r->queue.at[r->queue.n - 1].ev.arg[0] = PAGE_BYTES;
			r->queue.at[r->queue.n - 1].ev.arg[1] = MS_SYNC;
		}
	}
}

/* Fills the queue with the events before the next event of the trace. */
static void read_more(struct rewriter *r)
{
	struct trace_event ev;

	r->queue.n = r->next = 0;
	if (!trace_next(r->trace, &ev)) {
		flush_before(r, UINT64_MAX);
		for (size_t i = 0; i < r->runs.n; i++)
			end_run(r, &r->runs.at[i]);
		for (size_t i = 0; i < r->dues.n; i++)
			if (r->whatif->calls.at[r->dues.at[i].call].after && r->dues.at[i].is_near)
				make_call(r, &r->dues.at[i], r->held.seq, NULL);
		commit_before(r, UINT64_MAX);
		for (size_t i = 0; i < r->open.n; i++) {
			r->open.at[i].interval.last_seq = r->held.seq;
			commit(r, &r->open.at[i]);
		}
		r->is_over = true;
		return;
	}
	flush_before(r, ev.seq);
	commit_before(r, ev.seq);
	if (r->whatif->barriers.n > 0)
		note_barrier(r, &ev);
	note_calls(r, &ev);
	if (r->whatif->logged.n > 0)
		note_tx(r, &ev);
	if (r->whatif->ended.n > 0 && !note_ending(r, &ev)) {
		r->has_held = false;
		return;
	}
	r->has_held = !withhold(r, &ev) && !(r->whatif->logged.n > 0 && log_store(r, &ev)) &&
		      !(r->whatif->forgets && forget_store(r, &ev));
	if (!r->has_held && ev.kind == PMT_STORE_RMW) {
		ev.kind = PMT_RMW_FENCE; /* what it orders, it still does */
		r->has_held = true;
	} else if (!r->has_held && ev.kind == PMT_STORE_ORDERED) {
		ev.kind = PMT_ORDER;
		r->has_held = true;
	}
	r->held = ev;
}

bool rewriter_next(struct rewriter *r, struct trace_event *ev, enum whatif_mark *mark)
{
	for (;;) {
		if (r->next < r->queue.n) {
			struct made *m = &r->queue.at[r->next++];

			*ev = m->ev;
			*mark = m->mark;
			if (trace_is_store(ev->kind)) {
				ev->data = m->data;
				ev->data_len = ev->size_bytes;
			}
			return true;
		}
		if (r->has_held) {
			*ev = r->held;
			*mark = WHATIF_PLAIN;
			r->has_held = false;
			return true;
		}
		if (r->is_over)
			return false;
		read_more(r);
	}
}
