/* Writes the list of findings at the top of the page: a row for each, with the values that the
 * script filters and sorts by. The controls show only if scripts run. */
#include <inttypes.h>
#include <string.h>

#include "report/html/html.h"

#define FILTERED_MIN 5u  /* shorter lists need no filter */
#define OPTIONS_MAX 200u /* per list of choices */

static const char *file_of(const struct bug *b)
{
	const struct bug_frame *frame = bug_frame(b);

	return frame && frame->file     ? path_base(frame->file)
	       : frame && frame->object ? path_base(frame->object)
					: "unknown";
}

static const char *kind_of(const struct bug *b)
{
	return b->kind;
}

/* Writes a list of choices: each different value that findings have. */
static void put_select(const struct page *p, const char *name, const char *label,
		       const char *(*value)(const struct bug *b))
{
	VEC(const char *) seen = { 0 };

	fprintf(p->f, "<label>%s <select id=\"by-%s\"><option value=\"\">all</option>", label,
		name);
	for (size_t i = 0; i < report_nbugs(p->r) && seen.n < OPTIONS_MAX; i++) {
		const char *text = value(report_bug(p->r, i));
		size_t k = 0;

		while (k < seen.n && strcmp(seen.at[k], text) != 0)
			k++;
		if (k < seen.n)
			continue;
		*vec_add(&seen) = text;
		fputs("<option>", p->f);
		put_short(p, text, NAME_SHOWN_BYTES);
		fputs("</option>", p->f);
	}
	fputs("</select></label>\n", p->f);
	vec_release(&seen);
}

static void put_controls(const struct page *p)
{
	fputs("<form class=\"controls\" id=\"controls\" role=\"search\" hidden>\n"
	      "<label class=\"grow\">Search <input type=\"search\" id=\"by-text\" placeholder=\"message, function, file\" autocomplete=\"off\"></label>\n"
	      "<label>Severity <select id=\"by-severity\"><option value=\"\">all</option>",
	      p->f);
	for (enum bug_severity s = BUG_CORRECTNESS; s < BUG_SEVERITIES; s++)
		if (report_count(p->r, s))
			fprintf(p->f, "<option>%s</option>", bug_severity_name(s));
	fputs("</select></label>\n", p->f);
	put_select(p, "kind", "Kind", kind_of);
	put_select(p, "file", "File", file_of);
	fputs("<label>Code <select id=\"by-owner\"><option value=\"\">all</option><option value=\"mine\">mine</option><option value=\"library\">libraries</option></select></label>\n"
	      "<label>Sort <select id=\"sort\"><option value=\"rank\">by evidence</option><option value=\"file\">by file</option><option value=\"kind\">by kind</option>"
	      "<option value=\"count\">by count</option></select></label>\n"
	      "<button type=\"button\" id=\"reset\">Reset</button>\n<output id=\"shown\" aria-live=\"polite\"></output>\n"
	      "<p class=\"keys\"><kbd>/</kbd> search <kbd>j</kbd> <kbd>k</kbd> next, previous finding <kbd>Esc</kbd> reset</p>\n</form>\n",
	      p->f);
}

static void put_data(const struct page *p, const char *name, const char *value)
{
	fprintf(p->f, " data-%s=\"", name);
	put_short(p, value, NAME_SHOWN_BYTES);
	putc('"', p->f);
}

static const char *severity_of(const struct bug *b)
{
	return bug_severity_name(b->severity);
}

/* Writes the values of all findings of the line, separated by blanks (no kind or severity has a
 * blank in its name). */
static void put_each(const struct page *p, const char *name, size_t i,
		     const char *(*value)(const struct bug *b))
{
	fprintf(p->f, " data-%s=\"", name);
	for (size_t k = i; k != SIZE_MAX; k = p->spots[k].next) {
		fputs(k == i ? "" : " ", p->f);
		put_short(p, value(report_bug(p->r, k)), NAME_SHOWN_BYTES);
	}
	putc('"', p->f);
}

static void put_row(const struct page *p, size_t i, size_t number)
{
	const struct bug *b = report_bug(p->r, i);
	const struct bug_frame *frame = bug_frame(b);

	fprintf(p->f,
		"<tr role=\"row\" data-rank=\"%zu\" data-count=\"%" PRIu64 "\" data-owner=\"%s\"",
		number, b->count, b->library ? "library" : "mine");
	put_each(p, "severity", i, severity_of);
	put_each(p, "kind", i, kind_of);
	put_data(p, "file", file_of(b));
	fprintf(p->f, "><td role=\"cell\" class=\"num\">%zu</td><td role=\"cell\"><a href=\"#",
		number);
	put_anchor(p, b);
	fprintf(p->f,
		"\"><span class=\"dot %s\" aria-hidden=\"true\"></span><span class=\"vh\">%s: </span>",
		bug_severity_name(b->severity), bug_severity_name(b->severity));
	put_cut(p, b->kind, NAME_SHOWN_BYTES);
	fputs("</a></td><td role=\"cell\" class=\"where\"><code>", p->f);
	put_place(p, frame);
	fputs("</code>", p->f);
	if (frame && frame->function) {
		fputs(" <span class=\"fn\">", p->f);
		put_cut(p, frame->function, NAME_SHOWN_BYTES);
		fputs("</span>", p->f);
	}
	fputs("</td><td role=\"cell\" class=\"what\">", p->f);
	put_cut(p, b->message, 200);
	for (size_t k = p->spots[i].next; k != SIZE_MAX; k = p->spots[k].next) {
		fputs(" <span class=\"more\">and ", p->f);
		put_cut(p, report_bug(p->r, k)->kind, NAME_SHOWN_BYTES);
		fputs("</span>", p->f);
	}
	if (b->nconsequences)
		fprintf(p->f, " <span class=\"more\">+%zu of the same cause</span>",
			b->nconsequences);
	if (b->library) {
		fputs(" <span class=\"more\">in ", p->f);
		put_cut(p, b->library, NAME_SHOWN_BYTES);
		fputs("</span>", p->f);
	}
	fputs("</td><td role=\"cell\" class=\"num\">", p->f);
	put_count_of(p, b->count);
	fputs("</td></tr>\n", p->f);
}

/* Writes the list of findings, or that there is none. One finding needs no list. A list of
 * FILTERED_MIN or more entries is folded, so that the first finding is seen first. */
void put_index(const struct page *p)
{
	const size_t n = report_nbugs(p->r);
	size_t nentries = 0, number = 0;

	if (n == 0) {
		fputs("<p class=\"clean\">pmend found nothing. The coverage above says what was analysed.</p>\n",
		      p->f);
		return;
	}
	for (size_t i = 0; i < n; i++)
		nentries += p->spots[i].is_first;
	if (nentries == 1)
		return;
	if (nentries >= FILTERED_MIN) {
		fprintf(p->f,
			"<details class=\"all\" id=\"all\"><summary>All %zu places: list, search, filter</summary>\n",
			nentries);
		put_controls(p);
	}
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Index of findings\">\n<table class=\"index\" id=\"index\" role=\"table\">\n"
	      "<thead role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\">#</th><th role=\"columnheader\">Kind</th><th role=\"columnheader\">Where</th><th role=\"columnheader\">What</th><th role=\"columnheader\">Seen</th></tr></thead>\n<tbody role=\"rowgroup\">\n",
	      p->f);
	for (size_t i = 0; i < n; i++)
		if (p->spots[i].is_first)
			put_row(p, i, ++number);
	fputs("</tbody></table>\n</div>\n", p->f);
	if (nentries >= FILTERED_MIN)
		fputs("</details>\n", p->f);
}
