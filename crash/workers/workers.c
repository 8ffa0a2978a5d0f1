/* Starts worker processes, watches them until all have ended, and collects their messages. If one
 * dies, the others are stopped, because they would wait for it. */
#include "crash/workers/workers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash/workers/messages.h"
#include "crash/workers/worker.h"
#include "util/proc.h"

#define TICK_MS 200

struct job {
	pid_t pid;
	int fd;
	/* readable when the process has ended; -1: it has ended, or the kernel is too old */
	int end;
	uint64_t told; /* how far its messages were read for what it found */
};

static int start_job(struct job *j, const struct plan *p, const struct crash_options *o,
		     const struct references *refs, const struct representatives *reps,
		     struct crash_counters *counters, struct race_table *table, uint32_t number,
		     const struct lot *lot, struct error *err)
{
	pid_t parent = getpid();

	/* a file instead of a pipe: it is read only at the end, and a pipe would be full by then */
	j->fd = memfd_create("pmend-worker", MFD_CLOEXEC);
	if (j->fd < 0)
		return error_set(err, "cannot create shared memory for a worker: %s",
				 strerror(errno));
	j->pid = fork();
	if (j->pid < 0) {
		close(j->fd);
		return proc_refused(errno, err);
	}
	if (j->pid == 0) {
		/* The parent handles the terminal's Ctrl-C, and lets workers end in order. */
		signal(SIGINT, SIG_IGN); /* our parent ends us */
		signal(SIGTERM, SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		_exit(worker_run(p, o, refs, reps, counters, table, number, lot, j->fd));
	}
	j->end = (int)syscall(SYS_pidfd_open, j->pid, 0);
	return 0;
}

static void stop_all(struct crash_counters *counters)
{
	__atomic_store_n(&counters->is_interrupted, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&counters->is_stopped, 1, __ATOMIC_RELAXED);
}

/* Waits until a running worker has ended, or until it is time for the next check. */
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

static void tell_found(const struct crash_options *o, struct job *jobs, size_t n)
{
	if (!o->found || !o->wants_found(o->arg))
		return;
	for (size_t i = 0; i < n; i++)
		worker_messages_peek(jobs[i].fd, &jobs[i].told, o->found, o->found_arg);
}

/* Waits until all workers have ended. */
static void wait_for(const struct crash_options *o, struct job *jobs, size_t n,
		     struct crash_counters *counters, uint64_t npoints)
{
	size_t running = n;

	/* if one died during a failure point, the others would wait for it */
	while (running > 0) {
		siginfo_t info = { 0 };

		running = 0;
		for (size_t i = 0; i < n; i++) {
			info.si_pid = 0;
			if (waitid(P_PID, (id_t)jobs[i].pid, &info, WEXITED | WNOHANG | WNOWAIT) ==
				    0 &&
			    info.si_pid == 0)
				running++;
			else if (info.si_code != CLD_EXITED)
				__atomic_store_n(&counters->is_stopped, 1, __ATOMIC_RELAXED);
		}
		if (o->progress)
			o->progress(counters, npoints, o->arg);
		tell_found(o, jobs, n);
		if (o->is_interrupted && o->is_interrupted(o->arg))
			stop_all(counters);
		if (running > 0)
			wait_tick(jobs, n);
	}
}

int workers_run(const struct plan *p, const struct crash_options *o, const struct references *refs,
		const struct lot *lot, struct race_table *table, struct crash_result *r,
		struct crash_counters *counters, struct error *err)
{
	size_t n = o->jobs < lot->n ? o->jobs : lot->n, started = 0;
	struct job *jobs = xcalloc(n, sizeof *jobs);
	int result = 0;

	if (table)
		race_table_reset(table, (uint32_t)n);
	counters->next_window = 0;
	for (int stage = 0; stage < STAGES; stage++)
		counters->busy[stage] = n;
	while (started < n && result == 0) {
		result = start_job(&jobs[started], p, o, refs, r->representatives, counters, table,
				   (uint32_t)started, lot, err);
		started += result == 0;
	}
	if (result < 0)
		__atomic_store_n(&counters->is_stopped, 1, __ATOMIC_RELAXED);
	wait_for(o, jobs, started, counters,
		 r->representatives && !o->shard.of ? r->representatives->nstops : r->nshare);
	for (size_t i = 0; i < started; i++) {
		waitpid(jobs[i].pid, NULL, 0);
		if (jobs[i].end >= 0)
			close(jobs[i].end);
		lseek(jobs[i].fd, 0, SEEK_SET);
		if (worker_messages_read(jobs[i].fd, r, err) < 0)
			result = -1;
		close(jobs[i].fd);
	}
	free(jobs);
	return result;
}
