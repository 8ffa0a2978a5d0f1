/* With --loads, each load from PM is an event; --pm narrows to one of two pools. The expectations do not look at the pool:
 * that would be loads, too. */
#include "tests/recorder/expect.h"
#include "tests/machine.h"

typedef uint64_t u64;

#define LOAD(ptr, size, ...)                                          \
	do {                                                          \
		__VA_ARGS__;                                          \
		expect_addr("load", ptr, size, __LINE__, __func__);   \
	} while (0)

int main(int argc, char **argv)
{
	const char *dir = argv[1];
	char *p, *q;
	u64 sum = 0;

	CHECK(argc == 2);
	p = pool_map(pool_path(dir, "chosen"), 8192);
	q = pool_map(pool_path(dir, "ignored"), 8192);
	/* The values are used: VEX drops a load that nobody looks at. */
	LOAD(p, 1, __asm__ volatile("ldrb w9, [%1]; add %0, %0, x9" : "+r"(sum) : "r"(p) : "x9"));
	LOAD(p + 3, 2, __asm__ volatile("ldurh w9, [%1, #3]; add %0, %0, x9" : "+r"(sum) : "r"(p) : "x9"));
	LOAD(p + 62, 4, __asm__ volatile("ldur w9, [%1, #62]; add %0, %0, x9" : "+r"(sum) : "r"(p) : "x9"));
	LOAD(p + 8, 8, __asm__ volatile("ldr x9, [%1, #8]; add %0, %0, x9" : "+r"(sum) : "r"(p) : "x9"));
	LOAD(p + 16, 16, __asm__ volatile("ldr q0, [%1, #16]; fmov %0, d0" : "=r"(sum) : "r"(p) : "v0"));
	LOAD(p + 24, 8, __asm__ volatile("ldar x9, [%1]; add %0, %0, x9" : "+r"(sum) : "r"(p + 24) : "x9"));
	LOAD(p + 32, 8, __asm__ volatile(".arch armv8.4-a; ldapr x9, [%1]; add %0, %0, x9" : "+r"(sum) : "r"(p + 32) : "x9"));
	LOAD(p + 36, 4, __asm__ volatile("ldapur w9, [%1, #-4]; add %0, %0, x9" : "+r"(sum) : "r"(p + 40) : "x9"));
	LOAD(p + 48, 16, __asm__ volatile("ldnp x9, x10, [%1, #48]; add %0, x9, x10" : "=r"(sum) : "r"(p) : "x9", "x10"));
	__asm__ volatile("ldr x9, [%0]; str x9, [%0, #8]" ::"r"(q) : "x9", "memory"); /* --pm left it out */
	__asm__ volatile("ldr x9, [%0, #64]; add x9, x9, #1; str x9, [%0, #64]" ::"r"(p) : "x9", "memory");
	expect_addr("load", p + 64, 8, __LINE__ - 1, __func__);
	expect_addr("store", p + 64, 8, __LINE__ - 2, __func__);
	FLUSH(FLUSH_KIND, p, flush_line(p));
	flush_line(q);
	FENCE(FENCE_KIND, fence());
	CHECK(sum == 0);
	return 0;
}
