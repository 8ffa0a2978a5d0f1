/* With --loads, each load from PM is an event; --pm narrows to one of two pools. The expectations do not look at the pool:
 * that would be loads, too. */
#include "tests/recorder/expect.h"

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
	LOAD(p, 1, __asm__ volatile("addb (%1), %b0" : "+q"(sum) : "r"(p)));
	LOAD(p + 3, 2, __asm__ volatile("addw 3(%1), %w0" : "+r"(sum) : "r"(p)));
	LOAD(p + 62, 4, __asm__ volatile("movl 62(%1), %%ebx; add %%rbx, %0" : "+r"(sum) : "r"(p) : "rbx"));
	LOAD(p + 8, 8, __asm__ volatile("addq 8(%1), %0" : "+r"(sum) : "r"(p)));
	LOAD(p + 16, 16, __asm__ volatile("movdqu 16(%1), %%xmm0; movq %%xmm0, %0" : "=r"(sum) : "r"(p) : "xmm0"));
	LOAD(p + 64, 32, __asm__ volatile("vmovdqu 64(%1), %%ymm1; vmovq %%xmm1, %0" : "=r"(sum) : "r"(p) : "xmm1"));
	LOAD(p + 24, 8, __asm__ volatile("cmpq $0, 24(%1); sete %b0" : "+q"(sum) : "r"(p) : "cc"));
	__asm__ volatile("movq (%0), %%rax; movq %%rax, 8(%0)" ::"r"(q) : "rax", "memory"); /* --pm left it out */
	__asm__ volatile("addq $1, 32(%0)" ::"r"(p) : "memory");
	expect_addr("load", p + 32, 8, __LINE__ - 1, __func__);
	expect_addr("store", p + 32, 8, __LINE__ - 2, __func__);
	{
		const char *from = p + 128;
		char *to = p + 256;
		u64 n = 3;

		__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
		for (int i = 0; i < 3; i++) /* and the three elements that it stores, in one event */
			expect_addr("load", p + 128 + 8 * i, 8, __LINE__ - 2, __func__);
		expect_addr("store-vector", p + 256, 24, __LINE__ - 3, __func__);
	}
	FLUSH("clwb", p, __asm__ volatile("clwb (%0)" ::"r"(p)));
	__asm__ volatile("clwb (%0)" ::"r"(q));
	FENCE("sfence", __asm__ volatile("sfence"));
	CHECK(sum == 1);
	return 0;
}
