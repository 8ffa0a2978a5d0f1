/* pmend explore: runs a program on inputs that a solver makes from the conditions of earlier runs, and judges each run. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/crash_options.h"
#include "cmd/crash_progress.h"
#include "cmd/reporting.h"
#include "explore/session/seed.h"
#include "explore/session/slots.h"
#include "report/format.h"
#include "session/scratch.h"
#include "session/target.h"
#include "source/source.h"
#include "util/alloc.h"
#include "util/proc.h"

#define FIRST_TIMEOUT_MS 600000 /* nothing is known yet */
#define JOBS_MAX 256

struct explore_setup {
	struct part_options parts;
	struct word_list seeds;
	const char *template, *strategy, *out, *build_dir;
	struct optional_number max_time, max_runs, timeout, solver_timeout, random, jobs;
	bool is_first;
};

/* ---- seeds ---- */

typedef VEC(struct seed) seeds;

static void seeds_read(seeds *all, const struct explore_setup *s)
{
	struct error err;

	if (s->template && seed_read_template(vec_add(all), s->template, &err) < 0)
		die("%s", err.msg);
	for (size_t i = 0; i < s->seeds.n; i++)
		if (seed_read(vec_add(all), s->seeds.item[i], &err) < 0)
			die("%s", err.msg);
}

static size_t seeds_longest(const seeds *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].bytes.n > n)
			n = all->at[i].bytes.n;
	return n;
}

static void seeds_add(struct exploring *x, const seeds *all)
{
	uint8_t *bytes = xmalloc(x->parts.len_bytes + 1);

	for (size_t i = 0; i < all->n; i++) {
		const struct seed *s = &all->at[i];

		memset(bytes, 0, x->parts.len_bytes);
		memcpy(bytes, s->bytes.at, s->bytes.n < x->parts.len_bytes ? s->bytes.n : x->parts.len_bytes);
		explore_seed(x->explore, bytes);
		for (size_t k = 0; k < s->is_fixed.n; k++)
			if (s->is_fixed.at[k])
				explore_fix(x->explore, k, s->bytes.at[k]);
	}
	if (!all->n)
		explore_seed(x->explore, x->parts.initial);
	free(bytes);
}

/* ---- the command ---- */

static char *cache_folder(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *folder;

	if (base && *base) {
		folder = xasprintf("%s/pmend", base);
	} else if (home && *home) {
		folder = xasprintf("%s/.cache", home);
		mkdir(folder, 0700);
		free(folder);
		folder = xasprintf("%s/.cache/pmend", home);
	} else {
		return NULL;
	}
	mkdir(folder, 0700); /* if it fails, nothing is cached */
	return folder;
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

static void suspect(void *arg, const char *file, uint32_t line)
{
	explore_suspect(arg, file, line);
}

/* Which stores may reach PM, by the source. Without it, the search knows less: no reason to give up. */
static void source_read(struct exploring *x, const char *build_dir)
{
	const struct source_api *api;
	struct source_database db;
	struct alias *alias;
	struct error err;

	api = source_load(x->libexec, &err);
	if (!api || api->open(build_dir, &db, &err) < 0)
		exploring_die(x, "%s", err.msg);
	alias = api->alias->open(build_dir, &db, &err);
	if (alias) {
		api->alias->each(alias, suspect, x->explore);
		api->alias->close(alias);
	} else {
		warn("%s: stores that may reach persistent memory are not known before they are run", err.msg);
	}
	api->close(&db);
}

static void slots_open(struct exploring *x)
{
	x->pools.nslots = x->njobs;
	x->slots = xcalloc(x->njobs, sizeof *x->slots);
	for (unsigned i = 0; i < x->njobs; i++)
		slot_init(&x->slots[i], i);
}

static void exploring_begin(const struct command *command, struct exploring *x, const struct explore_setup *s, char **target)
{
	const struct search_strategy *strategy = s->strategy ? search_strategy_find(s->strategy) : search_strategies[0];
	struct explore_options o = { .strategy = strategy, .random = s->random.is_set ? s->random.n : 1 };
	char *solver, *cache = cache_folder();
	seeds all = { 0 };
	struct error err;

	if (!strategy)
		die_usage(command, "--strategy is one of pm, coverage, bfs, random, not '%s'", s->strategy);
	if (s->jobs.is_set && (s->jobs.n < 1 || s->jobs.n > JOBS_MAX))
		die_usage(command, "--jobs needs a number from 1 to %d", JOBS_MAX);
	if (target_check(target[0], &err) < 0)
		die("%s", err.msg);
	x->valgrind = proc_find("valgrind");
	if (!x->valgrind)
		die("valgrind is not installed, and exploring needs it; try: apt-get install valgrind");
	x->libexec = recorder_folder(&err);
	if (!x->libexec)
		die("%s", err.msg);
	solver = xasprintf("%s/libpmend_solver.so", x->libexec);
	o.solver = solver_api_load(solver, &err);
	if (!o.solver)
		die("%s; exploring needs Z3, try: apt-get install libz3-4", err.msg);
	seeds_read(&all, s);
	x->target = target;
	x->is_timeout_learned = !s->timeout.is_set;
	x->timeout_ms = s->timeout.is_set ? (unsigned)(s->timeout.n * 1000) : FIRST_TIMEOUT_MS;
	x->njobs = s->jobs.is_set ? (unsigned)s->jobs.n : 1;
	parts_init(&x->parts, command, &s->parts, target, seeds_longest(&all), x->njobs > 1);
	x->folder = scratch_folder(&err);
	if (!x->folder)
		die("%s", err.msg);
	x->pools.folder = x->folder;
	slots_open(x);
	o.solver_timeout_ms = s->solver_timeout.is_set ? (unsigned)(s->solver_timeout.n * 1000) : 10000;
	o.cache = cache;
	o.len_bytes = x->parts.len_bytes;
	x->explore = explore_new(&o);
	for (size_t i = 0; i < x->parts.list.n; i++)
		explore_bound(x->explore, x->parts.list.at[i].index);
	if (s->build_dir)
		source_read(x, s->build_dir);
	x->report = exploring_report(x);
	exploring_open(x, s->out ? s->out : "pmend-explore");
	seeds_add(x, &all);
	for (size_t i = 0; i < all.n; i++)
		seed_release(&all.at[i]);
	vec_release(&all);
	free(solver);
	free(cache);
	x->signal_fd = signals_open();
}

/* Stops what runs, and puts back what is the user's. */
static void files_release(struct exploring *x)
{
	for (unsigned i = 0; i < x->pools.nslots; i++) {
		slot_stop(x, &x->slots[i]);
		slot_release(&x->slots[i]);
	}
	free(x->slots);
	pools_release(&x->pools);
	rmdir(x->folder);
	parts_release(&x->parts);
}

void exploring_die(struct exploring *x, const char *fmt, ...)
{
	char *message = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&message, fmt, ap) < 0)
		message = NULL;
	va_end(ap);
	files_release(x);
	die("%s", message ? message : fmt);
}

static void exploring_end(struct exploring *x)
{
	files_release(x);
	explore_free(x->explore);
	free(x->folder);
	free(x->valgrind);
	free(x->libexec);
	free(x->out);
	if (x->signal_fd >= 0)
		close(x->signal_fd);
}

/* ---- the command line ---- */

static int explore(struct exploring *x, const struct explore_setup *s, struct reporting *reporting)
{
	struct budget budget = { .x = x, .runs = s->max_runs.is_set ? s->max_runs.n : UINT64_MAX, .is_first = s->is_first };
	bool is_whole;

	if (s->max_time.is_set)
		budget.until_s = exploring_now_s() + (double)s->max_time.n;
	exploring_run(x, &budget);
	exploring_progress(x, true);
	if (!x->has_pm && x->nruns)
		warn("no persistent memory seen in any run: the program made no writable MAP_SHARED mapping of a file that is PM");
	exploring_cover(x);
	is_whole = explore_stats(x->explore).waiting == 0 && x->has_pm;
	report_finish(x->report);
	exploring_report_save(x);
	return reporting_end(reporting, x->report, is_whole);
}

static int explore_run(const struct command *command, int argc, char **argv)
{
	struct exploring x = { .signal_fd = -1 };
	struct reporting reporting = { 0 };
	struct crash_progress progress;
	struct explore_setup s = { 0 };
	const char *platform = NULL;
	const struct option table[] = {
		{ "sym-file", 0, "PATH[:LEN]", "this file's content is symbolic; may be repeated", OPTION_LIST, &s.parts.files },
		{ "sym-stdin", 0, "LEN", "so many bytes of standard input are symbolic", OPTION_STRING, &s.parts.stdin_len },
		{ "sym-arg", 0, "N[:LEN]", "the N-th argument is symbolic; may be repeated", OPTION_LIST, &s.parts.args },
		{ "sym-env", 0, "NAME[:LEN]", "this variable is symbolic; may be repeated", OPTION_LIST, &s.parts.envs },
		{ "sym-socket", 0, "PORT[:LEN]", "what a client sends to this TCP port is symbolic", OPTION_STRING, &s.parts.socket },
		{ "sym-memory", 0, "LEN", "so many bytes that PMEND_SYMBOLIC() names are symbolic", OPTION_STRING, &s.parts.memory_len },
		{ "seed", 0, "FILE", "begin with this input; may be repeated", OPTION_LIST, &s.seeds },
		{ "template", 0, "FILE", "begin with this input, of fixed bytes and holes", OPTION_STRING, &s.template },
		{ "build", 'p', "BUILD_DIR", "the folder with compile_commands.json: also stores that may reach PM attract pm", OPTION_STRING, &s.build_dir },
		{ "strategy", 0, "NAME", "pm (default), coverage, bfs or random", OPTION_STRING, &s.strategy },
		{ "random", 0, "N", "a seed for --strategy random (default: 1)", OPTION_NUMBER, &s.random },
		{ "max-time", 0, "SECONDS", "stop exploring after this time", OPTION_NUMBER, &s.max_time },
		{ "max-runs", 0, "N", "stop exploring after N inputs", OPTION_NUMBER, &s.max_runs },
		{ "timeout", 0, "SECONDS", "of one run (default: 10 times the first one, at least 60)", OPTION_NUMBER, &s.timeout },
		{ "solver-timeout", 0, "SECONDS", "of one query (default: 10)", OPTION_NUMBER, &s.solver_timeout },
		{ "jobs", 0, "N", "inputs that are run at a time (default: 1)", OPTION_NUMBER, &s.jobs },
		{ "first", 0, NULL, "stop at the first bug", OPTION_FLAG, &s.is_first },
		{ "out", 0, "FOLDER", "keep inputs here, and go on from there (default: pmend-explore)", OPTION_STRING, &s.out },
		{ "recover", 0, "CMDLINE", "crash runs that do something new to PM, too; {} stands for the pool", OPTION_STRING, &x.crash.recover },
		{ "check", 0, "CMDLINE", "run after recovery; its exit status decides", OPTION_STRING, &x.crash.check },
		{ "dump", 0, "CMDLINE", "run after recovery; prints the logical state, which is compared", OPTION_STRING, &x.crash.dump },
		{ "platform", 0, "P", "x86-adr, eadr or msync (default: x86-adr)", OPTION_STRING, &platform },
		CHECKING_OPTIONS(&x.checking),
		REPORTING_OPTIONS(&reporting),
		{ "pm", 0, "GLOB", "only files that match GLOB are persistent memory", OPTION_LIST, &x.checking.recording.pm },
		{ 0 },
	};
	int n = options_parse(command, table, OPTIONS_FIRST, argc, argv), status;

	if (n == 0)
		die_usage(command, "a program is needed");
	reporting_begin(command, &reporting);
	check_options_begin(command, &x.checking, platform);
	if (x.checking.is_all)
		die_usage(command, "--platform all does not go with explore; explore on one platform at a time");
	x.checking.recording.quiet = true;
	if (!x.checking.recording.platform)
		x.checking.recording.platform = platforms[0];
	x.wants_crashes = x.crash.recover || x.crash.check || x.crash.dump;
	if (x.wants_crashes) {
		x.crash.platform = platform;
		crash_options_begin(command, &x.crash);
		crash_progress_init(&progress);
		x.crash.watch = &progress.watch;
	}
	exploring_begin(command, &x, &s, argv);
	status = explore(&x, &s, &reporting);
	exploring_end(&x);
	checking_end(&x.checking);
	if (x.wants_crashes)
		crash_setup_end(&x.crash);
	word_list_release(&s.parts.files);
	word_list_release(&s.parts.args);
	word_list_release(&s.parts.envs);
	word_list_release(&s.seeds);
	return status;
}

const struct command cmd_explore = {
	.name = "explore",
	.help = "find inputs that lead to persistent-memory bugs, and the bugs",
	.operands = "-- CMD [ARG]...",
	.run = explore_run,
};
