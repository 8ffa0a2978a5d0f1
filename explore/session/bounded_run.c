/* Runs a program within limits of time, output and disk space, and plays the client if it is a
 * server. Nothing here blocks: the caller steps each run in turn. */
#include "explore/session/bounded_run.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/recorder.h"
#include "serve/keeper.h"

#define TICK_MS 5
#define AFTER_CLIENT_MS 3000 /* how long a server may take to end by itself */
#define AFTER_TERM_MS 5000
#define LOOK_STEPS 20 /* steps between looks at output and disk */
#define LIMIT_BYTES (64ULL << 20)

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void exec_program(const void *arg)
{
	const struct bounded_program *c = arg;
	int in = open(c->stdin_path ? c->stdin_path : "/dev/null", O_RDONLY);
	int out = open(c->output_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	struct rlimit none = { 0, 0 };
	sigset_t all;

	setrlimit(RLIMIT_CORE, &none);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(127);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	recorder_raise_files();
	execve(c->argv[0], c->argv, c->env);
	_exit(127);
}

/* ---- the client ---- */

static void client_step(struct bounded_run *r)
{
	const struct bounded_program *c = r->c;
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(c->port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char buf[4096];
	ssize_t n;

	if (r->client_fd < 0) {
		r->client_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (r->client_fd < 0)
			return;
		if (connect(r->client_fd, (struct sockaddr *)&to, sizeof to) < 0) {
			close(r->client_fd);
			r->client_fd = -1;
			return;
		}
		fcntl(r->client_fd, F_SETFL, O_NONBLOCK);
	}
	while (r->client_sent < c->len_bytes &&
	       (n = send(r->client_fd, c->bytes + r->client_sent, c->len_bytes - r->client_sent,
			 MSG_NOSIGNAL)) > 0) {
		r->client_sent += (size_t)n;
		if (r->client_sent == c->len_bytes)
			shutdown(r->client_fd, SHUT_WR);
	}
	while ((n = recv(r->client_fd, buf, sizeof buf, 0)) > 0)
		;
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	r->is_client_done = true;
	r->client_done_ms = now_ms();
}

/* ---- limits ---- */

static bool is_full(const struct bounded_program *c, const char *path)
{
	struct statvfs v;

	return statvfs(path, &v) == 0 && v.f_blocks &&
	       (uint64_t)v.f_bavail * v.f_frsize <
		       (c->free_min_bytes ? c->free_min_bytes : LIMIT_BYTES);
}

/* Has the run exceeded a limit? Sets r->end. */
static bool is_over_limits(struct bounded_run *r)
{
	const struct bounded_program *c = r->c;
	struct stat st;

	if (now_ms() > r->until_ms) {
		r->end = r->is_told ? BOUNDED_STOPPED : BOUNDED_HUNG;
		return true;
	}
	if (r->nsteps++ % LOOK_STEPS)
		return false;
	if (stat(c->output_path, &st) == 0 &&
	    (uint64_t)st.st_size > (c->output_max_bytes ? c->output_max_bytes : LIMIT_BYTES))
		r->end = BOUNDED_FLOODED;
	else if (is_full(c, c->output_path) || is_full(c, "."))
		r->end = BOUNDED_FULL;
	else
		return false;
	return true;
}

/* ---- a run ---- */

static void note_end(struct bounded_run *r, int wait_status)
{
	if (r->client_fd >= 0)
		close(r->client_fd);
	r->status = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
	r->took_ms = (unsigned)(now_ms() - r->start_ms);
	r->pid = -1;
}

int bounded_run_start(struct bounded_run *r, const struct bounded_program *c, struct error *err)
{
	*r = (struct bounded_run){ .c = c, .client_fd = -1, .start_ms = now_ms() };
	r->until_ms = r->start_ms + c->timeout_ms;
	r->pid = keeper_start(exec_program, c);
	return r->pid < 0 ? error_set(err, "cannot start %s: %s", c->argv[0], strerror(errno)) : 0;
}

bool bounded_run_step(struct bounded_run *r)
{
	int wait_status = 0;

	if (waitpid(r->pid, &wait_status, WNOHANG) == r->pid) {
		r->end = r->is_told                 ? BOUNDED_STOPPED
			 : WIFSIGNALED(wait_status) ? BOUNDED_KILLED
						    : BOUNDED_EXITED;
		note_end(r, wait_status);
		return true;
	}
	if (is_over_limits(r)) {
		note_end(r, keeper_end(r->pid));
		return true;
	}
	if (r->c->port && !r->is_client_done)
		client_step(r);
	if (r->is_client_done && !r->is_told && now_ms() > r->client_done_ms + AFTER_CLIENT_MS) {
		r->is_told = true;
		keeper_ask(r->pid);
		r->until_ms = now_ms() + AFTER_TERM_MS;
	}
	return false;
}

void bounded_run_stop(struct bounded_run *r)
{
	r->end = BOUNDED_STOPPED;
	note_end(r, keeper_end(r->pid));
}

void bounded_run_wait(void)
{
	const struct timespec t = { .tv_nsec = TICK_MS * 1000000L };

	nanosleep(&t, NULL);
}
