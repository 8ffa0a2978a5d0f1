/* Words that are never made durable: a counter, a lock, and others that look like one. What the findings say about them is for tests/cli. A counter is volatile, or
   a compiler may add all at once, in the line of the loop. */
#include "corpus.h"

static volatile uint64_t *word(struct pm *p)
{
	return &p->a;
}

static void counter(struct pm *p)
{
	for (int i = 0; i < 5; i++)
		*word(p) = *word(p) + 1; /* BUG: missing-flush-fence */
}

static void lock(struct pm *p)
{
	for (int i = 0; i < 3; i++) {
		uint64_t free = 0;

		CHECK(__atomic_compare_exchange_n(&p->a, &free, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
		p->c = 7;
		persist(&p->c, 8);
		__atomic_store_n(&p->a, 0, __ATOMIC_RELEASE); /* BUG: missing-flush-fence */
	}
}

/* A tail of a log grows, but not by 1. */
static void tail(struct pm *p)
{
	for (int i = 0; i < 5; i++)
		*word(p) = *word(p) + 24; /* BUG: missing-flush-fence */
}

/* A flag is set and cleared, but not as a lock is. */
static void flag(struct pm *p)
{
	for (int i = 0; i < 3; i++) {
		p->a = 1;
		p->a = 0; /* BUG: missing-flush-fence */
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	return RUN_CASES(argv, counter, lock, tail, flag);
}
