/* Functions of its own, by arm64's instructions. */
#include <stdint.h>

struct root {
	uint64_t a, b;
};

static inline void pm_flush_line(const void *p)
{
	__asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(p) : "memory");
}

static inline void pm_fence(void)
{
	__asm__ volatile("dsb sy" : : : "memory");
}

/* orders stores, and completes nothing: not the fence that is wanted */
static inline void store_fence(void)
{
	__asm__ volatile("dmb ishst" : : : "memory");
}

void correct(struct root *r);
void correct(struct root *r)
{
	r->b = 2;
	store_fence();
	r->b = 3;
	store_fence();
	r->a = 2;
	pm_flush_line(&r->a);
	pm_fence();
}

void one(struct root *r);
void one(struct root *r)
{
	r->a = 1; /* BUG: missing-flush-fence */
}
