/* Non-temporal stores go past the cache: they need a fence, but no flush. */
#include <immintrin.h>

#include "tests/corpus/corpus.h"

static void stream(uint64_t *where, uint64_t value)
{
	_mm_stream_si64((long long *)where, (long long)value);
}

static void fenced(struct pm *p)
{
	stream(&p->a, 1);
	fence();
}

static void not_fenced(struct pm *p)
{
	_mm_stream_si64((long long *)&p->a, 1); /* BUG: missing-fence */
}

static void whole_line_fenced(struct pm *p)
{
	__m128i ones = _mm_set1_epi8(1);

	for (int i = 0; i < 4; i++)
		_mm_stream_si128((__m128i *)p->text + i, ones);
	fence();
}

static void vector_not_fenced(struct pm *p)
{
	_mm_stream_si128((__m128i *)p->text, _mm_set1_epi8(1)); /* BUG: missing-fence */
}

static void completed_by_a_locked_instruction(struct pm *p)
{
	uint64_t volatile_memory = 0;

	stream(&p->a, 1);
	__atomic_fetch_add(&volatile_memory, 1, __ATOMIC_SEQ_CST);
}

static void plain_store_beside_it(struct pm *p)
{
	stream(&p->a, 1);
	p->b = 2; /* BUG: missing-flush */
	fence();
}

static void plain_store_beside_it_flushed(struct pm *p)
{
	stream(&p->a, 1);
	p->b = 2;
	flush_line(&p->b);
	fence();
}

static void over_a_plain_store(struct pm *p)
{
	*(volatile uint64_t *)&p->a = 1;
	stream(&p->a, 2);
	fence();
}

static void asserted(struct pm *p)
{
	stream(&p->a, 1);
	PMEND_ASSERT_DURABLE(&p->a, 8); /* BUG: assert-durable */
	fence();
	PMEND_ASSERT_DURABLE(&p->a, 8);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, fenced, not_fenced, whole_line_fenced, vector_not_fenced, completed_by_a_locked_instruction,
			 plain_store_beside_it, plain_store_beside_it_flushed, over_a_plain_store, asserted);
}
