/* Writes the box of the page that says how much was looked at and what was left out. */
#include <inttypes.h>

#include "report/html/html.h"

static void put_count(const struct page *p, const char *name, uint64_t n)
{
	if (!n)
		return;
	fprintf(p->f, "<div><dt>%s</dt><dd>", name);
	put_count_of(p, n);
	fputs("</dd></div>\n", p->f);
}

static void put_states(const struct page *p, const struct report_coverage *c)
{
	if (!c->states)
		return;
	fputs("<div><dt>Crash states covered</dt><dd>", p->f);
	put_cut(p, c->states, 40);
	if (c->states_all) {
		fputs(" of ", p->f);
		put_cut(p, c->states_all, 40);
	}
	fputs("</dd></div>\n", p->f);
}

static void put_sentence(const struct page *p, const char *class, const char *text)
{
	if (!text)
		return;
	fprintf(p->f, "<p class=\"%s\">", class);
	put_cut(p, text, MESSAGE_SHOWN_BYTES);
	fputs(".</p>\n", p->f);
}

void put_coverage(const struct page *p)
{
	const struct report_coverage *c = &p->r->coverage;
	char *depth;

	if (!p->r->has_coverage)
		return;
	depth = depth_text(c);
	fprintf(p->f,
		"<section class=\"coverage\" aria-label=\"Coverage\">\n<h2>Coverage <span class=\"%s\">%s</span></h2>\n",
		c->is_complete ? "yes" : "no",
		c->is_complete ? "\xe2\x9c\x94 complete" : "\xe2\x96\xb3 incomplete");
	if (!c->is_complete)
		put_sentence(p, "why",
			     c->why_incomplete ? c->why_incomplete : "The report does not say why");
	fputs("<dl class=\"numbers\">\n", p->f);
	put_count(p, "Events", c->events);
	put_count(p, "Inputs", c->inputs);
	put_count(p, "Schedules recorded", c->schedules.recorded);
	put_count(p, "Schedules that differ", c->schedules.different);
	put_count(p, "Failure points", c->failure_points);
	put_count(p, "Recovery runs", c->runs);
	put_count(p, "Runs shared with other failure points", c->shared_runs);
	put_count(p, "Runs to diagnose", c->diagnosis_runs);
	put_count(p, "Failures attributed without a run", c->attributed_without_run);
	put_states(p, c);
	put_count(p, "Hidden by suppressions", p->r->nsuppressed);
	put_count(p, "Hidden by the baseline", p->r->nknown);
	fputs("</dl>\n", p->f);
	put_sentence(p, "note", depth);
	put_sentence(p, "note", c->note);
	put_sentence(p, "note", report_not_covered(p->r));
	fputs("</section>\n", p->f);
	free(depth);
}
