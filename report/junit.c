/* Writes the report as JUnit's XML. That has no standard; the output is valid by the schema of
 * Jenkins (junit-10.xsd) and by that of Ant.
 *
 * A suite has a passing testcase for each analysis that ran, and one testcase for each finding.
 * The finding's testcase fails if the finding sets the exit status. Otherwise it passes, and the
 * suite's system-out shows the finding (Ant's schema has no system-out in a testcase). What gives
 * exit status 3 is an error. Ant's schema wants times; they are constants, so that equal reports
 * are equal files. */
#include <string.h>

#include "report/format.h"
#include "report/internal.h"

struct junit {
	FILE *f;
	const struct report *r;
	const struct report_options *o;
	const char *suite;
};

/* ---- XML ---- */

static const char *entity(char c, bool is_attribute)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\r': return "&#13;";
	case '\n': return is_attribute ? "&#10;" : NULL;
	case '\t': return is_attribute ? "&#9;" : NULL;
	}
	return NULL;
}

/* Is it a control character, U+FFFE or U+FFFF, which XML cannot hold in any notation? */
static bool is_forbidden(const char *p, size_t len)
{
	const unsigned char c = (unsigned char)*p;

	return len == 0 || (c < 0x20 && c != '\t' && c != '\n' && c != '\r') ||
	       (len == 3 &&
		(memcmp(p, "\xef\xbf\xbe", 3) == 0 || memcmp(p, "\xef\xbf\xbf", 3) == 0));
}

static void put_xml(const struct junit *j, const char *s, bool is_attribute)
{
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		const char *instead = entity(*s, is_attribute);

		len = escape_utf8_len(s, n);
		if (is_forbidden(s, len))
			instead = "\xef\xbf\xbd";
		len = len ? len : 1;
		if (instead)
			fputs(instead, j->f);
		else
			fwrite(s, 1, len, j->f);
	}
}

static void put_attribute(const struct junit *j, const char *name, const char *value)
{
	fprintf(j->f, " %s=\"", name);
	put_xml(j, value, true);
	fputc('"', j->f);
}

static void put_property(const struct junit *j, const char *name, const char *value)
{
	fputs("\t\t\t<property", j->f);
	put_attribute(j, "name", name);
	put_attribute(j, "value", value);
	fputs("/>\n", j->f);
}

/* ---- testcases ---- */

static void put_testcase(const struct junit *j, const char *name)
{
	fputs("\t\t<testcase", j->f);
	put_attribute(j, "name", name);
	put_attribute(j, "classname", j->suite);
	put_attribute(j, "time", "0");
}

static void put_passed(const struct junit *j, const char *name)
{
	put_testcase(j, name);
	fputs("/>\n", j->f);
}

/* Writes a testcase that does not pass. element: "failure" or "error". */
static void put_failed(const struct junit *j, const char *name, const char *element,
		       const char *type, const char *message, const char *text)
{
	put_testcase(j, name);
	fprintf(j->f, ">\n\t\t\t<%s", element);
	put_attribute(j, "type", type);
	put_attribute(j, "message", message);
	fputc('>', j->f);
	put_xml(j, text, false);
	fprintf(j->f, "</%s>\n\t\t</testcase>\n", element);
}

/* Makes the name of a finding's testcase, such as "missing-flush in update (8f3c5d0a12b4c6e8)";
 * free() it. */
static char *name_of(const struct bug *b)
{
	const struct bug_frame *frame = bug_frame(b);
	const char *function = frame ? frame->function : NULL;

	return xasprintf("%s%s%s (%s)", b->kind, function ? " in " : "", function ? function : "",
			 b->id);
}

/* Gives what the text report says about the bug, or below all bugs if b is NULL; free() it. */
static char *text_of(const struct junit *j, const struct bug *b)
{
	const struct report_options plain = { .verbose = j->o->verbose, .cwd = j->o->cwd };
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		alloc_die();
	if (b)
		report_text_bug(f, j->r, &plain, b);
	else
		report_text_summary(f, j->r, &plain);
	fclose(f);
	return text;
}

static void put_bug(const struct junit *j, const struct bug *b)
{
	char *name = name_of(b), *text = text_of(j, b);

	if (report_counts(j->r, b))
		put_failed(j, name, "failure", b->kind, b->message, text);
	else
		put_passed(j, name);
	free(name);
	free(text);
}

static void put_libraries(const struct junit *j)
{
	for (size_t i = 0; i < j->r->folded.n; i++) {
		char *name = xasprintf("findings inside %s", j->r->folded.at[i].library),
		     *text = folded_text(&j->r->folded.at[i]);

		if (j->r->fail_on.libraries)
			put_failed(j, name, "failure", "libraries", text, text);
		else
			put_passed(j, name);
		free(name);
		free(text);
	}
}

/* Writes an error: why an analysis that found nothing proves nothing. */
static void put_failure(const struct junit *j)
{
	const struct report_failure *failure = report_failure(j->r);

	if (failure)
		put_failed(j, failure->what, "error", failure->what, failure->text, failure->text);
}

static bool fails_incomplete(const struct report *r)
{
	return r->has_coverage && !r->coverage.is_complete && r->fail_on.incomplete;
}

static void put_incomplete(const struct junit *j)
{
	const char *why = j->r->coverage.why_incomplete;

	if (fails_incomplete(j->r))
		put_failed(j, "complete", "failure", "incomplete", "the analysis is incomplete",
			   why ? why : "no reason is known");
}

/* Gives the names of the analyses that ran. A report of an older pmend does not name them. */
static size_t analyses_of(const struct report *r, const char *const **names)
{
	static const char *const crash[] = { "crash" }, *const explore[] = { "explore" },
				 *const check[] = { "check" };

	if (r->analyses.n || !r->has_coverage || r->failure.what) {
		*names = r->analyses.at;
		return r->analyses.n;
	}
	*names = r->coverage.inputs ? explore : r->coverage.runs ? crash : check;
	return 1;
}

/* ---- the suite ---- */

static void put_properties(const struct junit *j)
{
	char *command = xstrdup(""), *longer;

	for (size_t i = 0; i < j->r->command.n; i++) {
		longer = xasprintf("%s%s%s", command, i ? " " : "", j->r->command.at[i]);
		free(command);
		command = longer;
	}
	fputs("\t\t<properties>\n", j->f);
	put_property(j, "pmend", j->r->version);
	if (j->r->platform)
		put_property(j, "platform", j->r->platform);
	if (*command)
		put_property(j, "command", command);
	fputs("\t\t</properties>\n", j->f);
	free(command);
}

/* Shows the findings that pass, and how much was looked at. */
static void put_output(const struct junit *j)
{
	char *text;

	fputs("\t\t<system-out>", j->f);
	for (size_t i = 0; i < report_nbugs(j->r); i++) {
		if (report_counts(j->r, report_bug(j->r, i)))
			continue;
		text = text_of(j, report_bug(j->r, i));
		put_xml(j, text, false);
		free(text);
	}
	text = text_of(j, NULL);
	put_xml(j, text, false);
	free(text);
	fputs("</system-out>\n\t\t<system-err></system-err>\n", j->f);
}

static void put_counts(const struct junit *j, size_t nanalyses)
{
	const size_t nfolded = j->r->folded.n, nerrors = report_failure(j->r) != NULL;
	size_t nfailed = fails_incomplete(j->r) + (j->r->fail_on.libraries ? nfolded : 0);

	for (size_t i = 0; i < report_nbugs(j->r); i++)
		nfailed += report_counts(j->r, report_bug(j->r, i));
	fprintf(j->f, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"",
		nanalyses + report_nbugs(j->r) + nfolded + nerrors + fails_incomplete(j->r),
		nfailed, nerrors);
}

static void put_suite(FILE *f, const struct report *r, const struct report_options *o, size_t id)
{
	const char *program = r->command.n ? path_base(r->command.at[0]) : "", *const * analyses;
	const struct junit j = { f, r, o,
				 r->project.test ? r->project.test
				 : *program      ? program
						 : "pmend" };
	const size_t nanalyses = analyses_of(r, &analyses);

	fputs("\t<testsuite", f);
	put_attribute(&j, "name", j.suite);
	fprintf(f, " package=\"pmend\" id=\"%zu\" timestamp=\"1970-01-01T00:00:00\"", id);
	fputs(" hostname=\"localhost\" time=\"0\"", f);
	put_counts(&j, nanalyses);
	fputs(">\n", f);
	put_properties(&j);
	for (size_t i = 0; i < nanalyses; i++)
		put_passed(&j, analyses[i]);
	put_failure(&j);
	put_incomplete(&j);
	for (size_t i = 0; i < report_nbugs(r); i++)
		put_bug(&j, report_bug(r, i));
	put_libraries(&j);
	put_output(&j);
	fputs("\t</testsuite>\n", f);
}

void report_junit(FILE *f, const struct report *r, const struct report_options *o)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", f);
	for (size_t i = 0; i < r->tests.n; i++)
		put_suite(f, r->tests.at[i], o, i);
	if (r->tests.n == 0)
		put_suite(f, r, o, 0);
	fputs("</testsuites>\n", f);
}
