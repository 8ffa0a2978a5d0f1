/* Filters, renders and counts a report at the end of a command. What is wrong with the options is said at its beginning. */
#include "cmd/reporting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/filter.h"
#include "report/format.h"
#include "session/evidence/evidence.h"
#include "util/alloc.h"
#include "util/sysroot.h"
#include "util/whole_file.h"

/* What --fail-on takes: an incomplete analysis, the severities that do not count by themselves, and what PMDK's libraries do on their own. */
static const char *const fail_on_words[] = { "incomplete", "performance", "porting",
					     "warning",    "libraries",   NULL };

static void check_fail_on(const struct command *c, const struct reporting *r)
{
	for (size_t i = 0; i < r->fail_on.n; i++) {
		size_t k = 0;

		while (fail_on_words[k] && strcmp(r->fail_on.item[i], fail_on_words[k]) != 0)
			k++;
		if (!fail_on_words[k])
			die_usage(
				c,
				"--fail-on is one of incomplete, performance, porting, warning, libraries, not '%s'",
				r->fail_on.item[i]);
	}
}

static bool fails_on(const struct reporting *r, const char *what)
{
	for (size_t i = 0; i < r->fail_on.n; i++)
		if (strcmp(r->fail_on.item[i], what) == 0)
			return true;
	return false;
}

/* --severity, which must leave what --fail-on counts. */
static void set_severity(const struct command *c, struct reporting *r)
{
	r->severity = BUG_SEVERITIES - 1;
	if (!r->severity_name)
		return;
	for (r->severity = BUG_CORRECTNESS;
	     strcmp(bug_severity_name(r->severity), r->severity_name) != 0; r->severity++)
		if (r->severity == BUG_SEVERITIES - 1)
			die_usage(
				c,
				"--severity is one of correctness, performance, porting, warning, not '%s'",
				r->severity_name);
	for (enum bug_severity s = r->severity; s < BUG_SEVERITIES - 1; s++)
		if (fails_on(r, bug_severity_name(s + 1)))
			die_usage(c, "--severity %s hides what --fail-on %s counts",
				  r->severity_name, bug_severity_name(s + 1));
}

void reporting_begin(const struct command *c, struct reporting *r)
{
	struct error err;

	if (!r->format)
		r->format = report_format_of(r->output) ? report_format_of(r->output)
							: report_formats[0].name;
	if (!report_format_find(r->format))
		die_usage(c, "--format is one of text, json, sarif, html, not '%s'", r->format);
	check_fail_on(c, r);
	set_severity(c, r);
	if (r->output && whole_file_check(r->output, &err) < 0)
		die("%s; choose another file with -o", err.msg);
	r->suppressions = suppressions_new();
	if (r->suppress && suppressions_load(r->suppressions, r->suppress, &err) < 0)
		die("%s", err.msg);
	if (r->baseline) {
		r->known = baseline_open(r->baseline, &err);
		if (!r->known)
			die("%s", err.msg);
	}
}

void reporting_add_evidence(const struct reporting *r, struct report *report, const char *trace,
			    const struct libraries *libraries)
{
	const bool is_wanted = strcmp(r->format, "html") == 0 || strcmp(r->format, "json") == 0;
	struct error err;

	if (is_wanted && evidence_add(report, trace, libraries, &err) < 0)
		warn("the report shows no timeline and no memory: %s", err.msg);
}

static void filter(struct reporting *r, struct report *report)
{
	report_suppress(report, r->suppressions);
	if (r->known) {
		report_subtract(report, r->known);
		baseline_close(r->known);
	}
	suppressions_free(r->suppressions);
	report_limit(report, r->severity);
	if (!r->shows_libraries)
		report_fold(report);
}

static void render_to(FILE *out, const struct reporting *r, const struct report *report)
{
	char *cwd = sysroot_cwd();
	struct report_options o = { .cwd = cwd, .quiet = r->quiet, .verbose = r->verbose };

	o.colour = !r->output && isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	report_format_find(r->format)->render(out, report, &o);
	if (r->gen_suppressions)
		suppressions_generate(out, report);
	free(cwd);
}

static void render(const struct reporting *r, const struct report *report)
{
	struct whole_file file;
	struct error err;

	if (!r->output) {
		render_to(stdout, r, report);
		if (fflush(stdout) != 0 || ferror(stdout))
			die("cannot write the report: %s", strerror(errno));
		return;
	}
	whole_file_begin(&file, r->output);
	render_to(file.out, r, report);
	if (whole_file_end(&file, &err) < 0)
		die("%s; there is no report", err.msg);
}

static bool counts(const struct reporting *r, const struct bug *b)
{
	if (b->library)
		return fails_on(r, "libraries");
	return b->severity == BUG_CORRECTNESS || fails_on(r, bug_severity_name(b->severity));
}

static int status_of(const struct reporting *r, const struct report *report, bool is_whole)
{
	const struct report_coverage *c = report_coverage(report);
	size_t n = fails_on(r, "libraries") ? report_nfolded(report) : 0;

	for (size_t i = 0; i < report_nbugs(report); i++)
		n += counts(r, report_bug(report, i));
	if (n > 0)
		return CMD_FOUND;
	if (!is_whole)
		return CMD_FAILED;
	return c && !c->is_complete && fails_on(r, "incomplete") ? CMD_FOUND : CMD_CLEAN;
}

/* On standard error, since a report may be quiet, or in a file: why the status is not 0 though nothing was found, and what "nothing found" is worth. With --quiet the report itself
 * does not say it. */
static void tell_incomplete(const struct reporting *r, const struct report *report)
{
	const struct report_coverage *c = report_coverage(report);
	const struct report_ending *e = report_ending(report);
	const bool is_damaged = e && strcmp(e->how, "damage") == 0;
	char *depth, *why;

	if (!c || c->is_complete)
		return;
	depth = r->quiet && !c->is_told ? report_depth_text(report) : NULL;
	why = xasprintf("%s%s%s",
			c->why_incomplete ? c->why_incomplete
			: is_damaged      ? e->text
					  : "no reason is known",
			depth ? ". " : "", depth ? depth : "");
	if (is_damaged)
		warn("the trace is damaged, so the analysis is incomplete: %s", why);
	else if (fails_on(r, "incomplete"))
		warn("the analysis is incomplete, which --fail-on incomplete counts as a failure: %s",
		     why);
	else if (r->quiet && !c->is_told)
		warn("the analysis is incomplete: %s", why);
	free(depth);
	free(why);
}

int reporting_end(struct reporting *r, struct report *report, bool is_whole)
{
	int status;

	filter(r, report);
	render(r, report);
	tell_incomplete(r, report);
	status = status_of(r, report, is_whole);
	word_list_release(&r->fail_on);
	report_free(report);
	return status;
}
