/* Two accounts in a PMDK pool, with a bug that docs/pmdk.md finds and fixes.
 * Usage: bank FILE move AMOUNT... or bank FILE show */
#include <libpmemobj.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

POBJ_LAYOUT_BEGIN(bank);
POBJ_LAYOUT_ROOT(bank, struct accounts);
POBJ_LAYOUT_END(bank);

struct accounts {
	uint64_t checking;
	uint64_t savings;
};

static void move(PMEMobjpool *pop, TOID(struct accounts) a, uint64_t amount)
{
	TX_BEGIN(pop) {
		TX_ADD_FIELD(a, savings);
		D_RW(a)->savings += amount;
		D_RW(a)->checking -= amount;
	}
	TX_END
}

int main(int argc, char **argv)
{
	TOID(struct accounts) a;
	PMEMobjpool *pop;

	if (argc < 3)
		return fprintf(stderr, "usage: bank FILE move AMOUNT... or bank FILE show\n"), 2;
	pop = access(argv[1], F_OK) == 0 ? pmemobj_open(argv[1], "bank")
					 : pmemobj_create(argv[1], "bank", PMEMOBJ_MIN_POOL, 0644);
	if (!pop)
		return fprintf(stderr, "%s: %s\n", argv[1], pmemobj_errormsg()), 1;
	a = POBJ_ROOT(pop, struct accounts);
	if (strcmp(argv[2], "move") == 0)
		for (int i = 3; i < argc; i++) {
			move(pop, a, strtoul(argv[i], NULL, 10));
			printf("moved %s\n", argv[i]);
			fflush(stdout);
		}
	printf("checking %ld, savings %ld\n", (long)D_RO(a)->checking, (long)D_RO(a)->savings);
	pmemobj_close(pop);
	return 0;
}
