/* Filters, renders and counts a report at the end of a command. What is wrong with the options is said at its beginning. */
#include "cmd/reporting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/filter.h"
#include "report/format.h"

static void check_fail_on(const struct command *c, const struct reporting *r)
{
	for (size_t i = 0; i < r->fail_on.n; i++)
		if (strcmp(r->fail_on.item[i], "porting") != 0)
			die_usage(c, "--fail-on is porting, not '%s'", r->fail_on.item[i]);
}

static bool fails_on(const struct reporting *r, const char *what)
{
	for (size_t i = 0; i < r->fail_on.n; i++)
		if (strcmp(r->fail_on.item[i], what) == 0)
			return true;
	return false;
}

void reporting_begin(const struct command *c, struct reporting *r)
{
	struct error err;

	if (!r->format)
		r->format = report_formats[0].name;
	if (!report_format_find(r->format))
		die_usage(c, "--format is one of text, json, sarif, html, not '%s'", r->format);
	check_fail_on(c, r);
	r->suppressions = suppressions_new();
	if (r->suppress && suppressions_load(r->suppressions, r->suppress, &err) < 0)
		die("%s", err.msg);
	if (r->baseline) {
		r->known = baseline_open(r->baseline, &err);
		if (!r->known)
			die("%s", err.msg);
	}
}

static void filter(struct reporting *r, struct report *report)
{
	report_suppress(report, r->suppressions);
	if (r->known) {
		report_subtract(report, r->known);
		baseline_close(r->known);
	}
	suppressions_free(r->suppressions);
}

static void render(const struct reporting *r, const struct report *report)
{
	FILE *out = r->output ? fopen(r->output, "w") : stdout;
	char *cwd = getcwd(NULL, 0);
	struct report_options o = { .cwd = cwd, .quiet = r->quiet };

	if (!out)
		die("cannot write %s: %s", r->output, strerror(errno));
	o.colour = !r->output && isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	report_format_find(r->format)->render(out, report, &o);
	if (r->gen_suppressions)
		suppressions_generate(out, report);
	if (fflush(out) != 0 || ferror(out) || (r->output && fclose(out) != 0))
		die("cannot write the report: %s", strerror(errno));
	free(cwd);
}

static int status_of(const struct reporting *r, const struct report *report, bool is_whole)
{
	size_t nporting = fails_on(r, "porting") ? 0 : report_count(report, BUG_PORTING);

	if (report_nbugs(report) > nporting)
		return CMD_FOUND;
	return is_whole ? CMD_CLEAN : CMD_FAILED;
}

int reporting_end(struct reporting *r, struct report *report, bool is_whole)
{
	int status;

	filter(r, report);
	render(r, report);
	status = status_of(r, report, is_whole);
	word_list_release(&r->fail_on);
	report_free(report);
	return status;
}
