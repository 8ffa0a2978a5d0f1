/* pmend merge: puts the parts of an exploration together, of `crash`, `test` or `check`.
 * Conclusions that need all parts are drawn here; this may run recovery. */
#include "cmd/distribute/merge.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/bundled.h"
#include "cmd/check_options.h"
#include "cmd/cmd_crash.h"
#include "cmd/cmd_test.h"
#include "cmd/crash_progress.h"
#include "cmd/crash_words.h"
#include "cmd/pool_option.h"
#include "distribute/shard/checks.h"
#include "distribute/shard/merging.h"
#include "util/alloc.h"

/* Is the option about a part's own budget? Its value is the next word. */
static bool is_parts_own(const char *option)
{
	return strcmp(option, "--max-time") == 0 || strcmp(option, "--max-runs") == 0;
}

/* Sets up the exploration with the options of the parts. */
static void set_up(struct crash_setup *s, const struct report *part)
{
	const size_t n = report_ncrash_options(part);
	int argc = 1;
	char **argv = xcalloc(n + 2, sizeof *argv);

	argv[0] = xstrdup("crash");
	for (size_t i = 0; i < n; i++)
		if (is_parts_own(report_crash_option(part, i)))
			i++;
		else
			argv[argc++] = xstrdup(report_crash_option(
				part, i)); /* never freed, because the setup points to them */
	crash_words.parse(s, argc, argv);
	crash_words.begin(s);
	free(argv);
}

/* ---- parts of `pmend check` ---- */

static int merge_checks(const struct merging *m, struct reporting *reporting)
{
	struct checks k = { 0 };
	struct report *r;
	struct error err;
	bool is_whole;
	int status;

	for (uint32_t i = 0; i < m->n; i++) {
		const struct report_shard *s = report_shard(m->list[i]);
		char *name = xasprintf("part %u of %u", s->index, s->of);

		if (checks_add(&k, s, name, &err) < 0)
			die("%s", err.msg);
		if (s->done < s->failure_points)
			warn("%s is not finished: %llu of its %llu traces are checked. Run its command with --continue to finish it",
			     name, (unsigned long long)s->done,
			     (unsigned long long)s->failure_points);
		free(name);
	}
	r = checks_sum(&k, &is_whole, &err);
	if (!r)
		die("%s", err.msg);
	if (is_whole)
		report_add_analysis(r, "check");
	report_finish(r);
	status = reporting_end(reporting, r, is_whole);
	checks_release(&k);
	return status;
}

/* ---- parts of `pmend test` ---- */

/* Takes the options for judging the execution, which happens here. */
static void checks_take(struct word_list *words, const struct report_shard *s)
{
	for (size_t i = 0; i < s->ncheck_options; i++)
		word_list_add(words, s->check_options[i]);
}

static int judge_and_report(struct crash_setup *s, const struct word_list *words,
			    struct reporting *reporting, const char *trace, const char *kept)
{
	struct platform_traces traces = { 0 };
	struct checking c = { 0 };
	const struct option table[] = { CHECKING_OPTIONS(&c), { 0 } };
	char **argv = xcalloc(words->n + 2, sizeof *argv);
	bool has_found;
	int status;

	argv[0] = xstrdup("test");
	for (size_t i = 0; i < words->n; i++)
		argv[i + 1] = xstrdup(words->item[i]); /* never freed */
	if (options_parse(&cmd_test, table, OPTIONS_FIRST, (int)words->n + 1, argv) != 0)
		die("the parts are damaged: their options are not right: '%s'", argv[0]);
	word_list_append(&c.library_globs, &s->library_globs);
	check_options_begin(&cmd_test, &c, s->platform);
	*vec_add(&traces.list) = (struct platform_trace){ .path = xstrdup(trace) };
	status = test_judge_and_report(&c, s, reporting, &traces, kept, &has_found);
	platform_traces_release(&traces);
	checking_end(&c);
	free(argv);
	return status;
}

/* ---- all kinds of parts ---- */

int merge_parts(char **paths, size_t n, const char *trace, struct reporting *reporting,
		bool is_asked)
{
	const struct option paths_of[] = {
		{ "output", 'o', "FILE", "", OPTION_STRING, &reporting->output }, { 0 }
	};
	struct crash_progress progress;
	struct crash_setup s = { 0 };
	struct bundled bundled = { 0 };
	struct word_list checks = { 0 };
	struct merging m;
	bool is_test;
	struct error err;
	const char *kept;
	int status;

	if (merging_open(&m, paths, n, &err) < 0)
		die("%s", err.msg);
	if (strcmp(merging_shard(&m)->command, "check") == 0) {
		status = merge_checks(&m, reporting);
		merging_close(&m);
		return status;
	}
	is_test = strcmp(merging_shard(&m)->command, "test") == 0;
	checks_take(&checks, merging_shard(&m));
	if (!trace)
		trace = merging_shard(&m)->trace;
	kept = trace;
	if (is_bundle_name(trace))
		trace = bundled_enter(&bundled, paths_of, kept);
	s.kept_in = bundled.home;
	set_up(&s, m.list[0]);
	s.has_files = files_option_is_followed(trace);
	crash_progress_init(&progress, is_asked, reporting->quiet);
	s.watch = &progress.watch;
	merging_begin(&m, &s, is_test ? &checks : NULL);
	status = is_test ? judge_and_report(&s, &checks, reporting, trace, kept)
			 : crash_explore_and_report(&s, reporting, trace, kept);
	word_list_release(&checks);
	crash_setup_end(&s);
	merging_close(&m);
	bundled_end(&bundled);
	return status;
}

static int merge_run(const struct command *c, int argc, char **argv)
{
	struct reporting reporting = { 0 };
	const char *trace = NULL;
	bool is_asked = false;
	const struct option table[] = {
		{ "trace", 0, "FILE",
		  "the trace or bundle, if it has moved since the parts were made", OPTION_STRING,
		  &trace },
		REPORTING_OPTIONS(&reporting),
		FAIL_ON_OPTION(&reporting),
		PROGRESS_OPTION(&is_asked),
		{ 0 }
	};
	int n = options_parse(c, table, OPTIONS_ANYWHERE, argc, argv);

	if (n == 0)
		die_usage(c, "the parts are needed");
	reporting_begin(c, &reporting);
	return merge_parts(argv, (size_t)n, trace, &reporting, is_asked);
}

const struct command cmd_merge = {
	.name = "merge",
	.help = "combine the parts of an exploration into one report",
	.operands = "PART.json...",
	.run = merge_run,
};
