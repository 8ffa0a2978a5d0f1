/* Single instructions of amd64 that touch undecided lines. Those that the runtime does itself are compared with what the processor does. */
#include <immintrin.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

static int vector16(void)
{
	char *p = map_pool();
	uint64_t w[2];
	__m128i v;

	__asm__ volatile("movdqu (%1), %0" : "=x"(v) : "r"(p) : "memory");
	_mm_storeu_si128((__m128i *)w, v);
	printf("%lx %lx", w[0], w[1]);
	return 0;
}

__attribute__((target("avx2"))) static int vector32(void)
{
	char *p = map_pool();
	uint64_t w[4];
	__m256i v;

	__asm__ volatile("vmovdqu 40(%1), %0" : "=x"(v) : "r"(p) : "memory"); /* over the end of a line */
	_mm256_storeu_si256((__m256i *)w, v);
	printf("%lx %lx", w[0], w[3]);
	return 0;
}

__attribute__((target("avx2"))) static int gather(void)
{
	char *p = map_pool();
	__m256i index = _mm256_set_epi64x(24, 16, 8, 0); /* one word of each of four lines */
	__m256i v = _mm256_i64gather_epi64((const long long *)p, index, 8);
	uint64_t w[4];

	_mm256_storeu_si256((__m256i *)w, v);
	printf("%lx %lx %lx %lx", w[0], w[1], w[2], w[3]);
	return 0;
}

__attribute__((target("avx2"))) static int masked_store(void)
{
	char *p = map_pool();

	_mm256_maskstore_epi64((long long *)p, _mm256_set_epi64x(0, 0, -1, 0), _mm256_set1_epi64x(7)); /* word 1 only */
	printf("%lx %lx", WORD(p, 0), WORD(p, 8));
	return 0;
}

/* Moves 128 bytes with elements of 8, downwards if asked. */
static void rep_movsq(void *to, const void *from, size_t n, bool is_down)
{
	if (is_down)
		__asm__ volatile("std; rep movsq; cld" : "+D"(to), "+S"(from), "+c"(n) : : "memory", "cc");
	else
		__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static int movs_out(void)
{
	char *p = map_pool();
	uint64_t w[16], v[16];

	rep_movsq(w, p, 16, false);
	rep_movsq(v + 15, p + 120, 16, true);
	printf("%lx %lx %lx %d", w[0], w[1], w[8], memcmp(w, v, sizeof(v)));
	return 0;
}

static int movs_in(void)
{
	char *p = map_pool();
	uint64_t w[16] = { 3, 4 };

	rep_movsq(p, w, 16, false);
	printf("%lx %lx %lx", WORD(p, 0), WORD(p, 8), WORD(p, 64));
	return 0;
}

/* The first word spreads over the rest. */
static int movs_overlap(void)
{
	char *p = map_pool();

	rep_movsq(p + 8, p, 7, false);
	printf("%lx %lx", WORD(p, 8), WORD(p, 56));
	return 0;
}

static int stos(void)
{
	char *p = map_pool(), *to = p;
	size_t n = 64;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(9) : "memory");
	printf("%lx %lx %ld", WORD(p, 0), WORD(p, 8), to - p);
	return 0;
}

static int cmps(void)
{
	char *p = map_pool(), zero[16] = { 0 };
	const char *a = p + 6, *b = zero; /* two bytes are the same */
	size_t n = 16;

	__asm__ volatile("repe cmpsb" : "+S"(a), "+D"(b), "+c"(n) : : "memory", "cc");
	printf("%zu", n);
	return 0;
}

static int bit_test(void)
{
	char *p = map_pool();
	bool is_set;

	__asm__ volatile("btq %2, %1; setc %0" : "=r"(is_set) : "m"(*p), "r"(8 * 64l + 1) : "cc", "memory"); /* the next line */
	printf("%d", is_set);
	return 0;
}

static int push_pop(void)
{
	char *p = map_pool();
	uint64_t v;

	__asm__ volatile("sub $128, %%rsp; pushq %1; popq %0; pushq %0; popq %2; add $128, %%rsp"
			 : "=&r"(v), "+m"(*p), "=m"(*(p + 64)) : : "memory");
	printf("%lx %lx", v, WORD(p, 64));
	return 0;
}

/* One instruction with a memory operand at rdi: rax and rbx come and go, and the flags it leaves. */
struct state {
	uint64_t rax, rbx, flags;
};

#define RUN(instruction) \
	__asm__ volatile("sub $128, %%rsp; xor %%ecx, %%ecx; " instruction "; pushfq; popq %%rcx; add $128, %%rsp" \
			 : "+a"(s.rax), "+b"(s.rbx), "=&c"(s.flags) : "D"(at) : "rsi", "memory", "cc")

static struct state run_simple(int which, char *at, struct state s)
{
	switch (which) {
	case 0: RUN("mov (%%rdi), %%rax"); break;
	case 1: RUN("mov (%%rdi), %%eax"); break;
	case 2: RUN("mov (%%rdi), %%ax"); break;
	case 3: RUN("mov (%%rdi), %%al"); break;
	case 4: RUN("mov (%%rdi), %%ah"); break;
	case 5: RUN("movzbl (%%rdi), %%eax"); break;
	case 6: RUN("movzwq (%%rdi), %%rax"); break;
	case 7: RUN("movsbl (%%rdi), %%eax"); break;
	case 8: RUN("movswq (%%rdi), %%rax"); break;
	case 9: RUN("movslq (%%rdi), %%rax"); break;
	case 10: RUN("movsbw (%%rdi), %%ax"); break;
	case 11: RUN("mov %%rbx, (%%rdi)"); break;
	case 12: RUN("mov %%ebx, (%%rdi)"); break;
	case 13: RUN("mov %%bx, (%%rdi)"); break;
	case 14: RUN("mov %%bl, (%%rdi)"); break;
	case 15: RUN("mov %%bh, (%%rdi)"); break;
	case 16: RUN("movq $-2, (%%rdi)"); break;
	case 17: RUN("movw $0x8001, (%%rdi)"); break;
	case 18: RUN("movnti %%rbx, (%%rdi)"); break;
	case 19: RUN("cmp %%rbx, (%%rdi)"); break;
	case 20: RUN("cmp (%%rdi), %%rbx"); break;
	case 21: RUN("cmp %%ebx, (%%rdi)"); break;
	case 22: RUN("cmp (%%rdi), %%bx"); break;
	case 23: RUN("cmp %%bl, (%%rdi)"); break;
	case 24: RUN("cmpq $-1, (%%rdi)"); break;
	case 25: RUN("cmpl $-128, (%%rdi)"); break;
	case 26: RUN("cmpb $1, (%%rdi)"); break;
	case 27: RUN("test %%rbx, (%%rdi)"); break;
	case 28: RUN("testb $0x81, (%%rdi)"); break;
	case 29: RUN("testl $0x80000001, (%%rdi)"); break;
	case 30: RUN("mov %%fs:0, %%rax; movq (%%rdi,%%rcx,8), %%rax"); break;
	case 31: RUN("mov %%rbx, %%rsi; mov %%sil, (%%rdi)"); break;
	case 32: RUN("push %%r13; mov %%rbx, %%r13; mov %%r13b, (%%rdi); mov %%rax, %%r13; cmp (%%rdi), %%r13b; mov %%r13, %%rax; pop %%r13"); break;
	case 33: RUN("push %%rbp; mov %%rax, %%rbp; mov (%%rdi), %%bpl; mov %%rbp, %%rax; pop %%rbp"); break;
	case 34: RUN("push %%r8; mov %%rax, %%r8; mov (%%rdi), %%r8w; mov %%r8, %%rax; movsbq (%%rdi), %%r8; add %%r8, %%rax; pop %%r8"); break;
	default: s.flags = ~0ul; break;
	}
	return s;
}

/* Instructions that the runtime does itself give what the processor gives, in registers, memory, and flags. */
static int simple(void)
{
	static const uint64_t values[] = { 0, 1, 0x7f, 0x80, 0xffffffffffffff80, 0x8000, 0x80000000, 0x7fffffffffffffff, 0x8000000000000000,
					   0x0123456789abcdef, ~0ul };
	char *p = map_pool();
	uint64_t native;
	int nwrong = 0, n = 0;

	for (int which = 0; run_simple(which, (char *)&native, (struct state){ 0 }).flags != ~0ul; which++)
		for (int i = 0; i < 121; i += which < 19 ? 7 : 1) {
			struct state in = { values[i % 11], values[i / 11], 0 }, a, b;

			native = values[(i + which) % 11];
			a = run_simple(which, (char *)&native, in);
			WORD(p, 512) = values[(i + which) % 11];
			b = run_simple(which, p + 512, in);
			n++;
			if (a.rax == b.rax && a.rbx == b.rbx && a.flags == b.flags && native == WORD(p, 512))
				continue;
			if (!nwrong++)
				printf("instruction %d: rax %lx/%lx flags %lx/%lx memory %lx/%lx ", which, a.rax, b.rax, a.flags, b.flags, native,
				       WORD(p, 512));
		}
	printf("%d wrong of %d", nwrong, n);
	return 0;
}

const struct test insn_tests[] = {
	{ "vector16", vector16, { PAIR(0) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 } }, "1111111111111111 2222222222222222", 0, 0, NULL },
	{ "vector32", vector32, { { 0, { { 40, 8, 7 } } }, PAIR(64) }, { { 0, 40, 1, 2 }, { 1, 0, ALL, 2 } }, "7 1111111111111111", 0, 0, NULL },
	{ "gather", gather, { PAIR(0), PAIR(64), PAIR(128), PAIR(192) },
	  { { 0, 0, ALL, 2 }, { 1, 0, ALL, 2 }, { 2, 0, ALL, 2 }, { 3, 0, ALL, 2 } },
	  "1111111111111111 1111111111111111 1111111111111111 1111111111111111", 0, 0, NULL },
	{ "masked-store", masked_store, { PAIR(0) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 } }, "1111111111111111 7", 0, 0, NULL },
	{ "movs-out", movs_out, { PAIR(0), PAIR(64) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 }, { 1, 0, ALL, 2 }, { 1, 8, ALL, 2 } },
	  "1111111111111111 2222222222222222 1111111111111111 0", 0, 0, NULL },
	{ "movs-in", movs_in, { PAIR(0), PAIR(64) }, { { 0 } }, "3 4 0", 0, 0, NULL },
	{ "movs-overlap", movs_overlap, { { 0, { { 0, 8, 5 } } } }, { { 0, 0, 1, 2 } }, "5 5", 0, 0, NULL },
	{ "stos", stos, { PAIR(0) }, { { 0 } }, "909090909090909 909090909090909 64", 0, 0, NULL },
	{ "cmps", cmps, { { 0, { { 8, 1, 1 }, { 9, 1, 1 } } } }, { { 0, 8, 1, 2 } }, "13", 0, 0, NULL },
	{ "bit-test", bit_test, { PAIR(0), { 64, { { 0, 8, 2 } } } }, { { 1, 0, 1, 2 } }, "1", 0, 0, NULL },
	{ "push-pop", push_pop, { PAIR(0), PAIR(64) }, { { 0, 0, ALL, 2 } }, "1111111111111111 1111111111111111", 0, 0, NULL },
	{ "simple", simple, { PAIR(0) }, { { 0 } }, "0 wrong of 2278", 0, 0, NULL },
	{ 0 },
};
