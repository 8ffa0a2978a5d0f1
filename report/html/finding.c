/* Writes the part of the page about one finding: what it is, where it is, and all that the report
 * knows of it. */
#include <inttypes.h>
#include <string.h>

#include "report/html/html.h"

#define FRAMES_SHOWN 40u
#define PATHS_SHOWN 20u
#define LISTED_MAX 100u

static void put_stack(const struct page *p, const char *title, const struct bug_frame *frames,
		      size_t n)
{
	if (n == 0)
		return;
	fputs("<div class=\"stack\"><p>", p->f);
	put_cut(p, title, NAME_SHOWN_BYTES);
	fputs("</p><ol>\n", p->f);
	for (size_t i = 0; i < n && i < FRAMES_SHOWN; i++) {
		fputs("<li><code>", p->f);
		put_cut(p, frames[i].function ? frames[i].function : "unknown function",
			NAME_SHOWN_BYTES);
		fputs("</code> <span class=\"fn\">", p->f);
		put_place(p, &frames[i]);
		fputs(frames[i].is_inlined ? " (inlined)" : "", p->f);
		fputs(frames[i].is_signal ? " (interrupted by a signal)" : "", p->f);
		fputs("</span></li>\n", p->f);
	}
	fputs("</ol>", p->f);
	if (n > FRAMES_SHOWN)
		fprintf(p->f, "<p class=\"note\">%zu more frames</p>", n - FRAMES_SHOWN);
	fputs("</div>\n", p->f);
}

static void put_stacks_of(const struct page *p, const struct bug_location *locations, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_stack(p, role_text(locations[i].role), locations[i].frames,
			  locations[i].nframes);
}

static void put_stacks(const struct page *p, const struct bug *b)
{
	fputs("<details class=\"stacks\"><summary>Call stacks</summary>\n", p->f);
	put_stacks_of(p, b->locations, b->nlocations);
	if (b->crash)
		put_stack(p, "recovery ended here", b->crash->frames, b->crash->nframes);
	fputs("</details>\n", p->f);
	if (b->npaths < 2 || p->is_brief)
		return;
	fprintf(p->f, "<details class=\"stacks\"><summary>%zu call paths lead here</summary>\n",
		b->npaths);
	for (size_t i = 1; i < b->npaths && i < PATHS_SHOWN; i++)
		put_stacks_of(p, b->paths[i].locations, b->paths[i].nlocations);
	fputs("</details>\n", p->f);
}

static void put_consequences(const struct page *p, const struct bug *b, bool takes_all)
{
	const size_t n = bug_nconsequences(b, takes_all);

	if (n == 0)
		return;
	fprintf(p->f,
		"<details class=\"group\" open><summary>%s %zu more finding%s</summary>\n<ul>\n",
		bug_explains(takes_all), n, n == 1 ? "" : "s");
	for (size_t i = 0, nlisted = 0; i < b->nconsequences && nlisted < LISTED_MAX; i++) {
		if (b->consequences[i].takes_all != takes_all)
			continue;
		nlisted++;
		fputs("<li><code>", p->f);
		put_place(p, bug_frame(&b->consequences[i]));
		fputs("</code> ", p->f);
		put_cut(p, b->consequences[i].kind, NAME_SHOWN_BYTES);
		fputs(": ", p->f);
		put_cut(p, b->consequences[i].message, MESSAGE_SHOWN_BYTES);
		fputs("</li>\n", p->f);
	}
	fputs("</ul></details>\n", p->f);
}

/* Writes the title of a finding. number: of its line on the page; 0: it is a further finding of the
 * same line. */
static void put_title(const struct page *p, const struct bug *b, size_t number)
{
	const struct bug_frame *frame = bug_frame(b);

	if (number) {
		fprintf(p->f, "<header><h2 id=\"h-%zu\"><a class=\"anchor\" href=\"#", number);
		put_anchor(p, b);
		fprintf(p->f, "\">%zu</a> ", number);
	} else {
		fputs("<header><h2><a class=\"anchor\" href=\"#", p->f);
		put_anchor(p, b);
		fputs("\">and</a> ", p->f);
	}
	put_cut(p, b->kind, NAME_SHOWN_BYTES);
	fputs(" <code>", p->f);
	put_place(p, frame);
	fputs("</code></h2>\n<p class=\"meta\">", p->f);
	fprintf(p->f, "<span class=\"badge %s\">%s</span> ", bug_severity_name(b->severity),
		bug_severity_name(b->severity));
	if (frame && frame->function) {
		fputs("in <code>", p->f);
		put_cut(p, frame->function, NAME_SHOWN_BYTES);
		fputs("</code> ", p->f);
	}
	if (b->test) {
		fputs("in test ", p->f);
		put_cut(p, b->test, NAME_SHOWN_BYTES);
		putc(' ', p->f);
	}
	if (b->library) {
		fputs("inside ", p->f);
		put_cut(p, b->library, NAME_SHOWN_BYTES);
		putc(' ', p->f);
	}
	fprintf(p->f, "<span>seen %" PRIu64 " time%s</span> <span>id %s</span></p></header>\n",
		b->count, b->count == 1 ? "" : "s", b->id);
}

static void put_sentence(const struct page *p, const char *class, const char *before,
			 const char *text)
{
	if (!text || !*text)
		return;
	fprintf(p->f, "<p class=\"%s\">%s", class, before);
	put_cut(p, text, MESSAGE_SHOWN_BYTES);
	fputs("</p>\n", p->f);
}

static bool is_shown(const struct page *p, const char *id)
{
	for (size_t i = 0; i < report_nbugs(p->r); i++)
		if (strcmp(report_bug(p->r, i)->id, id) == 0)
			return true;
	return false;
}

/* Names the finding that may have the same cause; that finding may be hidden. */
static void put_relation(const struct page *p, const struct bug *b)
{
	const bool has_link = b->may_share_cause[0] && is_shown(p, b->may_share_cause);

	if (!b->may_share_cause[0])
		return;
	fputs("<p class=\"note\">It may have the same cause as ", p->f);
	if (has_link)
		fprintf(p->f, "<a href=\"#bug-%s\">", b->may_share_cause);
	fprintf(p->f, "finding %s%s.</p>\n", b->may_share_cause,
		has_link ? "</a>" : ", which is hidden here");
}

/* Writes what follows the title of a finding. */
static void put_body(const struct page *p, const struct bug *b)
{
	char *platforms = platforms_text(p->r, b);

	put_sentence(p, "message", "", b->message);
	put_sentence(p, "advice", "<b>Fix:</b> ", report_advice(p->r, b));
	put_sentence(p, "note", "", platforms);
	put_sentence(p, "note", "Only a warning: ", b->reason);
	put_sentence(p, "note",
		     "Not decided: it depends on a file that crash states do not follow: ",
		     b->undecided_by);
	put_relation(p, b);
	put_source(p, b);
	if (b->evidence && !p->is_brief) {
		put_timeline(p, b->evidence, b->id);
		put_memory(p, b->evidence);
	} else if (b->evidence) {
		fputs("<p class=\"note\">Timeline and memory are left out to keep the page small. The JSON report has them.</p>\n",
		      p->f);
	}
	if (b->crash)
		put_recovery(p, b);
	put_consequences(p, b, false);
	put_consequences(p, b, true);
	put_stacks(p, b);
	put_patch_of(p, b);
	put_next(p, b);
	free(platforms);
}

void put_finding(const struct page *p, size_t i, size_t number)
{
	fputs("<article id=\"", p->f);
	put_anchor(p, report_bug(p->r, i));
	fprintf(p->f, "\" tabindex=\"-1\" aria-labelledby=\"h-%zu\">\n", number);
	put_title(p, report_bug(p->r, i), number);
	put_body(p, report_bug(p->r, i));
	for (size_t k = p->spots[i].next; k != SIZE_MAX; k = p->spots[k].next) {
		fputs("<section class=\"same\" id=\"", p->f);
		put_anchor(p, report_bug(p->r, k));
		fputs("\" tabindex=\"-1\">\n", p->f);
		put_title(p, report_bug(p->r, k), 0);
		put_body(p, report_bug(p->r, k));
		fputs("</section>\n", p->f);
	}
	fputs("</article>\n", p->f);
}
