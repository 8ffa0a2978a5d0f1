/* Writes the bytes of the cache lines involved, 16 per line: the durable ones, those that the
 * program sees and those found after the crash, one below the other, with the names of the fields.
 * Each byte is marked as unchanged, safe, undecided (a crash may lose it), kept or lost. Lines
 * without differences are left out. */
#include <inttypes.h>
#include <string.h>

#include "report/html/html.h"

#define PIECE_BYTES 16u

enum byte_state { BYTE_SAME, BYTE_UNDECIDED, BYTE_KEPT, BYTE_LOST };

static const char *const state_class[] = { "", "un", "ok", "lo" };

static bool same_byte(const char *a, const char *b, unsigned i)
{
	return a[2 * i] == b[2 * i] && a[2 * i + 1] == b[2 * i + 1];
}

/* Gives the state of a byte that the program sees: whether a crash can leave another value. */
static enum byte_state state_newest(const struct evidence_row *r, unsigned i)
{
	for (size_t k = 0; k < r->npossible; k++)
		if (!same_byte(r->possible[k], r->newest, i))
			return BYTE_UNDECIDED;
	return same_byte(r->durable, r->newest, i) ? BYTE_SAME : BYTE_UNDECIDED;
}

static enum byte_state state_found(const struct evidence_row *r, unsigned i)
{
	if (state_newest(r, i) == BYTE_SAME)
		return BYTE_SAME;
	return same_byte(r->found, r->newest, i) ? BYTE_KEPT : BYTE_LOST;
}

static bool is_interesting(const struct evidence_row *r, unsigned from)
{
	for (unsigned i = from; i < from + PIECE_BYTES; i++)
		if (state_newest(r, i) != BYTE_SAME ||
		    (r->found && !same_byte(r->found, r->durable, i)))
			return true;
	for (size_t i = 0; i < r->nfields; i++)
		if (r->fields[i].offset < from + PIECE_BYTES &&
		    r->fields[i].offset + r->fields[i].size_bytes > from && !r->nall)
			return true;
	return false;
}

static void put_characters(const struct page *p, const char *hex, unsigned from)
{
	char text[PIECE_BYTES + 1] = "";
	unsigned n;

	for (unsigned i = 0; i < PIECE_BYTES; i++) {
		n = '.';
		sscanf(hex + 2 * (from + i), "%2x", &n);
		text[i] = n >= 0x20 && n < 0x7f ? (char)n : '.';
	}
	fputs("</td><td class=\"chars\">", p->f);
	put_text(p, text);
}

typedef enum byte_state state_at(const struct evidence_row *r, unsigned i);

static enum byte_state state_none(const struct evidence_row *r, unsigned i)
{
	(void)r, (void)i;
	return BYTE_SAME;
}

/* Writes one row of bytes. Neighbours in the same state share an element. */
static void put_bytes(const struct page *p, const char *label, const struct evidence_row *r,
		      const char *hex, unsigned from, state_at *state)
{
	enum byte_state now = BYTE_SAME, next;

	fprintf(p->f, "<tr><th scope=\"row\">%s</th><td class=\"hex\">", label);
	for (unsigned i = from; i < from + PIECE_BYTES; i++) {
		next = state(r, i);
		if (next != now && now != BYTE_SAME)
			fputs("</b>", p->f);
		if (i > from)
			fputs(i == from + PIECE_BYTES / 2 ? "  " : " ", p->f);
		if (next != now && next != BYTE_SAME)
			fprintf(p->f, "<b class=\"%s\">", state_class[next]);
		now = next;
		fprintf(p->f, "%.2s", hex + 2 * i);
	}
	if (now != BYTE_SAME)
		fputs("</b>", p->f);
	put_characters(p, hex, from);
	fputs("</td></tr>\n", p->f);
}

/* Writes the fields of a row of bytes, such as "0-3 log.count, 4-15 log.text". */
static void put_fields(const struct page *p, const struct evidence_row *r, unsigned from)
{
	bool is_first = true;

	for (size_t i = 0; i < r->nfields; i++) {
		const struct evidence_field *f = &r->fields[i];
		unsigned first = f->offset > from ? f->offset : from,
			 end = f->offset + f->size_bytes;

		end = end < from + PIECE_BYTES ? end : from + PIECE_BYTES;
		if (first >= end)
			continue;
		fputs(is_first ? " " : ", ", p->f);
		put_cut(p, f->name, NAME_SHOWN_BYTES);
		fprintf(p->f, " <span class=\"range\">+%" PRIx64 "\xe2\x80\xa6%" PRIx64 "</span>",
			(uint64_t)(first - from), (uint64_t)(end - 1 - from));
		is_first = false;
	}
}

static void put_piece(const struct page *p, const struct evidence_row *r, unsigned from)
{
	fprintf(p->f, "<tr class=\"field\"><th scope=\"row\">+0x%" PRIx64 "</th><td colspan=\"2\">",
		r->offset + from);
	put_fields(p, r, from);
	fputs("</td></tr>\n", p->f);
	put_bytes(p, "durable", r, r->durable, from, state_none);
	put_bytes(p, "program sees", r, r->newest, from, state_newest);
	if (r->found)
		put_bytes(p, "after the crash", r, r->found, from, state_found);
}

static bool is_zero(const char *hex, unsigned from)
{
	return !hex || strspn(hex + 2 * from, "0") >= 2 * PIECE_BYTES;
}

/* Is all that a crash can leave in these 16 bytes zero? */
static bool is_piece_zero(const struct evidence_row *r, unsigned from)
{
	for (size_t k = 0; k < r->npossible; k++)
		if (!is_zero(r->possible[k], from))
			return false;
	return is_zero(r->durable, from) && is_zero(r->newest, from) && is_zero(r->found, from);
}

/* Writes one row for several neighbouring pieces that are all zero. */
static void put_zeros(const struct page *p, const struct evidence_row *r, unsigned from,
		      unsigned end)
{
	fprintf(p->f,
		"<tr class=\"field zeros\"><th scope=\"row\">+0x%" PRIx64
		"</th><td colspan=\"2\">%u zero bytes</td></tr>\n",
		r->offset + from, end - from);
}

static void put_possible(const struct page *p, const struct evidence_row *r)
{
	if (r->nall < 2)
		return;
	fprintf(p->f,
		"<details><summary>%" PRIu64
		" contents are possible after a crash</summary>\n<table class=\"bytes\"><tbody>\n",
		r->nall);
	for (unsigned from = 0; from < EVIDENCE_ROW_BYTES; from += PIECE_BYTES) {
		bool differs = false;

		for (unsigned i = from; i < from + PIECE_BYTES; i++)
			differs |= state_newest(r, i) != BYTE_SAME;
		if (!differs)
			continue;
		fprintf(p->f,
			"<tr class=\"field\"><th scope=\"row\">+0x%" PRIx64
			"</th><td colspan=\"2\"></td></tr>\n",
			r->offset + from);
		for (size_t k = 0; k < r->npossible; k++) {
			char label[24];

			snprintf(label, sizeof label, "%zu", k + 1);
			put_bytes(p, label, r, r->possible[k], from, state_newest);
		}
	}
	fputs("</tbody></table></details>\n", p->f);
}

static void put_row_bytes(const struct page *p, const struct evidence_row *r)
{
	unsigned nshown = 0;

	fputs("<div class=\"row\"><p class=\"rowname\"><code>", p->f);
	put_cut(p, r->file ? path_base(r->file) : "?", NAME_SHOWN_BYTES);
	fprintf(p->f,
		"+0x%" PRIx64
		"</code></p>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"bytes\"><tbody>\n",
		r->offset);
	for (unsigned from = 0, end; from < EVIDENCE_ROW_BYTES; from = end) {
		const bool is_shown = is_interesting(r, from);

		end = from + PIECE_BYTES;
		while (is_shown && is_piece_zero(r, from) && end < EVIDENCE_ROW_BYTES &&
		       is_interesting(r, end) && is_piece_zero(r, end))
			end += PIECE_BYTES;
		if (is_shown && is_piece_zero(r, from))
			put_zeros(p, r, from, end);
		else if (is_shown)
			put_piece(p, r, from);
		nshown += is_shown;
	}
	fputs("</tbody></table></div>\n", p->f);
	if (nshown == 0)
		fputs("<p class=\"note\">Nothing in this line is undecided at this moment.</p>\n",
		      p->f);
	put_possible(p, r);
	fputs("</div>\n", p->f);
}

void put_memory(const struct page *p, const struct evidence *e)
{
	bool has_found = false, has_bytes = false;

	for (size_t i = 0; i < e->nrows; i++) {
		has_found |= e->rows[i].found != NULL;
		has_bytes |= e->rows[i].durable && e->rows[i].newest;
	}
	if (!has_bytes)
		return;
	fprintf(p->f, "<h3>Memory <span class=\"sub\">%s</span></h3>\n",
		e->crash_seq ? "at the crash" : "after the last event of the timeline");
	for (size_t i = 0; i < e->nrows; i++)
		if (e->rows[i].durable && e->rows[i].newest)
			put_row_bytes(p, &e->rows[i]);
	fputs("<p class=\"legend\"><b class=\"un\">undecided</b> a crash may lose it", p->f);
	if (has_found)
		fputs(" <b class=\"ok\">kept</b> undecided, survived this crash <b class=\"lo\">lost</b> undecided, lost in this crash",
		      p->f);
	fputs("</p>\n", p->f);
}
