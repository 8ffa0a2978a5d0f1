/* pmend show: prints a trace as it reads it. */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/header.h"
#include "cmd/show.h"

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
	struct option_number thread, process;
	bool any_kind;
	bool kind[PMT_NKINDS];
};

static const struct format *format_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	die_usage(&cmd_show, "--format is text or json, not '%s'", name);
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

/* "A-B", "A-", "-B" or "A". */
static void range_parse(struct filter *f, const char *text)
{
	const char *p = seq_parse(text, &f->first_seq);

	if (*p == '\0' && p > text)
		f->last_seq = f->first_seq;
	else if (*p != '-' || !text[1] || *seq_parse(p + 1, &f->last_seq) || f->last_seq < f->first_seq)
		die_usage(&cmd_show, "--range needs event numbers as in 10-20, not '%s'", text);
}

static void kinds_parse(struct filter *f, const struct option_list *lists)
{
	enum pmt_kind kind;
	char *copy, *name, *rest;
	size_t i;

	f->any_kind = lists->n == 0;
	for (i = 0; i < lists->n; i++) {
		copy = xstrdup(lists->item[i]);
		for (name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
			if (!trace_kind_by_name(name, &kind))
				die_usage(&cmd_show, "no kind of event is called '%s'; pmend-show(1) lists them", name);
			f->kind[kind] = true;
		}
		free(copy);
	}
}

static bool filter_takes(const struct filter *f, const struct trace_event *ev)
{
	return ev->seq >= f->first_seq && (f->any_kind || f->kind[ev->kind]) &&
	       (!f->thread.is_set || f->thread.n == ev->thread) && (!f->process.is_set || f->process.n == ev->stream);
}

static FILE *output_open(const char *output, const char *trace)
{
	struct stat a, b;
	FILE *f;

	if (!output)
		return stdout;
	if (stat(output, &a) == 0 && stat(trace, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		die("-o names the trace itself: %s; choose another file", output);
	f = fopen(output, "we");
	if (!f)
		die("cannot write %s: %s", output, strerror(errno));
	return f;
}

/* Whoever reads our output may stop early, as head does: that is no failure. */
static bool is_broken_pipe(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

static void output_close(FILE *f, const char *output)
{
	bool is_good = !ferror(f), is_flushed = fflush(f) == 0;

	if ((!is_good || !is_flushed) && !is_broken_pipe(fileno(f)))
		die("cannot write %s: %s", output ? output : "the output", is_good ? strerror(errno) : "some of it was lost");
	if (f != stdout && fclose(f) != 0)
		die("cannot write %s: %s", output, strerror(errno));
}

static void print(struct show *s, const struct filter *f, const struct format *format, bool is_summary)
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

static void trace_expect(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot && strcmp(dot, ".json") == 0)
		die("%s is not a trace: 'pmend show' reads the .pmt files that 'pmend record' writes", path);
}

static int show_run(const struct command *c, int argc, char **argv)
{
	const char *format_name = "text", *output = NULL, *range = NULL;
	struct filter filter = { .last_seq = UINT64_MAX };
	struct option_list kinds = { 0 };
	bool is_summary = false;
	struct show s = { 0 };
	const struct option table[] = {
		{ "stacks", 's', NULL, "print the whole call stack of each event", OPTION_FLAG, &s.stacks },
		{ "range", 0, "A-B", "only the events number A to B", OPTION_STRING, &range },
		{ "thread", 0, "N", "only the events of thread N", OPTION_NUMBER, &filter.thread },
		{ "process", 0, "N", "only the events of process N, from 0", OPTION_NUMBER, &filter.process },
		{ "kind", 0, "K[,K]", "only the events of these kinds", OPTION_LIST, &kinds },
		{ "summary", 0, NULL, "print totals instead of events", OPTION_FLAG, &is_summary },
		{ "format", 0, "F", "text (default) or json, one line for each event", OPTION_STRING, &format_name },
		{ "output", 'o', "FILE", "write to FILE instead of standard output", OPTION_STRING, &output },
		{ 0 },
	};
	const struct format *format;
	int status = CMD_CLEAN;
	struct pmt_header h;
	struct error err;
	size_t i;

	if (options_parse(c, table, OPTIONS_ANYWHERE, argc, argv) != 1)
		die_usage(c, "exactly one trace is needed");
	format = format_find(format_name);
	if (range)
		range_parse(&filter, range);
	kinds_parse(&filter, &kinds);
	if (trace_open(&s.t, argv[0], &err) < 0) {
		trace_expect(argv[0]);
		die("%s", err.msg);
	}
	signal(SIGPIPE, SIG_IGN);
	s.many_processes = header_read(&h, argv[0], &err) == 0 && h.nstreams > 1;
	s.out = output_open(output, argv[0]);
	s.locator = locator_new(s.t);
	print(&s, &filter, format, is_summary);
	output_close(s.out, output);
	if (trace_damage(s.t)) {
		warn("%s: %s", argv[0], trace_damage(s.t));
		status = CMD_FAILED;
	}
	locator_free(s.locator);
	trace_close(s.t);
	for (i = 0; i < s.labels.n; i++)
		free(s.labels.at[i]);
	vec_release(&s.labels);
	option_list_release(&kinds);
	return status;
}

const struct command cmd_show = {
	.name = "show",
	.help = "print a trace: events, source lines, call stacks, totals",
	.operands = "FILE.pmt",
	.run = show_run,
};
