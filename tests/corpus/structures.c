/* CHECK: --threads --only unpersisted-read */
/* Nine structures that threads share, each with a mistake: what others can read is not durable yet. The interleaving is
 * forced: the first thread stays in window() while the second one does its work. structures_correct.c is the same without
 * the mistakes. */
#include <sched.h>
#include <sys/socket.h>

#include "turns.h"

#ifndef IS_BROKEN
#define IS_BROKEN 1
#endif

#define THREADS_MAX 16
#define NODES 16 /* of a thread */

struct node {
	_Alignas(64) uint64_t key, value;
	_Atomic uint64_t next; /* a pointer; bit 0: it may not be durable */
};

/* What a structure works on. */
struct area {
	_Alignas(64) uint64_t words[8];
	_Alignas(64) _Atomic uint64_t root;
	_Alignas(64) _Atomic uint64_t version; /* not for recovery */
	_Alignas(64) uint64_t slots[64];
	struct node nodes[THREADS_MAX][NODES];
	struct {
		_Alignas(64) uint64_t seen[NODES];
	} logs[THREADS_MAX];
};

struct worker {
	struct area *a;
	void (*work)(struct worker *w, int i);
	int who, nrounds, nthreads;
	pthread_t thread;
};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t g_rwlock = PTHREAD_RWLOCK_INITIALIZER;

/* In a broken program, the other thread does its work here. In a correct one, others may. */
static void window(void)
{
	if (IS_BROKEN) {
		give_to(1);
		await(0);
	} else {
		sched_yield();
	}
}

/* Puts a value that this thread has read into its log. */
static void note_down(struct worker *w, int i, uint64_t value)
{
	uint64_t *slot = &w->a->logs[w->who].seen[i % NODES];

	ONCE(*slot) = value;
	persist(slot, sizeof *slot);
}

static uint64_t value_of(const struct worker *w, int i)
{
	return 1000u + (uint64_t)(w->who * 100 + i);
}

/* ---- a map with a lock ---- */

static void map_work(struct worker *w, int i)
{
	uint64_t *slot = &w->a->slots[i % 4 * 8];

	pthread_mutex_lock(&g_lock);
	if (w->who == 0) {
		ONCE(*slot) = value_of(w, i); /* BUG: unpersisted-read */
		if (IS_BROKEN)
			pthread_mutex_unlock(&g_lock);
		window();
		persist(slot, sizeof *slot);
	} else {
		note_down(w, i, ONCE(*slot));
	}
	if (!IS_BROKEN || w->who > 0)
		pthread_mutex_unlock(&g_lock);
}

/* ---- a list without locks: link-and-persist ---- */

#define MARK 1ul

static struct node *list_head(struct area *a)
{
	uint64_t link = atomic_load_explicit(&a->root, memory_order_acquire);

	if (link & MARK) {
		persist(&a->root, sizeof a->root);
		atomic_compare_exchange_strong(&a->root, &link, link & ~MARK);
	}
	return (struct node *)(uintptr_t)(link & ~MARK);
}

static void list_work(struct worker *w, int i)
{
	struct node *n = &w->a->nodes[w->who][i], *head = list_head(w->a);
	uint64_t link;

	if (IS_BROKEN && w->who == 1) {
		head->value = 1; /* its value, to which the link leads, is durable, and the link is not */
		persist(&head->value, sizeof head->value);
		return;
	}
	n->key = value_of(w, i);
	do {
		head = list_head(w->a);
		link = (uintptr_t)head;
		atomic_store_explicit(&n->next, link, memory_order_relaxed);
		persist(n, sizeof *n);
	} while (!atomic_compare_exchange_strong(&w->a->root, &link, (uintptr_t)n | (IS_BROKEN ? 0 : MARK))); /* BUG: unpersisted-read */
	window();
	persist(&w->a->root, sizeof w->a->root);
	link = (uintptr_t)n | MARK;
	atomic_compare_exchange_strong(&w->a->root, &link, (uintptr_t)n);
}

/* ---- a log per thread, and one that collects them ---- */

static void log_work(struct worker *w, int i)
{
	uint64_t *own = &w->a->nodes[w->who][i].value, *first = &w->a->nodes[0][i].value, seen;

	if (IS_BROKEN && w->who == 1) {
		note_down(w, i, ONCE(*first));
		return;
	}
	ONCE(*own) = value_of(w, i); /* BUG: unpersisted-read */
	window();
	persist(own, sizeof *own);
	atomic_store_explicit(&w->a->nodes[w->who][i].next, 1, memory_order_release);
	if (!IS_BROKEN && atomic_load_explicit(&w->a->nodes[0][i].next, memory_order_acquire)) {
		seen = ONCE(*first);
		note_down(w, i, seen);
	}
}

/* ---- a queue ---- */

static void queue_work(struct worker *w, int i)
{
	uint64_t *head = &w->a->words[0], *tail = &w->a->words[1], *slot;

	pthread_mutex_lock(&g_lock);
	if (w->who % 2 == 0) {
		slot = &w->a->slots[ONCE(*tail) % 64];
		ONCE(*slot) = value_of(w, i); /* BUG: unpersisted-read */
		if (!IS_BROKEN)
			persist(slot, sizeof *slot);
		ONCE(*tail) = ONCE(*tail) + 1; /* WARNING: unpersisted-read */
		if (IS_BROKEN)
			pthread_mutex_unlock(&g_lock);
		window();
		persist(slot, sizeof *slot);
		persist(tail, sizeof *tail);
		if (IS_BROKEN)
			return;
	} else if (ONCE(*head) < ONCE(*tail)) {
		note_down(w, i, ONCE(w->a->slots[ONCE(*head) % 64]));
		ONCE(*head) = ONCE(*head) + 1;
		if (!IS_BROKEN)
			persist(head, sizeof *head);
	}
	pthread_mutex_unlock(&g_lock);
}

/* ---- a cache with readers and writers ---- */

static void cache_work(struct worker *w, int i)
{
	uint64_t *slot = &w->a->slots[i % 4 * 8];

	if (w->who == 0) {
		pthread_rwlock_wrlock(&g_rwlock);
		ONCE(*slot) = value_of(w, i); /* BUG: unpersisted-read */
		if (!IS_BROKEN)
			persist(slot, sizeof *slot);
		pthread_rwlock_unlock(&g_rwlock);
		window();
		persist(slot, sizeof *slot);
	} else {
		pthread_rwlock_rdlock(&g_rwlock);
		note_down(w, i, ONCE(*slot));
		pthread_rwlock_unlock(&g_rwlock);
		atomic_fetch_add(&w->a->version, 1); /* hits, for statistics */
	}
}

/* ---- a pool of threads: who takes a task stores its result, and says that it is there ---- */

static _Atomic int g_next, g_ndone;

static void pool_work(struct worker *w, int i)
{
	const int task = atomic_fetch_add(&g_next, 1) % 64;
	uint64_t *result = &w->a->slots[task];

	if (IS_BROKEN && w->who == 1) {
		note_down(w, i, ONCE(w->a->slots[task - 1]));
		return;
	}
	ONCE(*result) = 1000u + (uint64_t)task; /* BUG: unpersisted-read */
	if (!IS_BROKEN)
		persist(result, sizeof *result);
	pthread_mutex_lock(&g_lock);
	g_ndone++;
	pthread_mutex_unlock(&g_lock);
	window();
	persist(result, sizeof *result);
}

/* ---- a tree whose versions are published: readers take no lock ---- */

static void tree_work(struct worker *w, int i)
{
	struct node *n = &w->a->nodes[w->who][i], *old;

	if (w->who % 4 != 0) {
		old = (struct node *)(uintptr_t)atomic_load_explicit(&w->a->root, memory_order_acquire);
		if (old && IS_BROKEN)
			note_down(w, i, ONCE(old->value));
		else if (old)
			CHECK(ONCE(old->value) >= 1000);
		return;
	}
	pthread_mutex_lock(&g_lock);
	ONCE(n->value) = value_of(w, i); /* BUG: unpersisted-read */
	if (!IS_BROKEN)
		persist(n, sizeof *n);
	atomic_store_explicit(&w->a->root, (uintptr_t)n, memory_order_release);
	persist(&w->a->root, sizeof w->a->root);
	window();
	persist(n, sizeof *n);
	pthread_mutex_unlock(&g_lock);
}

/* ---- a seqlock ---- */

static void seqlock_work(struct worker *w, int i)
{
	uint64_t *word = &w->a->words[2], before, seen;

	if (w->who == 0) {
		atomic_fetch_add(&w->a->version, 1);
		ONCE(*word) = value_of(w, i); /* BUG: unpersisted-read */
		if (!IS_BROKEN)
			persist(word, sizeof *word);
		atomic_fetch_add(&w->a->version, 1);
		window();
		persist(word, sizeof *word);
		return;
	}
	do {
		while ((before = atomic_load_explicit(&w->a->version, memory_order_acquire)) % 2)
			sched_yield();
		seen = ONCE(*word);
	} while (atomic_load_explicit(&w->a->version, memory_order_acquire) != before);
	note_down(w, i, seen);
}

/* ---- a server: each thread has a client ---- */

static int g_sockets[THREADS_MAX][2];

static void server_work(struct worker *w, int i)
{
	uint64_t *slot = &w->a->slots[i % 4 * 8];
	char text[32];
	int n;

	CHECK(read(g_sockets[w->who][0], text, 4) == 4);
	pthread_mutex_lock(&g_lock);
	if (w->who == 0) {
		ONCE(*slot) = value_of(w, i); /* BUG: unpersisted-read */
		if (IS_BROKEN)
			pthread_mutex_unlock(&g_lock);
		window();
		persist(slot, sizeof *slot);
		n = snprintf(text, sizeof text, "stored\n");
	} else {
		n = snprintf(text, sizeof text, "%d\n", (int)ONCE(*slot));
	}
	if (!IS_BROKEN || w->who > 0)
		pthread_mutex_unlock(&g_lock);
	CHECK(write(g_sockets[w->who][0], text, (size_t)n) == n);
}

static void connect_clients(int nthreads, int nrounds)
{
	for (int i = 0; i < nthreads; i++) {
		CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, g_sockets[i]) == 0);
		for (int k = 0; k < nrounds; k++)
			CHECK(write(g_sockets[i][1], "put\n", 4) == 4);
	}
}

static void disconnect(int nthreads)
{
	for (int i = 0; i < nthreads; i++) {
		close(g_sockets[i][0]);
		close(g_sockets[i][1]);
	}
}

/* ---- all of them ---- */

static void *worker_run(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < w->nrounds; i++) {
		if (IS_BROKEN && w->who == 1)
			await(1);
		w->work(w, i);
		if (IS_BROKEN && w->who == 1)
			give_to(0);
	}
	return NULL;
}

static void (*const works[])(struct worker *w, int i) = { map_work, list_work, log_work, queue_work, cache_work, pool_work,
							  tree_work, seqlock_work, server_work };
#define NWORKS (sizeof works / sizeof *works)

static void structure_run(struct area *a, void (*work)(struct worker *w, int i), int nthreads, int nrounds)
{
	struct worker w[THREADS_MAX];

	give_to(0);
	g_next = 0;
	connect_clients(nthreads, nrounds);
	for (int i = 0; i < nthreads; i++) {
		w[i] = (struct worker){ a, work, i, nrounds, nthreads, 0 };
		CHECK(pthread_create(&w[i].thread, NULL, worker_run, &w[i]) == 0);
	}
	for (int i = 0; i < nthreads; i++)
		pthread_join(w[i].thread, NULL);
	disconnect(nthreads);
}

int main(int argc, char **argv)
{
	static const int correct_threads[] = { 1, 4, 16 };
	const size_t bytes = 3 * NWORKS * sizeof(struct area);
	struct area *a;
	int fd;

	CHECK(argc >= 2);
	fd = open(argv[1], O_RDWR | O_CREAT, 0666);
	CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
	a = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(a != MAP_FAILED);
	for (size_t i = 0; i < NWORKS; i++) {
		if (IS_BROKEN)
			structure_run(a++, works[i], 2, 1);
		for (int k = 0; !IS_BROKEN && k < 3; k++)
			structure_run(a++, works[i], correct_threads[k], argc > 2 ? atoi(argv[2]) : 4);
	}
	return 0;
}
