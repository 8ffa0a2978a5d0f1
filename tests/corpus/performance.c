/* Work that achieves nothing. */
#include "corpus.h"

static void flushed_twice(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	flush_line(&p->a); /* BUG: redundant-flush */
	fence();
}

static void two_fields_one_line(struct pm *p)
{
	p->a = 1;
	p->b = 2;
	flush_line(&p->a);
	flush_line_alt(&p->b); /* BUG: redundant-flush */
	fence();
}

static void two_fields_two_lines(struct pm *p)
{
	p->a = 1;
	p->c = 2;
	flush_line(&p->a);
	flush_line(&p->c);
	fence();
}

static void stored_to_in_between(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	p->b = 2;
	flush_line(&p->b);
	fence();
}

static void persisted_twice(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	fence();
	flush_line(&p->a); /* BUG: flush-clean */
	fence();
}

static void never_stored_to(struct pm *p)
{
	flush_line(&p->d); /* BUG: flush-clean */
	fence();
}

static void more_than_was_stored(struct pm *p)
{
	p->text[0] = 'x';
	for (int i = 0; i < 4; i++)
		flush_line(&p->text[i * LINE_BYTES]); /* BUG: flush-clean */
	fence();
}

static void fenced_twice(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	fence();
	fence(); /* WARNING: redundant-fence */
}

static void other_fence_after_a_fence(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	fence();
	fence_alt(); /* WARNING: redundant-fence */
}

static void fence_alone(struct pm *p)
{
	(void)p;
	fence(); /* WARNING: redundant-fence */
}

static void fence_instead_of_flush(struct pm *p)
{
	p->a = 1; /* BUG: missing-flush */
	fence(); /* WARNING: redundant-fence */
}

/* Atomic instructions are there for another reason. */
static void atomics_without_flush(struct pm *p)
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
			 never_stored_to, more_than_was_stored, fenced_twice, other_fence_after_a_fence, fence_alone,
			 fence_instead_of_flush, atomics_without_flush);
}
