/* Every way in which amd64 loads something, for beside.c: load_all(p, i) reads word i, and some of those near it; LOAD_HALVES(v, p) the
 * upper half of the word at p and the lower half of the next. */
#define LOAD_HALVES(v, p) __asm__ volatile("mov 4(%1), %0" : "=r"(v) : "r"(p))

/* Gives its return address. */
uint64_t return_address(void);
__asm__(".text\n.type return_address, @function\nreturn_address:\n\tmov (%rsp), %rax\n\tret\n.size return_address, . - return_address");

/* A call right after a load. */
static void load_and_call(const uint64_t *p, uint32_t i)
{
	uint64_t v, wanted, is;
	uint8_t flag;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tstc\n\tmov (%4), %0\n\tcall return_address\n1:\n\tsetc %3\n\tlea 128(%%rsp), %%rsp\n\tlea 1b(%%rip), %1"
			 : "=&r"(v), "=&r"(wanted), "=&a"(is), "=&q"(flag) : "r"(p + i) : "cc");
	EXPECT("mov and a call", v, pattern(i));
	EXPECT("where it returned to", is, wanted);
	EXPECT("mov and a call, carry", flag, 1);
}

/* Each is a single instruction, which must change no register but its destination, and no flag that
 * it does not set. */
static void load_words(const uint64_t *p, uint32_t i)
{
	const uint64_t w = pattern(i), carry = 0x8000000000000000u;
	uint64_t v, r8, r13 = i;
	uint8_t flag;

	__asm__ volatile("mov (%1), %0" : "=r"(v) : "r"(p + i));
	EXPECT("mov", v, w);
	__asm__ volatile("mov (%1), %k0\n\tinc %0" : "=&r"(v) : "r"(p + i));
	EXPECT("mov of 4", v, (w & 0xffffffff) + 1);
	__asm__ volatile("movzbl 3(%1), %k0\n\tnop\n\tnop" : "=r"(v) : "r"(p + i));
	EXPECT("movzx", v, w >> 24 & 0xff);
	__asm__ volatile("movsbq 0x7(%1), %0" : "=r"(v) : "r"(p + i));
	EXPECT("movsx", v, (int64_t)w >> 56);
	__asm__ volatile("movslq -8(%1), %0" : "=r"(v) : "r"(p + i + 1));
	EXPECT("movsxd", v, (int64_t)(int32_t)w);
	__asm__ volatile("mov %2, %%r8\n\tmov %3, %%r13\n\tmov (%%r8,%%r13,8), %%r9\n\tmov %%r9, %0\n\tmov %%r8, %1" : "=&r"(v), "=&r"(r8) : "r"(p), "r"(r13) : "r8", "r9", "r13");
	EXPECT("mov with an index", v, w);
	EXPECT("r8", r8, (uint64_t)p);
	__asm__ volatile("mov $0, %%eax\n\tmovb 1(%%rcx), %%ah" : "=a"(v) : "c"(p + i));
	EXPECT("mov to ah", v, w & 0xff00);
	__asm__ volatile("add %2, %2\n\tmov 0x10000(%3), %1\n\tsetc %0" : "=&q"(flag), "=&r"(v) : "r"(carry), "r"((const char *)(p + i) - 0x10000) : "cc");
	EXPECT("mov, carry", flag, 1);
	__asm__ volatile("cmp (%1), %2\n\tsete %0" : "=q"(flag) : "r"(p + i), "r"(w) : "cc");
	EXPECT("cmp", flag, 1);
	__asm__ volatile("mov $1, %0\n\tcmp %2, (%1)\n\tje 1f\n\tmov $0, %0\n1:" : "=&r"(v) : "r"(p + i), "r"(w) : "cc");
	EXPECT("cmp and a jump", v, 1);
	__asm__ volatile("cmpb $0, (%1)\n\tsetne %0" : "=q"(flag) : "r"(p + i) : "cc");
	EXPECT("cmp with a constant", flag, (w & 0xff) != 0);
	__asm__ volatile("testl $0x80, (%1)\n\tsetnz %0" : "=q"(flag) : "r"(p + i) : "cc");
	EXPECT("test", flag, w >> 7 & 1);
	v = 5;
	__asm__ volatile("add (%1), %0\n\tadc $0, %0" : "+r"(v) : "r"(p + i) : "cc");
	EXPECT("add", v, w + 5 + (w + 5 < 5));
	__asm__ volatile("imul $7, (%1), %0" : "=r"(v) : "r"(p + i) : "cc");
	EXPECT("imul", v, w * 7);
	__asm__ volatile("mov 3(%1), %0" : "=r"(v) : "r"(p + i));
	EXPECT("mov, not aligned", v, w >> 24 | (i + 1 < WORD ? pattern(i + 1) << 40 : 0));
	__asm__ volatile("mov (%1), %%rcx\n\tmov 8(%1), %%rdx\n\txor %%rdx, %%rcx\n\tmov %%rcx, %0" : "=r"(v) : "r"(p + i) : "rcx", "rdx", "cc");
	EXPECT("two loads", v, w ^ (i + 1 < WORD ? pattern(i + 1) : 0));
}

static void load_vectors(const uint64_t *p, uint32_t i)
{
	uint64_t v[2];
	__m128i x;

	__asm__ volatile("movdqu (%1), %0" : "=x"(x) : "r"(p + i));
	_mm_storeu_si128((__m128i *)v, x);
	EXPECT("movdqu", v[1], pattern(i + 1));
	__asm__ volatile("movaps (%1), %%xmm9\n\tmovaps %%xmm9, %0" : "=x"(x) : "r"(p + i) : "xmm9");
	_mm_storeu_si128((__m128i *)v, x);
	EXPECT("movaps", v[0], pattern(i));
	__asm__ volatile("movq (%1), %0" : "=x"(x) : "r"(p + i));
	_mm_storeu_si128((__m128i *)v, x);
	EXPECT("movq", v[1], 0);
}

__attribute__((target("avx"))) static void load_wide(const uint64_t *p, uint32_t i)
{
	uint64_t v[4];
	__m256i x;

	__asm__ volatile("mov %1, %%r8\n\tvmovdqu (%%r8), %%ymm9\n\tvmovdqa %%ymm9, %0" : "=x"(x) : "r"(p + i) : "r8", "xmm9");
	_mm256_storeu_si256((__m256i *)v, x);
	EXPECT("vmovdqu", v[3], pattern(i + 3));
}

/* AVX-512: displacements count operands, registers go up to 31, and a mask may leave out what is read. */
__attribute__((target("avx512f,avx512vl,avx512bw"))) static void load_evex(const uint64_t *p, uint32_t i)
{
	uint64_t v[8], r13 = i;
	uint32_t same;

	__asm__ volatile("vmovdqu64 -32(%1), %%ymm17\n\tvmovdqu64 %%ymm17, %0" : "=m"(*(uint64_t(*)[4])v) : "r"(p + i + 4) : "xmm17");
	EXPECT("vmovdqu64", v[3], pattern(i + 3));
	__asm__ volatile("mov %1, %%r8\n\tmov %2, %%r13\n\tvmovdqu8 64(%%r8,%%r13,8), %%zmm30\n\tvmovdqu64 %%zmm30, %0" : "=m"(v) : "r"(p - 8), "r"(r13) : "r8", "r13", "xmm30");
	EXPECT("vmovdqu8 with an index", v[7], pattern(i + 7));
	__asm__ volatile("mov %1, %%r9\n\tvmovdqu64 0x1004(%%r9), %%xmm20\n\tvmovdqu64 %%xmm20, %0" : "=m"(*(uint64_t(*)[2])v) : "r"((const char *)(p + i) - 0x1004) : "r9", "xmm20");
	EXPECT("vmovdqu64, far", v[1], pattern(i + 1));
	__asm__ volatile("vpxorq %%zmm16, %%zmm16, %%zmm16\n\tvpaddq 16(%1)%{1to8%}, %%zmm16, %%zmm16\n\tvmovdqu64 %%zmm16, %0" : "=m"(v) : "r"(p + i - 2) : "xmm16");
	EXPECT("a broadcast", v[5], pattern(i));
	__asm__ volatile("mov $5, %%eax\n\tkmovd %%eax, %%k1\n\tvmovdqu64 (%1), %%zmm18%{%%k1%}%{z%}\n\tvmovdqu64 %%zmm18, %0" : "=m"(v) : "r"(p + i) : "eax", "k1", "xmm18");
	EXPECT("a mask", v[1], 0);
	EXPECT("a mask", v[2], pattern(i + 2));
	__asm__ volatile("vmovdqu64 (%1), %%ymm19\n\tvpcmpeqb 32(%1), %%ymm19, %%k2\n\tkmovd %%k2, %0" : "=r"(same) : "r"(p + i) : "k2", "xmm19");
	EXPECT("vpcmpeqb", same >> 31, pattern(i + 3) >> 56 == pattern(i + 7) >> 56);
}

static void load_all(const uint64_t *p, uint32_t i)
{
	load_words(p, i);
	load_and_call(p, i);
	if (i % 2 == 0)
		load_vectors(p, i);
	if (i % 4 == 0 && __builtin_cpu_supports("avx"))
		load_wide(p, i);
	if (i + 8 <= WORD && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
		load_evex(p, i);
}
