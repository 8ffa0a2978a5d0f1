/* Regions of both stages: only what is stored in the recorded program's region of interest and read in recovery's is judged, and neither where
 * checks are skipped nor after PMEND_DONE().
 *	regions POOL run [open]|recover
 * open: the region ends before what it stored is durable. */
#include "pm.h"

struct pool {
	struct { LINE volatile uint64_t word; } words[8];
};

/* Never written back: each is a race for whoever reads it. */
static void put(struct pool *p, int i)
{
	p->words[i].word = 1;
	pm_drain();
}

static void recover(struct pool *p)
{
	uint64_t sum = p->words[2].word;

	PMEND_ROI_BEGIN();
	sum += p->words[0].word; /* stored outside */
	sum += p->words[1].word; /* stored where checks are skipped */
	sum += p->words[3].word; /* RACE: regions */
	PMEND_SKIP_CHECK_BEGIN();
	sum += p->words[4].word;
	PMEND_SKIP_CHECK_END();
	PMEND_ROI_END();
	sum += p->words[5].word;
	printf("%lu\n", sum);
	if (PMEND_IN_RECOVERY())
		PMEND_DONE();
	PMEND_ROI_BEGIN();
	printf("%lu\n", p->words[6].word);
	abort(); /* nobody gets here */
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);

	if (strcmp(argv[2], "recover") == 0)
		recover(p);
	if (PMEND_IN_RECOVERY())
		return 3;
	if (argc > 3) {
		PMEND_ROI_BEGIN();
		p->words[3].word = 1;
		PMEND_ROI_END();
		pm_persist(&p->words[3], 8);
		return 0;
	}
	put(p, 0);
	PMEND_ROI_BEGIN();
	PMEND_SKIP_CHECK_BEGIN();
	put(p, 1);
	PMEND_SKIP_CHECK_END();
	for (int i = 2; i < 7; i++)
		put(p, i);
	PMEND_FAILURE_POINT(); /* the only one */
	PMEND_SKIP_FAILURE_BEGIN();
	p->words[7].word = 1;
	pm_persist(&p->words[7], 8);
	PMEND_SKIP_FAILURE_END();
	PMEND_ROI_END();
	return 0;
}
