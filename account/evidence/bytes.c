/* Collects the bytes of a window's rows at the moment of the crash, or at the end of the window:
 * what is certainly durable, what the program sees, what a crash can leave, and what the failing
 * state has. */
#include <stdlib.h>
#include <string.h>

#include "crash/search/state_text.h"
#include "account/evidence/window.h"

static const char *hex(struct scene *s, const uint8_t *bytes)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * EVIDENCE_ROW_BYTES];

	for (size_t i = 0; i < EVIDENCE_ROW_BYTES; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	return arena_string(&s->arena, text, sizeof text);
}

/* Finds the line that contains a row; NULL if the set does not list it. */
static const struct state_line *line_of(const struct state_set *set, uint64_t row)
{
	const struct state_line *l = states_line(set, row);

	return l && row >= l->addr && row - l->addr < set->line_bytes ? l : NULL;
}

static const uint8_t *part(const struct state_set *set, const struct state_line *l,
			   uint32_t content, uint64_t row)
{
	return state_content(set, l, content) + (row - l->addr);
}

/* Adds contents that differ in the row; the one that loses most comes first. */
static void add_possible(struct scene *s, const struct state_set *set, const struct state_line *l,
			 uint64_t row, struct evidence_row *out)
{
	for (uint32_t c = 0; c < l->ncontents; c++) {
		bool is_known = false;

		for (uint32_t k = 0; k < c && !is_known; k++)
			is_known = memcmp(part(set, l, k, row), part(set, l, c, row),
					  EVIDENCE_ROW_BYTES) == 0;
		if (is_known)
			continue;
		out->nall++;
		if (out->npossible < EVIDENCE_POSSIBLE_MAX)
			out->possible[out->npossible++] = hex(s, part(set, l, c, row));
	}
}

static int field_compare(const void *left, const void *right)
{
	const struct evidence_field *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void add_row(struct window *w, struct scene *s, const struct state_set *set, size_t i)
{
	const struct state_line *l = line_of(set, w->rows[i]);
	const struct trace_file *file = trace_file(s->trace, PMT_FILE(w->rows[i]));
	struct evidence_row *out = &w->evidence.rows[w->evidence.nrows++];
	uint8_t image[EVIDENCE_ROW_BYTES];

	image_read(&s->image, w->rows[i], image, sizeof image);
	*out = (struct evidence_row){ .file = file ? file->path : NULL,
				      .offset = PMT_OFFSET(w->rows[i]),
				      .fields = w->fields[i].at,
				      .nfields = w->fields[i].n };
	if (w->fields[i].n)
		qsort(w->fields[i].at, w->fields[i].n, sizeof *w->fields[i].at, field_compare);
	if (!w->has_memory || followed_has(&s->followed, PMT_FILE(w->rows[i])))
		return;
	out->durable = hex(s, l && l->asked == ~(uint64_t)0 ? part(set, l, 0, w->rows[i]) : image);
	out->newest = hex(s, l ? part(set, l, l->ncontents - 1, w->rows[i]) : image);
	if (l && l->asked == ~(uint64_t)0)
		add_possible(s, set, l, w->rows[i], out);
	if (out->nall < 2)
		out->nall = out->npossible = 0; /* there is no choice */
}

/* Adds what the failing state has in each row. */
static void add_found(struct window *w, struct scene *s)
{
	struct state_set set = { 0 };
	uint64_t *state = NULL;
	struct error err;

	if (state_collect(&set, s->model, w->state, &err) == 0)
		state = state_parse(&set, w->state, &err);
	for (size_t i = 0; state && i < w->nrows; i++) {
		const struct state_line *l = line_of(&set, w->rows[i]);

		w->evidence.rows[i].found =
			l ? hex(s, part(&set, l, states_newest_left(l, state), w->rows[i]))
			  : w->evidence.rows[i].newest;
	}
	free(state);
	states_release(&set);
}

void window_finish(struct window *w, struct scene *s)
{
	struct states_asked nothing = { 0 };
	struct state_set set = { 0 };

	window_tell(w, s);
	w->evidence = (struct evidence){ .events = w->events.at,
					 .nevents = w->events.n,
					 .crash_seq = w->crash_seq,
					 .after = w->skipped };
	states_collect(&set, s->model, &nothing);
	for (size_t i = 0; i < w->nrows; i++)
		add_row(w, s, &set, i);
	states_release(&set);
	if (w->has_memory && w->state && !s->files)
		add_found(w, s);
	w->is_done = true;
}
