/* CHECK: --platform eadr */
/* Caches that survive: a non-temporal store goes past them and still needs a fence. */
#include <immintrin.h>

#include "tests/corpus/corpus.h"

static void not_fenced(struct pm *p)
{
	_mm_stream_si64((long long *)&p->a, 1); /* BUG: missing-fence */
}

static void fenced(struct pm *p)
{
	_mm_stream_si64((long long *)&p->a, 1);
	fence();
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, not_fenced, fenced);
}
