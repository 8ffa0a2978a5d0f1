/* CHECK: --threads --only unpersisted-read */
/* Threads that read each other's stores before they are durable, and do it right. */
#include "turns.h"

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pm *g_pool;

/* Stores, lets the other thread come, and persists. */
static void *store_late(void *arg)
{
	struct pm *p = arg;

	ONCE(p->a) = 1000;
	give_to(1);
	await(0);
	persist(&p->a, sizeof p->a);
	give_to(1);
	return NULL;
}

static void note_down(struct pm *p, uint64_t what)
{
	ONCE(p->c) = what;
	persist(&p->c, sizeof p->c);
}

/* ---- read again when it is durable ---- */

static void *read_again(void *arg)
{
	struct pm *p = arg;

	await(1);
	if (ONCE(p->a) == 0)
		return NULL;
	give_to(0);
	await(1);
	note_down(p, ONCE(p->a));
	return NULL;
}

/* ---- what the reader writes is not durable before ---- */

static void *write_and_wait(void *arg)
{
	struct pm *p = arg;

	await(1);
	ONCE(p->c) = ONCE(p->a);
	fence();
	give_to(0);
	await(1);
	persist(&p->c, sizeof p->c);
	return NULL;
}

/* ---- flush on read: the reader flushes what it read before what it writes ---- */

static void *flush_what_is_read(void *arg)
{
	struct pm *p = arg;
	uint64_t seen;

	await(1);
	seen = ONCE(p->a);
	persist(&p->a, sizeof p->a);
	note_down(p, seen);
	give_to(0);
	return NULL;
}

/* ---- link-and-persist: a marked link may not be durable; a third thread finds the mark cleared ---- */

#define MARK 1ul

static void *link_marked(void *arg)
{
	struct pm *p = arg;

	atomic_store_explicit((_Atomic uint64_t *)&p->a, (uintptr_t)&p->d | MARK, memory_order_release);
	give_to(1);
	await(0);
	persist(&p->a, sizeof p->a); /* for p->b, after the mark was cleared */
	return NULL;
}

static void *persist_if_marked(void *arg)
{
	struct pm *p = arg;
	uint64_t link;

	await(1);
	link = atomic_load_explicit((_Atomic uint64_t *)&p->a, memory_order_acquire);
	if (link & MARK) {
		persist(&p->a, sizeof p->a);
		atomic_compare_exchange_strong((_Atomic uint64_t *)&p->a, &link, link & ~MARK);
	}
	note_down(p, link & ~MARK);
	give_to(2);
	return NULL;
}

static void *find_unmarked(void *arg)
{
	struct pm *p = arg;
	uint64_t link;

	await(2);
	link = atomic_load_explicit((_Atomic uint64_t *)&p->a, memory_order_acquire);
	CHECK(!(link & MARK));
	*(volatile uint64_t *)(uintptr_t)link = link;
	persist((void *)(uintptr_t)link, 8);
	give_to(0);
	return NULL;
}

/* ---- a function that only reads; what comes later is something else ---- */

static __attribute__((noinline)) uint64_t get(struct pm *p)
{
	return ONCE(p->a);
}

static __attribute__((noinline)) void put(struct pm *p)
{
	note_down(p, 1);
}

static void *get_and_put(void *arg)
{
	struct pm *p = arg;

	await(1);
	CHECK(get(p) == 1000);
	put(p);
	give_to(0);
	return NULL;
}

/* ---- as RCU does: readers follow the new version before it is durable, and only read ---- */

static void *publish(void *arg)
{
	struct pm *p = arg;

	ONCE(p->d) = 5;
	persist(&p->d, sizeof p->d);
	ONCE(p->a) = (uintptr_t)&p->d;
	give_to(1);
	await(0);
	persist(&p->a, sizeof p->a);
	return NULL;
}

static void *look(void *arg)
{
	struct pm *p = arg;

	await(1);
	CHECK(*(volatile uint64_t *)(uintptr_t)ONCE(p->a) == 5);
	give_to(0);
	return NULL;
}

/* ---- a counter, which the other thread counts on, and a statistic, which nobody persists ---- */

static void *count_first(void *arg)
{
	struct pm *p = arg;

	atomic_fetch_add((_Atomic uint64_t *)&p->a, 1000);
	ONCE(p->d) = 2000;
	give_to(1);
	await(0);
	persist(&p->a, sizeof p->a);
	return NULL;
}

static void *count_second(void *arg)
{
	struct pm *p = arg;

	await(1);
	note_down(p, ONCE(p->d) + atomic_fetch_add((_Atomic uint64_t *)&p->a, 1000));
	give_to(0);
	return NULL;
}

/* ---- a stack: the next thread's node points to the first one's, and its head replaces the first one's ---- */

static void *push_first(void *arg)
{
	struct pm *p = arg;

	for (int i = 0; i < 2; i++) {
		ONCE(p->d) = (uint64_t)i;
		persist(&p->d, sizeof p->d);
		ONCE(p->a) = (uintptr_t)&p->d;
		if (i == 1) {
			give_to(1);
			await(0);
		}
		persist(&p->a, sizeof p->a);
	}
	return NULL;
}

static void *push_second(void *arg)
{
	struct pm *p = arg;
	uint64_t head;

	await(1);
	head = ONCE(p->a);
	note_down(p, head);
	CHECK(atomic_compare_exchange_strong((_Atomic uint64_t *)&p->a, &head, (uintptr_t)&p->c));
	persist(&p->a, sizeof p->a);
	give_to(0);
	return NULL;
}

/* ---- a lock beside what it protects ---- */

static void spin_lock(struct pm *p)
{
	uint64_t none = 0;

	while (!atomic_compare_exchange_weak((_Atomic uint64_t *)&p->b, &none, 1))
		none = 0;
}

static void spin_unlock(struct pm *p)
{
	atomic_store_explicit((_Atomic uint64_t *)&p->b, 0, memory_order_release);
}

static void change(struct pm *p)
{
	spin_lock(p);
	ONCE(p->a) = ONCE(p->a) + 1000;
	persist(&p->a, sizeof p->a);
	spin_unlock(p);
}

static void *change_first(void *arg)
{
	change(arg);
	give_to(1);
	return NULL;
}

static void *change_second(void *arg)
{
	await(1);
	change(arg);
	note_down(arg, 1);
	return NULL;
}

/* ---- POSIX's lock in persistent memory ---- */

static void *lock_first(void *arg)
{
	struct pm *p = arg;
	pthread_mutex_t *lock = (pthread_mutex_t *)p->text;

	pthread_mutex_init(lock, NULL);
	pthread_mutex_lock(lock);
	ONCE(p->a) = 3000;
	persist(&p->a, sizeof p->a);
	pthread_mutex_unlock(lock);
	give_to(1);
	await(0);
	persist(p->text, sizeof *lock);
	return NULL;
}

static void *lock_second(void *arg)
{
	struct pm *p = arg;
	pthread_mutex_t *lock = (pthread_mutex_t *)p->text;

	await(1);
	pthread_mutex_lock(lock);
	note_down(p, ONCE(p->a));
	pthread_mutex_unlock(lock);
	give_to(0);
	return NULL;
}

/* ---- declared volatile ---- */

static void *store_hint(void *arg)
{
	struct pm *p = arg;

	PMEND_IGNORE(&p->a, sizeof p->a);
	return store_late(p);
}

static void *copy_hint(void *arg)
{
	struct pm *p = arg;

	await(1);
	note_down(p, ONCE(p->a));
	give_to(0);
	return NULL;
}

/* ---- the lock covers the fence ---- */

static void *keep_lock(void *arg)
{
	struct pm *p = arg;

	pthread_mutex_lock(&g_lock);
	ONCE(p->a) = 1000;
	give_to(1);
	await(0);
	persist(&p->a, sizeof p->a);
	pthread_mutex_unlock(&g_lock);
	return NULL;
}

static void *await_lock(void *arg)
{
	struct pm *p = arg;

	await(1);
	CHECK(pthread_mutex_trylock(&g_lock) != 0);
	give_to(0);
	pthread_mutex_lock(&g_lock);
	note_down(p, ONCE(p->a));
	pthread_mutex_unlock(&g_lock);
	return NULL;
}

/* ---- a store of the value that is durable already ---- */

static void *store_again(void *arg)
{
	struct pm *p = arg;

	for (int i = 0; i < 2; i++) {
		ONCE(p->a) = 4242;
		ONCE(p->b) = (uint64_t)i;
		if (i == 1) {
			give_to(1);
			await(0);
		}
		persist(&p->a, sizeof p->a);
		persist(&p->b, sizeof p->b);
	}
	return NULL;
}

static void *copy_what_stays(void *arg)
{
	struct pm *p = arg;

	await(1);
	note_down(p, ONCE(p->a));
	give_to(0);
	return NULL;
}

/* ---- link-and-persist: the mark is cleared by a release, which is a plain store on amd64 ---- */

static void *link_and_release(void *arg)
{
	struct pm *p = arg;
	_Atomic uint64_t *link = (_Atomic uint64_t *)&p->a;

	atomic_store_explicit(link, (uintptr_t)&p->d | MARK, memory_order_release);
	persist(&p->a, sizeof p->a);
	atomic_store_explicit(link, (uintptr_t)&p->d, memory_order_release);
	give_to(2);
	await(0);
	persist(&p->a, sizeof p->a);
	return NULL;
}

/* ---- a number that is by chance the offset of what the next function stores to ---- */

static __attribute__((noinline)) void look_at_number(struct pm *p)
{
	CHECK(ONCE(p->a) >= 4096);
}

static void *store_number(void *arg)
{
	struct pm *p = arg;

	ONCE(p->a) = (uintptr_t)&p->c - (uintptr_t)g_pool;
	give_to(1);
	await(0);
	persist(&p->a, sizeof p->a);
	return NULL;
}

static void *look_and_put(void *arg)
{
	struct pm *p = arg;

	await(1);
	look_at_number(p);
	put(p);
	give_to(0);
	return NULL;
}

/* ---- one function for all operations, called again for another one ---- */

static __attribute__((noinline)) void operate(struct pm *p, int is_put)
{
	if (is_put)
		note_down(p, 1);
	else
		CHECK(ONCE(p->a) == 1000);
}

static void *operate_twice(void *arg)
{
	struct pm *p = arg;

	await(1);
	for (int i = 0; i < 2; i++) {
		operate(p, (int)opaque((uint64_t)i));
		ONCE(p->d) = 1;
		persist(&p->d, sizeof p->d);
	}
	give_to(0);
	return NULL;
}

int main(int argc, char **argv)
{
	struct pm *p;

	CHECK(argc == 2);
	p = g_pool = pool_map(argv[1]);
	TOGETHER(p++, store_late, read_again);
	TOGETHER(p++, store_late, write_and_wait);
	TOGETHER(p++, store_late, flush_what_is_read);
	TOGETHER(p++, link_marked, persist_if_marked, find_unmarked);
	TOGETHER(p++, store_late, get_and_put);
	TOGETHER(p++, publish, look);
	TOGETHER(p++, count_first, count_second);
	TOGETHER(p++, push_first, push_second);
	TOGETHER(p++, change_first, change_second);
	TOGETHER(p++, lock_first, lock_second);
	TOGETHER(p++, store_hint, copy_hint);
	TOGETHER(p++, keep_lock, await_lock);
	TOGETHER(p++, store_again, copy_what_stays);
	TOGETHER(p++, link_and_release, find_unmarked);
	TOGETHER(p + 4096 / sizeof *p, store_number, look_and_put);
	TOGETHER(p++, store_late, operate_twice);
	return 0;
}
