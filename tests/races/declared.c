/* What the program declares clean (pmemcheck's SET_CLEAN) or volatile by intent: losing it does not matter, whether recovery reads it or even fails without it.
 *	declared POOL run [bare]|recover [verify]
 * bare: without declarations. verify: recovery wants the words. */
#include <valgrind/valgrind.h>

#include "pm.h"

enum { PMC_SET_CLEAN = VG_USERREQ_TOOL_BASE('P', 'C') + 17 };

struct pool {
	struct { LINE volatile uint64_t word; } words[3];
	struct { LINE volatile uint64_t done; } end;
};

static void run(struct pool *p, int is_bare)
{
	if (!is_bare)
		PMEND_IGNORE(&p->words[1], 8);
	for (int i = 0; i < 2; i++)
		p->words[i].word = 1; /* UNFLUSHED: failing */
	if (!is_bare)
		VALGRIND_DO_CLIENT_REQUEST_STMT(PMC_SET_CLEAN, &p->words[0], 8, 0, 0, 0);
	p->end.done = 1;
	pm_persist(&p->end, 8);
}

static void recover(struct pool *p, int wants_words)
{
	uint64_t sum;

	if (!p->end.done)
		return;
	sum = p->words[0].word; /* RACE: bare */
	sum += 2 * p->words[1].word; /* RACE: bare */
	if (wants_words && sum != 3)
		abort();
	printf("%lu\n", sum);
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);

	if (strcmp(argv[2], "run") == 0)
		run(p, argc > 3);
	else
		recover(p, argc > 3);
	return 0;
}
