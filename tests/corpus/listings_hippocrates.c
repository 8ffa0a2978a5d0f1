/* The patterns of HIPPOCRATES's listings, each as it was and as it was fixed. */
#include "corpus.h"

/* 3.1: fixed where the store is. */
static void listing_1(struct pm *p)
{
	volatile int is_freed = 1;

	if (is_freed)
		p->a = 0; /* BUG: missing-flush-fence */
}

static void listing_1_fixed(struct pm *p)
{
	volatile int is_freed = 1;

	if (is_freed) {
		p->a = 0;
		flush_line(&p->a);
		fence();
	}
}

/* 3.2: the store is in memcpy; the fix is after it. */
static void listing_2(struct pm *p)
{
	volatile size_t len_bytes = 150;
	char source[150] = "volatile";

	memcpy(p->text, source, len_bytes); /* BUG: missing-flush-fence */
}

static void listing_2_fixed(struct pm *p)
{
	volatile size_t len_bytes = 150;
	char source[150] = "volatile";

	memcpy(p->text, source, len_bytes);
	persist(p->text, len_bytes);
}

static void listing_3(struct pm *p)
{
	p->text[0] = 'x'; /* BUG: missing-fence */
	flush_line(p->text);
}

static void listing_3_fixed(struct pm *p)
{
	p->text[0] = 'x';
	flush_line(p->text);
	fence();
}

static void listing_4(struct pm *p)
{
	p->text[0] = 'x'; /* BUG: missing-flush */
	fence(); /* WARNING: redundant-fence */
}

static void listing_4_fixed(struct pm *p)
{
	p->text[0] = 'x';
	flush_line(p->text);
	fence();
}

/* 3.5 and 3.6: the function that stores mostly works on volatile memory. */
static __attribute__((noinline)) void update(char *addr, int idx, char value)
{
	addr[idx] = value; /* BUG: missing-flush-fence */
}

static __attribute__((noinline)) void modify(char *addr)
{
	update(addr, 3, 'x');
}

static void listing_5(struct pm *p)
{
	char in_volatile_memory[8];

	for (int i = 0; i < 100; i++)
		modify(in_volatile_memory);
	modify(p->text);
}

static __attribute__((noinline)) void update_pm(char *addr, int idx, char value)
{
	addr[idx] = value;
	flush_line(&addr[idx]);
}

static __attribute__((noinline)) void modify_pm(char *addr)
{
	update_pm(addr, 3, 'x');
}

static void listing_5_fixed(struct pm *p)
{
	char in_volatile_memory[8];

	for (int i = 0; i < 100; i++)
		modify(in_volatile_memory);
	modify_pm(p->text);
	fence();
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, listing_1, listing_1_fixed, listing_2, listing_2_fixed, listing_3, listing_3_fixed, listing_4,
			 listing_4_fixed, listing_5, listing_5_fixed);
}
