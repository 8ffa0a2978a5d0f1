/* What the programs of this folder share: making PM durable on x86-64 and, for work on the search alone, arm64; and saying that a bug was reached. */
#include <stdint.h>

/* For bench/explore_search.c and tries.c: the program says that it was at its bug. */
#ifdef REACHED_STATUS
static int is_reached;
#define REACHED() ((void)(is_reached = 1))
#elif !defined REACHED
#define REACHED() ((void)0)
#endif

static void flush(const void *addr)
{
#ifdef __x86_64__
	__asm__ volatile("clwb (%0)" : : "r"(addr) : "memory");
#else
	__asm__ volatile("dc cvac, %0" : : "r"(addr) : "memory");
#endif
}

static void fence(void)
{
#ifdef __x86_64__
	__asm__ volatile("sfence" : : : "memory");
#else
	__asm__ volatile("dsb sy" : : : "memory");
#endif
}

static void persist(const void *addr)
{
	flush(addr);
	fence();
}
