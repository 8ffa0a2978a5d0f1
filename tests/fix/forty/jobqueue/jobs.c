/*
 * jobs POOL [submit NAME COST | finish RESULT | purge | check]...
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobq.h"

static PMEMobjpool *pool_get(const char *path)
{
	if (access(path, F_OK) != 0)
		return pmemobj_create(path, POBJ_LAYOUT_NAME(jobq), PMEMOBJ_MIN_POOL, 0666);
	return pmemobj_open(path, POBJ_LAYOUT_NAME(jobq));
}

/* Returns the number of words used, or -1. */
static int command(PMEMobjpool *pop, struct jobq *q, char **word, int left)
{
	if (!strcmp(word[0], "submit") && left >= 3)
		return jobq_submit(pop, q, word[1], strtoull(word[2], NULL, 10)) == 0 ? 3 : -1;
	if (!strcmp(word[0], "finish") && left >= 2)
		return jobq_finish(pop, q, strtoll(word[1], NULL, 10)) == 0 ? 2 : -1;
	if (!strcmp(word[0], "purge"))
		return jobq_purge(pop, q) == 0 ? 1 : -1;
	if (!strcmp(word[0], "check"))
		return jobq_check(q) == 0 ? 1 : -1;
	fprintf(stderr, "%s: what?\n", word[0]);
	return -1;
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	struct jobq *q;
	struct stat st;
	int used = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: jobs POOL COMMAND...\n");
		return 2;
	}
	if (!strcmp(argv[2], "check") && (stat(argv[1], &st) != 0 || st.st_size == 0)) {
		printf("nothing there yet\n");
		return 0;
	}
	pop = pool_get(argv[1]);
	if (!pop) {
		fprintf(stderr, "%s: %s\n", argv[1], pmemobj_errormsg());
		return 1;
	}
	q = D_RW(POBJ_ROOT(pop, struct jobq));
	for (int i = 2; i < argc && used >= 0; i += used)
		used = command(pop, q, argv + i, argc - i);
	pmemobj_close(pop);
	return used < 0 ? 1 : 0;
}
