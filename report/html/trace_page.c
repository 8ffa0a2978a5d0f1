/* Writes a part of a trace as one HTML page: timeline and memory as in a report, without a
 * finding. */
#include "report/html/html.h"

static void put_fact(const struct page *p, const char *name, const char *text)
{
	if (!text)
		return;
	fprintf(p->f, "<dt>%s</dt><dd>", name);
	put_cut(p, text, MESSAGE_SHOWN_BYTES);
	fputs("</dd>\n", p->f);
}

void trace_page_html(FILE *f, const struct evidence *e, const struct trace_page *t)
{
	struct page p = { .f = f, .sources = sources_new(), .cwd = t->cwd };
	char *title = xasprintf("pmend: %s", path_base(t->trace));

	if (t->folder)
		sources_add_folder(p.sources, t->folder);
	put_head(&p, title);
	fputs("<header class=\"top\">\n<p class=\"brand\">pmend <span>trace</span></p>\n<h1>", f);
	put_cut(&p, path_base(t->trace), NAME_SHOWN_BYTES);
	fputs("</h1>\n<dl class=\"facts\">\n", f);
	put_fact(&p, "Shown", t->region);
	put_fact(&p, "Command", t->command);
	put_fact(&p, "Platform", t->platform);
	fputs("</dl></header>\n<main id=\"main\" tabindex=\"-1\">\n", f);
	if (e->nevents == 0)
		fputs("<p class=\"clean\">Nothing in this part of the trace touches persistent memory.</p>\n",
		      f);
	put_timeline(&p, e, "the trace");
	put_memory(&p, e);
	fputs("</main>\n", f);
	put_tail(&p);
	sources_free(p.sources);
	free(title);
}
