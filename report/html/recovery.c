/* Writes what recovery did with the crash state: how it ended, what its dump was compared with,
 * what it printed, and which of its reads could have returned other values. */
#include <inttypes.h>
#include <string.h>

#include "report/html/html.h"

static void put_dump(const struct page *p, const char *title, const char *class, const char *text,
		     const char *otherwise)
{
	fprintf(p->f, "<figure class=\"%s\"><figcaption>%s</figcaption><pre tabindex=\"0\">", class,
		title);
	if (text && *text)
		put_lines(p, text, OUTPUT_SHOWN_BYTES);
	else
		fprintf(p->f, "<span class=\"cut\">%s</span>", otherwise);
	fputs("</pre></figure>\n", p->f);
}

static void put_operation(const struct page *p, const struct bug_comparison *c)
{
	fputs("<p>", p->f);
	if (c->operation) {
		fputs("Operation in flight: ", p->f);
		fprintf(p->f, "%" PRIu64, c->operation);
		if (c->name) {
			fputs(" <code>", p->f);
			put_cut(p, c->name, NAME_SHOWN_BYTES);
			fputs("</code>", p->f);
		}
		fputs(c->is_assumed   ? " (assumed: what lies between two outputs)"
		      : c->is_request ? " (assumed: a request and its answer)"
				      : " (annotated)",
		      p->f);
		if (c->nflying > 1)
			fprintf(p->f, ", one of %" PRIu64 " in flight", c->nflying);
		fputs(". ", p->f);
	}
	if (c->nallowed)
		put_plural(p, c->nallowed, "state is allowed.", "states are allowed.");
	fputs("</p>\n", p->f);
}

static void put_cell(const struct page *p, const char *text)
{
	fputs("<td><code>", p->f);
	if (text)
		put_lines(p, text, 500);
	else
		fputs("<span class=\"cut\">none</span>", p->f);
	fputs("</code></td>", p->f);
}

static void put_differences(const struct page *p, const struct bug_comparison *c)
{
	if (c->n == 0)
		return;
	fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"diffs\"><caption>Where they differ</caption><thead><tr><th scope=\"col\">Line</th><th scope=\"col\">Before</th><th scope=\"col\">Allowed after</th>"
	      "<th scope=\"col\">Found</th></tr></thead><tbody>\n",
	      p->f);
	for (size_t i = 0; i < c->n; i++) {
		fprintf(p->f, "<tr><td class=\"num\">%" PRIu32 "</td>", c->list[i].line);
		put_cell(p, c->list[i].before);
		put_cell(p, c->list[i].after);
		put_cell(p, c->list[i].found);
		fputs("</tr>\n", p->f);
	}
	fputs("</tbody></table></div>\n", p->f);
	if (c->ndifferences > c->n)
		fprintf(p->f, "<p class=\"note\">%" PRIu64 " more differences.</p>\n",
			c->ndifferences - c->n);
}

static void put_comparison(const struct page *p, const struct bug_comparison *c)
{
	put_operation(p, c);
	fputs("<div class=\"side\">\n", p->f);
	put_dump(p, "Before the operation", "was", c->before, c->before ? "empty" : "not known");
	put_dump(p, "Allowed after it", "may", c->after,
		 c->after ? "empty" : "the same, or not known");
	put_dump(p, "Found after recovery", "got", c->found, "empty");
	fputs("</div>\n", p->f);
	put_differences(p, c);
}

/* Are the texts equal, except for newlines at the end? */
static bool is_same_text(const char *a, const char *b)
{
	size_t n = a ? strlen(a) : 0, m = strlen(b);

	while (n && a[n - 1] == '\n')
		n--;
	while (m && b[m - 1] == '\n')
		m--;
	return n == m && memcmp(a ? a : "", b, n) == 0;
}

void put_recovery(const struct page *p, const struct bug *b)
{
	const struct bug_crash *c = b->crash;

	fputs("<h3>Recovery</h3>\n<p>", p->f);
	if (c->failure_point)
		fprintf(p->f, "Crash at failure point %" PRIu64 ". ", c->failure_point);
	else
		fputs("No crash: nothing is lost. ", p->f);
	if (c->command) {
		fputs("<code>", p->f);
		put_cut(p, c->command, NAME_SHOWN_BYTES);
		fputs("</code>: ", p->f);
	}
	fputs("<strong>", p->f);
	put_cut(p, c->outcome ? c->outcome : "failed", MESSAGE_SHOWN_BYTES);
	fputs("</strong>.</p>\n", p->f);
	if (c->comparison)
		put_comparison(p, c->comparison);
	if (c->output && !(c->comparison && is_same_text(c->comparison->found, c->output)))
		put_dump(p, "Its last output", "got", c->output, "empty");
	if (c->endings) {
		fputs("<p class=\"note\">Recovery ends in several ways on states of this bug: ",
		      p->f);
		put_cut(p, c->endings, MESSAGE_SHOWN_BYTES);
		fputs(".</p>\n", p->f);
	}
	if (c->torn)
		fprintf(p->f, "<p class=\"note\">%s.</p>\n", bug_torn_text(c->torn));
	if (c->last_window && c->last_window == c->first_window)
		fprintf(p->f,
			"<p class=\"note\">Recovery fails at failure point %" PRIu64
			", also with nothing lost. From failure point %" PRIu64
			" on it copes.</p>\n",
			c->first_window, c->last_window + 1);
	else if (c->last_window)
		fprintf(p->f,
			"<p class=\"note\">Recovery fails at failure points %" PRIu64 " to %" PRIu64
			", also with nothing lost. From failure point %" PRIu64
			" on it copes.</p>\n",
			c->first_window, c->last_window, c->last_window + 1);
	if (c->varies)
		fputs("<p class=\"note\">" VARIES_TEXT ".</p>\n", p->f);
	put_choices(p, b);
}
