/* clflush needs no fence. It evicts the line as it is then. */
#include <immintrin.h>

#include "tests/corpus/corpus.h"

static void clflush_alone(struct pm *p)
{
	p->a = 1;
	_mm_clflush(&p->a);
}

static void stored_after_it(struct pm *p)
{
	p->a = 1;
	_mm_clflush(&p->a);
	p->b = 2; /* BUG: missing-flush-fence */
}

static void clwb_then_clflush(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	p->b = 2;
	_mm_clflush(&p->a);
	fence();
}

static void twice(struct pm *p)
{
	p->a = 1;
	_mm_clflush(&p->a);
	_mm_clflush(&p->a); /* BUG: flush-clean */
}

static void line_by_line(struct pm *p)
{
	for (int i = 0; i < 4; i++) {
		*(volatile char *)&p->text[i * LINE_BYTES] = 'x';
		_mm_clflush(&p->text[i * LINE_BYTES]);
	}
}

/* clflush needs no fence, but the fence is not called redundant: it is a flush of this thread. */
static void fenced(struct pm *p)
{
	p->a = 1;
	_mm_clflush(&p->a);
	fence();
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, clflush_alone, stored_after_it, clwb_then_clflush, twice, line_by_line, fenced);
}
