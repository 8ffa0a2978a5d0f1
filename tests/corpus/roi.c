/* With a region of interest, only what is stored, flushed and fenced in it is judged. */
#include "corpus.h"

static void before(struct pm *p)
{
	p->a = 1;
	_mm_clwb(&p->c);
	_mm_sfence();
	_mm_sfence();
}

static void inside(struct pm *p)
{
	PMEND_ROI_BEGIN();
	p->a = 1; /* BUG: missing-flush-fence */
	_mm_clwb(&p->c); /* BUG: flush-clean */
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
	_mm_sfence(); /* BUG: redundant-fence */
	PMEND_ROI_END();
	_mm_sfence();
}

static void after(struct pm *p)
{
	p->a = 1;
	_mm_clwb(&p->a);
	_mm_clwb(&p->a);
	_mm_sfence();
	p->c = 2;
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, before, inside, stored_inside_persisted_outside, stored_outside_persisted_inside, after);
}
