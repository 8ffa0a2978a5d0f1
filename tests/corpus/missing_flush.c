/* A store that is never written back, though its thread fences afterwards. */
#include "corpus.h"

static void one_of_two_is_forgotten(struct pm *p)
{
	p->a = 1; /* BUG: missing-flush */
	p->c = 2;
	flush_line(&p->c);
	fence();
}

static void both_are_written_back(struct pm *p)
{
	p->a = 1;
	p->c = 2;
	flush_line(&p->a);
	flush_line(&p->c);
	fence();
}

static void flush_comes_too_early(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	p->b = 2; /* BUG: missing-flush */
	fence();
}

static void only_the_first_line_of_a_buffer(struct pm *p)
{
	memset(p->text, 'x', 2 * LINE_BYTES); /* BUG: missing-flush */
	flush_line(p->text);
	fence();
}

static void store_across_two_lines(struct pm *p)
{
	*(volatile uint64_t *)(p->text + 60) = 1; /* BUG: missing-flush */
	flush_line(p->text);
	fence();
}

static void store_across_two_lines_flushed(struct pm *p)
{
	*(volatile uint64_t *)(p->text + 60) = 1;
	flush_line(p->text);
	flush_line(p->text + LINE_BYTES);
	fence();
}

/* One bug, however often it happens. */
static void in_a_loop(struct pm *p)
{
	for (int i = 0; i < 5; i++)
		*(volatile char *)&p->text[i * LINE_BYTES] = 'x'; /* BUG: missing-flush */
	p->a = 5;
	flush_line(&p->a);
	fence();
}

/* The first value was never durable, but nobody needs it any more. */
static void overwritten_and_persisted_later(struct pm *p)
{
	*(volatile uint64_t *)&p->a = 1;
	*(volatile uint64_t *)&p->a = 2;
	persist(&p->a, 8);
}

static void persisted_with_a_later_neighbour(struct pm *p)
{
	p->a = 1;
	p->c = 3;
	persist(&p->c, 8);
	p->b = 2;
	persist(&p->b, 8);
}

static void half_of_it_is_overwritten(struct pm *p)
{
	*(volatile uint64_t *)&p->a = 0x1111111122222222;
	persist(&p->a, 8);
	*(volatile char *)&p->a = 3; /* BUG: missing-flush */
	p->c = 1;
	persist(&p->c, 8);
}

static __attribute__((noinline)) void set(uint64_t *where)
{
	*where = 7; /* BUG: missing-flush */
}

/* Good in one caller, forgotten in the other. */
static void by_a_function(struct pm *p)
{
	uint64_t volatile_memory;

	set(&volatile_memory);
	set(&p->c);
	persist(&p->c, 8);
	set(&p->a);
	p->d = volatile_memory;
	persist(&p->d, 8);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, one_of_two_is_forgotten, both_are_written_back, flush_comes_too_early, only_the_first_line_of_a_buffer,
			 store_across_two_lines, store_across_two_lines_flushed, in_a_loop, overwritten_and_persisted_later,
			 persisted_with_a_later_neighbour, half_of_it_is_overwritten, by_a_function);
}
