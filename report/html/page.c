/* The report as one HTML page without scripts and without anything from elsewhere: a table of bugs, then each with its
 * source lines; stacks fold. Every string goes through escape_html(). */
#include <inttypes.h>
#include <string.h>

#include "report/format.h"
#include "report/internal.h"

#define EXCERPT_AROUND 3
#define EXCERPT_MAX_BYTES 500

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<title>pmend report</title>\n"
	"<style>\n"
	":root { color-scheme: light dark }\n"
	"body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }\n"
	"table { border-collapse: collapse; width: 100% }\n"
	"th, td { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top }\n"
	"section { border-top: 1px solid #8888; margin-top: 2rem }\n"
	"pre { background: #8881; padding: .5rem; overflow-x: auto; tab-size: 8 }\n"
	"pre b { background: #fb03; display: inline-block; min-width: 100% }\n"
	".correctness { color: #c22 } .performance { color: #a60 }\n"
	".note { color: #888 }\n"
	"</style>\n"
	"</head>\n"
	"<body>\n"
	"<h1>pmend report</h1>\n";

struct html {
	FILE *f;
	const struct report *r;
	const char *cwd;
};

static void put(const struct html *h, const char *s)
{
	escape_html(h->f, s, strlen(s));
}

static void put_place(const struct html *h, const struct bug_frame *frame)
{
	if (frame && frame->file && frame->line) {
		put(h, path_below(frame->file, h->cwd));
		fprintf(h->f, ":%" PRIu32, frame->line);
	} else if (frame && frame->object) {
		put(h, path_below(frame->object, h->cwd));
		fprintf(h->f, "+0x%" PRIx64, frame->offset);
	} else {
		fputs("??", h->f);
	}
}

static void put_head(const struct html *h)
{
	const struct report_coverage *c = &h->r->coverage;
	char *depth = depth_text(c);
	size_t n = report_nbugs(h->r), i;

	fputs(head, h->f);
	if (h->r->command.n) {
		fputs("<p><code>", h->f);
		for (i = 0; i < h->r->command.n; i++) {
			fputs(i ? " " : "", h->f);
			put(h, h->r->command.at[i]);
		}
		fputs("</code></p>\n", h->f);
	}
	fprintf(h->f, "<p>%zu bug%s: %zu correctness, %zu performance", n, n == 1 ? "" : "s", report_count(h->r, BUG_CORRECTNESS),
		report_count(h->r, BUG_PERFORMANCE));
	if (report_count(h->r, BUG_PORTING))
		fprintf(h->f, ", %zu porting", report_count(h->r, BUG_PORTING));
	if (report_count(h->r, BUG_WARNING))
		fprintf(h->f, ", %zu warning", report_count(h->r, BUG_WARNING));
	if (h->r->platform) {
		fputs("; platform ", h->f);
		put(h, h->r->platform);
	}
	if (h->r->has_coverage)
		fprintf(h->f, "; %" PRIu64 " events", c->events);
	if (c->inputs)
		fprintf(h->f, " of runs on %" PRIu64 " inputs", c->inputs);
	if (c->runs)
		fprintf(h->f, "; %" PRIu64 " recovery runs at %" PRIu64 " failure points", c->runs, c->failure_points);
	fputs(".</p>\n", h->f);
	if (depth) {
		fputs("<p>", h->f);
		put(h, depth);
		fputs(".</p>\n", h->f);
	}
	free(depth);
	if (h->r->has_coverage && !c->is_complete) {
		fputs("<p>The analysis is incomplete", h->f);
		fputs(c->why_incomplete ? ": " : "", h->f);
		put(h, c->why_incomplete ? c->why_incomplete : "");
		fputs(".</p>\n", h->f);
	}
}

static void put_folded(const struct html *h)
{
	for (size_t i = 0; i < h->r->folded.n; i++) {
		char *text = folded_text(&h->r->folded.at[i]);

		fputs("<p>", h->f);
		put(h, text);
		fputs(".</p>\n", h->f);
		free(text);
	}
}

static void put_ending(const struct html *h)
{
	if (!h->r->has_ending)
		return;
	fputs("<p>", h->f);
	put(h, h->r->ending.text);
	fputs(".</p>\n", h->f);
	if (report_nunflushed(h->r))
		fprintf(h->f, "<p>%s:</p>\n<ul>\n", ending_unflushed(h->r));
	for (size_t i = 0; i < report_nunflushed(h->r); i++) {
		const struct bug *b = report_unflushed(h->r, i);

		fputs("<li>", h->f);
		put_place(h, bug_frame(b));
		fputs(": ", h->f);
		put(h, b->message);
		fputs("</li>\n", h->f);
	}
	if (report_nunflushed(h->r))
		fputs("</ul>\n", h->f);
}

static void put_table(const struct html *h)
{
	size_t i;

	fputs("<table>\n<tr><th>Place</th><th>Kind</th><th>Count</th></tr>\n", h->f);
	for (i = 0; i < report_nbugs(h->r); i++) {
		const struct bug *b = report_bug(h->r, i);

		fprintf(h->f, "<tr><td><a href=\"#bug-%s\">", b->id);
		put_place(h, bug_frame(b));
		fprintf(h->f, "</a></td><td class=\"%s\">", bug_severity_name(b->severity));
		put(h, b->kind);
		fprintf(h->f, "</td><td>%" PRIu64 "</td></tr>\n", b->count);
	}
	fputs("</table>\n", h->f);
}

static void put_excerpt(const struct html *h, const struct bug_frame *frame)
{
	uint32_t n = frame && frame->line > EXCERPT_AROUND ? frame->line - EXCERPT_AROUND : 1;
	const char *line;
	size_t len;

	if (!frame || !frame->file || !source_line(h->r->sources, frame->file, frame->line, &len))
		return;
	fputs("<pre>", h->f);
	for (; n <= frame->line || n - frame->line <= EXCERPT_AROUND; n++) {
		line = source_line(h->r->sources, frame->file, n, &len);
		if (!line)
			break;
		fprintf(h->f, "%s%6" PRIu32 "  ", n == frame->line ? "<b>" : "", n);
		escape_html(h->f, line, len < EXCERPT_MAX_BYTES ? len : EXCERPT_MAX_BYTES);
		fputs(n == frame->line ? "</b>\n" : "\n", h->f);
	}
	fputs("</pre>\n", h->f);
}

static void put_stack(const struct html *h, const struct bug_location *l)
{
	size_t i;

	fputs("<details><summary>", h->f);
	put(h, l->role ? l->role : "stack");
	fputs(" at ", h->f);
	put_place(h, bug_location_frame(l));
	fputs("</summary>\n<ol>\n", h->f);
	for (i = 0; i < l->nframes; i++) {
		fputs("<li><code>", h->f);
		put(h, l->frames[i].function ? l->frames[i].function : "??");
		fputs("</code> ", h->f);
		put_place(h, &l->frames[i]);
		fputs(l->frames[i].is_inlined ? " (inlined)" : "", h->f);
		fputs(l->frames[i].is_signal ? " (interrupted by a signal)</li>\n" : "</li>\n", h->f);
	}
	fputs("</ol></details>\n", h->f);
}

static void put_crash(const struct html *h, const struct bug_crash *c)
{
	struct bug_location died = { .role = "recovery ended", .frames = c->frames, .nframes = c->nframes };

	if (c->failure_point)
		fprintf(h->f, "<p>After a crash at failure point %" PRIu64 ", <code>", c->failure_point);
	else
		fputs("<p>Without a crash, <code>", h->f);
	put(h, c->command ? c->command : "recovery");
	fputs("</code>: ", h->f);
	put(h, c->outcome ? c->outcome : "failed");
	fputs(".</p>\n", h->f);
	if (c->output) {
		fputs("<pre>", h->f);
		put(h, c->output);
		fputs("</pre>\n", h->f);
	}
	if (c->nframes)
		put_stack(h, &died);
	if (c->replay) {
		fputs("<p>Replay: <code>", h->f);
		put(h, c->replay);
		fputs("</code></p>\n", h->f);
	}
}

static void put_consequences(const struct html *h, const struct bug *b)
{
	if (b->nconsequences == 0)
		return;
	fprintf(h->f, "<details><summary>The same cause explains %zu more finding%s</summary>\n<ul>\n", b->nconsequences, b->nconsequences == 1 ? "" : "s");
	for (size_t i = 0; i < b->nconsequences; i++) {
		fputs("<li>", h->f);
		put_place(h, bug_frame(&b->consequences[i]));
		fputs(": ", h->f);
		put(h, b->consequences[i].kind);
		fputs(": ", h->f);
		put(h, b->consequences[i].message);
		fputs("</li>\n", h->f);
	}
	fputs("</ul></details>\n", h->f);
}

static void put_paths(const struct html *h, const struct bug *b)
{
	if (b->npaths)
		fprintf(h->f, "<p>%zu call paths lead here. The others:</p>\n", b->npaths);
	for (size_t i = 1; i < b->npaths; i++)
		for (size_t k = 0; k < b->nlocations; k++)
			put_stack(h, &b->paths[i].locations[k]);
}

static void put_bug(const struct html *h, const struct bug *b)
{
	const char *advice = platforms_advice(h->r, b);
	char *platforms;
	size_t i;

	fprintf(h->f, "<section id=\"bug-%s\">\n<h2><span class=\"%s\">", b->id, bug_severity_name(b->severity));
	put(h, b->kind);
	fputs("</span> ", h->f);
	put_place(h, bug_frame(b));
	fputs("</h2>\n<p>", h->f);
	put(h, b->message);
	fputs("</p>\n", h->f);
	put_excerpt(h, bug_frame(b));
	for (i = 0; i < b->nlocations; i++)
		put_stack(h, &b->locations[i]);
	put_paths(h, b);
	if (b->crash)
		put_crash(h, b->crash);
	if (b->input) {
		fputs("<p>Input: <code>", h->f);
		put(h, b->input->file);
		fputs("</code>. Again: <code>", h->f);
		put(h, b->input->command);
		fputs("</code></p>\n", h->f);
	}
	if (advice) {
		fputs("<p>", h->f);
		put(h, advice);
		fputs("</p>\n", h->f);
	}
	platforms = platforms_text(h->r, b);
	if (platforms) {
		fputs("<p>", h->f);
		put(h, platforms);
		fputs("</p>\n", h->f);
		free(platforms);
	}
	put_consequences(h, b);
	fprintf(h->f, "<p class=\"note\">seen %" PRIu64 " time%s; id %s</p>\n</section>\n", b->count, b->count == 1 ? "" : "s",
		b->id);
}

void report_html(FILE *f, const struct report *r, const struct report_options *o)
{
	struct html h = { f, r, o->cwd };
	size_t i;

	put_head(&h);
	put_folded(&h);
	put_ending(&h);
	if (report_nbugs(r))
		put_table(&h);
	for (i = 0; i < report_nbugs(r); i++)
		put_bug(&h, report_bug(r, i));
	fputs("</body>\n</html>\n", f);
}
