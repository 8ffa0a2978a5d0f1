/* Threads that take turns. They spin on acquiring loads and releasing stores, because a semaphore of the C library is a
 * fence, too. */
#ifndef TURNS_H
#define TURNS_H

#include "corpus.h"

static _Atomic int g_turn; /* whose turn it is: 0 the storing thread's, 1 the reading one's, 2 a third one's */

static inline void give_to(int who)
{
	atomic_store_explicit(&g_turn, who, memory_order_release);
}

static inline void await(int who)
{
	while (atomic_load_explicit(&g_turn, memory_order_acquire) != who)
		spin_hint();
}

/* Keeps a value from being known to the compiler. */
static inline uint64_t opaque(uint64_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

/* One load or store, whatever the compiler thinks. */
#define ONCE(word) (*(volatile uint64_t *)&(word))

static inline void run_together(struct pm *p, void *(*const *jobs)(void *))
{
	pthread_t threads[3];
	int n;

	give_to(0);
	for (n = 0; jobs[n]; n++)
		CHECK(pthread_create(&threads[n], NULL, jobs[n], p) == 0);
	while (n-- > 0)
		pthread_join(threads[n], NULL);
}

/* Runs two or three threads on p. */
#define TOGETHER(p, ...) run_together((p), (void *(*const[])(void *)){ __VA_ARGS__, NULL })

#endif
