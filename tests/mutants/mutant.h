/* One program, many mutants: every flush, fence and TX_ADD has a number, and -DMUTANT=k builds the program without
 * number k.
 *
 *	p->x = v;
 *	FLUSH(3, &p->x, sizeof p->x);
 *	FENCE(4);
 *
 * Numbers are per program and consecutive from 1; MUTANT=0, the default, is the original. `PROG mutants` lists them.
 * With -DMUTANT_AT_RUN_TIME the number is taken from PMEND_MUTANT in the environment, so that one binary is all
 * mutants, and all combinations of them (PMEND_MUTANT=3,7 lacks both); it also obeys PMEND_DIE_AT=n (end, as by a kill, at the nth numbered place that is reached) and
 * PMEND_POINTS=1 (see driver.c). Before the first use, a program says how it flushes: PM_FLUSH(addr, len_bytes),
 * PM_DRAIN(), and where it has them PM_PERSIST(addr, len_bytes), PM_COPY(to, from, len_bytes) (which flushes, but does
 * not drain). */
#ifndef MUTANT_H
#define MUTANT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef MUTANT_AT_RUN_TIME
#define MUTANT_LACKS(n) mutant_lacks(n)
#define MUTANT_REACHED(n) mutant_reached(n)
#else
#ifndef MUTANT
#define MUTANT 0
#endif
#define MUTANT_LACKS(n) (MUTANT == (n))
#define MUTANT_REACHED(n) ((void)0)
#endif

bool mutant_lacks(int number);
void mutant_reached(int number);

/* Collected by the linker into an array, from __start_mutants to __stop_mutants. */
struct mutant {
	int32_t number, line;
	char kind[8]; /* flush | fence | add */
} __attribute__((aligned(16)));
_Static_assert(sizeof(struct mutant) == 16, "no gaps in the section");

#define MUTANT_LIST(n, word) \
	static const struct mutant mutant_##n __attribute__((section("mutants"), used)) = { n, __LINE__, word }

#define MUTANT_POINT(n, word, original, mutated) \
	do {                                     \
		MUTANT_LIST(n, word);            \
		MUTANT_REACHED(n);               \
		if (!MUTANT_LACKS(n)) {          \
			original;                \
		} else {                         \
			mutated;                 \
		}                                \
	} while (0)

#ifdef MUTANT_WITHOUT_FLUSHES
/* All of them are missing, and with MUTANT_WITHOUT_FENCES the fences, too. */
#define FLUSH(n, addr, len_bytes) MUTANT_POINT(n, "flush", (void)(addr), )
#define COPY(n, to, from, len_bytes) MUTANT_POINT(n, "flush", memcpy(to, from, len_bytes), )
#ifdef MUTANT_WITHOUT_FENCES
#define FENCE(n) MUTANT_POINT(n, "fence", , )
#else
#define FENCE(n) MUTANT_POINT(n, "fence", PM_DRAIN(), )
#endif
#define PERSIST(n, m, addr, len_bytes)   \
	do {                             \
		MUTANT_LIST(n, "flush"); \
		FENCE(m);                \
	} while (0)
#else
#define FLUSH(n, addr, len_bytes) MUTANT_POINT(n, "flush", PM_FLUSH(addr, len_bytes), )
#define FENCE(n) MUTANT_POINT(n, "fence", PM_DRAIN(), )
/* The mutant copies without flushing. */
#define COPY(n, to, from, len_bytes) MUTANT_POINT(n, "flush", PM_COPY(to, from, len_bytes), memcpy(to, from, len_bytes))
/* Two mutants: number n lacks the flush, number m the fence. */
#define PERSIST(n, m, addr, len_bytes)                              \
	do {                                                        \
		MUTANT_LIST(n, "flush");                            \
		MUTANT_LIST(m, "fence");                            \
		MUTANT_REACHED(n);                                  \
		if (!MUTANT_LACKS(n) && !MUTANT_LACKS(m))           \
			PM_PERSIST(addr, len_bytes);                \
		else if (!MUTANT_LACKS(n))                          \
			PM_FLUSH(addr, len_bytes);                  \
		else if (!MUTANT_LACKS(m))                          \
			PM_DRAIN();                                 \
		MUTANT_REACHED(m);                                  \
	} while (0)
#endif
/* Adds a range to the transaction: ADD(5, TX_ADD_FIELD(node, next)). */
#define ADD(n, call) MUTANT_POINT(n, "add", call, )

#endif
