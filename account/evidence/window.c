/* Chooses the events that matter for a bug: those that touch its rows, the fences of threads that
 * did, and the limits of transactions and operations. If there are too many, the first and the last
 * ones stay, and the number of the others is kept. */
#include "account/evidence/window.h"

#include <string.h>

void window_add_row(struct window *w, uint64_t addr)
{
	addr -= addr % EVIDENCE_ROW_BYTES;
	for (size_t i = 0; i < w->nrows; i++)
		if (w->rows[i] == addr)
			return;
	if (w->nrows < EVIDENCE_ROWS_MAX)
		w->rows[w->nrows++] = addr;
}

void window_release(struct window *w)
{
	vec_release(&w->anchors);
	vec_release(&w->kept);
	vec_release(&w->events);
	vec_release(&w->busy);
	for (size_t i = 0; i < EVIDENCE_ROWS_MAX; i++)
		vec_release(&w->fields[i]);
}

bool event_range(const struct trace_event *ev, uint64_t *addr, uint64_t *len_bytes)
{
	*addr = ev->addr;
	*len_bytes = ev->size_bytes;
	if (trace_is_store(ev->kind))
		return true;
	if (trace_is_flush(ev->kind)) {
		*addr = platform_flushed(ev, len_bytes);
		return true;
	}
	if (ev->kind == PMT_MSYNC || ev->kind == PMT_TX_ADD || ev->kind == PMT_UNMAP) {
		*len_bytes = ev->kind == PMT_UNMAP ? ev->arg[1] : ev->arg[0];
		return true;
	}
	if (ev->kind == PMT_FSYNC || ev->kind == PMT_FDATASYNC) {
		*addr = PMT_ADDR(ev->arg[0], 0);
		*len_bytes = ev->arg[0] ? (uint64_t)1 << PMT_OFFSET_BITS : UINT64_MAX;
		return true;
	}
	return false;
}

/* The first row that the event touches, from 1; 0: none. */
static uint32_t row_of(const struct window *w, const struct trace_event *ev)
{
	uint64_t addr, len_bytes;

	if (!event_range(ev, &addr, &len_bytes))
		return 0;
	for (size_t i = 0; i < w->nrows; i++)
		if (w->rows[i] + EVIDENCE_ROW_BYTES > addr && w->rows[i] < addr + len_bytes)
			return (uint32_t)i + 1;
	return 0;
}

static uint64_t thread_of(const struct trace_event *ev)
{
	return (uint64_t)ev->stream << 32 | ev->thread;
}

static bool is_busy(const struct window *w, const struct trace_event *ev)
{
	for (size_t i = 0; i < w->busy.n; i++)
		if (w->busy.at[i] == thread_of(ev))
			return true;
	return false;
}

static void set_busy(struct window *w, const struct trace_event *ev, bool is_set)
{
	for (size_t i = 0; i < w->busy.n; i++)
		if (w->busy.at[i] == thread_of(ev)) {
			if (!is_set)
				w->busy.at[i] = w->busy.at[--w->busy.n];
			return;
		}
	if (is_set)
		*vec_add(&w->busy) = thread_of(ev);
}

static bool is_fence(const struct trace_event *ev)
{
	return trace_is_barrier(ev->kind) || ev->kind == PMT_RMW_FENCE;
}

/* Does the event begin or end something that a programmer knows, such as a transaction? */
static bool is_limit(enum pmt_kind k)
{
	return k == PMT_TX_BEGIN || k == PMT_TX_END || k == PMT_OP_BEGIN || k == PMT_OP_END ||
	       k == PMT_OUTPUT || k == PMT_EXIT || k == PMT_FAILURE_POINT;
}

static const struct anchor *anchor_of(const struct window *w, const struct trace_event *ev)
{
	for (size_t i = 0; i < w->anchors.n; i++)
		if (w->anchors.at[i].seq == ev->seq)
			return &w->anchors.at[i];
	for (size_t i = 0; i < w->anchors.n; i++)
		if (!w->anchors.at[i].seq && ev->site && w->anchors.at[i].site == ev->site->id)
			return &w->anchors.at[i];
	return NULL;
}

/* ---- states ---- */

struct worst {
	bool is_dirty, is_pending;
};

static void see_store(const struct model_store *store, void *arg)
{
	struct worst *worst = arg;

	worst->is_dirty |= store->state == MODEL_DIRTY && !store->is_overwritten;
	worst->is_pending |= store->state != MODEL_DIRTY;
}

/* Writes one letter per row: its state. */
static void set_states(const struct window *w, const struct scene *s, char *states)
{
	for (size_t i = 0; i < w->nrows; i++) {
		struct worst worst = { 0 };

		if (followed_has(&s->followed, PMT_FILE(w->rows[i]))) {
			states[i] = files_sector_unsynced(s->files, w->rows[i]) ? 'x' : 'd';
			continue;
		}
		model_each(s->model, w->rows[i], EVIDENCE_ROW_BYTES, see_store, &worst);
		states[i] = worst.is_dirty ? 'x' : worst.is_pending ? 'p' : 'd';
	}
}

/* ---- which events are kept ---- */

static size_t most_of(const struct window *w)
{
	return w->is_region ? WINDOW_KEPT_REGION : WINDOW_KEPT;
}

static void leave_out(struct window *w, size_t from, size_t to)
{
	uint64_t skipped = 0;

	for (size_t i = from; i < to; i++)
		skipped += w->kept.at[i].skipped + 1;
	w->kept.at[to].skipped += skipped;
	memmove(&w->kept.at[from], &w->kept.at[to], (w->kept.n - to) * sizeof *w->kept.at);
	w->kept.n -= to - from;
}

/* Keeps the first events, those that the bug names, and the last events. */
void window_compact(struct window *w)
{
	const size_t most = most_of(w), head = w->is_region ? most / 2 : WINDOW_HEAD;
	size_t at = head, too_many;

	while (w->kept.n > most && at + 1 < w->kept.n) {
		size_t end = at;

		too_many = w->kept.n - most;
		while (end + 1 < w->kept.n && end - at < too_many && !w->kept.at[end].role)
			end++;
		if (end > at)
			leave_out(w, at, end);
		else
			at++;
	}
	if (w->kept.n > most && head + 1 < w->kept.n) /* the bug names too many events */
		leave_out(w, head, head + (w->kept.n - most));
}

static void keep(struct window *w, struct scene *s, const struct trace_event *ev, uint32_t row,
		 const struct anchor *anchor)
{
	struct kept *k = vec_add(&w->kept);

	*k = (struct kept){ .ev = *ev,
			    .role = anchor ? anchor->role : NULL,
			    .row = row,
			    .skipped = w->kept.n > 1 ? w->skipped : 0 };
	if (trace_is_store(ev->kind)) {
		k->type = s->type;
		k->is_typed = s->is_typed;
		k->ev.data_len = ev->data_len < sizeof k->data ? ev->data_len : sizeof k->data;
		memcpy(k->data, ev->data, k->ev.data_len);
	}
	set_states(w, s, k->states);
	w->skipped = 0;
	if (ev->seq < w->first_seq && w->kept.n > WINDOW_KEPT_BEFORE) {
		leave_out(w, 0, 1);
		w->kept.at[0].skipped = 0; /* the beginning of the trace is not shown as a gap */
	} else if (w->kept.n > 2 * most_of(w)) {
		window_compact(w);
	}
}

static bool matters(struct window *w, const struct trace_event *ev, uint32_t row,
		    const struct anchor *anchor)
{
	if (row) {
		set_busy(w, ev, ev->kind != PMT_UNMAP && ev->kind != PMT_TX_ADD);
		return true;
	}
	if (is_fence(ev)) {
		bool is_ours = is_busy(w, ev);

		set_busy(w, ev, false);
		return is_ours || anchor;
	}
	return anchor || is_limit(ev->kind);
}

void window_see(struct window *w, struct scene *s, const struct trace_event *ev)
{
	const struct anchor *anchor = anchor_of(w, ev);
	uint32_t row = row_of(w, ev);

	if (w->is_region && (ev->seq < w->first_seq || ev->seq > w->last_seq))
		return;
	if (!matters(w, ev, row, anchor)) {
		w->skipped++;
		return;
	}
	keep(w, s, ev, row, anchor);
	if (!w->crash_seq && !w->is_region && ev->seq > w->last_seq &&
	    ++w->nafter >= WINDOW_KEPT_AFTER)
		w->is_done = true;
}
