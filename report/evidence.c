/* Copies evidence, and gives it to a bug of a report. All strings live in the report's arena. */
#include "report/evidence.h"

#include "report/internal.h"

static const struct evidence_event *events_copy(struct arena *a,
						const struct evidence_event *events, size_t n)
{
	struct evidence_event *copy = arena_alloc(a, (n + 1) * sizeof *copy);

	for (size_t i = 0; i < n; i++) {
		copy[i] = events[i];
		copy[i].kind = arena_text(a, events[i].kind);
		copy[i].role = arena_text(a, events[i].role);
		copy[i].what = arena_text(a, events[i].what);
		copy[i].field = arena_text(a, events[i].field);
		copy[i].states = arena_text(a, events[i].states);
		copy[i].function = arena_text(a, events[i].function);
		copy[i].file = arena_text(a, events[i].file);
	}
	return copy;
}

static const struct evidence_field *fields_copy(struct arena *a,
						const struct evidence_field *fields, size_t n)
{
	struct evidence_field *copy = arena_alloc(a, (n + 1) * sizeof *copy);

	for (size_t i = 0; i < n; i++)
		copy[i] = (struct evidence_field){ fields[i].offset, fields[i].size_bytes,
						   arena_text(a, fields[i].name) };
	return copy;
}

static void row_copy(struct arena *a, struct evidence_row *copy, const struct evidence_row *row)
{
	*copy = *row;
	copy->file = arena_text(a, row->file);
	copy->durable = arena_text(a, row->durable);
	copy->newest = arena_text(a, row->newest);
	copy->found = arena_text(a, row->found);
	for (size_t i = 0; i < row->npossible; i++)
		copy->possible[i] = arena_text(a, row->possible[i]);
	copy->fields = fields_copy(a, row->fields, row->nfields);
}

const struct evidence *evidence_copy(struct arena *a, const struct evidence *e)
{
	struct evidence *copy;

	if (!e)
		return NULL;
	copy = arena_alloc(a, sizeof *copy);
	*copy = *e;
	copy->input = arena_text(a, e->input);
	copy->events = events_copy(a, e->events, e->nevents);
	for (size_t i = 0; i < e->nrows; i++)
		row_copy(a, &copy->rows[i], &e->rows[i]);
	return copy;
}

void report_set_evidence(struct report *r, size_t bug, const struct evidence *e)
{
	r->bugs.at[bug]->bug.evidence = evidence_copy(&r->arena, e);
}
