/* Macros of its own, for both architectures. */
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#define flush_line(p) __asm__ volatile("clwb (%0)" ::"r"(p) : "memory")
#define fence() __asm__ volatile("sfence" ::: "memory")
#else
#define flush_line(p) __asm__ volatile("sys #3, c7, c12, #1, %0" ::"r"(p) : "memory")
#define fence() __asm__ volatile("dsb sy" ::: "memory")
#endif

struct root {
	uint64_t a;
	char text[200];
};

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 2;
	flush_line(&r->a);
	fence();
}

void one(struct root *r);
void one(struct root *r)
{
	r->a = 1; /* BUG: missing-flush-fence */
}

void many(struct root *r, size_t n);
void many(struct root *r, size_t n)
{
	if (n < 200)
		memset(r->text, 1, n); /* BUG: missing-flush-fence */
}
