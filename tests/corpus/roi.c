/* With a region of interest, only what is stored, flushed and fenced in it is judged. */
#include "corpus.h"

static void before(struct pm *p)
{
	p->a = 1;
	flush_line(&p->c);
	fence();
	fence();
}

static void inside(struct pm *p)
{
	PMEND_ROI_BEGIN();
	p->a = 1; /* BUG: missing-flush-fence */
	flush_line(&p->c); /* BUG: flush-clean */
	PMEND_ROI_END();
}

static void stored_inside_persisted_outside(struct pm *p)
{
	PMEND_ROI_BEGIN();
	p->a = 1;
	PMEND_ROI_END();
	persist(&p->a, 8);
}

static void stored_outside_persisted_inside(struct pm *p)
{
	p->a = 1;
	PMEND_ROI_BEGIN();
	persist(&p->a, 8);
	fence(); /* WARNING: redundant-fence */
	PMEND_ROI_END();
	fence();
}

static void after(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	flush_line(&p->a);
	fence();
	p->c = 2;
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, before, inside, stored_inside_persisted_outside, stored_outside_persisted_inside, after);
}
