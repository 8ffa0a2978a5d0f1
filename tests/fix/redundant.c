/* What achieved nothing goes if the statements before it prove that; count and executions of each mark are equal. See redundant_*, too. */
#include <immintrin.h>
#include <libpmem.h>
#include <stdint.h>

struct item {
	uint64_t a, b;
};

static void pm_flush(const void *addr, size_t len)
{
	for (uintptr_t line = (uintptr_t)addr & ~(uintptr_t)63; line < (uintptr_t)addr + len; line += 64)
		_mm_clwb((void *)line);
}

#define pm_drain() _mm_sfence()

static void pm_persist(const void *addr, size_t len)
{
	pm_flush(addr, len);
	pm_drain();
}

void flushes(struct item *p, int i);
void flushes(struct item *p, int i)
{
	p->a = 1;
	pm_flush(&p->a, sizeof p->a);
	pm_flush(&p->a, sizeof p->a); /* BUG: redundant-flush */
	pm_drain();
	p->b = 2;
	pm_flush(&p->b, sizeof p->b);
	pm_flush(p, sizeof *p); /* BUG: redundant-flush */
	pm_flush(&p->b, sizeof p->b); /* BUG: redundant-flush */
	if (i)
		pm_flush(&p->b, sizeof p->b); /* BUG: redundant-flush */
	pm_drain();
	pm_flush(&p[i++], sizeof *p);
	pm_flush(&p[i++], sizeof *p); /* BUG: redundant-flush, suggested: not removed: it may still be needed */
	pm_drain();
}

void fences(struct item *p);
void fences(struct item *p)
{
	p->a = 1;
	pm_persist(&p->a, sizeof p->a);
	pm_drain(); /* BUG: redundant-fence */
	_mm_sfence(); /* BUG: redundant-fence */
	_mm_mfence(); /* BUG: redundant-fence, suggested: not removed: it may still be needed */
	p->b = 1;
	pm_drain(); /* BUG: redundant-fence, suggested: not removed: it may still be needed */
	pm_persist(&p->b, sizeof p->b);
	pm_persist(&p->b, sizeof p->b); /* BUG: flush-clean */
	pm_flush(&p->b, sizeof p->b);
#ifdef NDEBUG
	pm_persist(p, sizeof *p);
#endif
	pm_drain(); pm_drain(); /* BUG: redundant-fence 2 */
#ifdef NDEBUG
	p->a = 2;
	pm_flush(&p->a, sizeof p->a);
#endif
	pm_drain(); /* BUG: redundant-fence, suggested: not removed: it may still be needed */
}

void library(struct item *p);
void library(struct item *p)
{
	p->a = 1;
	pmem_persist(&p->a, sizeof p->a);
	pmem_flush(&p->a, sizeof p->a); /* BUG: flush-clean */
	pmem_drain();
	p->b = 1;
	pmem_flush(&p->b, sizeof p->b);
	pmem_drain();
	/* here */
	pmem_drain(); /* BUG: redundant-fence 1 seldom, suggested: not redundant each time */
}

/* An `if` that only looks stands between. */
void under_a_condition(struct item *p, int again);
void under_a_condition(struct item *p, int again)
{
	p->a = 1;
	pmem_persist(&p->a, sizeof p->a);
	if (again) {
		pmem_drain(); /* BUG: redundant-fence */
		p->b = 1;
		pmem_persist(&p->b, sizeof p->b);
	}
	if (p->a && again) {
		pmem_drain(); /* BUG: redundant-fence */
	}
	if (again) {
		if (p->b) {
			pmem_drain(); /* BUG: redundant-fence */
			p->a = 2;
			pmem_persist(&p->a, sizeof p->a);
		}
	}
	if (again--) {
		pmem_drain(); /* BUG: redundant-fence, suggested: something must replace it */
	}
	while (again) {
		pmem_drain(); /* BUG: redundant-fence */
		again--;
	}
}
