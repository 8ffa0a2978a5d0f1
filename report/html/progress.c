/* Draws which input of an exploration showed what: a step for each input that reached new PM code,
 * a mark for each that showed a new bug; the same follows as a table. The axis counts inputs and
 * not seconds, so that the drawing is the same every time. */
#include <inttypes.h>
#include <string.h>

#include "report/html/html.h"

#define WIDTH 640u
#define HEIGHT 120u
#define LEFT 44u
#define TOP 14u
#define BOTTOM 34u
#define ROWS_SHOWN 200u

struct scale {
	uint64_t inputs, pm; /* the largest values, at the ends of the axes */
};

static unsigned x_of(const struct scale *s, uint64_t number)
{
	return LEFT + (unsigned)((double)number * WIDTH / (double)s->inputs);
}

static unsigned y_of(const struct scale *s, uint64_t pm)
{
	return TOP + HEIGHT - (unsigned)((double)pm * HEIGHT / (double)(s->pm ? s->pm : 1));
}

static struct scale scale_of(const struct report_coverage *c)
{
	struct scale s = { c->inputs ? c->inputs : 1, 0 };

	for (size_t i = 0; i < c->nfound; i++) {
		s.pm += c->found[i].new_pm;
		if (c->found[i].number > s.inputs)
			s.inputs = c->found[i].number;
	}
	return s;
}

static void put_axes(const struct page *p, const struct scale *s)
{
	fprintf(p->f, "<path class=\"axis\" fill=\"none\" d=\"M%u %uV%uH%u\"/>", LEFT, TOP,
		TOP + HEIGHT, LEFT + WIDTH);
	fprintf(p->f, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\">", LEFT - 6, TOP + 9);
	put_count_of(p, s->pm);
	fprintf(p->f, "</text><text x=\"%u\" y=\"%u\" text-anchor=\"end\">0</text>", LEFT - 6,
		TOP + HEIGHT);
	fprintf(p->f, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\">", LEFT + WIDTH,
		TOP + HEIGHT + 16);
	put_plural(p, s->inputs, "input", "inputs");
	fputs("</text>\n", p->f);
}

static void put_steps(const struct page *p, const struct report_coverage *c, const struct scale *s)
{
	uint64_t pm = 0;

	fprintf(p->f, "<path class=\"steps\" d=\"M%u %u", LEFT, y_of(s, 0));
	for (size_t i = 0; i < c->nfound; i++) {
		pm += c->found[i].new_pm;
		fprintf(p->f, "H%uV%u", x_of(s, c->found[i].number), y_of(s, pm));
	}
	fprintf(p->f, "H%u\"/>\n", LEFT + WIDTH);
}

static void put_marks(const struct page *p, const struct report_coverage *c, const struct scale *s)
{
	uint64_t pm = 0;

	for (size_t i = 0; i < c->nfound; i++) {
		const struct report_found *f = &c->found[i];

		pm += f->new_pm;
		fprintf(p->f,
			"<circle class=\"%s\" cx=\"%u\" cy=\"%u\" r=\"%u\"><title>input %" PRIu64
			": %" PRIu64 " new PM instructions, %" PRIu64
			" new findings</title></circle>\n",
			f->new_bugs ? "bug" : "pm", x_of(s, f->number), y_of(s, pm),
			f->new_bugs ? 5u : 3u, f->number, f->new_pm, f->new_bugs);
	}
}

/* Lists the findings of the page that this input showed first. The input may have shown others,
 * which are consequences or hidden. */
static void put_first(const struct page *p, const struct report_found *f)
{
	uint64_t nshown = 0;

	for (size_t i = 0; f->new_bugs && i < report_nbugs(p->r); i++) {
		const struct bug *b = report_bug(p->r, i);

		if (!b->input || !b->input->first || strcmp(b->input->first, f->file) != 0)
			continue;
		fprintf(p->f, "%s<a href=\"#bug-%s\">", nshown++ ? ", " : "", b->id);
		put_cut(p, b->kind, NAME_SHOWN_BYTES);
		fputs("</a> <code>", p->f);
		put_place(p, bug_frame(b));
		fputs("</code>", p->f);
	}
	if (f->new_bugs > nshown)
		fprintf(p->f, "%s%" PRIu64 " listed under another finding, or hidden",
			nshown ? "; " : "", f->new_bugs - nshown);
}

static void put_table(const struct page *p, const struct report_coverage *c)
{
	uint64_t pm = 0;

	fputs("<details><summary>Each input that found something</summary>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"plain found\"><thead><tr><th scope=\"col\">Input</th>"
	      "<th scope=\"col\">File</th><th scope=\"col\">New PM instructions</th><th scope=\"col\">In all</th><th scope=\"col\">New findings</th></tr></thead><tbody>\n",
	      p->f);
	for (size_t i = 0; i < c->nfound && i < ROWS_SHOWN; i++) {
		pm += c->found[i].new_pm;
		fprintf(p->f, "<tr><td class=\"num\">%" PRIu64 "</td><td><code>",
			c->found[i].number);
		put_path(p, c->found[i].file);
		fprintf(p->f,
			"</code></td><td class=\"num\">%" PRIu64 "</td><td class=\"num\">%" PRIu64
			"</td><td>",
			c->found[i].new_pm, pm);
		put_first(p, &c->found[i]);
		fputs("</td></tr>\n", p->f);
	}
	fputs("</tbody></table></div>\n", p->f);
	if (c->nfound_all > ROWS_SHOWN)
		fprintf(p->f,
			"<p class=\"note\">%" PRIu64 " more inputs that found something.</p>\n",
			c->nfound_all - ROWS_SHOWN);
	fputs("</details>\n", p->f);
}

void put_progress(const struct page *p)
{
	const struct report_coverage *c = &p->r->coverage;
	struct scale s;

	if (!p->r->has_coverage || c->nfound == 0)
		return;
	s = scale_of(c);
	fprintf(p->f,
		"<p class=\"note\">PM instructions reached, by the number of inputs run. A large mark is an input that showed a finding first.</p>\n"
		"<div class=\"scroll\" tabindex=\"0\"><svg class=\"progress\" width=\"%u\" height=\"%u\" role=\"img\" aria-label=\"PM instructions reached, by the number of inputs\">\n",
		LEFT + WIDTH + 10, TOP + HEIGHT + BOTTOM);
	put_axes(p, &s);
	put_steps(p, c, &s);
	put_marks(p, c, &s);
	fputs("</svg></div>\n", p->f);
	put_table(p, c);
}
