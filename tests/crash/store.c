/* A store behind TCP on a pool. `store run POOL PORT` serves a client of its own, which puts some numbers, and ends; `store serve POOL PORT` recovers and serves until it is
 * killed; `store refuse POOL PORT` does the same, but ends with status 7 if nothing was put; `store ping PORT` and `store verify PORT KIND` and `store list PORT KIND` are clients. A slot's state is set before its number is durable ("hasty") or after it ("careful"). */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "pm.h"

#define NSLOTS 2

struct slot {
	_Alignas(64) uint64_t number;
	_Alignas(64) uint64_t is_set;
};

struct pool {
	struct slot hasty[NSLOTS], careful[NSLOTS];
};

struct request {
	char verb; /* 'p'ut, 'g'et, 'e'nd */
	char kind; /* 'h'asty, 'c'areful */
	uint64_t slot, number;
};

static struct sockaddr_in address(const char *port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)atoi(port)),
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
}

/* ---- the server ---- */

static void put(struct slot *s, char kind, uint64_t number)
{
	s->number = number; /* BUG: hasty: ordering lost */
	if (kind == 'c')
		persist(&s->number, sizeof s->number);
	s->is_set = 1; /* BUG: hasty: ordering survived */
	persist(&s->is_set, sizeof s->is_set);
	persist(&s->number, sizeof s->number);
}

/* Answers with the number of a slot, 0 if it is not set. */
static int serve_one(struct pool *p, int client)
{
	struct request r;
	struct slot *s;
	uint64_t answer;

	while (read(client, &r, sizeof r) == sizeof r) {
		if (r.verb == 'e')
			return 0;
		s = (r.kind == 'h' ? p->hasty : p->careful) + r.slot % NSLOTS;
		if (r.verb == 'p')
			put(s, r.kind, r.number);
		answer = s->is_set ? s->number : 99;
		CHECK(write(client, &answer, sizeof answer) == sizeof answer);
	}
	return 1;
}

static int listen_at(const char *port)
{
	struct sockaddr_in a = address(port);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	CHECK(bind(s, (struct sockaddr *)&a, sizeof a) == 0 && listen(s, 8) == 0);
	return s;
}

static void serve(struct pool *p, int listening)
{
	int goes_on = 1;

	while (goes_on) {
		int client = accept(listening, NULL, NULL);

		CHECK(client >= 0);
		goes_on = serve_one(p, client);
		close(client);
	}
}

/* ---- the client ---- */

static int dial(const char *port)
{
	struct sockaddr_in a = address(port);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(s, (struct sockaddr *)&a, sizeof a) < 0)
		exit(1); /* not ready yet */
	return s;
}

static uint64_t ask(int s, char verb, char kind, uint64_t slot, uint64_t number)
{
	struct request r = { verb, kind, slot, number };
	uint64_t answer = 0;

	CHECK(write(s, &r, sizeof r) == sizeof r);
	CHECK(verb == 'e' || read(s, &answer, sizeof answer) == sizeof answer);
	return answer;
}

static void use(const char *port)
{
	int s = dial(port);

	for (uint64_t i = 0; i < NSLOTS; i++) {
		CHECK(ask(s, 'p', 'h', i, i + 1) == i + 1);
		CHECK(ask(s, 'p', 'c', i, i + 1) == i + 1);
	}
	ask(s, 'e', 0, 0, 0);
}

static void verify(const char *port, char kind)
{
	int s = dial(port);

	for (uint64_t i = 0; i < NSLOTS; i++) {
		uint64_t number = ask(s, 'g', kind, i, 0);

		CHECK(number == 99 || number == i + 1);
	}
}

/* The numbers of one kind, for --dump. */
static void list(const char *port, char kind)
{
	int s = dial(port);

	for (uint64_t i = 0; i < NSLOTS; i++)
		printf("%d\n", (int)ask(s, 'g', kind, i, 0));
}

/* A pool without numbers is not served. */
static int refuses(const struct pool *p)
{
	return p->careful[0].is_set == 0;
}

int main(int argc, char **argv)
{
	struct pool *p;
	int listening;

	CHECK(argc >= 3);
	if (strcmp(argv[1], "ping") == 0) {
		dial(argv[2]);
	} else if (strcmp(argv[1], "verify") == 0) {
		verify(argv[2], argv[3][0]);
	} else if (strcmp(argv[1], "list") == 0) {
		list(argv[2], argv[3][0]);
	} else {
		p = strcmp(argv[1], "refuse") == 0 ? pool_create(argv[2], sizeof *p) : NULL;
		if (p && refuses(p))
			return 7;
		listening = listen_at(argv[3]);
		if (strcmp(argv[1], "run") == 0 && fork() == 0) {
			use(argv[3]);
			return 0;
		}
		serve(p ? p : pool_create(argv[2], sizeof *p), listening);
		wait(NULL);
	}
	return 0;
}
