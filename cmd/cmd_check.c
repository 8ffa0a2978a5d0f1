/* pmend check: judges one execution, given as a trace or recorded on the spot. pmend test does the same today; crash
 * exploration will join it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/plugin.h"
#include "cmd/cmd.h"
#include "cmd/judge.h"
#include "cmd/platforms.h"
#include "cmd/recording.h"
#include "report/filter.h"
#include "report/format.h"
#include "util/alloc.h"

struct args {
	const char *platform, *format, *output, *suppress, *baseline;
	struct option_list only, with, oracles;
	struct plugin **plugins; /* ends with NULL */
	struct recording recording;
	bool is_all, gen_suppressions, quiet;
};

/* Everything that may be wrong with the arguments shows before a long run. */
struct filters {
	struct suppressions *suppressions;
	struct baseline *baseline;
};

static struct filters filters_load(const struct args *a)
{
	struct filters f = { suppressions_new(), NULL };
	struct error err;

	if (a->suppress && suppressions_load(f.suppressions, a->suppress, &err) < 0)
		die("%s", err.msg);
	if (a->baseline) {
		f.baseline = baseline_open(a->baseline, &err);
		if (!f.baseline)
			die("%s", err.msg);
	}
	return f;
}

static void filters_apply(struct filters *f, struct report *r)
{
	report_suppress(r, f->suppressions);
	if (f->baseline)
		report_subtract(r, f->baseline);
}

static void filters_release(struct filters *f)
{
	if (f->baseline)
		baseline_close(f->baseline);
	suppressions_free(f->suppressions);
}

static void render(const struct args *a, const struct report_format *format, const struct report *r)
{
	FILE *out = a->output ? fopen(a->output, "w") : stdout;
	char *cwd = getcwd(NULL, 0);
	struct report_options o = { .cwd = cwd, .quiet = a->quiet };

	if (!out)
		die("cannot write %s: %s", a->output, strerror(errno));
	o.colour = !a->output && isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	format->render(out, r, &o);
	if (a->gen_suppressions)
		suppressions_generate(out, r);
	if (fflush(out) != 0 || ferror(out) || (a->output && fclose(out) != 0))
		die("cannot write the report: %s", strerror(errno));
	free(cwd);
}

static const char **names(const struct option_list *l)
{
	const char **list = xcalloc(l->n + 1, sizeof *list);

	memcpy(list, l->item, l->n * sizeof *list);
	return list;
}

static const struct platform *choose_platform(const struct args *a, const char *path)
{
	const struct platform *asked = a->recording.platform, *recorded;
	struct error err;

	recorded = judge_platform(path, &err);
	if (!recorded && !asked)
		die("%s; choose one with --platform", err.msg);
	if (!asked || !recorded)
		return asked ? asked : recorded;
	if (judge_serves(path, recorded, asked, &err) < 0)
		die("%s cannot be judged on %s: %s; record again with --platform %s", path, asked->name, err.msg, asked->name);
	return asked;
}

/* What to judge by; release the lists with free(). */
static struct check_options options_of(const struct args *a, const char ***only, const char ***with)
{
	*only = names(&a->only);
	*with = names(&a->with);
	return (struct check_options){ .only = a->only.n ? *only : NULL, .with = *with, .plugins = a->plugins };
}

/* The traces are given or were just recorded; with --platform all there may be several. */
static int judge(const struct args *a, struct filters *f, const struct platform_traces *traces)
{
	const char **only, **with, *path = traces->list.at[0].path;
	struct check_options o = options_of(a, &only, &with);
	bool is_complete;
	struct report *r;
	struct error err;
	int status;

	if (a->is_all) {
		r = platform_traces_judge(traces, &o, &is_complete, &err);
	} else {
		o.platform = choose_platform(a, path);
		r = judge_trace(path, &o, &is_complete, &err);
	}
	if (!r)
		die("%s", err.msg);
	filters_apply(f, r);
	render(a, report_format_find(a->format), r);
	status = report_nbugs(r) ? CMD_FOUND : is_complete ? CMD_CLEAN : CMD_FAILED;
	report_free(r);
	free(only);
	free(with);
	return status;
}

/* Before anything is run, so that a mistake shows at once. */
static void plugins_open(struct args *a)
{
	struct error err;

	a->plugins = xcalloc(a->oracles.n + 1, sizeof(struct plugin *));
	for (size_t i = 0; i < a->oracles.n; i++) {
		a->plugins[i] = plugin_open(a->oracles.item[i], &err);
		if (!a->plugins[i])
			die("%s", err.msg);
	}
}

static void plugins_close(struct args *a)
{
	for (size_t i = 0; a->plugins[i]; i++)
		plugin_close(a->plugins[i]);
	free(a->plugins);
}

static int judge_file(const struct args *a, struct filters *f, char *path)
{
	struct platform_traces traces = { 0 };
	struct error err;
	int status;

	if (!a->is_all)
		*vec_add(&traces.list) = (struct platform_trace){ xstrdup(path), NULL };
	else if (platform_traces_add(&traces, path, &err) < 0)
		die("%s", err.msg);
	status = judge(a, f, &traces);
	platform_traces_release(&traces);
	return status;
}

/* Records to temporary traces, judges those, and leaves nothing behind. */
static int record_and_judge(struct args *a, struct filters *f, char **target)
{
	const char *tmp = getenv("TMPDIR");
	char *folder = xasprintf("%s/pmend-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	struct platform_traces traces = { 0 };
	int status;

	if (!mkdtemp(folder))
		die("cannot make a folder %s: %s; set TMPDIR", folder, strerror(errno));
	a->recording.quiet = true;
	status = platform_traces_record(&traces, &a->recording, a->is_all, target, folder);
	if (status == CMD_CLEAN)
		status = judge(a, f, &traces);
	platform_traces_remove(&traces);
	platform_traces_release(&traces);
	rmdir(folder);
	free(folder);
	return status;
}

static int check_run(const struct command *c, int argc, char **argv)
{
	struct args a = { .format = report_formats[0].name };
	const struct option table[] = {
		{ "platform", 0, "P", "x86-adr, eadr, msync or all (default: the trace's, or x86-adr)", OPTION_STRING, &a.platform },
		{ "only", 0, "NAME", "run only this oracle; may be repeated", OPTION_LIST, &a.only },
		{ "with", 0, "NAME", "run this optional oracle, too (overwrite)", OPTION_LIST, &a.with },
		{ "oracle", 0, "FILE.so", "run the oracle in this shared object, too; may be repeated", OPTION_LIST, &a.oracles },
		{ "format", 0, "FORMAT", "text (default), json, sarif or html", OPTION_STRING, &a.format },
		{ "output", 'o', "FILE", "write the report to FILE", OPTION_STRING, &a.output },
		{ "suppress", 0, "FILE", "hide the bugs that FILE describes", OPTION_STRING, &a.suppress },
		{ "gen-suppressions", 0, NULL, "print blocks for --suppress, too", OPTION_FLAG, &a.gen_suppressions },
		{ "baseline", 0, "REPORT.json", "show only what is not in this earlier report", OPTION_STRING, &a.baseline },
		{ "pm", 0, "GLOB", "only files that match GLOB are persistent memory", OPTION_LIST, &a.recording.pm },
		{ "quiet", 'q', NULL, "only the bugs, no details", OPTION_FLAG, &a.quiet },
		{ 0 },
	};
	int n = options_parse(c, table, OPTIONS_FIRST, argc, argv), status;
	struct filters filters;
	size_t len;

	if (n == 0)
		die_usage(c, "a trace or a program is needed");
	if (!report_format_find(a.format))
		die_usage(c, "--format is one of text, json, sarif, html, not '%s'", a.format);
	a.is_all = a.platform && strcmp(a.platform, "all") == 0;
	if (a.platform && !a.is_all)
		a.recording.platform = recording_platform(c, a.platform);
	filters = filters_load(&a);
	plugins_open(&a);
	len = strlen(argv[0]);
	if (n == 1 && len > 4 && strcmp(argv[0] + len - 4, ".pmt") == 0) {
		status = judge_file(&a, &filters, argv[0]);
	} else {
		if (!a.recording.platform)
			a.recording.platform = platforms[0];
		status = record_and_judge(&a, &filters, argv);
	}
	filters_release(&filters);
	plugins_close(&a);
	option_list_release(&a.only);
	option_list_release(&a.with);
	option_list_release(&a.oracles);
	option_list_release(&a.recording.pm);
	return status;
}

const struct command cmd_check = {
	.name = "check",
	.help = "find durability and performance bugs in one execution",
	.operands = "(FILE.pmt | -- CMD [ARG]...)",
	.run = check_run,
};

const struct command cmd_test = {
	.name = "test",
	.help = "record, check and report in one go",
	.operands = "-- CMD [ARG]...",
	.run = check_run,
};
