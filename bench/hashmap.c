/* PMDK's own example of a transactional hash map, from Debian's package: hashmap POOL insert KEY,
 * in a pool that is made if there is none, or hashmap POOL check, the recovery: counts the entries
 * and compares the count with what the map says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hashmap_tx.h"

POBJ_LAYOUT_BEGIN(bench);
POBJ_LAYOUT_ROOT(bench, struct root);
POBJ_LAYOUT_END(bench);

struct root {
	TOID(struct hashmap_tx) map;
};

static int count(uint64_t key, PMEMoid value, void *arg)
{
	(void)key;
	(void)value;
	++*(size_t *)arg;
	return 0;
}

static int check(PMEMobjpool *pop)
{
	TOID(struct root) root = POBJ_ROOT(pop, struct root);
	size_t n = 0;

	if (TOID_IS_NULL(D_RO(root)->map))
		return 0;
	hm_tx_init(pop, D_RO(root)->map);
	hm_tx_foreach(pop, D_RO(root)->map, count, &n);
	return n != hm_tx_count(pop, D_RO(root)->map);
}

static int insert(PMEMobjpool *pop, uint64_t key)
{
	TOID(struct root) root = POBJ_ROOT(pop, struct root);

	if (TOID_IS_NULL(D_RO(root)->map) && hm_tx_create(pop, &D_RW(root)->map, NULL) != 0)
		return 1;
	hm_tx_init(pop, D_RO(root)->map);
	return hm_tx_insert(pop, D_RO(root)->map, key, OID_NULL) < 0;
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	int failed;

	if (argc < 3)
		return fprintf(stderr, "usage: hashmap POOL insert KEY | hashmap POOL check\n"), 2;
	pop = access(argv[1], F_OK) == 0
		      ? pmemobj_open(argv[1], POBJ_LAYOUT_NAME(bench))
		      : pmemobj_create(argv[1], POBJ_LAYOUT_NAME(bench), PMEMOBJ_MIN_POOL, 0600);
	if (!pop)
		return perror(argv[1]), 1;
	failed = argc > 3 ? insert(pop, strtoull(argv[3], NULL, 10)) : check(pop);
	pmemobj_close(pop);
	return failed;
}
