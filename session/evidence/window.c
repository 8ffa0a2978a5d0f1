/* Chooses the events that matter for a bug: those that touch its rows, the fences of threads that did, and the limits of transactions and operations. When they
 * are too many, the first and the last stay; what is left out is counted. */
#include "session/evidence/window.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VALUE_SHOWN_BYTES 24u
#define FIELDS_MAX 32u /* of a row */

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

/* Limits of what a programmer thinks in. */
static bool is_limit(enum pmt_kind k)
{
	return k == PMT_TX_BEGIN || k == PMT_TX_END || k == PMT_OP_BEGIN || k == PMT_OP_END || k == PMT_OUTPUT || k == PMT_EXIT || k == PMT_FAILURE_POINT;
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

/* ---- what is told of an event ---- */

static bool is_printable(const uint8_t *p, size_t n)
{
	size_t text = 0;

	while (text < n && isprint(p[text]))
		text++;
	for (size_t i = text; i < n; i++)
		if (p[i])
			return false;
	return text > 1;
}

static const char *value_text(struct scene *s, const struct trace_event *ev)
{
	char text[2 * VALUE_SHOWN_BYTES + 8] = "", *p = text;
	size_t n = ev->data_len < VALUE_SHOWN_BYTES ? ev->data_len : VALUE_SHOWN_BYTES;
	uint64_t value = 0;

	if (n > 8 && is_printable(ev->data, n)) {
		p += sprintf(p, "\"%.*s\"", (int)strnlen((const char *)ev->data, n), (const char *)ev->data);
	} else if (n <= 8) {
		memcpy(&value, ev->data, n);
		p += sprintf(p, value < 1024 ? "%" PRIu64 : "0x%" PRIx64, value);
	} else {
		for (size_t i = 0; i < n; i++)
			p += sprintf(p, "%02x", ev->data[i]);
	}
	if (ev->data_len > n)
		strcpy(p, "…");
	return arena_text(&s->arena, text);
}

static const char *what_of(struct scene *s, const struct trace_event *ev)
{
	if (trace_is_store(ev->kind) && ev->data_len)
		return value_text(s, ev);
	if ((ev->kind == PMT_OP_BEGIN || ev->kind == PMT_OP_END || ev->kind == PMT_OUTPUT) && ev->data_len)
		return arena_string(&s->arena, ev->data, ev->data_len);
	return NULL;
}

/* The outermost struct with a name, and the field in it. */
static const char *field_of(struct scene *s, const struct trace_event *ev)
{
	const char *type, *field;
	struct typed t;
	char *text;

	types_of(s->types, ev, &t);
	if (t.means == TYPE_BY_PATH || t.n == 0)
		return NULL;
	type = types_name(s->types, t.level[t.n - 1].type);
	field = types_name(s->types, t.level[t.n - 1].field);
	if (!type || !*type)
		return NULL;
	text = xasprintf("%s%s%s", type, field && *field ? "." : "", field ? field : "");
	type = arena_text(&s->arena, text);
	free(text);
	return type;
}

/* Stores to adjacent bytes of one field are one. */
static bool field_grow(struct evidence_field *f, uint32_t from, uint32_t end, const char *name)
{
	const uint32_t f_end = f->offset + f->size_bytes;

	if (strcmp(f->name, name) != 0 || from > f_end || end < f->offset)
		return false;
	end = end > f_end ? end : f_end;
	f->offset = from < f->offset ? from : f->offset;
	f->size_bytes = end - f->offset;
	return true;
}

static void add_field(struct window *w, const struct trace_event *ev, const char *name)
{
	for (size_t i = 0; i < w->nrows; i++) {
		uint64_t from = ev->addr > w->rows[i] ? ev->addr : w->rows[i], end = ev->addr + ev->size_bytes;
		bool is_known = false;

		if (end > w->rows[i] + EVIDENCE_ROW_BYTES)
			end = w->rows[i] + EVIDENCE_ROW_BYTES;
		if (from >= end || w->fields[i].n >= FIELDS_MAX)
			continue;
		for (size_t k = 0; k < w->fields[i].n && !is_known; k++)
			is_known = field_grow(&w->fields[i].at[k], (uint32_t)(from - w->rows[i]), (uint32_t)(end - w->rows[i]), name);
		if (!is_known)
			*vec_add(&w->fields[i]) = (struct evidence_field){ (uint32_t)(from - w->rows[i]), (uint32_t)(end - from), name };
	}
}

struct worst {
	bool is_dirty, is_pending;
};

static void see_store(const struct model_store *store, void *arg)
{
	struct worst *worst = arg;

	worst->is_dirty |= store->state == MODEL_DIRTY && !store->is_overwritten;
	worst->is_pending |= store->state != MODEL_DIRTY;
}

/* A letter for each row. */
static const char *states_of(const struct window *w, struct scene *s)
{
	char states[EVIDENCE_ROWS_MAX + 1] = "";

	for (size_t i = 0; i < w->nrows; i++) {
		struct worst worst = { 0 };

		model_each(s->model, w->rows[i], EVIDENCE_ROW_BYTES, see_store, &worst);
		states[i] = worst.is_dirty ? 'x' : worst.is_pending ? 'p' : 'd';
	}
	return arena_text(&s->arena, states);
}

/* ---- what is kept ---- */

/* One that is not named by the bug, behind those at the beginning; if all are, the first there. */
static void drop_one(struct window *w, size_t head)
{
	size_t i = head;

	while (i + 1 < w->kept.n && w->kept.at[i].role)
		i++;
	if (i + 1 >= w->kept.n)
		i = head;
	w->kept.at[i + 1].skipped += w->kept.at[i].skipped + 1;
	memmove(&w->kept.at[i], &w->kept.at[i + 1], (w->kept.n - i - 1) * sizeof *w->kept.at);
	w->kept.n--;
	if (i == 0)
		w->kept.at[0].skipped = 0; /* nobody sees where it began */
}

static void keep(struct window *w, struct scene *s, const struct trace_event *ev, uint32_t row, const struct anchor *anchor)
{
	const struct frame *place = locate(s->locator, ev->site);
	const struct symbol *symbol = place ? place->symbol : NULL;
	struct evidence_event *e = vec_add(&w->kept);
	const size_t most = w->is_region ? WINDOW_KEPT_REGION : WINDOW_KEPT;

	*e = (struct evidence_event){ .seq = ev->seq, .skipped = w->kept.n > 1 ? w->skipped : 0, .kind = trace_kinds[ev->kind].name,
				      .role = anchor ? anchor->role : NULL, .what = what_of(s, ev), .states = states_of(w, s),
				      .process = ev->stream, .thread = ev->thread, .row = row, .offset = row ? PMT_OFFSET(ev->addr) : 0,
				      .size_bytes = ev->size_bytes };
	if (symbol && symbol->file && symbol->line) {
		e->file = symbol->file;
		e->line = symbol->line;
	}
	if (symbol)
		e->function = symbol->function;
	if (row && trace_is_store(ev->kind)) {
		e->field = field_of(s, ev);
		if (e->field)
			add_field(w, ev, e->field);
	}
	w->skipped = 0;
	if (ev->seq < w->first_seq && w->kept.n > WINDOW_KEPT_BEFORE)
		drop_one(w, 0);
	else if (w->kept.n > most)
		drop_one(w, w->is_region ? most / 2 : WINDOW_HEAD);
}

static bool matters(struct window *w, const struct trace_event *ev, uint32_t row, const struct anchor *anchor)
{
	if (row) {
		set_busy(w, ev, ev->kind != PMT_UNMAP && ev->kind != PMT_TX_ADD);
		return true;
	}
	if (is_fence(ev)) {
		bool is_ours = is_busy(w, ev);

		set_busy(w, ev, false);
		return is_ours || anchor || w->is_region;
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
	if (!w->crash_seq && !w->is_region && ev->seq > w->last_seq && ++w->nafter >= WINDOW_KEPT_AFTER)
		w->is_done = true;
}
