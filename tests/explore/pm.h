/* What the programs of this folder share: making PM durable, reporting that a bug was reached, and
 * running a case by its name. */
#include <stdint.h>
#include <string.h>

#include "tests/machine.h"

/* For tries.c: the program reports that it reached its bug. */
#ifndef REACHED
#define REACHED() ((void)0)
#endif

static void persist(const void *addr)
{
	flush_line(addr);
	fence();
}

struct a_case {
	const char *name;
	void (*run)(void);
};

/* Gives the exit status: 2 if there is no such case. */
__attribute__((unused)) static int case_run(const struct a_case *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0) {
			list[i].run();
			return 0;
		}
	return 2;
}
