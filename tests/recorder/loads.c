/* With --loads, each load from PM is an event; --pm narrows to one of two pools. The expectations do not look at the pool:
 * that would be loads, too. */
#include "expect.h"

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

	CHECK(argc == 2);
	p = pool_map(pool_path(dir, "chosen"), 8192);
	q = pool_map(pool_path(dir, "ignored"), 8192);
	LOAD(p, 1, __asm__ volatile("movb %0, %%al" ::"m"(*p) : "rax"));
	LOAD(p + 3, 2, __asm__ volatile("movzwl 3(%0), %%eax" ::"r"(p) : "rax"));
	LOAD(p + 62, 4, __asm__ volatile("movl 62(%0), %%eax" ::"r"(p) : "rax"));
	LOAD(p + 8, 8, __asm__ volatile("movq 8(%0), %%rax" ::"r"(p) : "rax"));
	LOAD(p + 16, 16, __asm__ volatile("movdqu 16(%0), %%xmm0" ::"r"(p) : "xmm0"));
	LOAD(p + 64, 32, __asm__ volatile("vmovdqu 64(%0), %%ymm0" ::"r"(p) : "xmm0"));
	LOAD(p + 24, 8, __asm__ volatile("cmpq $0, 24(%0)" ::"r"(p) : "cc"));
	__asm__ volatile("movq (%0), %%rax; movq %%rax, 8(%0)" ::"r"(q) : "rax", "memory"); /* --pm left it out */
	__asm__ volatile("addq $1, 32(%0)" ::"r"(p) : "memory");
	expect_addr("load", p + 32, 8, __LINE__ - 1, __func__);
	expect_addr("store", p + 32, 8, __LINE__ - 2, __func__);
	FLUSH("clwb", p, __asm__ volatile("clwb (%0)" ::"r"(p)));
	__asm__ volatile("clwb (%0)" ::"r"(q));
	FENCE("sfence", __asm__ volatile("sfence"));
	return 0;
}
