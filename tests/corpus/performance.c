/* Work that achieves nothing. */
#include "corpus.h"

static void flushed_twice(struct pm *p)
{
	p->a = 1;
	_mm_clwb(&p->a);
	_mm_clwb(&p->a); /* BUG: redundant-flush */
	_mm_sfence();
}

static void two_fields_one_line(struct pm *p)
{
	p->a = 1;
	p->b = 2;
	_mm_clwb(&p->a);
	_mm_clflushopt(&p->b); /* BUG: redundant-flush */
	_mm_sfence();
}

static void two_fields_two_lines(struct pm *p)
{
	p->a = 1;
	p->c = 2;
	_mm_clwb(&p->a);
	_mm_clwb(&p->c);
	_mm_sfence();
}

static void stored_to_in_between(struct pm *p)
{
	p->a = 1;
	_mm_clwb(&p->a);
	p->b = 2;
	_mm_clwb(&p->b);
	_mm_sfence();
}

static void persisted_twice(struct pm *p)
{
	p->a = 1;
	_mm_clwb(&p->a);
	_mm_sfence();
	_mm_clwb(&p->a); /* BUG: flush-clean */
	_mm_sfence();
}

static void never_stored_to(struct pm *p)
{
	_mm_clwb(&p->d); /* BUG: flush-clean */
	_mm_sfence();
}

static void more_than_was_stored(struct pm *p)
{
	p->text[0] = 'x';
	for (int i = 0; i < 4; i++)
		_mm_clwb(&p->text[i * LINE_BYTES]); /* BUG: flush-clean */
	_mm_sfence();
}

static void fenced_twice(struct pm *p)
{
	p->a = 1;
	_mm_clwb(&p->a);
	_mm_sfence();
	_mm_sfence(); /* BUG: redundant-fence */
}

static void mfence_after_a_fence(struct pm *p)
{
	p->a = 1;
	_mm_clwb(&p->a);
	_mm_sfence();
	_mm_mfence(); /* BUG: redundant-fence */
}

static void fence_alone(struct pm *p)
{
	(void)p;
	_mm_sfence(); /* BUG: redundant-fence */
}

static void fence_instead_of_flush(struct pm *p)
{
	p->a = 1; /* BUG: missing-flush */
	_mm_sfence(); /* BUG: redundant-fence */
}

static void fence_for_a_non_temporal_store(struct pm *p)
{
	_mm_stream_si64((long long *)&p->a, 1);
	_mm_sfence();
}

/* clflush needs no fence, but the fence is not called redundant: it is a flush of this thread. */
static void fence_after_clflush(struct pm *p)
{
	p->a = 1;
	_mm_clflush(&p->a);
	_mm_sfence();
}

/* Locked instructions are there for another reason. */
static void locked_instruction_without_flush(struct pm *p)
{
	static atomic_int counter;

	(void)p;
	atomic_fetch_add(&counter, 1);
	atomic_fetch_add(&counter, 1);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, flushed_twice, two_fields_one_line, two_fields_two_lines, stored_to_in_between, persisted_twice,
			 never_stored_to, more_than_was_stored, fenced_twice, mfence_after_a_fence, fence_alone,
			 fence_instead_of_flush, fence_for_a_non_temporal_store, fence_after_clflush,
			 locked_instruction_without_flush);
}
