/* Writes and reads the evidence of a bug as JSON. The key "timeline" has the events, "memory" the
 * rows of bytes. Unknown values are left out. */
#include <string.h>

#include "report/internal.h"

#define EVENTS_READ_MAX 5000u /* per bug; a longer list, in a report that somebody edited, is cut */

static json_t *event_json(const struct evidence_event *e)
{
	json_t *o = json_object();

	json_object_set_new(o, "event", json_number(e->seq));
	json_set_text(o, "kind", e->kind);
	json_set_text(o, "role", e->role);
	json_set_number(o, "skipped", e->skipped);
	json_set_number(o, "process", e->process);
	json_object_set_new(o, "thread", json_number(e->thread));
	if (e->row) {
		json_object_set_new(o, "row", json_number(e->row - 1));
		json_object_set_new(o, "offset", json_number(e->offset));
	}
	json_set_number(o, "size", e->size_bytes);
	json_set_text(o, "field", e->field);
	json_set_text(o, "what", e->what);
	json_set_text(o, "states", e->states);
	json_set_text(o, "function", e->function);
	json_set_text(o, "file", e->file);
	json_set_number(o, "line", e->line);
	return o;
}

static json_t *timeline_json(const struct evidence *e)
{
	json_t *o = json_object(), *events = json_array();

	for (size_t i = 0; i < e->nevents; i++)
		json_array_append_new(events, event_json(&e->events[i]));
	json_set_text(o, "input", e->input);
	json_object_set_new(o, "events", events);
	json_set_number(o, "crash_before", e->crash_seq);
	json_set_number(o, "skipped_at_end", e->after);
	return o;
}

static json_t *row_json(const struct evidence_row *r)
{
	json_t *o = json_object(), *possible = json_array(), *fields = json_array();

	json_set_text(o, "file", r->file);
	json_object_set_new(o, "offset", json_number(r->offset));
	json_set_text(o, "durable", r->durable);
	json_set_text(o, "newest", r->newest);
	json_set_text(o, "found", r->found);
	for (size_t i = 0; i < r->npossible; i++)
		json_array_append_new(possible, json_text(r->possible[i]));
	for (size_t i = 0; i < r->nfields; i++) {
		json_t *f = json_object();

		json_object_set_new(f, "offset", json_number(r->fields[i].offset));
		json_object_set_new(f, "size", json_number(r->fields[i].size_bytes));
		json_set_text(f, "name", r->fields[i].name);
		json_array_append_new(fields, f);
	}
	if (r->npossible)
		json_object_set(o, "possible", possible);
	json_set_number(o, "possible_all", r->nall);
	if (r->nfields)
		json_object_set(o, "fields", fields);
	json_decref(possible);
	json_decref(fields);
	return o;
}

void evidence_json(json_t *bug, const struct evidence *e)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < e->nrows; i++)
		json_array_append_new(rows, row_json(&e->rows[i]));
	if (e->nevents)
		json_object_set_new(bug, "timeline", timeline_json(e));
	if (e->nrows)
		json_object_set(bug, "memory", rows);
	json_decref(rows);
}

/* ---- reading: a value of the wrong type counts as missing, but "timeline" and "memory" themselves
 * must have the right type ---- */

/* Gives the text if it consists of two hexadecimal digits for each byte of a row, else NULL. */
static const char *bytes_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && strlen(text) == 2 * EVIDENCE_ROW_BYTES &&
			       strspn(text, "0123456789abcdef") == 2 * EVIDENCE_ROW_BYTES
		       ? text
		       : NULL;
}

static const char *states_of(const json_t *o, size_t nrows)
{
	const char *text = json_get_text(o, "states");

	return text && strlen(text) == nrows && strspn(text, "dxp") == nrows ? text : NULL;
}

static void read_row(struct arena *a, struct evidence_row *r, const json_t *o)
{
	const json_t *possible = json_object_get(o, "possible"),
		     *fields = json_object_get(o, "fields");
	struct evidence_field *list = arena_alloc(a, (json_array_size(fields) + 1) * sizeof *list);

	*r = (struct evidence_row){ .file = json_get_text(o, "file"),
				    .offset = json_get_number(o, "offset"),
				    .durable = bytes_of(json_object_get(o, "durable")),
				    .newest = bytes_of(json_object_get(o, "newest")),
				    .found = bytes_of(json_object_get(o, "found")),
				    .nall = json_get_number(o, "possible_all"),
				    .fields = list };
	for (size_t i = 0; i < json_array_size(possible) && r->npossible < EVIDENCE_POSSIBLE_MAX;
	     i++)
		if (bytes_of(json_array_get(possible, i)))
			r->possible[r->npossible++] = bytes_of(json_array_get(possible, i));
	for (size_t i = 0; i < json_array_size(fields); i++) {
		const json_t *f = json_array_get(fields, i);
		uint64_t offset = json_get_number(f, "offset"), size = json_get_number(f, "size");

		if (json_get_text(f, "name") && size > 0 && offset < EVIDENCE_ROW_BYTES &&
		    size <= EVIDENCE_ROW_BYTES - offset)
			list[r->nfields++] =
				(struct evidence_field){ (uint32_t)offset, (uint32_t)size,
							 json_get_text(f, "name") };
	}
}

static struct evidence_event read_event(const json_t *o, size_t nrows)
{
	uint64_t row = json_object_get(o, "row") ? json_get_number(o, "row") + 1 : 0;
	const char *kind = json_get_text(o, "kind");

	return (struct evidence_event){ .seq = json_get_number(o, "event"),
					.kind = kind ? kind : "?",
					.role = json_get_text(o, "role"),
					.skipped = json_get_number(o, "skipped"),
					.process = (uint32_t)json_get_number(o, "process"),
					.thread = (uint32_t)json_get_number(o, "thread"),
					.row = row <= nrows ? (uint32_t)row : 0,
					.offset = json_get_number(o, "offset"),
					.size_bytes = (uint32_t)json_get_number(o, "size"),
					.field = json_get_text(o, "field"),
					.what = json_get_text(o, "what"),
					.states = states_of(o, nrows),
					.function = json_get_text(o, "function"),
					.file = json_get_text(o, "file"),
					.line = (uint32_t)json_get_number(o, "line") };
}

const struct evidence *evidence_read(struct arena *a, const json_t *bug, const char **why)
{
	const json_t *timeline = json_object_get(bug, "timeline"),
		     *memory = json_object_get(bug, "memory"),
		     *events = json_object_get(timeline, "events");
	struct evidence_event *list;
	struct evidence *e;

	if (!timeline && !memory)
		return NULL;
	if ((timeline && !json_is_array(events)) || (memory && !json_is_array(memory))) {
		*why = timeline && !json_is_array(events) ? "no object with a list of events"
							  : "memory is not an array";
		return NULL;
	}
	e = arena_alloc(a, sizeof *e);
	list = arena_alloc(a, (json_array_size(events) + 1) * sizeof *list);
	*e = (struct evidence){ .input = json_get_text(timeline, "input"),
				.events = list,
				.crash_seq = json_get_number(timeline, "crash_before"),
				.after = json_get_number(timeline, "skipped_at_end") };
	for (; e->nrows < json_array_size(memory) && e->nrows < EVIDENCE_ROWS_MAX; e->nrows++)
		read_row(a, &e->rows[e->nrows], json_array_get(memory, e->nrows));
	for (; e->nevents < json_array_size(events) && e->nevents < EVENTS_READ_MAX; e->nevents++)
		list[e->nevents] = read_event(json_array_get(events, e->nevents), e->nrows);
	return e;
}
