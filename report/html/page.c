/* Writes the report as one HTML file that needs no other file: a summary, an index, and each
 * finding with source, timeline, memory and recovery. The page is complete without its script,
 * which only filters, sorts and copies. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "report/html/html.h"
#include "util/sha256.h"

/* Writes the hash by which a Content-Security-Policy allows a style or script: 'sha256-…'. */
static void put_hash(FILE *f, const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t digest[SHA256_BYTES + 1] = { 0 };

	sha256(text, strlen(text), digest);
	fputs("'sha256-", f);
	for (size_t i = 0; i < SHA256_BYTES; i += 3) {
		const uint32_t three = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8 |
				       (i + 2 <= SHA256_BYTES ? digest[i + 2] : 0);

		for (int k = 3; k >= (i + 2 >= SHA256_BYTES ? 1 : 0); k--)
			putc(digits[three >> 6 * k & 63], f);
	}
	fputs("='", f);
}

void put_head(const struct page *p, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src ",
	      p->f);
	put_hash(p->f, page_style);
	fputs("; script-src ", p->f);
	put_hash(p->f, page_script);
	fputs("; base-uri 'none'; form-action 'none'\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
	      p->f);
	put_short(p, title, NAME_SHOWN_BYTES);
	fprintf(p->f,
		"</title>\n<style>%s</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the findings</a>\n",
		page_style);
}

void put_tail(const struct page *p)
{
	fprintf(p->f, "<script>%s</script>\n</body>\n</html>\n", page_script);
}

static void put_title(const struct page *p)
{
	size_t n = report_nbugs(p->r);

	fputs("<h1>", p->f);
	if (n == 0)
		fputs("No findings", p->f);
	else
		put_plural(p, n, "finding", "findings");
	fputs("</h1>\n", p->f);
}

/* Writes when the page was made. SOURCE_DATE_EPOCH sets the time, so that equal reports give equal
 * pages. */
static void put_date(const struct page *p)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
	struct tm tm;
	char text[32];

	if (gmtime_r(&now, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm))
		fprintf(p->f, "<dt>Page made</dt><dd><time>%s</time> UTC</dd>\n", text);
}

static void put_facts(const struct page *p)
{
	char *platform;
	fputs("<dl class=\"facts\">\n", p->f);
	if (p->r->command.n) {
		fputs("<dt>Command</dt><dd><code>", p->f);
		for (size_t i = 0; i < p->r->command.n && i < 64; i++) {
			fputs(i ? " " : "", p->f);
			put_cut(p, p->r->command.at[i], NAME_SHOWN_BYTES);
		}
		fputs("</code></dd>\n", p->f);
	}
	for (size_t i = 0; i < p->r->tests.n; i++) {
		const struct report *t = p->r->tests.at[i];

		fputs(i ? ", " : "<dt>Tests</dt><dd>", p->f);
		put_text(p, t->project.test);
		fprintf(p->f, " (%zu)%s", report_nbugs(t), t->failure.what ? ", failed" : "");
		fputs(i + 1 == p->r->tests.n ? "</dd>\n" : "", p->f);
	}
	platform = platform_text(p->r);
	if (platform) {
		fputs("<dt>Platform</dt><dd>", p->f);
		put_text(p, platform);
		for (size_t i = 0; i < p->r->platforms.n; i++) {
			fputs(i ? ", " : ": ", p->f);
			put_text(p, p->r->platforms.at[i]);
		}
		fputs("</dd>\n", p->f);
	}
	free(platform);
	fputs("<dt>pmend</dt><dd>", p->f);
	put_text(p, p->r->version);
	fputs("</dd>\n", p->f);
	put_date(p);
	fputs("</dl>\n", p->f);
}

/* Writes how many bugs there are. Those that recovery was not seen to read are counted
 * separately. */
static void put_tally(const struct page *p)
{
	const size_t nunread = report_count_unread(p->r);

	fputs("<p class=\"tally\">", p->f);
	for (enum bug_severity s = BUG_CORRECTNESS; s < BUG_SEVERITIES; s++) {
		const size_t n = report_count(p->r, s) - (s == BUG_CORRECTNESS ? nunread : 0);

		if (n)
			fprintf(p->f, "<span class=\"badge %s\">%zu %s</span> ",
				bug_severity_name(s), n, bug_severity_name(s));
	}
	if (nunread)
		fprintf(p->f,
			"<span class=\"badge warning\">%zu not read by this recovery in these runs</span>",
			nunread);
	fputs("</p>\n", p->f);
}

static void put_summary(const struct page *p)
{
	fputs("<header class=\"top\">\n<p class=\"brand\">pmend <span>crash-consistency report</span></p>\n",
	      p->f);
	put_title(p);
	if (report_nbugs(p->r))
		put_tally(p);
	fputs("</header>\n", p->f);
}

/* Writes how the recording ended, if it did not end well. */
static void put_ending(const struct page *p)
{
	if (!p->r->has_ending)
		return;
	fputs("<section class=\"notice\">\n<p>", p->f);
	put_cut(p, p->r->ending.text, MESSAGE_SHOWN_BYTES);
	fputs(".</p>\n", p->f);
	if (report_nunflushed(p->r)) {
		fprintf(p->f, "<details><summary>%s: %zu</summary>\n<ul>\n", ending_unflushed(p->r),
			report_nunflushed(p->r));
		for (size_t i = 0; i < report_nunflushed(p->r) && i < 200; i++) {
			fputs("<li>", p->f);
			put_place(p, bug_frame(report_unflushed(p->r, i)));
			fputs(": ", p->f);
			put_cut(p, report_unflushed(p->r, i)->message, MESSAGE_SHOWN_BYTES);
			fputs("</li>\n", p->f);
		}
		fputs("</ul></details>\n", p->f);
	}
	fputs("</section>\n", p->f);
}

static void put_folded(const struct page *p)
{
	char *wrappers = wrappers_text(p->r);

	for (size_t i = 0; i < p->r->folded.n; i++) {
		char *text = folded_text(&p->r->folded.at[i]);

		fputs("<p class=\"notice\">", p->f);
		put_text(p, text);
		fputs(".</p>\n", p->f);
		free(text);
	}
	if (wrappers) {
		fputs("<p class=\"notice\">", p->f);
		put_text(p, wrappers);
		fputs(".</p>\n", p->f);
		free(wrappers);
	}
}

/* Writes further facts (command, platform, coverage) in a folded box, so that the findings come
 * first. If there are no findings, the box is open. */
static void put_about(const struct page *p)
{
	const struct report_coverage *c = p->r->has_coverage ? &p->r->coverage : NULL;

	fprintf(p->f, "<details class=\"about\"%s><summary>About this run",
		report_nbugs(p->r) ? "" : " open");
	if (c)
		fprintf(p->f, ": <span class=\"%s\">%s</span>", c->is_complete ? "yes" : "no",
			c->is_complete ? "complete" : "incomplete");
	if (c && c->why_incomplete && !c->is_complete) {
		fputs(", ", p->f);
		put_short(p, c->why_incomplete, NAME_SHOWN_BYTES);
	}
	fputs("</summary>\n", p->f);
	put_facts(p);
	put_coverage(p);
	put_folded(p);
	put_groups(p);
	put_patch(p);
	fputs("</details>\n", p->f);
}

static void put_findings(struct page *p, const size_t *len_bytes)
{
	for (size_t i = 0, number = 0; i < report_nbugs(p->r); i++) {
		if (!p->spots[i].is_first)
			continue;
		fflush(p->f);
		p->is_brief = *len_bytes > PAGE_DETAIL_BYTES;
		put_finding(p, i, ++number);
	}
}

void report_html(FILE *f, const struct report *r, const struct report_options *o)
{
	struct page p = { .r = r, .sources = r->sources, .cwd = o->cwd, .patch = o->patch };
	struct report_spot *spots = report_spots(r);
	size_t len_bytes = 0;
	char *text = NULL, *title;

	/* from here on, the page's length decides how much is shown */
	p.spots = spots;
	p.f = open_memstream(&text, &len_bytes);
	if (!p.f)
		alloc_die();
	title = xasprintf("pmend: %zu finding%s%s%s", report_nbugs(r),
			  report_nbugs(r) == 1 ? "" : "s", r->command.n ? " in " : "",
			  r->command.n ? path_base(r->command.at[0]) : "");
	put_head(&p, title);
	put_summary(&p);
	put_ending(&p);
	put_about(&p);
	fputs("<main id=\"main\" tabindex=\"-1\">\n", p.f);
	put_index(&p);
	put_findings(&p, &len_bytes);
	fputs("</main>\n", p.f);
	put_tail(&p);
	if (fclose(p.f) != 0)
		alloc_die();
	fwrite(text, 1, len_bytes, f);
	free(text);
	free(title);
	free(spots);
}
