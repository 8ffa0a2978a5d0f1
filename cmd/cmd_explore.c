/* pmend explore: runs a program on inputs that a solver makes from the conditions of earlier runs,
 * and checks each run. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cmd/check_options.h"
#include "cmd/crash_options.h"
#include "cmd/crash_progress.h"
#include "cmd/explore_parts.h"
#include "cmd/pool_option.h"
#include "cmd/project_options.h"
#include "cmd/reporting.h"
#include "cmd/schedules_option.h"
#include "cmd/talk/progress.h"
#include "cmd/threads_option.h"
#include "explore/session/exploring.h"
#include "explore/session/folder_line.h"
#include "record/machine.h"

#define JOBS_MAX 256

struct explore_setup { /* the command line's options */
	struct part_options parts;
	const char *strategy, *platform;
	struct optional_number max_time, max_runs, timeout, solver_timeout, random, jobs;
	bool is_first;
};

#define PROGRESS \
	"%" PRIu64 " runs, %" PRIu64 " branches waiting, %" PRIu64 " of %" PRIu64 \
	" PM instructions, solver %.1f s, %" PRIu64 " reports of bugs"

static void on_progress(const struct exploring *x)
{
	struct explore_stats s = explore_stats(x->explore);

	progress_tell(x->progress_arg, PROGRESS, s.runs, s.waiting, s.pm_covered, s.pm_known,
		      s.flips.solver_s, x->nbugs);
}

/* Prints the last line of progress, which stays on a terminal. */
static void progress_last(const struct exploring *x)
{
	struct explore_stats s = explore_stats(x->explore);

	progress_step(x->progress_arg, PROGRESS, s.runs, s.waiting, s.pm_covered, s.pm_known,
		      s.flips.solver_s, x->nbugs);
	if (isatty(STDERR_FILENO))
		fputc('\n', stderr);
}

static int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Dies after restoring all files. */
_Noreturn static void explore_die(struct exploring *x, const struct error *err)
{
	exploring_end(x);
	die("%s", err->msg);
}

/* ---- the options ---- */

static void judging_begin(const struct command *c, struct exploring *x,
			  const struct explore_setup *s, struct crash_progress *progress,
			  bool is_asked)
{
	check_options_begin(c, &x->checking, s->platform);
	files_option_profile(c, x->checking.profile, false);
	if (x->checking.is_all)
		die_usage(
			c,
			"explore does not support --platform all; explore on one platform at a time");
	x->checking.recording.quiet = true;
	if (!x->checking.recording.platform)
		x->checking.recording.platform = machine_platform();
	x->wants_crashes = x->crash.recover || x->crash.check || x->crash.dump;
	if (!x->wants_crashes)
		return;
	x->crash.platform = s->platform;
	word_list_append(&x->crash.library_globs, &x->checking.library_globs);
	crash_options_begin(c, &x->crash);
	crash_progress_init(progress, is_asked, true);
	x->crash.watch = &progress->watch;
}

static void session_begin(const struct command *c, struct exploring *x,
			  const struct explore_setup *s, struct exploring_options *o)
{
	struct error err;

	o->strategy = s->strategy ? search_strategy_find(s->strategy) : search_strategies[0];
	if (!o->strategy)
		die_usage(c, "--strategy is one of pm, coverage, bfs, random, not '%s'",
			  s->strategy);
	if (s->jobs.is_set && (s->jobs.n < 1 || s->jobs.n > JOBS_MAX))
		die_usage(c, "--jobs needs a number from 1 to %d", JOBS_MAX);
	if (o->instance && !instance_name_is_valid(o->instance))
		die_usage(
			c,
			"--instance needs a name of at most %d letters, digits and - _ . that begins with a letter or digit, not '%s'",
			INSTANCE_NAME_MAX, o->instance);
	o->random = s->random.is_set ? s->random.n : 1;
	o->njobs = s->jobs.is_set ? (unsigned)s->jobs.n : 1;
	o->timeout_ms = (unsigned)(s->timeout.n * 1000);
	o->is_timeout_learned = !s->timeout.is_set;
	o->solver_timeout_ms =
		s->solver_timeout.is_set ? (unsigned)(s->solver_timeout.n * 1000) : 10000;
	progress_step(x->progress_arg, "exploring: reading the program and the inputs");
	explore_parts_read(&x->parts, c, &s->parts, o->target, o->njobs > 1);
	if (exploring_begin(x, o, &err) < 0)
		explore_die(x, &err);
	x->signal_fd = signals_open();
}

static void schedules_begin(struct exploring *x, const struct schedules_option *o)
{
	x->nschedules = (uint32_t)o->n.n;
	x->schedule_seed = o->seed.is_set ? o->seed.n : 1;
	x->checking.options.is_schedule = o->n.is_set;
}

/* ---- the command ---- */

static int explore(struct exploring *x, const struct explore_setup *s, struct reporting *reporting)
{
	struct budget budget = { .x = x,
				 .runs = s->max_runs.is_set ? s->max_runs.n : UINT64_MAX,
				 .is_first = s->is_first };
	struct report *report;
	struct error err;
	bool is_whole;

	if (s->max_time.is_set)
		budget.until_s = exploring_now_s() + (double)s->max_time.n;
	if (exploring_run(x, &budget, &err) < 0 || sharing_sync(x->sharing, true, &err) < 0)
		explore_die(x, &err);
	progress_last(x);
	if (!x->has_pm && x->nruns)
		warn("the program mapped no shared writable file in any run; did it get {pool}?");
	exploring_cover(x);
	is_whole = explore_stats(x->explore).waiting == 0 && x->has_pm;
	if (!x->nruns && !is_whole)
		warn("no input was run: --max-runs or --max-time ended before the first");
	report_finish(x->report);
	if (exploring_report_save(x, &err) < 0)
		explore_die(x, &err);
	report = exploring_report_end(x);
	if (is_whole)
		report_add_analysis(report, "explore");
	return reporting_end(reporting, report, is_whole);
}

static int explore_run(const struct command *command, int argc, char **argv)
{
	struct exploring x = { .signal_fd = -1, .notes = &user_notes, .on_progress = on_progress };
	struct exploring_options o = { .out = "pmend-explore", .target = argv };
	struct reporting reporting = { 0 };
	struct crash_progress progress;
	struct progress line;
	bool is_asked = false, no_project = false;
	struct explore_setup s = { 0 };
	struct schedules_option schedules = { 0 };
	const struct option table[] = {
		PART_OPTIONS(&s.parts),
		{ "seed", 0, "FILE", "start with this input; may be repeated", OPTION_LIST,
		  &o.seeds },
		{ "template", 0, "FILE", "start with this input of fixed bytes and holes",
		  OPTION_STRING, &o.template },
		{ "build", 'p', "BUILD_DIR",
		  "the folder with compile_commands.json; strategy pm then also prefers stores that may reach PM",
		  OPTION_STRING, &o.build_dir },
		{ "strategy", 0, "NAME", "pm (default), coverage, bfs or random", OPTION_STRING,
		  &s.strategy },
		{ "random", 0, "N", "the seed for --strategy random (default: 1)", OPTION_NUMBER,
		  &s.random },
		{ "max-time", 0, "SECONDS", "stop exploring after this time", OPTION_NUMBER,
		  &s.max_time },
		{ "max-runs", 0, "N", "stop exploring after N inputs", OPTION_NUMBER, &s.max_runs },
		{ "timeout", 0, "SECONDS",
		  "time limit of one run (default: 10 times the first one, at least 60)",
		  OPTION_NUMBER, &s.timeout },
		{ "solver-timeout", 0, "SECONDS", "time limit of one solver query (default: 10)",
		  OPTION_NUMBER, &s.solver_timeout },
		{ "jobs", 0, "N", "run N inputs at a time (default: 1)", OPTION_NUMBER, &s.jobs },
		{ "first", 0, NULL, "stop at the first bug", OPTION_FLAG, &s.is_first },
		{ "out", 0, "FOLDER",
		  "keep inputs here; continue if there are some (default: pmend-explore)",
		  OPTION_STRING, &o.out },
		{ "instance", 0, "NAME",
		  "share FOLDER with other explorations; each has its own NAME", OPTION_STRING,
		  &o.instance },
		{ "recover", 0, "CMDLINE",
		  "also explore crashes, with this recovery; {} stands for the pool", OPTION_STRING,
		  &x.crash.recover },
		{ "check", 0, "CMDLINE", "run this after recovery; its exit status decides",
		  OPTION_STRING, &x.crash.check },
		{ "dump", 0, "CMDLINE",
		  "run this after recovery; it prints the logical state, which pmend compares",
		  OPTION_STRING, &x.crash.dump },
		{ "pool-creation", 0, NULL,
		  "also crash inside pmemobj_create and similar functions", OPTION_FLAG,
		  &x.crash.pool_creation },
		{ "platform", 0, "P", "x86-adr, eadr or msync (default: x86-adr)", OPTION_STRING,
		  &s.platform },
		CHECKING_OPTIONS(&x.checking),
		REPORTING_OPTIONS(&reporting),
		FAIL_ON_OPTION(&reporting),
		THREADS_OPTIONS(&x.checking.recording),
		SCHEDULES_OPTIONS(&schedules),
		{ "pm", 0, "GLOB", "only files that match GLOB are persistent memory", OPTION_LIST,
		  &x.checking.recording.pm },
		PROGRESS_OPTION(&is_asked),
		PROJECT_OPTION(&no_project),
		{ 0 },
	};
	int n = project_parse(command, table, OPTIONS_FIRST, argc, argv), status;

	if (n == 0)
		die_usage(command, "a program is needed");
	pool_option_check(command, argv);
	progress_begin(&line, is_asked);
	x.progress_arg = &line;
	reporting_begin(command, &reporting);
	judging_begin(command, &x, &s, &progress, is_asked);
	threads_option_check(command, &x.checking.recording, argv, 0);
	schedules_option_check(command, &schedules, &x.checking.recording, false, false);
	schedules_begin(&x, &schedules);
	session_begin(command, &x, &s, &o);
	status = explore(&x, &s, &reporting);
	exploring_end(&x);
	checking_end(&x.checking);
	if (x.wants_crashes)
		crash_setup_end(&x.crash);
	part_options_release(&s.parts);
	word_list_release(&o.seeds);
	return status;
}

const struct command cmd_explore = {
	.name = "explore",
	.help = "find inputs that reach persistent-memory bugs",
	.operands = "-- CMD [ARG]...",
	.run = explore_run,
};
