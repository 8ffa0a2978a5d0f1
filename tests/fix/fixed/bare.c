/* A file that shows no way to flush or to fence, and uses no library that has one: the patch brings its own. */
#ifndef BARE_C
#define BARE_C
#include <stdint.h>

/* PM_FLUSH writes the cache line of an address back to persistent memory; PM_FENCE waits until it is there. */
#ifdef __aarch64__
#define PM_FLUSH(p) __asm__ volatile("sys #3, c7, c12, #1, %0" : : "r"(p) : "memory") /* dc cvap */
#define PM_FENCE() __asm__ volatile("dsb sy" : : : "memory")
#else
#define PM_FLUSH(p) __asm__ volatile("clwb (%0)" : : "r"(p) : "memory")
#define PM_FENCE() __asm__ volatile("sfence" : : : "memory")
#endif
#ifdef __linux__
#include <stddef.h>
#endif

struct root {
	uint64_t a, b;
	char name[200];
};

void one(struct root *r);
void one(struct root *r)
{
	r->a = 1; /* BUG: missing-flush-fence */
	PM_FLUSH(&r->a);
	PM_FENCE();
}

void many(struct root *r, const struct root *from);
void many(struct root *r, const struct root *from)
{
	*r = *from; /* BUG: missing-flush-fence */
	for (const char *line = (const char *)((unsigned long)(r) & ~63ul), *end = (const char *)(r) + (sizeof *r); line < end; line += 64)
		PM_FLUSH((void *)line);
	PM_FENCE();
	if (r->a) {
		r->b = 3; /* BUG: missing-flush-fence */
		PM_FLUSH(&r->b);
		PM_FENCE();
	}
}

uint64_t inside(struct root *r);
uint64_t inside(struct root *r)
{
	uint64_t n = 0;

	while ((r->a = n) < 3) /* BUG: missing-flush-fence, left: the flush */
		n++;
	return n;
}
#endif
