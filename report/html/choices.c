/* Writes a table of the reads of recovery that had a choice: the line that reads, the bytes, and
 * each value that a crash can leave there, with the stores that it has to lose for it. The value in
 * this crash state is marked. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/html.h"

#define CHOICES_SHOWN 40u
#define BYTES_SHOWN 32u
#define OPEN_MAX 8u /* further rows are folded */

/* Gives the name of the field that holds these bytes; NULL: unknown. */
static const char *field_of(const struct evidence *e, const struct bug_choice *c)
{
	for (size_t i = 0; e && i < e->nrows; i++) {
		const struct evidence_row *r = &e->rows[i];

		if (c->offset < r->offset || c->offset - r->offset >= EVIDENCE_ROW_BYTES ||
		    !r->file || !c->file || strcmp(r->file, c->file) != 0)
			continue;
		for (size_t k = 0; k < r->nfields; k++) {
			const uint64_t from = r->offset + r->fields[k].offset;

			if (c->offset >= from && c->offset < from + r->fields[k].size_bytes)
				return r->fields[k].name;
		}
	}
	return NULL;
}

static void put_reader(const struct page *p, const struct bug_choice *c)
{
	fputs("<td><code>", p->f);
	put_place(p, &c->read);
	fputs("</code>", p->f);
	if (c->read.function) {
		fputs(" <span class=\"fn\">", p->f);
		put_cut(p, c->read.function, NAME_SHOWN_BYTES);
		fputs("</span>", p->f);
	}
	if (c->by && strcmp(c->by, "recover") != 0) {
		fputs(" <span class=\"fn\">(", p->f);
		put_cut(p, c->by, NAME_SHOWN_BYTES);
		fputs(")</span>", p->f);
	}
	if (c->read.text) {
		fputs("<br><code class=\"line\">", p->f);
		put_cut(p, c->read.text, NAME_SHOWN_BYTES);
		fputs("</code>", p->f);
	}
	fputs("</td>", p->f);
}

static void put_bytes_of(const struct page *p, const struct bug *b, const struct bug_choice *c)
{
	const char *field = field_of(b->evidence, c);

	fputs("<td>", p->f);
	if (field) {
		fputs("<code>", p->f);
		put_cut(p, field, NAME_SHOWN_BYTES);
		fputs("</code><br>", p->f);
	}
	fputs("<span class=\"range\">", p->f);
	put_cut(p, c->file ? path_base(c->file) : "pool", NAME_SHOWN_BYTES);
	fprintf(p->f, "+0x%" PRIx64 ", ", c->offset);
	put_plural(p, c->size_bytes, "byte", "bytes");
	fputs("</span></td>", p->f);
}

/* Writes "05 00 00 00" and the number that these bytes are. */
static void put_value(const struct page *p, const char *hex)
{
	const size_t n = strlen(hex) / 2;
	uint64_t number = 0;

	fputs("<span class=\"hex\">", p->f);
	for (size_t i = 0; i < n && i < BYTES_SHOWN; i++)
		fprintf(p->f, "%s%.2s", i ? " " : "", hex + 2 * i);
	fputs(n > BYTES_SHOWN ? " \xe2\x80\xa6</span>" : "</span>", p->f);
	for (size_t i = n <= 8 ? n : 0; i-- > 0;) {
		const char byte[] = { hex[2 * i], hex[2 * i + 1], 0 };

		number = number << 8 | strtoul(byte, NULL, 16);
	}
	if (n > 0 && n <= 8)
		fprintf(p->f,
			number < 1u << 20 ? " <span class=\"range\">= %" PRIu64 "</span>"
					  : " <span class=\"range\">= 0x%" PRIx64 "</span>",
			number);
}

static void put_losses(const struct page *p, const struct bug_value *v)
{
	for (size_t i = 0; i < v->nlost && i < 8; i++) {
		fputs(i ? ", " : " if the crash loses ", p->f);
		fputs("<code>", p->f);
		put_place(p, &v->lost[i]);
		fputs("</code>", p->f);
	}
	if (v->nlost == 0)
		fputs(" if nothing is lost", p->f);
}

static void put_values(const struct page *p, const struct bug_choice *c)
{
	fputs("<td><ul>", p->f);
	for (size_t i = 0; i < c->nvalues; i++) {
		fprintf(p->f, "<li%s>", c->values[i].is_taken ? " class=\"taken\"" : "");
		put_value(p, c->values[i].bytes);
		put_losses(p, &c->values[i]);
		fputs(c->values[i].is_taken ? " <b>\xe2\x86\x90 read here</b></li>" : "</li>",
		      p->f);
	}
	if (c->nall > c->nvalues)
		fprintf(p->f, "<li class=\"cut\">%" PRIu64 " more</li>", c->nall - c->nvalues);
	fputs("</ul></td>", p->f);
}

void put_choices(const struct page *p, const struct bug *b)
{
	const struct bug_crash *c = b->crash;

	if (c->nchoices == 0 || p->is_brief)
		return;
	fprintf(p->f, "<details class=\"choices\"%s><summary>",
		c->nchoices <= OPEN_MAX ? " open" : "");
	put_plural(p, c->nchoices_all, "read of recovery had a choice",
		   "reads of recovery had a choice");
	fputs("</summary>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"plain\"><thead><tr><th scope=\"col\">Read by</th><th scope=\"col\">Bytes</th>"
	      "<th scope=\"col\">Values that a crash here can leave</th></tr></thead><tbody>\n",
	      p->f);
	for (size_t i = 0; i < c->nchoices && i < CHOICES_SHOWN; i++) {
		fputs("<tr>", p->f);
		put_reader(p, &c->choices[i]);
		put_bytes_of(p, b, &c->choices[i]);
		put_values(p, &c->choices[i]);
		fputs("</tr>\n", p->f);
	}
	fputs("</tbody></table></div>\n", p->f);
	if (c->nchoices_all > c->nchoices)
		fprintf(p->f, "<p class=\"note\">The first %zu are listed.</p>\n",
			c->nchoices < CHOICES_SHOWN ? c->nchoices : (size_t)CHOICES_SHOWN);
	fputs("</details>\n", p->f);
}
