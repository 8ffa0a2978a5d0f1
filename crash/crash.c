/* See crash.h. First recovery must cope with the states where nothing is lost; then workers, one a job, share the failure points. */
#include "crash/crash.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash/findings.h"
#include "crash/worker.h"

#define TIMEOUT_MIN_MS 2000u
#define TIMEOUT_FACTOR 10u
#define TICK_MS 200

/* ---- before: is recovery sound at all? ---- */

static int try_clean(struct walk *w, struct runner *runner, const struct recovery *c, const char *which, uint64_t *time_us,
		     struct error *err)
{
	struct state_set set = { 0 };
	uint64_t *newest, start = clock_ns();
	struct verdict v;
	char *text;
	int result;

	states_collect(&set, w->model);
	newest = states_newest(&set);
	runner_load(runner, &w->image, &set);
	runner_begin(runner, newest, false);
	free(newest);
	result = verdict_run(&v, runner, c, NULL, err);
	states_release(&set);
	if ((clock_ns() - start) / 1000 > *time_us)
		*time_us = (clock_ns() - start) / 1000;
	if (result == 0 && v.why_unsound)
		return error_set(err, "recovery cannot be run on crash states: %s", v.why_unsound);
	if (result < 0 || v.kind == VERDICT_OK)
		return result;
	text = verdict_text(&v);
	error_set(err, "recovery fails on the %s state, where nothing is lost: %s%s%.200s. Not the crash is to blame, but the checker (%s), "
		       "so nothing was explored",
		  which, text, v.result.errors_len ? ": " : "", v.result.errors_len ? v.result.errors : "",
		  v.command ? v.command->shown : "?");
	free(text);
	return -1;
}

/* Before anything was stored that may be lost: at the first failure point, the first operation is in progress already. */
static int try_begin(const struct plan *p, const struct crash_options *o, struct runner *runner, uint64_t *time_us, struct error *err)
{
	struct walk w;
	int result;

	walk_init(&w, p, o->stops);
	walk_enter(&w);
	result = try_clean(&w, runner, o->recovery, "initial", time_us, err);
	walk_release(&w);
	return result;
}

/* Counts the failure points on the way, and lists them for a strategy that chooses among them. */
static int try_ends(const struct plan *p, const struct crash_options *o, struct runner *runner, struct crash_result *r, struct rep_points *points,
		    struct error *err)
{
	uint64_t time_us = 0;
	struct walk w;
	int result;

	walk_init(&w, p, o->stops);
	if (!walk_next(&w)) {
		walk_release(&w);
		return error_set(err, "%s holds no failure point: nothing was stored to persistent memory%s", p->path,
				 p->has_roi ? " inside the region of interest" : "");
	}
	result = try_begin(p, o, runner, &time_us, err);
	do
		if (o->strategy->is_representative)
			rep_points_add(points, &w);
	while (result == 0 && walk_next(&w));
	r->npoints = w.point;
	if (result == 0)
		result = try_clean(&w, runner, o->recovery, "final", &time_us, err);
	r->timeout_ms = (uint32_t)(time_us / 1000 * TIMEOUT_FACTOR);
	if (r->timeout_ms < TIMEOUT_MIN_MS)
		r->timeout_ms = TIMEOUT_MIN_MS;
	walk_release(&w);
	return result;
}

static void keep_objects(struct crash_result *r, const struct runner *runner, const struct recovery *c)
{
	for (int part = 0; part < PART_N; part++) {
		const struct runner_command *command = recovery_command(c, (enum recovery_part)part);
		const struct trace_object *list;
		size_t n = command ? runner_objects(runner, command, &list) : 0;

		for (size_t i = 0; i < n; i++) {
			struct trace_object *o = vec_add(&r->objects[part]);

			*o = list[i];
			o->path = xstrdup(list[i].path);
			o->id = (uint32_t)(i * PART_N) + (uint32_t)part;
		}
	}
}

static const char *why_no_dump(const struct plan *p)
{
	if (p->operations.n > 0)
		return NULL;
	if (p->is_output_bunched)
		return "the program's output came in bunches of lines, which do not tell its operations apart; annotate them with "
		       "PMEND_OP_BEGIN and PMEND_OP_END, or let it flush its output after each";
	return "the program has no annotated operations and printed nothing";
}

static bool wants_references(const struct crash_options *o, const struct crash_result *r)
{
	return o->recovery->dump && !o->allowed && !r->why_no_dump;
}

static int prepare(const struct plan *p, struct crash_options *o, struct references *refs, struct rep_points *points, struct crash_result *r,
		   struct error *err)
{
	struct runner *runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	int result;

	if (!runner)
		return -1;
	result = try_ends(p, o, runner, r, points, err);
	if (o->runner.timeout_ms)
		r->timeout_ms = o->runner.timeout_ms;
	o->runner.timeout_ms = r->timeout_ms;
	if (o->recovery->dump && !o->allowed)
		r->why_no_dump = why_no_dump(p);
	if (result == 0 && wants_references(o, r) && !o->strategy->is_representative)
		result = references_take(refs, p, runner, o->recovery, NULL, 0, err);
	if (result == 0)
		keep_objects(r, runner, o->recovery);
	o->runner.has_roi |= runner_has_roi(runner); /* each worker's first run is judged like all others */
	runner_free(runner);
	return result;
}

/* ---- workers ---- */

struct job {
	pid_t pid;
	int fd;
	int end; /* readable when it has ended; -1: it has, or the kernel is too old */
};

static int start_job(struct job *j, const struct plan *p, const struct crash_options *o, const struct references *refs,
		     const struct representatives *reps, struct crash_counters *counters, struct race_table *table, uint32_t number,
		     struct error *err)
{
	pid_t parent = getpid();

	/* Not a pipe: nobody reads before the end, and it must not fill. */
	j->fd = memfd_create("pmend-worker", MFD_CLOEXEC);
	if (j->fd < 0)
		return error_set(err, "cannot make memory to talk to a worker: %s", strerror(errno));
	j->pid = fork();
	if (j->pid < 0) {
		close(j->fd);
		return error_set(err, "cannot start a worker: %s", strerror(errno));
	}
	if (j->pid == 0) {
		/* The terminal's Ctrl-C is the parent's business: it lets us end in order. */
		signal(SIGINT, SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		_exit(worker_run(p, o, refs, reps, counters, table, number, j->fd));
	}
	j->end = (int)syscall(SYS_pidfd_open, j->pid, 0);
	return 0;
}

static void stop_all(struct crash_counters *counters)
{
	__atomic_store_n(&counters->is_interrupted, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&counters->is_stopped, 1, __ATOMIC_RELAXED);
}

/* One that runs has ended, or it is time to look after them. */
static void wait_tick(struct job *jobs, size_t n)
{
	struct pollfd *ends = xcalloc(n, sizeof *ends);

	for (size_t i = 0; i < n; i++)
		ends[i] = (struct pollfd){ .fd = jobs[i].end, .events = POLLIN };
	poll(ends, n, TICK_MS);
	for (size_t i = 0; i < n; i++)
		if (ends[i].revents) {
			close(jobs[i].end);
			jobs[i].end = -1;
		}
	free(ends);
}

/* Until all have ended. */
static void wait_for(const struct crash_options *o, struct job *jobs, size_t n, struct crash_counters *counters, uint64_t npoints)
{
	size_t running = n;

	/* one that died in the middle of a failure point would be waited for */
	while (running > 0) {
		siginfo_t info = { 0 };

		running = 0;
		for (size_t i = 0; i < n; i++) {
			info.si_pid = 0;
			if (waitid(P_PID, (id_t)jobs[i].pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0)
				running++;
			else if (info.si_code != CLD_EXITED)
				__atomic_store_n(&counters->is_stopped, 1, __ATOMIC_RELAXED);
		}
		if (o->progress)
			o->progress(counters, npoints, o->arg);
		if (o->is_interrupted && o->is_interrupted(o->arg))
			stop_all(counters);
		if (running > 0)
			wait_tick(jobs, n);
	}
}

/* What was tested on behalf of what, in words. */
static char *what_is_represented(const struct representatives *reps)
{
	struct rep_account a;

	representatives_account(reps, &a);
	if (a.groups_tested < a.groups)
		return xasprintf("the budget ended after %llu of %llu groups of update behaviours", (unsigned long long)a.groups_tested,
				 (unsigned long long)a.groups);
	return xasprintf("%llu of %llu update behaviours were tested, on behalf of all: what only others do was not seen",
			 (unsigned long long)a.tested, (unsigned long long)a.behaviours);
}

/* What keeps the exploration from being complete, in words; NULL if nothing does. */
static char *what_is_missing(const struct plan *p, const struct crash_result *r, bool is_interrupted)
{
	const struct crash_counters *c = &r->counters;

	if (trace_damage(p->trace))
		return xstrdup(trace_damage(p->trace));
	if (is_interrupted)
		return xasprintf("interrupted after %llu of %llu failure points", (unsigned long long)c->points,
				 (unsigned long long)r->npoints);
	if (r->representatives)
		return what_is_represented(r->representatives);
	if (c->points < r->npoints)
		return xasprintf("the budget ended after %llu of %llu failure points", (unsigned long long)c->points,
				 (unsigned long long)r->npoints);
	if (c->cut_points > 0)
		return xasprintf("%llu of %llu failure points have more states than runs were spent on them (--sample)",
				 (unsigned long long)c->cut_points, (unsigned long long)r->npoints);
	if (c->impossible > 0)
		return xasprintf("recovery could not be run on %llu states: %s", (unsigned long long)c->impossible,
				 r->why_fallback ? r->why_fallback : "?");
	if (!p->is_exact)
		return xstrdup("some lines were stored to so often that the model kept only a part of their states");
	if (c->unstable > 0)
		return xasprintf("%llu failures did not repeat: recovery depends on more than the crash state",
				 (unsigned long long)c->unstable);
	return NULL;
}

/* All failure points, or the stops of one wave. */
static int work_once(const struct plan *p, const struct crash_options *o, const struct references *refs, struct crash_result *r,
		     struct crash_counters *counters, struct error *err)
{
	uint64_t npoints = r->representatives ? r->representatives->stops.n : r->npoints;
	size_t n = o->jobs < npoints ? o->jobs : npoints, started = 0;
	struct race_table *table = o->races.is_wanted ? race_table_new((uint32_t)n) : NULL;
	struct job *jobs = xcalloc(n, sizeof *jobs);
	int result = 0;

	counters->next_point = 1;
	while (started < n && result == 0) {
		result = start_job(&jobs[started], p, o, refs, r->representatives, counters, table, (uint32_t)started, err);
		started += result == 0;
	}
	if (result < 0)
		__atomic_store_n(&counters->is_stopped, 1, __ATOMIC_RELAXED);
	wait_for(o, jobs, started, counters, r->representatives ? r->representatives->nstops : npoints);
	for (size_t i = 0; i < started; i++) {
		waitpid(jobs[i].pid, NULL, 0);
		if (jobs[i].end >= 0)
			close(jobs[i].end);
		lseek(jobs[i].fd, 0, SEEK_SET);
		if (worker_listen(jobs[i].fd, r, err) < 0)
			result = -1;
		close(jobs[i].fd);
	}
	if (table)
		races_settle(p, table, r);
	race_table_free(table);
	free(jobs);
	return result;
}

/* What a dump may print after the crashes of this wave: most operations of a long run are never asked about. */
static int take_references(const struct plan *p, const struct crash_options *o, struct references *refs, const struct representatives *reps,
			   struct error *err)
{
	struct runner *runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	uint64_t *crashes = xcalloc(reps->stops.n, sizeof *crashes);
	int result = -1;

	for (size_t i = 0; i < reps->stops.n; i++)
		crashes[i] = reps->points.list.at[reps->stops.at[i].point - 1].seq;
	if (runner)
		result = references_take(refs, p, runner, o->recovery, crashes, reps->stops.n, err);
	runner_free(runner);
	free(crashes);
	return result;
}

static int work_in_waves(const struct plan *p, const struct crash_options *o, struct references *refs, struct rep_points *points,
			 struct crash_result *r, struct crash_counters *counters, struct error *err)
{
	int result = 0;

	r->representatives = representatives_new(p, points, &o->types);
	while (result == 0 && !counters->is_stopped && representatives_next(r->representatives)) {
		if (wants_references(o, r))
			result = take_references(p, o, refs, r->representatives, err);
		if (result == 0)
			result = work_once(p, o, refs, r, counters, err);
	}
	return result;
}

static int work(const struct plan *p, const struct crash_options *o, struct references *refs, struct rep_points *points, struct crash_result *r,
		struct error *err)
{
	struct crash_counters *counters =
		mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int result;

	if (counters == MAP_FAILED)
		BUG("no memory for counters");
	result = o->strategy->is_representative ? work_in_waves(p, o, refs, points, r, counters, err) : work_once(p, o, refs, r, counters, err);
	bugs_sort(r); /* whichever worker told first */
	bugs_settle(r);
	first_crashes_settle(r);
	r->counters = *counters;
	munmap(counters, sizeof *counters);
	return result;
}

int crash_explore(const struct plan *p, const struct crash_options *options, struct crash_result *r, struct error *err)
{
	struct crash_options o = *options;
	struct references refs = { 0 };
	struct rep_points points = { 0 };
	int result;

	*r = (struct crash_result){ 0 };
	result = prepare(p, &o, &refs, &points, r, err);
	if (result == 0)
		result = work(p, &o, &refs, &points, r, err);
	findings_sort(r);
	r->why_incomplete = what_is_missing(p, r, o.is_interrupted && o.is_interrupted(o.arg));
	r->is_broken_off = trace_damage(p->trace) || (o.is_interrupted && o.is_interrupted(o.arg));
	r->is_complete = result == 0 && !r->why_incomplete;
	references_release(&refs);
	vec_release(&points.list);
	return result;
}
