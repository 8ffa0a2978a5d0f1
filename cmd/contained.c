/* See contained.h. */
#include "cmd/contained.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 5
#define AFTER_CLIENT_MS 3000 /* that a server has to end by itself */
#define AFTER_TERM_MS 5000

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

_Noreturn static void child(const struct contained *c)
{
	int in = open(c->stdin_path ? c->stdin_path : "/dev/null", O_RDONLY);
	int out = open(c->output_path ? c->output_path : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	struct rlimit none = { 0, 0 };
	sigset_t all;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(127);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	execve(c->argv[0], c->argv, c->env);
	_exit(127);
}

/* ---- the client ---- */

struct client {
	int fd; /* -1: not connected */
	size_t sent;
	bool is_done;
};

static void client_step(struct client *k, const struct contained *c)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(c->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char buf[4096];
	ssize_t n;

	if (k->fd < 0) {
		k->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (k->fd >= 0 && connect(k->fd, (struct sockaddr *)&to, sizeof to) < 0) {
			close(k->fd);
			k->fd = -1;
			return;
		}
		if (k->fd >= 0)
			fcntl(k->fd, F_SETFL, O_NONBLOCK);
	}
	while (k->sent < c->len_bytes && (n = send(k->fd, c->bytes + k->sent, c->len_bytes - k->sent, MSG_NOSIGNAL)) > 0) {
		k->sent += (size_t)n;
		if (k->sent == c->len_bytes)
			shutdown(k->fd, SHUT_WR);
	}
	while ((n = recv(k->fd, buf, sizeof buf, 0)) > 0)
		;
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK))
		k->is_done = true;
}

/* ---- waiting ---- */

static bool has_ended(pid_t pid, int *wait_status)
{
	return waitpid(pid, wait_status, WNOHANG) == pid;
}

static void tick(void)
{
	const struct timespec t = { .tv_nsec = TICK_MS * 1000000L };

	nanosleep(&t, NULL);
}

/* Waits until it ended, or the time is over; plays the client meanwhile. */
static bool await(pid_t pid, const struct contained *c, struct client *k, double until_ms, int *wait_status)
{
	double client_done_ms = 0;

	for (;;) {
		if (has_ended(pid, wait_status))
			return true;
		if (now_ms() > until_ms)
			return false;
		if (k && !k->is_done)
			client_step(k, c);
		if (k && k->is_done) {
			if (client_done_ms == 0)
				client_done_ms = now_ms();
			if (now_ms() > client_done_ms + AFTER_CLIENT_MS)
				return false;
		}
		tick();
	}
}

int contained_run(const struct contained *c, enum contained_end *end, int *status, struct error *err)
{
	struct client client = { .fd = -1 };
	int wait_status = 0;
	pid_t pid = fork();
	bool is_over;

	if (pid < 0)
		return error_set(err, "cannot start %s: %s", c->argv[0], strerror(errno));
	if (pid == 0)
		child(c);
	setpgid(pid, pid); /* whoever comes first */
	is_over = await(pid, c, c->port ? &client : NULL, now_ms() + c->timeout_ms, &wait_status);
	*end = CONTAINED_HUNG;
	if (!is_over && client.is_done) {
		*end = CONTAINED_STOPPED;
		kill(-pid, SIGTERM);
		is_over = await(pid, c, NULL, now_ms() + AFTER_TERM_MS, &wait_status);
	} else if (is_over) {
		*end = WIFSIGNALED(wait_status) ? CONTAINED_KILLED : CONTAINED_EXITED;
	}
	kill(-pid, SIGKILL); /* also what it left behind */
	if (!is_over)
		waitpid(pid, &wait_status, 0);
	if (client.fd >= 0)
		close(client.fd);
	*status = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
	return 0;
}
