/* CHECK: --threads */
/* What a thread reads of another before it is durable, and then relies on. */
#include <sys/socket.h>

#include "turns.h"

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the lock is released before the store is durable: the reader persists a copy ---- */

static void *unlock_early(void *arg)
{
	struct pm *p = arg;

	pthread_mutex_lock(&g_lock);
	p->a = 1000; /* BUG: unpersisted-read */
	pthread_mutex_unlock(&g_lock);
	give_to(1);
	await(0);
	persist(&p->a, sizeof p->a);
	return NULL;
}

static void *copy(void *arg)
{
	struct pm *p = arg;

	await(1);
	pthread_mutex_lock(&g_lock);
	p->c = p->a;
	persist(&p->c, sizeof p->c);
	pthread_mutex_unlock(&g_lock);
	give_to(0);
	return NULL;
}

/* ---- published before durable: the reader stores to what the pointer leads to ---- */

static void *publish_early(void *arg)
{
	struct pm *p = arg;

	ONCE(p->a) = (uintptr_t)&p->d; /* BUG: unpersisted-read */
	give_to(1);
	await(0);
	persist(&p->a, sizeof p->a);
	return NULL;
}

static void *follow(void *arg)
{
	struct pm *p = arg;
	uint64_t *to;

	await(1);
	to = (uint64_t *)(uintptr_t)ONCE(p->a);
	*to = 7;
	persist(to, sizeof *to);
	give_to(0);
	return NULL;
}

/* ---- flushed, but the fence comes too late; the reader's store only follows ---- */

static void *fence_late(void *arg)
{
	struct pm *p = arg;

	ONCE(p->a) = 1; /* WARNING: unpersisted-read */
	flush_line(&p->a);
	give_to(1);
	await(0);
	fence();
	return NULL;
}

static void *conclude(void *arg)
{
	struct pm *p = arg;

	await(1);
	if (ONCE(p->a) == 1) {
		p->c = 1;
		persist(&p->c, sizeof p->c);
	}
	give_to(0);
	return NULL;
}

/* ---- a helper flushes, and nobody fences until later ---- */

static void *leave_to_helper(void *arg)
{
	struct pm *p = arg;

	ONCE(p->a) = 5000; /* BUG: unpersisted-read */
	give_to(2);
	return NULL;
}

static void *help(void *arg)
{
	struct pm *p = arg;

	await(2);
	flush_line(&p->a);
	give_to(1);
	await(0);
	fence();
	return NULL;
}

/* ---- in one marked operation; what another operation persists does not count ---- */

static void *store_late(void *arg)
{
	struct pm *p = arg;

	ONCE(p->a) = 1; /* WARNING: unpersisted-read */
	ONCE(p->d) = 1;
	give_to(1);
	await(0);
	persist(&p->a, sizeof p->a);
	persist(&p->d, sizeof p->d);
	return NULL;
}

static void *operate(void *arg)
{
	struct pm *p = arg;
	uint64_t seen;

	await(1);
	PMEND_OP_BEGIN("get");
	seen = ONCE(p->d);
	PMEND_OP_END("get");
	PMEND_OP_BEGIN("put");
	p->c = 1 + opaque(ONCE(p->a));
	persist(&p->c, sizeof p->c);
	PMEND_OP_END("put");
	CHECK(seen == 1);
	give_to(0);
	return NULL;
}

/* ---- an answer to a request shows what may be lost ---- */

static int g_requests[2];

static void *put_late(void *arg)
{
	struct pm *p = arg;

	ONCE(p->a) = 1234; /* BUG: unpersisted-read */
	CHECK(write(g_requests[1], "get\n", 4) == 4);
	give_to(1);
	await(0);
	persist(&p->a, sizeof p->a);
	return NULL;
}

static void *answer(void *arg)
{
	struct pm *p = arg;
	char text[32];

	await(1);
	CHECK(read(g_requests[0], text, sizeof text) == 4);
	snprintf(text, sizeof text, "%d\n", (int)ONCE(p->a));
	CHECK(write(g_requests[0], text, strlen(text)) > 0);
	give_to(0);
	return NULL;
}

int main(int argc, char **argv)
{
	struct pm *p;

	CHECK(argc == 2);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, g_requests) == 0);
	p = pool_map(argv[1]);
	TOGETHER(p++, unlock_early, copy);
	TOGETHER(p++, publish_early, follow);
	TOGETHER(p++, fence_late, conclude);
	TOGETHER(p++, leave_to_helper, help, copy);
	TOGETHER(p++, store_late, operate);
	TOGETHER(p++, put_late, answer);
	return 0;
}
