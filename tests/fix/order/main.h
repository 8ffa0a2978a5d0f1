/* main of the programs of this folder: PROG POOL run | check. `run` makes the pool and does the work, saying when each operation is done;
 * `check` opens it, as after a crash, and says by its status whether the content makes sense. */
#ifndef MAIN_H
#define MAIN_H

#include <libpmemobj.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmend.h"

static void work(PMEMobjpool *pop);
static const char *judge(PMEMobjpool *pop); /* what is wrong; NULL */

static inline void done(const char *what)
{
	if (write(STDOUT_FILENO, what, strlen(what)) < 0)
		exit(3);
}

/* A pool whose creation a crash interrupted is none yet. */
static inline int check(const char *path)
{
	PMEMobjpool *pop = access(path, R_OK) == 0 ? pmemobj_open(path, "order") : NULL;
	const char *why = pop && pmemobj_root_size(pop) ? judge(pop) : NULL;

	if (pop)
		pmemobj_close(pop);
	if (why)
		fprintf(stderr, "%s\n", why);
	return why != NULL;
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;

	if (argc == 3 && strcmp(argv[2], "check") == 0)
		return check(argv[1]);
	pop = pmemobj_create(argv[1], "order", PMEMOBJ_MIN_POOL, 0666);
	if (!pop) {
		fprintf(stderr, "%s\n", pmemobj_errormsg());
		return 2;
	}
	done("created\n");
	PMEND_ROI_BEGIN(); /* how libpmemobj makes a pool is not the point */
	work(pop);
	PMEND_ROI_END();
	pmemobj_close(pop);
	return 0;
}

#endif
