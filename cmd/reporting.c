/* Filters, prints and counts a report at the end of a command. Wrong options about it are reported
 * at the beginning. */
#include "cmd/reporting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/project_options.h"
#include "report/filter.h"
#include "report/format.h"
#include "account/evidence/evidence.h"
#include "util/alloc.h"
#include "util/sysroot.h"
#include "util/whole_file.h"

void reporting_set_fail_on(const struct command *c, struct report_fail_on *on,
			   const struct word_list *words)
{
	for (size_t i = 0; i < words->n; i++)
		if (!report_fail_on_add(on, words->item[i]))
			die_usage(
				c,
				"--fail-on is one of correctness, performance, porting, warning, libraries, incomplete, not '%s'",
				words->item[i]);
}

/* Sets --severity, which must not hide what --fail-on counts. */
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
		if (r->fail_on.severity[s + 1])
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
		die_usage(c, "--format is one of text, json, sarif, html, junit, not '%s'",
			  r->format);
	reporting_set_fail_on(c, &r->fail_on, &r->fail_on_words);
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
	if (!r->is_part)
		r->project = c->project;
	die_tell(reporting_fail, r);
}

bool reporting_shows_evidence(const struct reporting *r)
{
	return !r->is_lean && (strcmp(r->format, "html") == 0 || strcmp(r->format, "json") == 0);
}

void reporting_add_evidence(const struct reporting *r, struct report *report, const char *trace,
			    const struct libraries *libraries)
{
	struct error err;

	if (reporting_shows_evidence(r) && evidence_add(report, trace, libraries, &err) < 0)
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

/* Prints the report of one of several tests, for the process that joins them. */
static void render_part(const struct reporting *r, const struct report *report)
{
	FILE *out = fdopen(r->part_fd, "w");

	if (!out)
		die("cannot write the report: %s", strerror(errno));
	render_to(out, r, report);
	if (fclose(out) != 0)
		die("cannot write the report: %s", strerror(errno));
}

static void render(const struct reporting *r, const struct report *report)
{
	struct whole_file file;
	struct error err;

	if (r->is_part) {
		render_part(r, report);
		return;
	}
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

int reporting_status(const struct report *report)
{
	switch (report_outcome(report)) {
	case REPORT_CLEAN: return CMD_CLEAN;
	case REPORT_FOUND: return CMD_FOUND;
	case REPORT_FAILED: return CMD_FAILED;
	}
	BUG("no outcome");
}

/* Prints the formats that show failures (junit), because a file in such a format must exist if
 * there is a failure. */
void reporting_fail(const char *text, void *reporting)
{
	const struct reporting *r = reporting;
	struct report *report;

	if (!r->is_part && (!r->format || strcmp(r->format, "junit") != 0))
		return;
	die_tell(NULL, NULL);
	report = report_new();
	project_tell(r->project, report);
	for (size_t i = 0; r->target && r->target[i]; i++)
		report_add_argument(report, r->target[i]);
	report_set_failure(report, "analysis", text);
	report_finish(report);
	render(r, report);
	report_free(report);
}

/* Notes in the report that the analysis or the program failed, so that a report without findings
 * proves nothing. */
static void set_failure(const struct reporting *r, struct report *report, bool is_whole)
{
	const struct report_coverage *c = report_coverage(report);
	const struct report_ending *e = report_ending(report);

	if (!is_whole)
		report_set_failure(report, "analysis",
				   c && c->why_incomplete ? c->why_incomplete
				   : e                    ? e->text
							  : "The analysis failed");
	else if (r->has_program_failed)
		report_set_failure(report, "program",
				   e ? e->text : "The program under test failed");
}

/* Says on standard error why the status is not 0 though nothing was found, and what "nothing found"
 * is worth. The report may be in a file, or --quiet may hide it. */
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
	else if (r->fail_on.incomplete)
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
	report_set_fail_on(report, &r->fail_on);
	project_tell(r->project, report);
	set_failure(r, report, is_whole);
	render(r, report);
	die_tell(NULL, NULL);
	tell_incomplete(r, report);
	status = reporting_status(report);
	word_list_release(&r->fail_on_words);
	report_free(report);
	return status;
}

void reporting_render(struct reporting *r, struct report *report)
{
	render(r, report);
	die_tell(NULL, NULL);
	baseline_close(r->known);
	suppressions_free(r->suppressions);
	report_free(report);
}
