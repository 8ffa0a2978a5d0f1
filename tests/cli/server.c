/* A small server on a pool, and its client. `server serve ADDRESS POOL [HOW]...` keeps numbers until it is killed; `server put ADDRESS` puts some and asks for them. An
 * ADDRESS is a TCP port, or the path of a Unix socket. Without HOW, a number is durable before it is acknowledged. A HOW is:
 *	early     it is acknowledged before it is durable
 *	says      prints "now it is ready" in two pieces
 *	holds     the same, and never flushes its output
 *	deaf      never listens       stubborn  ignores SIGTERM
 *	once      ends after its first client
 *	dies      dies of SIGSEGV in the middle of it
 *	daemon    goes to the background
 *	tells     prints "stored" when it has stored something
 *	limits    sets its limit of open files, and looks at what it is then
 * `server wait ADDRESS` puts one number and goes on for ever; `server end ADDRESS` tells it to end; `server fail` says something and fails. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/machine.h"

#define NUMBERS 3
#define CHECK(x) ((x) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #x), exit(1)))

struct pool {
	_Alignas(64) volatile uint64_t number[NUMBERS][8];
};

static char **g_how;

static int is(const char *how)
{
	for (char **h = g_how; *h; h++)
		if (strcmp(*h, how) == 0)
			return 1;
	return 0;
}

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_un un;
};

static socklen_t len_of(const union address *a)
{
	return a->any.sa_family == AF_UNIX ? sizeof a->un : sizeof a->in;
}

static int socket_of(const char *where, union address *a)
{
	memset(a, 0, sizeof *a);
	if (strchr(where, '/')) {
		a->un.sun_family = AF_UNIX;
		snprintf(a->un.sun_path, sizeof a->un.sun_path, "%s", where);
	} else {
		a->in.sin_family = AF_INET;
		a->in.sin_port = htons((uint16_t)atoi(where));
		a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	return socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* ---- the server ---- */

static void put(struct pool *p, uint64_t i, int client)
{
	if (is("early"))
		fence(); /* of the number before */
	p->number[i][0] = i + 1; /* BUG: ack-before-durable */
	flush_line((void *)p->number[i]);
	if (!is("early"))
		fence();
	CHECK(write(client, "k", 1) == 1);
	if (is("tells")) {
		printf("stored\n");
		fflush(stdout);
	}
}

static void serve_one(struct pool *p, int client)
{
	char request[2];

	while (read(client, request, 2) == 2) {
		if (request[0] == 'e')
			exit(0);
		if (is("dies") && request[1] == '1')
			raise(SIGSEGV);
		put(p, (uint64_t)(request[1] - '0'), client);
	}
	close(client);
}

static void say(void)
{
	if (!is("says") && !is("holds"))
		return;
	printf("now it is re");
	if (is("says"))
		fflush(stdout);
	printf("ady\n");
	if (is("says"))
		fflush(stdout);
}

static void limits(void)
{
	struct rlimit first, set, l;

	CHECK(getrlimit(RLIMIT_NOFILE, &first) == 0);
	set = (struct rlimit){ first.rlim_cur + 20, first.rlim_cur + 30 };
	CHECK(setrlimit(RLIMIT_NOFILE, &set) == 0 && getrlimit(RLIMIT_NOFILE, &l) == 0);
	CHECK(l.rlim_cur == first.rlim_cur + 20 && l.rlim_max == first.rlim_cur + 30);
	CHECK(set.rlim_max == l.rlim_max);
	l.rlim_max++;
	CHECK(setrlimit(RLIMIT_NOFILE, &l) < 0);
	printf("at first %d\n", (int)first.rlim_cur);
	fflush(stdout);
}

static int serve(const char *where, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600), s, on = 1;
	union address a;
	struct pool *p;

	CHECK(fd >= 0 && ftruncate(fd, sizeof *p) == 0);
	p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	if (is("limits"))
		limits();
	if (is("stubborn"))
		signal(SIGTERM, SIG_IGN);
	s = socket_of(where, &a);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (a.any.sa_family == AF_UNIX)
		unlink(where);
	CHECK(bind(s, &a.any, len_of(&a)) == 0);
	CHECK(is("deaf") || listen(s, 8) == 0);
	if (is("daemon"))
		CHECK(daemon(1, 1) == 0);
	say();
	for (int n = 0; !is("deaf") && !(is("once") && n == 1); n++) {
		int client = accept(s, NULL, NULL);

		CHECK(client >= 0 && !(is("once") && n > 0));
		serve_one(p, client);
	}
	while (is("deaf"))
		pause();
	return 0;
}

/* ---- the client ---- */

static int use(const char *where, char verb)
{
	union address a;
	int s = socket_of(where, &a);
	char answer;

	CHECK(connect(s, &a.any, len_of(&a)) == 0);
	for (int i = 0; i < (verb == 'e' ? 1 : NUMBERS); i++) {
		CHECK(write(s, (char[]){ verb, (char)('0' + i) }, 2) == 2);
		CHECK(verb == 'e' || (read(s, &answer, 1) == 1 && answer == 'k'));
		while (verb == 'w')
			pause();
	}
	printf("the client is done\n");
	return 0;
}

int main(int argc, char **argv)
{
	CHECK(argc >= 2);
	if (strcmp(argv[1], "fail") == 0) {
		fprintf(stderr, "no luck today\n");
		return 3;
	}
	CHECK(argc >= 3);
	g_how = argv + (argc > 4 ? 4 : argc);
	if (strcmp(argv[1], "serve") == 0)
		return serve(argv[2], argv[3]);
	return use(argv[2], argv[1][0]);
}
