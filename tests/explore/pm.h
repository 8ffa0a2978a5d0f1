/* What the programs of this folder share: making PM durable on x86-64 and, for work on the search alone, arm64; saying that a bug was reached; and running a case by its name. */
#include <stdint.h>
#include <string.h>

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

struct a_case {
	const char *name;
	void (*run)(void);
};

/* The exit status: 2 if there is no such case. */
__attribute__((unused)) static int case_run(const struct a_case *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0) {
			list[i].run();
#ifdef REACHED_STATUS
			return is_reached ? REACHED_STATUS : 0;
#endif
			return 0;
		}
	return 2;
}
