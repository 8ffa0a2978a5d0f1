/* Keeps servers for the commands: finds an idle server of a command or starts one, lets the server
 * start runs, and watches it. Servers answer with struct run_message. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"
#include "serve/reap.h"
#include "util/proc.h"
#include "util/sysroot.h"

enum {
	HELLO_MS = 60000, /* loading a program's libraries may take long */
	CANCEL_MS = 200,  /* how often we check whether the user interrupted */
	EXCESS_MS = 20,   /* how often we check what a run without limits uses */
	/* how long we wait before reading output: a short run is read only at its end, because its
	 * pipes can store it */
	QUIET_MS = 2,
	END_MS = 1000,
};

/* ---- the end of a server ---- */

static void objects_release(struct server *s)
{
	for (size_t i = 0; i < s->objects.n; i++)
		free(s->objects.at[i].path);
	vec_release(&s->objects);
}

static void server_read_objects(struct server *s)
{
	char *path = xasprintf("/proc/%d/maps", (int)s->pid), *line = NULL;
	FILE *maps = s->mode == PROGRAM_FORK ? fopen(path, "re") : NULL;
	size_t room = 0;

	free(path);
	objects_release(s);
	while (maps && getline(&line, &room, maps) > 0) {
		unsigned long long begin, end, offset;
		char mode[8];
		int at = 0;

		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &begin, &end, mode, &offset,
			   &at) < 4 ||
		    !at || line[at] != '/' || mode[2] != 'x')
			continue;
		line[strcspn(line, "\n")] = 0;
		*vec_add(&s->objects) =
			(struct trace_object){ .va = begin,
					       .len_bytes = end - begin,
					       .offset = offset,
					       .id = (uint32_t)s->objects.n,
					       .path = xstrdup(sysroot_own(line + at)) };
	}
	free(line);
	if (maps)
		fclose(maps);
}

int server_reap(struct server *s)
{
	const uint64_t give_up = reap_now_us() + END_MS * 1000;
	int status = 0;

	if (s->control >= 0)
		close(s->control);
	s->control = -1;
	s->is_busy = false;
	while (s->pid > 0) {
		pid_t got = waitpid(s->pid, &status, WNOHANG);

		if (got == s->pid || (got < 0 && errno != EINTR))
			s->pid = -1;
		else if (reap_now_us() > give_up)
			kill(s->pid, SIGKILL);
		if (s->pid > 0)
			nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
	}
	return status;
}

void server_free(struct server *s)
{
	server_reap(s);
	capture_release(&s->out);
	capture_release(&s->err);
	objects_release(s);
	free(s->command);
	free(s->argv);
	free(s->program);
	free(s);
}

static const char *last_line(struct capture *c)
{
	size_t len;
	char *text, *start;

	capture_drain(c);
	text = (char *)capture_text(c, &len);
	while (len && strchr("\n\r \t", text[len - 1]))
		text[--len] = 0;
	start = strrchr(text, '\n');
	return start ? start + 1 : text;
}

/* Says in err how the server process ended. */
static int server_died(struct server *s, const char *when, struct error *err)
{
	const int status = server_reap(s);
	const char *said = last_line(&s->err);
	char name[64], how[96];

	if (WIFSIGNALED(status))
		snprintf(how, sizeof how, "died of %s",
			 proc_signal_name(WTERMSIG(status), name, sizeof name));
	else
		snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(status));
	return error_set(err, "%s %s %s%s%s", s->program, how, when, *said ? ": " : "", said);
}

/* ---- messages ---- */

static void drain(struct server *s)
{
	capture_drain(&s->out);
	capture_drain(&s->err);
}

/* Waits for a message, and meanwhile reads what the run and the background command print. 1: it
 * came; 0: the time is over; -1: the server died. */
static int server_receive(struct runner *r, struct server *s, uint32_t timeout_ms,
			  struct run_message *m)
{
	const uint64_t begin = reap_now_us(), end = begin + (uint64_t)timeout_ms * 1000;
	struct server *other = r->background && r->background != s ? r->background : NULL;
	struct pollfd p[5] = { { .fd = s->control, .events = POLLIN },
			       { .fd = s->out.fd, .events = POLLIN },
			       { .fd = s->err.fd, .events = POLLIN },
			       { .fd = other ? other->out.fd : -1, .events = POLLIN },
			       { .fd = other ? other->err.fd : -1, .events = POLLIN } };
	uint64_t look_us = 0;
	nfds_t n = 1;

	if (s->control < 0)
		return -1;
	for (uint64_t now = begin;; now = reap_now_us()) {
		const uint64_t rest_ms = now < end ? (end - now + 999) / 1000 : 0;
		const uint64_t look_ms = n == 1 ? QUIET_MS : r->lifted ? EXCESS_MS : CANCEL_MS;
		const int wait_ms = (int)(rest_ms > look_ms ? look_ms : rest_ms);
		const int ready = poll(p, n, wait_ms);

		if (ready < 0 && errno != EINTR)
			return -1;
		if (ready > 0 && p[0].revents)
			return recv(s->control, m, sizeof *m, 0) == (ssize_t)sizeof *m ? 1 : -1;
		if (ready == 0 && ((uint64_t)wait_ms >= rest_ms || runner_is_cancelled(r)))
			return 0;
		if (r->lifted && r->exceeded < 0 && now >= look_us) {
			if (!excess_is_fine(r))
				return 0;
			look_us = reap_now_us() + EXCESS_MS * 1000;
		}
		if (n > 1) {
			drain(s);
			if (other)
				drain(other);
		}
		n = 5;
	}
}

static int server_send(struct server *s, enum run_op op, int status)
{
	const struct run_message m = { .op = op, .status = status };
	ssize_t n;

	do
		n = send(s->control, &m, sizeof m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof m ? 0 : -1;
}

void server_signal(struct server *s, int signal_number)
{
	/* if the server is gone, its end is noticed elsewhere */
	server_send(s, RUN_SIGNAL, signal_number);
}

int server_start(struct server *s, struct error *err)
{
	capture_clear(&s->out);
	capture_clear(&s->err);
	if (server_send(s, RUN_START, 0) < 0)
		return server_died(s, "before a run", err);
	s->is_busy = true;
	return 0;
}

int server_wait(struct runner *r, struct server *s, uint32_t timeout_ms, struct run_message *end,
		struct error *err)
{
	const int got = server_receive(r, s, timeout_ms, end);

	if (got < 0)
		return server_died(s, "while it served a run", err);
	if (got == 0)
		return 0;
	drain(s);
	s->is_busy = false;
	if (end->status == -1)
		return end->nkilled == EAGAIN
			       ? proc_refused(EAGAIN, err)
			       : error_set(err, "%s: %s", s->program, strerror((int)end->nkilled));
	return 1;
}

/* ---- starting a server ---- */

static int server_spawn(struct runner *r, struct server *s, struct error *err)
{
	int control[2] = { -1, -1 }, out = -1, errors = -1;
	const size_t room = r->o.output_bytes;
	struct spawn spawn;
	char *libraries;

	if (capture_init(&s->out, room, &out, err) < 0 ||
	    capture_init(&s->err, room, &errors, err) < 0)
		goto out;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0) {
		error_set(err, "socketpair: %s", strerror(errno));
		goto out;
	}
	spawn = (struct spawn){ .path = s->program,
				.argv = s->argv,
				.envp = spawn_env(r, s->program, s->mode, s->can_bind, &libraries),
				.mode = s->mode,
				.input = r->stdin_path,
				.control = control[1],
				.out = out,
				.err = errors,
				.region = r->region.at };
	s->pid = spawn_server(&spawn);
	if (s->pid < 0)
		proc_refused(errno, err);
	free(spawn.envp);
	free(libraries);
	s->control = control[0];
	control[0] = -1;
out:
	for (int i = 0; i < 2; i++)
		if (control[i] >= 0)
			close(control[i]);
	if (out >= 0)
		close(out);
	if (errors >= 0)
		close(errors);
	return s->pid > 0 ? 0 : -1;
}

/* Makes argv for the mode and starts the server. 1: it cannot be forked after all. 2: it did not
 * start, perhaps because a function is missing that it never calls. */
static int server_open(struct runner *r, struct server *s, const struct runner_command *c,
		       struct error *err)
{
	struct run_message hello;
	int got;

	if (r->why_blind && s->mode == PROGRAM_PLAIN && !runner_command_has_pool(c))
		return error_set(
			err,
			"%s: recovery cannot be watched here (%s), and so pmend cannot protect your own files from it: name the pool by {} in the command, and it runs on whole images. "
			"pmend record and pmend check still work",
			c->shown, r->why_blind);
	if (s->mode == PROGRAM_PLAIN && !runner_command_has_pool(c))
		return error_set(
			err,
			"%s: the program %s, so pmend cannot protect your own files from recovery: name the pool by {} in the "
			"command",
			c->shown, s->why_plain);
	s->argv = command_expand(c, &r->images, &r->pool_paths, s->mode == PROGRAM_PLAIN, err);
	if (!s->argv || server_spawn(r, s, err) < 0)
		return -1;
	got = server_receive(r, s, HELLO_MS, &hello);
	if (got < 0) {
		const int died = server_died(s, "before it could be run", err);

		return s->mode == PROGRAM_FORK && s->can_bind ? 2 : died;
	}
	if (got == 0 || hello.op != RUN_HELLO)
		return error_set(err, "%s does not start: its libraries are not ready after %d s",
				 s->program, HELLO_MS / 1000);
	if (s->mode == PROGRAM_FORK && hello.status)
		return 1;
	drain(s); /* output of its libraries' constructors belongs to no run */
	server_read_objects(s);
	return 0;
}

static struct server *server_new(struct runner *r, const struct runner_command *c, bool can_fork,
				 bool can_bind)
{
	struct server *s = xcalloc(1, sizeof *s);

	s->control = s->out.fd = s->err.fd = -1;
	s->pid = -1;
	s->can_bind = can_bind;
	s->command = argv_copy(c->argv);
	s->program = proc_find(c->argv[0]);
	s->generation = r->images.generation;
	s->operation = r->pool_paths.operation;
	if (!s->program)
		return s;
	s->mode = program_probe(s->program, &s->why_plain);
	if (r->o.never_preload) {
		s->mode = PROGRAM_PLAIN;
		s->why_plain = "must not be preloaded";
	}
	if (r->why_blind) {
		s->mode = PROGRAM_PLAIN;
		s->why_plain = "cannot be watched here";
	}
	if (!can_fork && s->mode == PROGRAM_FORK)
		s->mode = PROGRAM_PRELOADED;
	return s;
}

static void server_remove(struct runner *r, size_t i)
{
	server_free(r->servers.at[i]);
	r->servers.at[i] = r->servers.at[--r->servers.n];
}

/* Are the server's arguments still right with the present files? */
static bool server_fits(struct runner *r, struct server *s, const struct runner_command *c)
{
	struct error ignored;
	char **argv;
	bool fits;

	if (s->generation == r->images.generation && s->operation == r->pool_paths.operation)
		return true;
	argv = command_expand(c, &r->images, &r->pool_paths, s->mode == PROGRAM_PLAIN, &ignored);
	fits = argv && argv_equal(argv, s->argv);
	free(argv);
	if (fits) {
		s->generation = r->images.generation;
		s->operation = r->pool_paths.operation;
	}
	return fits;
}

struct server *server_get(struct runner *r, const struct runner_command *c, struct error *err)
{
	struct server *s;
	int got;

	for (size_t i = r->servers.n; i--;) {
		s = r->servers.at[i];
		if (s->is_busy || !argv_equal(s->command, c->argv))
			continue;
		if (server_fits(r, s, c) && s->pid > 0)
			return s;
		server_remove(r, i);
	}
	s = server_new(r, c, true, true);
	if (!s->program) {
		error_set(err, "%s: %s", c->argv[0], strerror(errno));
		got = -1;
	} else {
		while ((got = server_open(r, s, c, err)) > 0) {
			server_free(s);
			s = server_new(r, c, got != 1, false);
		}
	}
	if (got < 0) {
		server_free(s);
		return NULL;
	}
	*vec_add(&r->servers) = s;
	return s;
}
