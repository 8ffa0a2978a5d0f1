/* Writes the table of representative testing: each group of update behaviours, with the behaviour
 * that was tested on behalf of all. Also lists the inputs that an exploration found. */
#include <inttypes.h>

#include "report/html/html.h"

#define INPUTS_SHOWN 200u

static void put_group(const struct page *p, const struct report_group *g)
{
	fputs("<tr><td><code>", p->f);
	put_cut(p, g->type, NAME_SHOWN_BYTES);
	fputs("</code></td><td>", p->f);
	put_cut(p, g->fields, NAME_SHOWN_BYTES);
	fputs("</td><td>", p->f);
	put_cut(p, g->places, 600);
	fprintf(p->f, "</td><td class=\"num\">%" PRIu64 "</td><td class=\"%s\">%s</td></tr>\n",
		g->nbehaviours,
		g->has_failed  ? "no"
		: g->is_tested ? "yes"
			       : "",
		g->has_failed  ? "fails"
		: g->is_tested ? "tested"
			       : "not tested");
}

static void put_input(const struct page *p, const struct bug *b)
{
	fputs("<tr><td><code>", p->f);
	put_path(p, b->input->file);
	fprintf(p->f, "</code></td><td class=\"num\">%" PRIu64 "</td><td><a href=\"#bug-%s\">",
		b->input->size, b->id);
	put_cut(p, b->kind, NAME_SHOWN_BYTES);
	fputs("</a></td><td><code>", p->f);
	put_place(p, bug_frame(b));
	fputs("</code></td></tr>\n", p->f);
}

/* Lists for each finding the shortest input that shows it. */
static void put_shortest(const struct page *p)
{
	size_t n = 0;

	for (size_t i = 0; i < report_nbugs(p->r); i++)
		n += report_bug(p->r, i)->input != NULL;
	if (n == 0)
		return;
	fputs("<details open><summary>The shortest input that shows each finding</summary>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"plain\">"
	      "<thead><tr><th scope=\"col\">Input</th><th scope=\"col\">Bytes</th><th scope=\"col\">Finding</th><th scope=\"col\">Where</th></tr></thead><tbody>\n",
	      p->f);
	for (size_t i = 0; i < report_nbugs(p->r) && i < INPUTS_SHOWN; i++)
		if (report_bug(p->r, i)->input)
			put_input(p, report_bug(p->r, i));
	fputs("</tbody></table></div></details>\n", p->f);
}

static bool has_inputs(const struct report *r)
{
	for (size_t i = 0; i < report_nbugs(r); i++)
		if (report_bug(r, i)->input)
			return true;
	return r->has_coverage && r->coverage.nfound > 0;
}

static void put_inputs(const struct page *p)
{
	if (!has_inputs(p->r))
		return;
	fputs("<section class=\"coverage\">\n<h2>Inputs</h2>\n", p->f);
	put_progress(p);
	put_shortest(p);
	fputs("</section>\n", p->f);
}

void put_groups(const struct page *p)
{
	const struct report_groups *g = p->r->has_coverage ? p->r->coverage.groups : NULL;

	put_inputs(p);
	if (!g)
		return;
	fputs("<section class=\"coverage\">\n<h2>Representative testing</h2>\n<p>", p->f);
	put_plural(p, g->behaviours, "update behaviour", "update behaviours");
	fputs(" in ", p->f);
	put_plural(p, g->groups, "group", "groups");
	fputs("; ", p->f);
	put_plural(p, g->groups_tested, "group was", "groups were");
	fputs(" tested, each by one behaviour for all in it; ", p->f);
	put_plural(p, g->followed_up, "more was", "more were");
	fputs(" tested because the representative failed.</p>\n"
	      "<details><summary>The groups</summary>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"plain\"><thead><tr><th scope=\"col\">Type</th><th scope=\"col\">Fields that the representative updates</th>"
	      "<th scope=\"col\">Where</th><th scope=\"col\">Stands for</th><th scope=\"col\">Result</th></tr></thead><tbody>\n",
	      p->f);
	for (size_t i = 0; i < g->n; i++)
		put_group(p, &g->list[i]);
	fputs("</tbody></table></div></details>\n</section>\n", p->f);
}
