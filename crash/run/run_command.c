/* Runs one command on the present memory: starts it in a server, waits for it, stops it if it takes
 * too long, and reports how it ended. A background command is started and stopped in two separate
 * steps. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"
#include "serve/reap.h"

enum {
	FIRST_TIMEOUT_MS = 60000,
	LEAST_TIMEOUT_MS = 2000,  /* a command's time even if the deadline is near */
	READY_TIMEOUT_MS = 10000, /* time for a server to become ready, unless the user sets it */
	/* a lazy run takes longer than the run on the clean image, and a machine may slow down: up
	 * to this factor it is not a hang */
	LATE_FACTOR = 4,
	BRIEF_MIN_MS = 200, /* the least short limit */
	KILL_MS = 3000,     /* time for a server to end its run */
	TERM_MS = 2000,     /* time for a background command to end after SIGTERM */
};

void runner_set_timeout(struct runner *r, uint32_t timeout_ms)
{
	r->o.timeout_ms = timeout_ms;
}

void runner_set_deadline(struct runner *r, uint64_t deadline_ns)
{
	r->deadline_ns = deadline_ns;
}

/* Gives the time limit of a command without the deadline. */
static uint32_t own_timeout(const struct runner *r)
{
	const uint64_t late_ms = r->longest_us / 1000 * LATE_FACTOR,
		       grown_ms = late_ms < FIRST_TIMEOUT_MS ? late_ms : FIRST_TIMEOUT_MS;

	if (!r->o.timeout_ms)
		return FIRST_TIMEOUT_MS;
	return r->o.is_timeout_fixed || grown_ms < r->o.timeout_ms ? r->o.timeout_ms
								   : (uint32_t)grown_ms;
}

/* Shortens a time limit so that it ends shortly after the deadline. */
static uint32_t until_deadline(const struct runner *r, uint32_t ms)
{
	const uint64_t now_us = reap_now_us(), until_us = r->deadline_ns / 1000,
		       left_ms = until_us > now_us ? (until_us - now_us) / 1000 + 1 : 0;
	const uint64_t least_ms = left_ms > LEAST_TIMEOUT_MS ? left_ms : LEAST_TIMEOUT_MS;

	return r->deadline_ns && least_ms < ms ? (uint32_t)least_ms : ms;
}

uint32_t runner_timeout(const struct runner *r)
{
	return until_deadline(r, own_timeout(r));
}

void runner_be_brief(struct runner *r, bool is_brief)
{
	r->is_brief = is_brief;
}

/* Gives the short limit; the usual one if the short one would save little, or if no run of this
 * runner has shown how long recovery takes. */
static uint32_t brief_timeout(const struct runner *r)
{
	const uint64_t late_ms = r->longest_us / 1000 * LATE_FACTOR,
		       brief_ms = late_ms > BRIEF_MIN_MS ? late_ms : BRIEF_MIN_MS;
	const uint32_t usual_ms = runner_timeout(r);

	return !r->longest_us || brief_ms > usual_ms / 2 ? usual_ms : (uint32_t)brief_ms;
}

uint32_t runner_ready_timeout(const struct runner *r)
{
	const uint32_t own_ms = own_timeout(r);

	return until_deadline(
		r, r->o.is_timeout_fixed || own_ms > READY_TIMEOUT_MS ? own_ms : READY_TIMEOUT_MS);
}

/* Says why the run's result does not count; NULL if it counts. */
static const char *why_unsound(struct runner *r, const struct server *s,
			       const struct run_message *end)
{
	const struct run_region *g = r->region.at;

	if (g->is_unsound)
		return g->why_unsound[0] ? g->why_unsound : "the runtime gave up";
	/* The runtime notes every signal that kills a process. SIGSEGV without a note comes from
	 * the kernel, which had no stack space to deliver a signal. */
	if (s->mode != PROGRAM_PLAIN && WIFSIGNALED(end->status) &&
	    WTERMSIG(end->status) == SIGSEGV && !g->signal)
		return "it died before pmend's runtime could see where";
	if (g->ndecisions > g->decisions_room) {
		snprintf(r->unsound, sizeof r->unsound, "the run took more than %u decisions",
			 g->decisions_room);
		return r->unsound;
	}
	if (r->is_lazy && s->mode == PROGRAM_PLAIN && g->nlines && r->why_blind)
		return r->why_blind;
	if (r->is_lazy && s->mode == PROGRAM_PLAIN && g->nlines) {
		snprintf(r->unsound, sizeof r->unsound, "%.100s cannot be preloaded: it %s",
			 s->program, s->why_plain);
		return r->unsound;
	}
	return NULL;
}

#define OPENS (IN_OPEN | IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO)

/* Starts to watch whether an image is opened, made or removed. It is for programs without the
 * runtime, and uses inotify. The runtime knows more: it also sees accesses to files that do not
 * exist. -1: watching is impossible. */
static int opens_watch(const struct image_files *images)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	for (size_t i = 0; fd >= 0 && i < images->folders.n; i++)
		if (inotify_add_watch(fd, images->folders.at[i].image, OPENS) < 0) {
			close(fd);
			fd = -1;
		}
	return fd;
}

static bool opens_end(int fd)
{
	_Alignas(struct inotify_event) char room[4096];
	bool has_opened = false;
	ssize_t n;

	while ((n = read(fd, room, sizeof room)) > 0 || (n < 0 && errno == EINTR))
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *ev = (const struct inotify_event *)(room + at);

			has_opened |= !(ev->mask & IN_ISDIR);
			at += (ssize_t)(sizeof *ev + ev->len);
		}
	close(fd);
	return has_opened;
}

/* Notes what the runtime would report of a program that has it. */
static void watch_opens(struct runner *r, const struct server *s)
{
	if (s->mode != PROGRAM_PLAIN || r->has_opened || r->opens >= 0)
		return;
	r->has_missed = true;
	r->opens = opens_watch(&r->images);
	r->has_opened = r->opens < 0;
}

static void note_opens(struct runner *r)
{
	if (r->opens >= 0)
		r->has_opened |= opens_end(r->opens);
	r->opens = -1;
}

static void fill_result(struct runner *r, struct server *s, const struct run_message *end,
			bool is_hung, struct run_result *result)
{
	const struct run_region *g = r->region.at;

	note_opens(r);
	*result = (struct run_result){ .time_us = end->time_us,
				       .nkilled = end->nkilled,
				       .is_done = g->is_done != 0,
				       .output_hash = capture_hash(&s->out),
				       .why_unsound = why_unsound(r, s, end),
				       .signal = (int)g->signal,
				       .signal_addr = g->signal_addr,
				       .signal_stack = g->signal_stack,
				       .signal_nframes = g->signal_nframes < RUN_STACK
								 ? g->signal_nframes
								 : RUN_STACK };
	result->output = capture_text(&s->out, &result->output_len);
	result->errors = capture_text(&s->err, &result->errors_len);
	if (is_hung && WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGKILL) {
		result->end = RUN_HUNG;
		result->code = SIGKILL;
	} else if (WIFSIGNALED(end->status)) {
		result->end = RUN_SIGNALLED;
		result->code = WTERMSIG(end->status);
	} else {
		result->end = RUN_EXITED;
		result->code = WEXITSTATUS(end->status);
	}
}

/* Kills all processes that were started and still exist. The next server_get() finds the servers
 * dead and removes them. */
static void purge(struct runner *r)
{
	for (size_t i = 0; i < r->servers.n; i++)
		if (r->servers.at[i]->pid > 0)
			kill(r->servers.at[i]->pid, SIGKILL);
	guard_kill(r->folder, 0);
	for (size_t i = 0; i < r->servers.n; i++)
		server_reap(r->servers.at[i]);
}

/* Stops a run by SIGKILL; with ask_first, by SIGTERM before that. Returns what server_wait() does.
 * Unless that is above 0, the server does not answer, and all servers and runs were killed. */
static int stop(struct runner *r, struct server *s, bool ask_first, struct run_message *end,
		struct error *err)
{
	int got = 0;

	if (ask_first) {
		server_signal(s, SIGTERM);
		got = server_wait(r, s, TERM_MS, end, err);
	}
	if (got == 0) {
		server_signal(s, SIGKILL);
		got = server_wait(r, s, KILL_MS, end, err);
	}
	if (got > 0)
		return got;
	purge(r); /* the run stopped or killed its server */
	*end = (struct run_message){ .op = RUN_ENDED, .status = SIGKILL };
	return got;
}

/* Gives a server for the next run; replaces one that died meanwhile because somebody killed it. */
static struct server *start(struct runner *r, const struct runner_command *c, struct error *err)
{
	struct server *s = server_get(r, c, err);

	if (s)
		watch_opens(r, s);
	if (s && server_start(s, err) < 0) {
		s = server_get(r, c, err);
		if (s && server_start(s, err) < 0)
			s = NULL;
	}
	return s;
}

/* Did the runtime just find out, in its first program, that it cannot watch programs on this
 * machine? From then on, all runs use whole images. */
static bool is_newly_blind(struct runner *r)
{
	struct run_region *g = r->region.at;

	if (!g->is_blind || r->why_blind || r->background)
		return false;
	r->why_blind = xstrdup(g->why_unsound);
	g->is_blind = g->is_unsound = 0;
	g->why_unsound[0] = 0;
	while (r->servers.n > 0)
		server_free(r->servers.at[--r->servers.n]);
	return true;
}

int runner_command_run(struct runner *r, const struct runner_command *c, struct run_result *result,
		       struct error *err)
{
	const uint32_t usual_ms = runner_timeout(r),
		       timeout_ms = r->is_brief ? brief_timeout(r) : usual_ms;
	struct run_message end;
	struct server *s;
	bool is_hung = false;
	int got;

	*result = (struct run_result){ .end = RUN_NOT_STARTED, .output = "", .errors = "" };
	if (r->has_failed)
		return error_set(err, "%s", r->failure.msg);
	if (!r->background)
		region_begin_command(&r->region);
	excess_begin(r);
	s = start(r, c, err);
	if (!s)
		return -1;
	got = server_wait(r, s, timeout_ms, &end, err);
	if (got == 0) {
		is_hung = true;
		got = stop(r, s, false, &end, err);
	} else if (got < 0 && s->pid < 0) {
		purge(r);
	}
	if (got < 0)
		return -1;
	if (is_newly_blind(r))
		return runner_command_run(r, c, result, err);
	if (is_hung && runner_is_cancelled(r))
		return error_set(err, "interrupted");
	fill_result(r, s, &end, is_hung, result);
	result->is_brief = result->end == RUN_HUNG && timeout_ms < usual_ms;
	if (!is_hung && result->time_us > r->longest_us)
		r->longest_us = result->time_us;
	return 0;
}

size_t runner_objects(const struct runner *r, const struct runner_command *c,
		      const struct trace_object **list)
{
	*list = NULL;
	for (size_t i = 0; i < r->servers.n; i++)
		if (argv_equal(r->servers.at[i]->command, c->argv)) {
			*list = r->servers.at[i]->objects.at;
			return r->servers.at[i]->objects.n;
		}
	return 0;
}

/* ---- background commands ---- */

int runner_background(struct runner *r, const struct runner_command *c, struct error *err)
{
	struct server *s;

	if (r->background)
		BUG("a second background command");
	if (r->has_failed)
		return error_set(err, "%s", r->failure.msg);
	region_begin_command(&r->region);
	s = start(r, c, err);
	r->background = s;
	return s ? 0 : -1;
}

bool runner_background_runs(struct runner *r)
{
	struct pollfd p = { .events = POLLIN };

	if (!r->background || r->background->pid < 0)
		return false;
	capture_drain(&r->background->out);
	capture_drain(&r->background->err);
	p.fd = r->background->control; /* a reader of its end for runner_background_end() */
	return poll(&p, 1, 0) == 0;
}

void runner_background_end(struct runner *r, struct run_result *result)
{
	struct server *s = r->background;
	struct run_message end;
	struct error err;
	struct run_result ignored;
	bool runs = runner_background_runs(r);
	int got;

	if (!s)
		BUG("there is no background command");
	got = runs ? stop(r, s, true, &end, &err) : server_wait(r, s, KILL_MS, &end, &err);
	if (got <= 0)
		end = (struct run_message){ .op = RUN_ENDED, .status = SIGKILL };
	r->background = NULL;
	fill_result(r, s, &end, runs, result ? result : &ignored);
}
