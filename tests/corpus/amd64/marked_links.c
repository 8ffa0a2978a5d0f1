/* Link-and-persist: a link is stored with a mark, flushed and fenced; then an atomic instruction
 * clears the mark, and nobody needs to flush that. (On amd64, the trace shows that it is one.) */
#include <valgrind/valgrind.h>

#include "tests/corpus/corpus.h"

enum { PMC_DO_FLUSH = VG_USERREQ_TOOL_BASE('P', 'C') + 5 };

#define MARK ((uint64_t)1)
#define HIGH_MARK ((uint64_t)1 << 63)

static void swap(uint64_t *word, uint64_t from, uint64_t to)
{
	CHECK(__sync_bool_compare_and_swap(word, from, to));
}

static void link_and_persist(struct pm *p)
{
	swap(&p->a, 0, 0x1000 | MARK);
	persist(&p->a, 8);
	CHECK(__sync_bool_compare_and_swap(&p->a, 0x1000 | MARK, 0x1000)); /* WARNING: missing-flush-fence */
}

/* Again and again, with a mark elsewhere and another size. */
static void twice(struct pm *p)
{
	uint32_t *half = (uint32_t *)&p->d;

	memset(&p->c, 0, sizeof p->c);
	for (uint64_t i = 0; i < 2; i++) {
		swap(&p->c, i * 0x500, (i + 1) * 0x500 | HIGH_MARK);
		persist(&p->c, 8);
		CHECK(__sync_bool_compare_and_swap(&p->c, (i + 1) * 0x500 | HIGH_MARK, (i + 1) * 0x500)); /* WARNING: missing-flush */
	}
	CHECK(__sync_bool_compare_and_swap(half, 0, 0x7001));
	persist(half, 4);
	__sync_fetch_and_and(half, ~1u); /* WARNING: missing-flush-fence */
}

/* The link itself may be lost. */
static void link_not_flushed(struct pm *p)
{
	swap(&p->a, 0, 0x1000 | MARK);
	CHECK(__sync_bool_compare_and_swap(&p->a, 0x1000 | MARK, 0x1000)); /* BUG: missing-flush-fence */
}

/* The word holds nothing else: it is what is stored. */
static void all_cleared(struct pm *p)
{
	swap(&p->a, 0, MARK);
	persist(&p->a, 8);
	CHECK(__sync_bool_compare_and_swap(&p->a, MARK, 0)); /* BUG: missing-flush-fence */
}

static void another_link(struct pm *p)
{
	swap(&p->a, 0, 0x1000 | MARK);
	persist(&p->a, 8);
	CHECK(__sync_bool_compare_and_swap(&p->a, 0x1000 | MARK, 0x2000)); /* BUG: missing-flush-fence */
}

/* Marks are cleared atomically, because others set them. */
static void plain_flag(struct pm *p)
{
	*(volatile uint64_t *)&p->a = 7;
	persist(&p->a, 8);
	*(volatile uint64_t *)&p->a = 5; /* BUG: missing-flush-fence */
}

static void announce(const void *addr)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(PMC_DO_FLUSH, addr, 8, 0, 0, 0);
}

/* The program tells pmemcheck that it flushed what it did not flush. */
static void announced(struct pm *p)
{
	*(volatile uint64_t *)&p->a = 1; /* WARNING: missing-flush-fence */
	announce(&p->a);
	*(volatile uint64_t *)&p->c = 1;
	announce(&p->c);
	*(volatile uint64_t *)&p->c = 2; /* BUG: missing-flush-fence */
	announce(&p->d);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, link_and_persist, twice, link_not_flushed, all_cleared, another_link,
			 plain_flag, announced);
}
