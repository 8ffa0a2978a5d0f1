/* The patterns of AGAMOTTO's listings. 4, a header that is valid before its data is, is durable in one execution: that is
 * for `crash`. 6, a redundant undo-log entry, is in obj_redundant_add.c. */
#include "corpus.h"

/* 1: the order of two writes; and 5, whose oracles the other cases are. */
static void listing_1(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	fence();
	p->c = 1;
	flush_line(&p->c);
	fence();
}

/* 2: a pointer that is cleared on one path and persisted on none. */
static void listing_2(struct pm *p)
{
	volatile int is_freed = 1;

	if (is_freed)
		p->a = 0; /* BUG: missing-flush-fence */
}

/* 3: an array shrinks, so there is nothing new to write back; the difference of the sizes wraps around. */
static void resize(uint64_t *array, size_t size, size_t new_size, size_t limit)
{
	for (size_t i = size; i < new_size; i++)
		array[i] = 0;
	for (size_t i = 0; i < new_size - size && i < limit; i += LINE_BYTES / 8)
		flush_line(&array[i + size]); /* BUG: flush-clean */
	fence();
}

static void listing_3(struct pm *p)
{
	resize((uint64_t *)p->text, 24, 32, 100);
	resize((uint64_t *)p->text, 32, 24, 8);
}

static void listing_4(struct pm *p)
{
	p->a = 0xbeef; /* the header says that the pool is valid, but it is not yet */
	flush_line(&p->a);
	fence();
	p->c = 1;
	flush_line(&p->c);
	fence();
}

/* 7: a fence is missing on the path that modifies. */
static void listing_7(struct pm *p)
{
	volatile int is_reading = 0;

	if (is_reading) {
		(void)*(volatile uint64_t *)&p->a;
	} else {
		p->a = 7; /* BUG: missing-fence */
		flush_line(&p->a);
	}
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, listing_1, listing_2, listing_3, listing_4, listing_7);
}
