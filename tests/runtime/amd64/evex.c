/* AVX-512 instructions that touch undecided lines: which bytes they read and write, with displacements that are multiples of the operand, masks and broadcasts. What
 * each form accesses, by its encoding, is in tests/unit/test_evex.c, for which no such processor is needed. */
#include <immintrin.h>
#include <stdio.h>

#include "run.h"

#define AVX512 __attribute__((target("avx512f,avx512vl,avx512bw")))

static char *g_pool;

/* Registers from 16 on are AVX-512's own. */
AVX512 static int wide(void)
{
	uint64_t w[8];

	g_pool = map_pool();
	__asm__ volatile("vmovdqu64 64(%1), %%zmm17\n\tvmovdqu64 %%zmm17, %0" : "=m"(w) : "r"(g_pool) : "xmm17", "memory");
	printf("%lx %lx %lx", w[0], w[1], w[7]);
	return 0;
}

AVX512 static int over_line(void)
{
	uint64_t w[4];

	g_pool = map_pool();
	__asm__ volatile("vmovdqu8 40(%1), %%ymm18\n\tvmovdqu64 %%ymm18, %0" : "=m"(w) : "r"(g_pool) : "xmm18", "memory");
	printf("%lx %lx", w[0], w[3]);
	return 0;
}

AVX512 static int broadcast(void)
{
	uint64_t w[8];

	g_pool = map_pool();
	__asm__ volatile("vpxorq %%zmm16, %%zmm16, %%zmm16\n\tvpaddq 8(%1)%{1to8%}, %%zmm16, %%zmm17\n\tvmovdqu64 %%zmm17, %0"
			 : "=m"(w) : "r"(g_pool) : "xmm16", "xmm17", "memory");
	printf("%lx %lx", w[0], w[7]);
	return 0;
}

/* More than the mask says may count as read. */
AVX512 static int masked_load(void)
{
	uint64_t w[8];

	g_pool = map_pool();
	__asm__ volatile("kmovd %2, %%k1\n\tvmovdqu64 (%1), %%zmm19%{%%k1%}%{z%}\n\tvmovdqu64 %%zmm19, %0"
			 : "=m"(w) : "r"(g_pool), "r"(2) : "xmm19", "k1", "memory");
	printf("%lx %lx", w[0], w[1]);
	return 0;
}

AVX512 static int masked_store(void)
{
	g_pool = map_pool();
	__asm__ volatile("kmovd %1, %%k1\n\tvpbroadcastq %2, %%zmm20\n\tvmovdqu64 %%zmm20, (%0)%{%%k1%}" : : "r"(g_pool), "r"(2), "r"(7ul) : "xmm20", "k1", "memory");
	printf("%lx %lx", WORD(g_pool, 0), WORD(g_pool, 8));
	return 0;
}

/* Writes as many elements as the mask has, one after the other. */
AVX512 static int compress(void)
{
	g_pool = map_pool();
	__asm__ volatile("kmovd %1, %%k1\n\tvpbroadcastq %2, %%zmm20\n\tvpcompressq %%zmm20, (%0)%{%%k1%}" : : "r"(g_pool), "r"(4), "r"(7ul) : "xmm20", "k1", "memory");
	printf("%lx %lx", WORD(g_pool, 0), WORD(g_pool, 8));
	return 0;
}

AVX512 static int compare(void)
{
	uint32_t same;

	g_pool = map_pool();
	__asm__ volatile("vpxorq %%ymm16, %%ymm16, %%ymm16\n\tvpcmpeqb 32(%1), %%ymm16, %%k2\n\tkmovd %%k2, %0" : "=r"(same) : "r"(g_pool + 64) : "xmm16", "k2");
	printf("%x", same);
	return 0;
}

AVX512 static int mask_register(void)
{
	uint64_t v;

	g_pool = map_pool();
	__asm__ volatile("kmovq 8(%1), %%k3\n\tkmovq %%k3, %0" : "=r"(v) : "r"(g_pool) : "k3");
	printf("%lx", v);
	return 0;
}

/* Indices of registers beyond 15, of which the mask excludes some. */
AVX512 static int gather(void)
{
	static const uint64_t index[8] = { 1, 1u << 30, 1, 0, 1u << 30, 1, 8, 1 };
	uint64_t w[8];

	g_pool = map_pool();
	__asm__ volatile("kmovd %2, %%k1\n\tvmovdqu64 %3, %%zmm16\n\tvpxorq %%zmm17, %%zmm17, %%zmm17\n\tvpgatherqq (%1,%%zmm16,8), %%zmm17%{%%k1%}\n\tvmovdqu64 %%zmm17, %0"
			 : "=m"(w) : "r"(g_pool), "r"(0x48), "m"(index) : "xmm16", "xmm17", "k1", "memory");
	printf("%lx %lx %lx", w[0], w[3], w[6]);
	return 0;
}

AVX512 static int scatter(void)
{
	static const uint64_t index[8] = { 1u << 30, 1, 1u << 30, 0, 0, 0, 0, 0 };

	g_pool = map_pool();
	__asm__ volatile("kmovd %1, %%k1\n\tvmovdqu64 %2, %%zmm16\n\tvpbroadcastq %3, %%zmm17\n\tvpscatterqq %%zmm17, (%0,%%zmm16,8)%{%%k1%}"
			 : : "r"(g_pool), "r"(2), "m"(index), "r"(7ul) : "xmm16", "xmm17", "k1", "memory");
	printf("%lx %lx", WORD(g_pool, 0), WORD(g_pool, 8));
	return 0;
}

const char *machine_lack(unsigned flags)
{
	return !(flags & NEEDS_WIDE) || (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) ? NULL : "AVX-512";
}

const struct test wide_tests[] = {
	{ "evex-wide", wide, { PAIR(0), PAIR(64), PAIR(128) }, { { 1, 0, ALL, 2 }, { 1, 8, ALL, 2 } }, "1111111111111111 2222222222222222 0", 0, NEEDS_WIDE, NULL },
	{ "evex-over-line", over_line, { { 0, { { 40, 8, 7 } } }, PAIR(64) }, { { 0, 40, 1, 2 }, { 1, 0, ALL, 2 } }, "7 1111111111111111", 0, NEEDS_WIDE, NULL },
	{ "evex-broadcast", broadcast, { PAIR(0), PAIR(64) }, { { 0, 8, ALL, 2 } }, "2222222222222222 2222222222222222", 0, NEEDS_WIDE, NULL },
	{ "evex-masked-load", masked_load, { PAIR(0) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 } }, "0 2222222222222222", 0, NEEDS_WIDE, NULL },
	{ "evex-masked-store", masked_store, { PAIR(0) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 } }, "1111111111111111 7", 0, NEEDS_WIDE, NULL },
	{ "evex-compress", compress, { PAIR(0) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 } }, "7 2222222222222222", 0, NEEDS_WIDE, NULL },
	{ "evex-compare", compare, { PAIR(64), { 64 + 64, { { 0, 8, 5 } } } }, { { 0 } }, "ffffffff", 0, NEEDS_WIDE, NULL },
	{ "evex-mask-register", mask_register, { PAIR(0) }, { { 0, 8, ALL, 2 } }, "2222222222222222", 0, NEEDS_WIDE, NULL },
	{ "evex-gather", gather, { PAIR(0), PAIR(64) }, { { 0, 0, ALL, 2 }, { 1, 0, ALL, 2 } }, "0 1111111111111111 1111111111111111", 0, NEEDS_WIDE, NULL },
	{ "evex-scatter", scatter, { PAIR(0) }, { { 0, 0, ALL, 2 } }, "1111111111111111 7", 0, NEEDS_WIDE, NULL },
	{ 0 },
};
