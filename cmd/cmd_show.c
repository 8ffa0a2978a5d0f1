/* pmend show: prints a trace while reading it, or a JSON report in any format. */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/bundle.h"
#include "cmd/cmd.h"
#include "cmd/reporting.h"
#include "cmd/show/show.h"
#include "report/bug.h"
#include "report/format.h"
#include "trace/header.h"
#include "util/whole_file.h"

struct format {
	const char *name;
	void (*event)(struct show *s, const struct trace_event *ev);
	void (*summary)(const struct summary *m, struct show *s);
};

static const struct format formats[] = {
	{ "text", show_text, summary_text },
	{ "json", show_json, summary_json },
};

struct filter {
	uint64_t first_seq, last_seq;
	struct optional_number thread, process;
	bool any_kind;
	bool kind[PMT_NKINDS];
};

static const struct format *format_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	die_usage(&cmd_show, "--format of a trace is text, json or html, not '%s'", name);
}

static const char *seq_parse(const char *p, uint64_t *n)
{
	char *end;

	if (!isdigit((unsigned char)*p))
		return p;
	errno = 0;
	*n = strtoull(p, &end, 10);
	return errno ? p : end;
}

/* Parses "A-B", "A-", "-B" or "A". */
static void range_parse(struct filter *f, const char *text)
{
	const char *p = seq_parse(text, &f->first_seq);

	if (*p == '\0' && p > text)
		f->last_seq = f->first_seq;
	else if (*p != '-' || !text[1] || *seq_parse(p + 1, &f->last_seq) ||
		 f->last_seq < f->first_seq)
		die_usage(&cmd_show, "--range needs event numbers as in 10-20, not '%s'", text);
}

static void kinds_parse(struct filter *f, const struct word_list *lists)
{
	enum pmt_kind kind;
	char *copy, *name, *rest;
	size_t i;

	f->any_kind = lists->n == 0;
	for (i = 0; i < lists->n; i++) {
		copy = xstrdup(lists->item[i]);
		for (name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
			if (!trace_kind_by_name(name, &kind))
				die_usage(
					&cmd_show,
					"no kind of event is called '%s'; pmend-show(1) lists them",
					name);
			f->kind[kind] = true;
		}
		free(copy);
	}
}

static bool filter_takes(const struct filter *f, const struct trace_event *ev)
{
	return ev->seq >= f->first_seq && (f->any_kind || f->kind[ev->kind]) &&
	       (!f->thread.is_set || f->thread.n == ev->thread) &&
	       (!f->process.is_set || f->process.n == ev->stream);
}

static void input_spare(const char *output, const char *input)
{
	struct stat a, b;

	if (stat(output, &a) == 0 && stat(input, &b) == 0 && a.st_dev == b.st_dev &&
	    a.st_ino == b.st_ino)
		die("-o names the input itself: %s; choose another file", output);
}

static FILE *output_open(const char *output, const char *trace)
{
	FILE *f;

	if (!output)
		return stdout;
	input_spare(output, trace);
	f = fopen(output, "we");
	if (!f)
		die("cannot write %s: %s", output, strerror(errno));
	return f;
}

/* Did the reader of our output stop early, like head? That is no failure. */
static bool is_broken_pipe(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

static void output_close(FILE *f, const char *output)
{
	bool is_good = !ferror(f), is_flushed = fflush(f) == 0;

	if ((!is_good || !is_flushed) && !is_broken_pipe(fileno(f)))
		die("cannot write %s: %s", output ? output : "the output",
		    is_good ? strerror(errno) : "some of it was lost");
	if (f != stdout && fclose(f) != 0)
		die("cannot write %s: %s", output, strerror(errno));
}

static void print(struct show *s, const struct filter *f, const struct format *format,
		  bool is_summary)
{
	struct summary *m = is_summary ? summary_new() : NULL;
	struct trace_event ev;

	while (!ferror_unlocked(s->out) && trace_next(s->t, &ev) && ev.seq <= f->last_seq) {
		if (!filter_takes(f, &ev))
			continue;
		if (m)
			summary_add(m, &ev);
		else
			format->event(s, &ev);
	}
	if (m) {
		format->summary(m, s);
		summary_free(m);
	}
}

/* What a file is, by its content, not by its name. */
static enum subject {
	SUBJECT_TRACE,
	SUBJECT_REPORT,
	SUBJECT_BUNDLE,
	SUBJECT_OTHER
} subject_find(const char *path)
{
	char head[256];
	FILE *f = fopen(path, "re");
	size_t n, blanks = 0;

	if (!f)
		return SUBJECT_TRACE; /* the trace reader says what is wrong */
	n = fread(head, 1, sizeof head, f);
	fclose(f);
	while (blanks < n && isspace((unsigned char)head[blanks]))
		blanks++;
	if (blanks < n && head[blanks] == '{')
		return SUBJECT_REPORT;
	if (n >= strlen(BUNDLE_MAGIC) && memcmp(head, BUNDLE_MAGIC, strlen(BUNDLE_MAGIC)) == 0)
		return SUBJECT_BUNDLE;
	return n == 0 || (n >= strlen(PMT_MAGIC) && memcmp(head, PMT_MAGIC, strlen(PMT_MAGIC)) == 0)
		       ? SUBJECT_TRACE
		       : SUBJECT_OTHER;
}

/* The largest file that is read as a whole, with a NUL added; no patch is larger. */
#define PATCH_MAX_BYTES ((size_t)16 << 20)
static char *patch_read(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = xmalloc(PATCH_MAX_BYTES + 1);
	size_t n;

	if (!f)
		die("cannot open %s: %s", path, strerror(errno));
	n = fread(text, 1, PATCH_MAX_BYTES + 1, f);
	if (ferror(f))
		die("cannot read %s: %s", path, strerror(errno));
	if (n > PATCH_MAX_BYTES)
		die("%s is larger than 16 MiB: it is not a patch of 'pmend fix'", path);
	fclose(f);
	text[n] = '\0';
	if (!strstr(text, "@@ -"))
		die("%s is not a unified diff: 'pmend fix -o FILE' writes one", path);
	return text;
}

/* Gives the exit status that the analysis would have had with these words of --fail-on. Without
 * any, a readable report is a success. */
static int status_of(const struct report *r, const struct word_list *fail_on)
{
	return fail_on->n ? reporting_status(r) : CMD_CLEAN;
}

static int report_print(const char *path, const char *format_name, const char *patch,
			const char *output, bool is_verbose, const struct word_list *fail_on)
{
	const struct report_format *format = report_format_find(format_name);
	struct report_options o = { .colour =
					    !output && isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
				    .verbose = is_verbose };
	char *cwd = getcwd(NULL, 0), *text;
	struct report_fail_on on = { 0 };
	struct whole_file file;
	struct report *r;
	struct error err;
	int status;

	reporting_set_fail_on(&cmd_show, &on, fail_on);
	if (!format)
		die_usage(&cmd_show,
			  "--format of a report is one of text, json, sarif, html, junit, not '%s'",
			  format_name);
	if (patch && strcmp(format_name, "html") != 0)
		die_usage(&cmd_show, "--patch needs --format html");
	o.patch = text = patch ? patch_read(patch) : NULL;
	r = report_read(path, &err);
	if (!r)
		die("%s; 'pmend show' prints traces and the JSON reports of 'pmend check'",
		    err.msg);
	if (fail_on->n)
		report_set_fail_on(r, &on);
	status = status_of(r, fail_on);
	signal(SIGPIPE, SIG_IGN);
	o.cwd = cwd;
	if (output) {
		input_spare(output, path);
		whole_file_begin(&file, output);
		format->render(file.out, r, &o);
		if (whole_file_end(&file, &err) < 0)
			die("%s", err.msg);
	} else {
		format->render(stdout, r, &o);
		output_close(stdout, NULL);
	}
	report_free(r);
	free(cwd);
	free(text);
	return status;
}

static int trace_print(struct show *s, const struct filter *filter, const struct format *format,
		       bool is_summary, const char *path, const char *output)
{
	int status = CMD_CLEAN;
	struct pmt_header h;
	struct error err;
	size_t i;

	if (trace_open(&s->t, path, &err) < 0)
		die("%s", err.msg);
	signal(SIGPIPE, SIG_IGN);
	s->many_processes = header_read(&h, path, &err) == 0 && h.nstreams > 1;
	s->out = output_open(output, path);
	s->locator = locator_new(s->t, NULL);
	print(s, filter, format, is_summary);
	output_close(s->out, output);
	if (trace_damage(s->t)) {
		warn("%s: %s", path, trace_damage(s->t));
		status = CMD_FAILED;
	}
	locator_free(s->locator);
	trace_close(s->t);
	for (i = 0; i < s->labels.n; i++)
		free(s->labels.at[i]);
	vec_release(&s->labels);
	return status;
}

static int bundle_print(const char *path, const char *output, bool is_verbose)
{
	struct bundle b;
	struct error err;
	FILE *out;

	if (bundle_open(&b, path, &err) < 0)
		die("%s", err.msg);
	signal(SIGPIPE, SIG_IGN);
	out = output_open(output, path);
	show_bundle(out, &b, is_verbose);
	output_close(out, output);
	bundle_release(&b);
	return CMD_CLEAN;
}

/* Prints one page about a part of the trace. */
static int page_print(const struct show_page *page, const struct command *c)
{
	struct whole_file file;
	struct error err;
	int status;

	signal(SIGPIPE, SIG_IGN);
	if (!page->output) {
		status = show_page(stdout, page, &err);
		output_close(stdout, NULL);
	} else {
		input_spare(page->output, page->path);
		whole_file_begin(&file, page->output);
		status = show_page(file.out, page, &err);
		if (status == 0 && whole_file_end(&file, &err) < 0)
			die("%s", err.msg);
	}
	if (status < 0)
		die("%s: %s", c->name, err.msg);
	return CMD_CLEAN;
}

static int show_run(const struct command *c, int argc, char **argv)
{
	const char *format_name = NULL, *output = NULL, *range = NULL, *patch = NULL,
		   *operation = NULL, *at = NULL;
	struct filter filter = { .last_seq = UINT64_MAX };
	struct word_list kinds = { 0 }, fail_on = { 0 };
	bool is_summary = false, is_verbose = false, is_narrowed;
	struct show s = { 0 };
	const struct option table[] = {
		{ "stacks", 's', NULL, "print the whole call stack of each event", OPTION_FLAG,
		  &s.stacks },
		{ "range", 0, "A-B", "show only events A to B", OPTION_STRING, &range },
		{ "thread", 0, "N", "show only events of thread N", OPTION_NUMBER, &filter.thread },
		{ "process", 0, "N", "show only events of process N, counted from 0", OPTION_NUMBER,
		  &filter.process },
		{ "kind", 0, "K[,K]", "show only events of these kinds", OPTION_LIST, &kinds },
		{ "summary", 0, NULL, "print totals instead of events", OPTION_FLAG, &is_summary },
		{ "format", 0, "F",
		  "text (default), json (one line per event) or html; for a report also sarif or junit",
		  OPTION_STRING, &format_name },
		{ "op", 0, "NAME", "HTML page of a trace: show the first operation with this name",
		  OPTION_STRING, &operation },
		{ "at", 0, "FILE:LINE", "HTML page of a trace: show the first event of this line",
		  OPTION_STRING, &at },
		{ "patch", 0, "FIX.diff",
		  "HTML page of a report: show this patch with the findings", OPTION_STRING,
		  &patch },
		{ "verbose", 'v', NULL,
		  "for a report: print whole stacks with library frames, and all recorded output",
		  OPTION_FLAG, &is_verbose },
		{ "output", 'o', "FILE", "write to FILE instead of standard output", OPTION_STRING,
		  &output },
		{ "fail-on", 0, "WHAT",
		  "for a report: exit as the analysis would have with this --fail-on; correctness asks for nothing more; may be repeated",
		  OPTION_LIST, &fail_on },
		{ 0 },
	};
	int status = CMD_FAILED;

	if (options_parse(c, table, OPTIONS_ANYWHERE, argc, argv) != 1)
		die_usage(c, "exactly one trace or report is needed");
	if (!format_name)
		format_name = report_format_of(output) ? report_format_of(output) : "text";
	is_narrowed = s.stacks || range || operation || at || filter.thread.is_set ||
		      filter.process.is_set || kinds.n || is_summary;
	if (range)
		range_parse(&filter, range);
	kinds_parse(&filter, &kinds);
	if (fail_on.n && subject_find(argv[0]) != SUBJECT_REPORT)
		die_usage(c, "--fail-on needs a report, and %s is none", argv[0]);
	switch (subject_find(argv[0])) {
	case SUBJECT_TRACE:
		if (patch)
			die_usage(c, "--patch needs a report, not a trace");
		if (strcmp(format_name, "html") == 0) {
			status = page_print(&(struct show_page){ .path = argv[0],
								 .output = output,
								 .operation = operation,
								 .at = at,
								 .first_seq = filter.first_seq,
								 .last_seq = filter.last_seq },
					    c);
			break;
		}
		if (operation || at)
			die_usage(c, "--op and --at need --format html");
		status = trace_print(&s, &filter, format_find(format_name), is_summary, argv[0],
				     output);
		break;
	case SUBJECT_REPORT:
		if (is_narrowed)
			die_usage(
				c,
				"%s is a report: only --format, --patch, --verbose, --output and --fail-on apply to it",
				argv[0]);
		status = report_print(argv[0], format_name, patch, output, is_verbose, &fail_on);
		break;
	case SUBJECT_BUNDLE:
		if (is_narrowed || patch || strcmp(format_name, "text") != 0)
			die_usage(c, "%s is a bundle: only --verbose and --output apply to it",
				  argv[0]);
		status = bundle_print(argv[0], output, is_verbose);
		break;
	case SUBJECT_OTHER:
		die("%s is neither a trace that 'pmend record' wrote nor a JSON report of 'pmend check'",
		    argv[0]);
	}
	word_list_release(&kinds);
	word_list_release(&fail_on);
	return status;
}

const struct command cmd_show = {
	.name = "show",
	.help = "print a trace, a report or a bundle",
	.operands = "(FILE.pmt | REPORT.json | FILE.pmb)",
	.run = show_run,
};
