/* Statements of inline assembly: the patch writes the same. */
#include <stdint.h>

struct root {
	uint64_t a, b;
};

void correct(struct root *r);
void correct(struct root *r)
{
	r->b = 2;
	__asm__ volatile("dc cvap, %[line]" : : [line] "r"(&r->b) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
}

void one(struct root *r);
void one(struct root *r)
{
	r->a = 1; /* BUG: missing-flush-fence */
	__asm__ volatile("dc cvap, %[line]" : : [line] "r"(&r->a) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
}

uint64_t returned(struct root *r);
uint64_t returned(struct root *r)
{
	uint64_t result = r->a = 4; /* BUG: missing-flush-fence */
	__asm__ volatile("dc cvap, %[line]" : : [line] "r"(&r->a) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
	return result;
}
