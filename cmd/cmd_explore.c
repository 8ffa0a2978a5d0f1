/* pmend explore: runs a program on inputs that a solver makes from the conditions of earlier runs, and judges each run. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/explore_seed.h"
#include "cmd/explore_slots.h"
#include "cmd/reporting.h"
#include "cmd/scratch.h"
#include "cmd/target.h"
#include "report/format.h"
#include "source/source.h"
#include "util/alloc.h"
#include "util/proc.h"

#define FIRST_TIMEOUT_MS 600000 /* nothing is known yet */
#define LEAST_TIMEOUT_MS 60000
#define JOBS_MAX 256

struct explore_setup {
	struct part_options parts;
	struct option_list seeds;
	const char *template, *strategy, *out, *build_dir;
	struct option_number max_time, max_runs, timeout, solver_timeout, random, jobs;
	bool is_first;
};

struct budget {
	struct exploring *x;
	double until_s; /* 0: no limit */
	uint64_t runs;
	bool is_first; /* a bug is enough */
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool exploring_is_stopped(void *arg)
{
	struct signalfd_siginfo info;
	struct exploring *x = arg;

	if (x->signal_fd >= 0 && read(x->signal_fd, &info, sizeof info) == sizeof info) {
		close(x->signal_fd);
		x->signal_fd = -1; /* said once, it stays */
	}
	return x->signal_fd < 0;
}

static bool is_used_up(void *arg)
{
	const struct budget *b = arg;

	if (b->is_first && b->x->nbugs)
		return true;
	return exploring_is_stopped(b->x) || b->x->nstarted >= b->runs || (b->until_s > 0 && now_s() > b->until_s);
}

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

/* ---- telling ---- */

static void progress(const struct exploring *x, bool is_last)
{
	struct explore_stats s = explore_stats(x->explore);

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%" PRIu64 " runs, %" PRIu64 " branches waiting, %" PRIu64 " of %" PRIu64 " PM instructions, solver %.1f s, %" PRIu64
		" reports of bugs\033[K%s",
		s.runs, s.waiting, s.pm_covered, s.pm_known, s.flips.solver_s, x->nbugs, is_last ? "\n" : "");
}

static char *note_make(const struct exploring *x)
{
	struct explore_stats s = explore_stats(x->explore);
	const struct path_count *c = explore_counts(x->explore);
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	uint64_t lost = 0;

	for (size_t i = 0; c[i].what; i++)
		lost += c[i].is_loss ? c[i].n : 0;
	fprintf(f,
		"%" PRIu64 " conditions on the input, %" PRIu64 " queries (%" PRIu64 " without solution, %" PRIu64 " out of time, %" PRIu64
		" answers used again) in %.1f s; %" PRIu64 " of %" PRIu64 " PM-modifying instructions executed",
		s.steps, s.flips.queries, s.flips.no, s.flips.unknown, s.flips.cached, s.flips.solver_s, s.pm_covered, s.pm_known);
	if (s.diverged)
		fprintf(f, "; %" PRIu64 " runs took another path than expected", s.diverged);
	if (lost)
		fprintf(f, "; %" PRIu64 " values were taken as concrete by operations that are not followed (floating point and the like)", lost);
	fclose(f);
	return text;
}

static void coverage_set(struct exploring *x)
{
	struct explore_stats s = explore_stats(x->explore);
	char *note = note_make(x), *why = NULL;
	struct report_coverage c = { .events = x->nevents, .inputs = s.runs, .note = note };

	if (s.waiting)
		why = xasprintf("%" PRIu64 " branches were not tried yet; start again with --out %s to go on", s.waiting, x->out);
	else if (s.flips.unknown)
		why = xasprintf("the solver ran out of time on %" PRIu64 " queries; see --solver-timeout", s.flips.unknown);
	else if (x->nbad)
		why = xasprintf("the paths of %zu runs could not be read", x->nbad);
	c.is_complete = !why;
	c.why_incomplete = why;
	report_set_coverage(x->report, &c);
	free(note);
	free(why);
}

static struct report *report_begin(const struct exploring *x)
{
	struct report *r = report_new();

	report_set_platform(r, x->checking.recording.platform->name);
	for (size_t i = 0; x->target[i]; i++)
		report_add_argument(r, x->target[i]);
	return r;
}

static void report_save(struct exploring *x)
{
	char *name = xasprintf("%s/report.json", x->out);
	FILE *f = fopen(name, "w");

	if (!f)
		exploring_die(x, "cannot write %s: %s", name, strerror(errno));
	report_format_find("json")->render(f, x->report, &(struct report_options){ 0 });
	if (fclose(f) != 0)
		exploring_die(x, "cannot write %s: %s", name, strerror(errno));
	free(name);
}

/* Whatever comes, what was found stays. Nothing can be added to a report that was written, so another one goes on. */
static void report_keep(struct exploring *x)
{
	struct report *before = x->report;

	if (x->nbugs == x->nbugs_kept)
		return;
	x->nbugs_kept = x->nbugs;
	coverage_set(x);
	report_finish(before);
	report_save(x);
	x->report = report_begin(x);
	for (size_t i = 0; i < report_nbugs(before); i++)
		report_add(x->report, report_bug(before, i));
	report_free(before);
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
	x->libexec = recording_libexec();
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
	x->folder = scratch_folder();
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
	x->report = report_begin(x);
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

/* ---- the loop ---- */

static bool is_idle(const struct exploring *x)
{
	for (unsigned i = 0; i < x->pools.nslots; i++)
		if (x->slots[i].state != SLOT_FREE)
			return false;
	return true;
}

/* The first input runs alone: it tells which files are pools. */
static void jobs_check(struct exploring *x)
{
	const char *unnamed = x->njobs > 1 && x->nstarted ? pools_unnamed(&x->pools, x->target, environ) : NULL;

	if (!unnamed)
		return;
	warn("runs share %s, which neither the command line nor the environment names: one at a time from here on", unnamed);
	x->njobs = 1;
}

static void slots_fill(struct exploring *x, struct budget *budget)
{
	struct explore_input in;

	for (unsigned i = 0; i < x->njobs && (x->nstarted || is_idle(x)); i++) {
		if (x->slots[i].state != SLOT_FREE)
			continue;
		if (is_used_up(budget) || !explore_next(x->explore, &in, is_used_up, budget))
			return;
		slot_start(x, &x->slots[i], &in);
		x->nstarted++;
		if (x->nstarted == 1)
			return;
	}
}

/* What came of an input: limits are learned, and nothing of it is lost whatever comes. */
static void input_done(struct exploring *x)
{
	if (x->is_timeout_learned) {
		x->timeout_ms = 10 * x->longest_ms > LEAST_TIMEOUT_MS ? 10 * x->longest_ms : LEAST_TIMEOUT_MS;
		x->is_timeout_learned = false;
	}
	report_keep(x);
	jobs_check(x);
	progress(x, false);
}

static void inputs_run(struct exploring *x, struct budget *budget)
{
	for (;;) {
		bool is_first = x->nstarted == 1 && !is_idle(x), has_ended = false;

		if (exploring_is_stopped(x)) {
			for (unsigned i = 0; i < x->pools.nslots; i++)
				slot_stop(x, &x->slots[i]); /* thrown away */
			return;
		}
		if (!is_first)
			slots_fill(x, budget);
		if (is_idle(x))
			return;
		for (unsigned i = 0; i < x->pools.nslots; i++)
			if (slot_step(x, &x->slots[i])) {
				input_done(x);
				has_ended = true;
			}
		if (!has_ended)
			contained_wait();
	}
}

static int explore(struct exploring *x, const struct explore_setup *s, struct reporting *reporting)
{
	struct budget budget = { .x = x, .runs = s->max_runs.is_set ? s->max_runs.n : UINT64_MAX, .is_first = s->is_first };
	bool is_whole;

	if (s->max_time.is_set)
		budget.until_s = now_s() + (double)s->max_time.n;
	inputs_run(x, &budget);
	progress(x, true);
	if (!x->has_pm && x->nruns)
		warn("no persistent memory seen in any run: the program made no writable MAP_SHARED mapping of a file that is PM");
	coverage_set(x);
	is_whole = explore_stats(x->explore).waiting == 0 && x->has_pm;
	report_finish(x->report);
	report_save(x);
	return reporting_end(reporting, x->report, is_whole);
}

static int explore_run(const struct command *command, int argc, char **argv)
{
	struct exploring x = { .signal_fd = -1 };
	struct reporting reporting = { 0 };
	struct explore_setup s = { 0 };
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
		{ "platform", 0, "P", "x86-adr, eadr or msync (default: x86-adr)", OPTION_STRING, &x.checking.platform },
		CHECKING_OPTIONS(&x.checking),
		REPORTING_OPTIONS(&reporting),
		{ "pm", 0, "GLOB", "only files that match GLOB are persistent memory", OPTION_LIST, &x.checking.recording.pm },
		{ 0 },
	};
	int n = options_parse(command, table, OPTIONS_FIRST, argc, argv), status;

	if (n == 0)
		die_usage(command, "a program is needed");
	reporting_begin(command, &reporting);
	checking_begin(command, &x.checking);
	if (x.checking.is_all)
		die_usage(command, "--platform all does not go with explore; explore on one platform at a time");
	x.checking.recording.quiet = true;
	if (!x.checking.recording.platform)
		x.checking.recording.platform = platforms[0];
	x.wants_crashes = x.crash.recover || x.crash.check || x.crash.dump;
	if (x.wants_crashes) {
		x.crash.platform = x.checking.platform;
		crash_setup_begin(command, &x.crash);
	}
	exploring_begin(command, &x, &s, argv);
	status = explore(&x, &s, &reporting);
	exploring_end(&x);
	checking_end(&x.checking);
	if (x.wants_crashes)
		crash_setup_end(&x.crash);
	option_list_release(&s.parts.files);
	option_list_release(&s.parts.args);
	option_list_release(&s.parts.envs);
	option_list_release(&s.seeds);
	return status;
}

const struct command cmd_explore = {
	.name = "explore",
	.help = "find inputs that lead to persistent-memory bugs, and the bugs",
	.operands = "-- CMD [ARG]...",
	.run = explore_run,
};
