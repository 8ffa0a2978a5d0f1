/* A server thread that answers each request on a socket, and how durable what it stored is then. */
#include <sys/socket.h>

#include "corpus.h"

#define REQUESTS 4

typedef void handler(struct pm *p, int fd, uint64_t request);

struct service {
	struct pm *p;
	int fd;
	handler *handle;
};

static void answer(int fd, const char *text)
{
	CHECK(send(fd, text, strlen(text) + 1, 0) > 0);
}

static void *serve(void *arg)
{
	struct service *s = arg;
	uint64_t request;

	while (recv(s->fd, &request, sizeof request, 0) == sizeof request)
		s->handle(s->p, s->fd, request);
	return NULL;
}

static void run(struct pm *p, handler *handle)
{
	struct service s = { .p = p, .handle = handle };
	pthread_t thread;
	char text[16];
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	s.fd = ends[1];
	CHECK(pthread_create(&thread, NULL, serve, &s) == 0);
	for (uint64_t i = 1; i <= REQUESTS; i++) {
		CHECK(send(ends[0], &i, sizeof i, 0) == sizeof i);
		CHECK(recv(ends[0], text, 3, MSG_WAITALL) == 3); /* "ok" */
	}
	shutdown(ends[0], SHUT_WR);
	CHECK(pthread_join(thread, NULL) == 0);
	close(ends[0]);
	close(ends[1]);
}

/* ---- broken ---- */

/* The flush is there, its fence is the next request's. */
static void flush_only(struct pm *p, int fd, uint64_t request)
{
	uint64_t *slot = request % 2 ? &p->c : &p->d;

	if (request > 1)
		fence(); /* of the request before */
	*slot = request; /* BUG: ack-before-durable */
	flush_line((uintptr_t)slot);
	answer(fd, "ok");
	if (request == REQUESTS)
		fence();
}

/* What the last request stored is persisted with this one's. */
static void one_behind(struct pm *p, int fd, uint64_t request)
{
	char *slots = p->text;

	if (request > 1)
		persist(slots + 64 * (request - 2), 8);
	*(volatile uint64_t *)(slots + 64 * (request - 1)) = request; /* BUG: ack-before-durable */
	if (request == REQUESTS)
		persist(slots + 64 * (request - 1), 8);
	answer(fd, "ok");
}

/* ---- correct ---- */

static void well(struct pm *p, int fd, uint64_t request)
{
	p->a = request;
	persist(&p->a, sizeof p->a);
	answer(fd, "ok");
}

/* Tells of its progress elsewhere before it is done, and of that to nobody who asked. */
static void chatty(struct pm *p, int fd, uint64_t request)
{
	p->a = request;
	printf("request\n");
	fflush(stdout);
	fprintf(stderr, "request\n");
	p->b = request;
	persist(&p->a, 2 * sizeof p->a);
	answer(fd, "ok");
}

/* A count that the next request's flush of the line takes along: nobody meant it to be durable at once. */
static void counting(struct pm *p, int fd, uint64_t request)
{
	p->a = request;
	persist(&p->a, sizeof p->a);
	p->b++;
	answer(fd, "ok");
	if (request == REQUESTS)
		persist(&p->b, sizeof p->b);
}

/* It reads only. */
static void reading(struct pm *p, int fd, uint64_t request)
{
	answer(fd, p->a == request + 1 ? "no" : "ok");
}

/* Late, but before anybody can ask again. */
static void late(struct pm *p, int fd, uint64_t request)
{
	p->a = request;
	answer(fd, "ok");
	persist(&p->a, sizeof p->a);
}

static void case_flush_only(struct pm *p) { run(p, flush_only); }
static void case_one_behind(struct pm *p) { run(p, one_behind); }
static void case_well(struct pm *p) { run(p, well); }
static void case_chatty(struct pm *p) { run(p, chatty); }
static void case_counting(struct pm *p) { run(p, counting); }
static void case_reading(struct pm *p) { run(p, reading); }
static void case_late(struct pm *p) { run(p, late); }

/* ---- requests that are read together ---- */

/* A client sends all requests at once, as a file would; each is a line. */
static void run_block(struct pm *p, handler *handle, const char *lines)
{
	char block[256], *line, *rest = block;
	uint64_t request = 0;
	ssize_t n;
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	CHECK(send(ends[0], lines, strlen(lines), 0) == (ssize_t)strlen(lines));
	n = recv(ends[1], block, sizeof block - 1, 0);
	CHECK(n == (ssize_t)strlen(lines));
	block[n] = 0;
	while ((line = strsep(&rest, "\n")) && *line)
		if (*line != '#')
			handle(p, ends[1], ++request);
	close(ends[0]);
	close(ends[1]);
}

static const char FOUR[] = "set a\nset b\nset c\nset d\n";

static void block_flush_only(struct pm *p, int fd, uint64_t request)
{
	uint64_t *slot = request % 2 ? &p->c : &p->d;

	*slot = request; /* BUG: ack-before-durable */
	flush_line((uintptr_t)slot);
	answer(fd, "ok");
	if (request == REQUESTS)
		fence();
}

/* What is fenced late belongs to the same request, as far as anybody can tell: nothing else is stored before. */
static void block_late(struct pm *p, int fd, uint64_t request)
{
	p->a = request;
	answer(fd, "ok");
	persist(&p->a, sizeof p->a);
}

/* It tells of parts of what it does: there are more outputs than requests, and which of them are answers is not known. */
static void block_chatty(struct pm *p, int fd, uint64_t request)
{
	p->a = request;
	flush_line((uintptr_t)&p->a);
	answer(fd, "begun");
	p->c = request;
	persist(&p->c, sizeof p->c);
	answer(fd, "ok");
}

static void case_block_flush_only(struct pm *p) { run_block(p, block_flush_only, FOUR); }
static void case_block_well(struct pm *p) { run_block(p, well, FOUR); }
static void case_block_late(struct pm *p) { run_block(p, block_late, FOUR); }
static void case_block_chatty(struct pm *p) { run_block(p, block_chatty, FOUR); }
/* One more line than answers: a comment. */
static void case_block_comment(struct pm *p) { run_block(p, counting, "# all of them\nset a\nset b\nset c\nset d\n"); }

/* A batch that prints its progress, and is durable at its end: there are no requests. */
static void case_batch(struct pm *p)
{
	for (int i = 0; i < REQUESTS; i++) {
		*(volatile uint64_t *)(p->text + 64 * i) = (uint64_t)i + 1;
		flush_line((uintptr_t)p->text + 64 * (uintptr_t)i);
		printf("%d\n", i);
		fflush(stdout);
	}
	fence();
}

int main(int argc, char **argv)
{
	(void)argc;
	CHECK(freopen("/dev/null", "w", stdout)); /* what is printed is recorded all the same */
	return RUN_CASES(argv, case_flush_only, case_one_behind, case_well, case_chatty, case_counting, case_reading, case_late, case_batch,
			 case_block_flush_only, case_block_well, case_block_late, case_block_chatty, case_block_comment);
}
