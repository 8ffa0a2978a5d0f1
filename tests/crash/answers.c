/* Operations of several threads and processes that print a line when they are done. Each has a
 * number of its own. Who is next is fixed by turns.
 *
 *   answers WAY POOL, WAY is one of
 *     turns       both store and make it durable; then both print                     (right)
 *     across      one stores, the other one prints, the first makes it durable        (right)
 *     relay       a thread works, the main one prints after each step of it           (right)
 *     one         one thread works and prints, then the other one                     (right)
 *     children    a child process after the other, each works and prints              (right)
 *     early       as one, but the second thread prints before its number is durable   (wrong)
 *     halves      as children, but an operation is two numbers that a crash can tear  (wrong)
 *     marked      as turns, with PMEND_OP_BEGIN and PMEND_OP_END                      (right)
 *     greeted     two threads with requests; the second one greets a client on a
 *                 descriptor from which the first one has read what has no answer     (right)
 *     handed      the same, but the second one answers what the first one has read    (right)
 *   answers dump POOL prints all numbers. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "pm.h"

struct pool {
	struct {
		_Alignas(64) uint64_t n;
	} of[3];
};

static struct pool *g_pool;
static sem_t g_turn[2];

static void say(const char *line)
{
	const ssize_t len = (ssize_t)strlen(line);

	CHECK(write(1, line, (size_t)len) == len); /* BUG: early: ordering acknowledged */
}

static void wait_turn(int who)
{
	while (sem_wait(&g_turn[who]) < 0)
		;
}

static void work(int who)
{
	g_pool->of[who].n++;
	persist(&g_pool->of[who].n, 8);
}

/* ---- both at once ---- */

static bool g_is_marked;

/* Works, lets the other one work, prints. */
static void *take_turns(void *arg)
{
	const int who = arg != NULL;

	for (int i = 0; i < 2; i++) {
		wait_turn(who);
		if (g_is_marked)
			PMEND_OP_BEGIN("work");
		work(who);
		sem_post(&g_turn[!who]);
		wait_turn(who);
		if (g_is_marked)
			PMEND_OP_END("work");
		say("done\n");
		sem_post(&g_turn[!who]);
	}
	return NULL;
}

/* Begins, lets the other one print, ends. */
static void *be_slow(void *arg)
{
	for (int i = 0; i < 2; i++) {
		wait_turn(1);
		g_pool->of[1].n++;
		sem_post(&g_turn[0]);
		wait_turn(1);
		persist(&g_pool->of[1].n, 8);
		say("slow\n");
		sem_post(&g_turn[0]);
	}
	return arg;
}

static void *print_between(void *arg)
{
	for (int i = 0; i < 2; i++) {
		wait_turn(0);
		sem_post(&g_turn[1]);
		wait_turn(0);
		say("hello\n");
		sem_post(&g_turn[1]);
	}
	return arg;
}

/* ---- one works, one prints ---- */

static void *work_only(void *arg)
{
	for (int i = 0; i < 3; i++) {
		wait_turn(1);
		work(1);
		sem_post(&g_turn[0]);
	}
	return arg;
}

static void *print_only(void *arg)
{
	for (int i = 0; i < 3; i++) {
		wait_turn(0);
		sem_post(&g_turn[1]);
		wait_turn(0);
		say("one more\n");
		sem_post(&g_turn[0]);
	}
	return arg;
}

/* ---- one after the other ---- */

static void *work_and_print(void *arg)
{
	for (int i = 0; i < 2; i++) {
		work(arg != NULL);
		say("done\n");
	}
	return NULL;
}

static void *print_early(void *arg)
{
	g_pool->of[2].n++; /* BUG: early: ordering lost */
	say("done\n");
	persist(&g_pool->of[2].n, 8);
	return arg;
}

/* ---- requests ---- */

#define CLIENT 40 /* number of a descriptor */

static bool g_is_handed;

/* Makes fd the server's end of a connection. Requests, a byte each, wait there. */
static void connect_client(int fd, const char *requests)
{
	const ssize_t len = (ssize_t)strlen(requests);
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	CHECK(write(ends[1], requests, (size_t)len) == len);
	CHECK(dup2(ends[0], fd) == fd && close(ends[0]) == 0);
}

static void request(int fd)
{
	char byte;

	CHECK(read(fd, &byte, 1) == 1);
}

static void answer(int fd, const char *line)
{
	CHECK(write(fd, line, strlen(line)) == (ssize_t)strlen(line));
}

static void *serve_first(void *arg)
{
	wait_turn(0);
	request(CLIENT);
	sem_post(&g_turn[1]);
	wait_turn(0);
	work(0);
	answer(CLIENT, "done\n");
	sem_post(&g_turn[1]);
	wait_turn(0);
	request(CLIENT); /* it says goodbye */
	sem_post(&g_turn[1]);
	wait_turn(0);
	if (g_is_handed)
		request(CLIENT);
	return arg;
}

static void *serve_second(void *arg)
{
	wait_turn(1);
	request(CLIENT + 1);
	g_pool->of[1].n++;
	sem_post(&g_turn[0]);
	wait_turn(1);
	persist(&g_pool->of[1].n, 8);
	answer(CLIENT + 1, "done\n");
	sem_post(&g_turn[0]);
	wait_turn(1);
	if (!g_is_handed)
		connect_client(CLIENT, "c");
	answer(CLIENT, "hello\n");
	if (!g_is_handed)
		request(CLIENT);
	work(1);
	answer(CLIENT, "done\n");
	sem_post(&g_turn[0]);
	return arg;
}

static void serve(bool is_handed)
{
	g_is_handed = is_handed;
	connect_client(CLIENT, "abc");
	connect_client(CLIENT + 1, "a");
}

static void run_child(bool is_torn, int i)
{
	const pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (pid == 0) {
		work(1);
		if (is_torn)
			work(2);
		say(i == 0 ? "first\n" : "next\n");
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void run_both(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t threads[2];

	sem_init(&g_turn[0], 0, 1);
	sem_init(&g_turn[1], 0, 0);
	CHECK(pthread_create(&threads[0], NULL, first, NULL) == 0);
	CHECK(pthread_create(&threads[1], NULL, second, &threads) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static void run_each(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, first, NULL) == 0 && pthread_join(thread, NULL) == 0);
	CHECK(pthread_create(&thread, NULL, second, g_turn) == 0 &&
	      pthread_join(thread, NULL) == 0);
}

static void dump(const char *path)
{
	const struct pool *p = pool_open(path, sizeof *p);

	for (int i = 0; i < 3; i++)
		printf("%d\n", p ? (int)p->of[i].n : 0);
}

int main(int argc, char **argv)
{
	const char *way = argc == 3 ? argv[1] : "";

	if (strcmp(way, "dump") == 0) {
		dump(argv[2]);
		return 0;
	}
	CHECK(argc == 3);
	g_pool = pool_create(argv[2], sizeof *g_pool);
	g_is_marked = strcmp(way, "marked") == 0;
	if (strcmp(way, "turns") == 0 || g_is_marked)
		run_both(take_turns, take_turns);
	else if (strcmp(way, "across") == 0)
		run_both(print_between, be_slow);
	else if (strcmp(way, "relay") == 0)
		run_both(print_only, work_only);
	else if (strcmp(way, "one") == 0)
		run_each(work_and_print, work_and_print);
	else if (strcmp(way, "early") == 0)
		run_each(work_and_print, print_early);
	else if (strcmp(way, "greeted") == 0 || strcmp(way, "handed") == 0) {
		serve(strcmp(way, "handed") == 0);
		run_both(serve_first, serve_second);
	} else
		for (int i = 0; i < 3; i++)
			run_child(strcmp(way, "halves") == 0, i);
	return 0;
}
