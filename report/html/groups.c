/* What representative testing looked at: each group of update behaviours with the one that was tested on behalf of all. */
#include <inttypes.h>

#include "report/html/html.h"

static void put_group(const struct page *p, const struct report_group *g)
{
	fputs("<tr><td><code>", p->f);
	put_cut(p, g->type, NAME_SHOWN_BYTES);
	fputs("</code></td><td>", p->f);
	put_cut(p, g->fields, NAME_SHOWN_BYTES);
	fputs("</td><td>", p->f);
	put_cut(p, g->places, 600);
	fprintf(p->f, "</td><td class=\"num\">%" PRIu64 "</td><td class=\"%s\">%s</td></tr>\n", g->nbehaviours, g->has_failed ? "no" : g->is_tested ? "yes" : "",
		g->has_failed ? "fails" : g->is_tested ? "tested" : "not tested");
}

void put_groups(const struct page *p)
{
	const struct report_groups *g = p->r->has_coverage ? p->r->coverage.groups : NULL;

	if (!g)
		return;
	fputs("<section class=\"coverage\">\n<h2>Representative testing</h2>\n<p>", p->f);
	put_plural(p, g->behaviours, "update behaviour", "update behaviours");
	fputs(" in ", p->f);
	put_plural(p, g->groups, "group", "groups");
	fputs("; ", p->f);
	put_plural(p, g->groups_tested, "group was", "groups were");
	fputs(" tested, by one behaviour on behalf of all in it; ", p->f);
	put_plural(p, g->followed_up, "more was", "more were");
	fputs(" tested because the representative failed.</p>\n"
	      "<details><summary>The groups</summary>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"plain\"><thead><tr><th scope=\"col\">Type</th><th scope=\"col\">Fields that the representative updates</th>"
	      "<th scope=\"col\">Where</th><th scope=\"col\">Stands for</th><th scope=\"col\">Result</th></tr></thead><tbody>\n",
	      p->f);
	for (size_t i = 0; i < g->n; i++)
		put_group(p, &g->list[i]);
	fputs("</tbody></table></div></details>\n</section>\n", p->f);
}
