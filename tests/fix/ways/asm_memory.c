/* Statements of inline assembly with operands in memory: the patch writes the same. */
#include <stdint.h>

struct root {
	uint64_t a, b;
};

void correct(struct root *r);
void correct(struct root *r)
{
	r->b = 2;
	__asm__ __volatile__("clwb %0" : "+m"(*(volatile char *)&r->b));
	__asm__ __volatile__("sfence" ::: "memory");
}

void one(struct root *r);
void one(struct root *r)
{
	r->a = 1; /* BUG: missing-flush-fence */
}
