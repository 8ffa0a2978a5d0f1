/* Gives names to what a window kept: source lines, values, the fields that were stored to. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "account/evidence/window.h"

#define VALUE_SHOWN_BYTES 24u
#define FIELDS_MAX 32u /* per row */

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
		p += sprintf(p, "\"%.*s\"", (int)strnlen((const char *)ev->data, n),
			     (const char *)ev->data);
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
	if ((ev->kind == PMT_OP_BEGIN || ev->kind == PMT_OP_END || ev->kind == PMT_OUTPUT) &&
	    ev->data_len)
		return arena_string(&s->arena, ev->data, ev->data_len);
	return NULL;
}

/* Gives the name of the outermost named struct to which the event stores, and the field in it. */
static const char *field_of(struct scene *s, const struct kept *k)
{
	char *text =
		k->is_typed ? types_path(s->types, &k->type, k->ev.addr, k->ev.size_bytes) : NULL;
	const char *name = arena_text(&s->arena, text);

	free(text);
	return name;
}

/* Extends a field if the store is to adjacent bytes of the same field. */
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
		uint64_t from = ev->addr > w->rows[i] ? ev->addr : w->rows[i],
			 end = ev->addr + ev->size_bytes;
		bool is_known = false;

		if (end > w->rows[i] + EVIDENCE_ROW_BYTES)
			end = w->rows[i] + EVIDENCE_ROW_BYTES;
		if (from >= end || w->fields[i].n >= FIELDS_MAX)
			continue;
		for (size_t k = 0; k < w->fields[i].n && !is_known; k++)
			is_known = field_grow(&w->fields[i].at[k], (uint32_t)(from - w->rows[i]),
					      (uint32_t)(end - w->rows[i]), name);
		if (!is_known)
			*vec_add(&w->fields[i]) =
				(struct evidence_field){ (uint32_t)(from - w->rows[i]),
							 (uint32_t)(end - from), name };
	}
}

static struct evidence_event named_event(struct window *w, struct scene *s, struct kept *k)
{
	const struct frame *place = locate(s->locator, k->ev.site);
	const struct symbol *symbol = place ? place->symbol : NULL;
	struct evidence_event e = { .seq = k->ev.seq,
				    .skipped = k->skipped,
				    .kind = trace_kinds[k->ev.kind].name,
				    .role = k->role,
				    .states = arena_text(&s->arena, k->states),
				    .process = k->ev.stream,
				    .thread = k->ev.thread,
				    .row = k->row,
				    .offset = k->row ? PMT_OFFSET(k->ev.addr) : 0,
				    .size_bytes = k->ev.size_bytes };

	if (trace_is_store(k->ev.kind))
		k->ev.data = k->data;
	e.what = what_of(s, &k->ev);
	if (symbol && symbol->file && symbol->line) {
		e.file = symbol->file;
		e.line = symbol->line;
	}
	if (symbol)
		e.function = symbol->function;
	if (k->row && trace_is_store(k->ev.kind))
		e.field = field_of(s, k);
	if (e.field)
		add_field(w, &k->ev, e.field);
	return e;
}

void window_tell(struct window *w, struct scene *s)
{
	window_compact(w);
	for (size_t i = 0; i < w->kept.n; i++)
		*vec_add(&w->events) = named_event(w, s, &w->kept.at[i]);
}
