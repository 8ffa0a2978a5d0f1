/* Instructions that only amd64 has: gathers, masks, strings, bits. */
#include "tests/ways/ways.h"

#include <immintrin.h>

/* The four bytes of the word are elements 2 and 3 of lists that begin 8 bytes before. */
__attribute__((target("avx2"))) static uint64_t gathered(void)
{
	const __m256i at = _mm256_set_epi32(0, 0, 0, 0, 0, 0, 3, 2), which = _mm256_set_epi32(0, 0, 0, 0, 0, 0, -1, -1);

	need(__builtin_cpu_supports("avx2"));
	return (uint64_t)_mm256_extract_epi64(_mm256_mask_i32gather_epi32(_mm256_setzero_si256(), (const int *)(WORD - 8), at, which, 4), 0);
}

__attribute__((target("avx2"))) static uint64_t gathered_far(void)
{
	const __m256i at = _mm256_set_epi64x(-512, 0, 512, 0); /* pages around it */

	need(__builtin_cpu_supports("avx2"));
	return (uint64_t)_mm256_extract_epi64(_mm256_i64gather_epi64((const long long *)WORD, at, 8), 2);
}

/* Only the last element is loaded; the others lie on the page before. */
__attribute__((target("avx2"))) static uint64_t masked(void)
{
	const __m256i which = _mm256_set_epi64x(-1, 0, 0, 0);

	need(__builtin_cpu_supports("avx2"));
	return (uint64_t)_mm256_extract_epi64(_mm256_maskload_epi64((const long long *)(WORD - 24), which), 3);
}

__attribute__((target("avx512f"))) static uint64_t masked_512(void)
{
	need(__builtin_cpu_supports("avx512f"));
	return (uint64_t)_mm256_extract_epi64(_mm512_extracti64x4_epi64(_mm512_maskz_loadu_epi64(0x80, WORD - 56), 1), 3);
}

__attribute__((target("avx512f"))) static uint64_t expanded(void)
{
	need(__builtin_cpu_supports("avx512f"));
	return (uint64_t)_mm256_extract_epi64(_mm512_extracti64x4_epi64(_mm512_maskz_expandloadu_epi64(0x82, WORD - 8), 1), 3);
}

__attribute__((target("avx512f"))) static uint64_t gathered_512(void)
{
	need(__builtin_cpu_supports("avx512f"));
	return (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(_mm512_i64gather_epi64(_mm512_set1_epi64(5), WORD - 40, 8)));
}

__attribute__((target("avx512f"))) static uint64_t broadcast(void)
{
	__m512i sum;

	need(__builtin_cpu_supports("avx512f"));
	__asm__ volatile("vpaddq (%1)%{1to8%}, %2, %0" : "=v"(sum) : "r"(WORD), "v"(_mm512_setzero_si512()));
	return (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(sum));
}

__attribute__((target("sse4.1"))) static uint64_t streamed(void)
{
	return (uint64_t)_mm_cvtsi128_si64(_mm_stream_load_si128((__m128i *)WORD));
}

/* The bits of the word, from a base that is this far away. */
static uint64_t bits_from(long far_bytes)
{
	uint64_t w = 0;

	for (long i = 0; i < 64; i++) {
		unsigned char bit;

		__asm__ volatile("btq %2, (%1); setc %0" : "=q"(bit) : "r"(WORD - far_bytes), "r"(far_bytes * 8 + i) : "memory", "cc");
		w |= (uint64_t)bit << i;
	}
	return w;
}

static uint64_t bits_after(void)
{
	return bits_from(PAGE_AT);
}

static uint64_t bits_before(void)
{
	return bits_from(-PAGE_AT);
}

static uint64_t string_compared(void)
{
	const char *s = WORD, *d = WORD_TEXT;
	unsigned char is_equal;
	long n = 8;

	__asm__ volatile("cld; repe cmpsb; sete %0" : "=q"(is_equal), "+S"(s), "+D"(d), "+c"(n)::"memory", "cc");
	return word_if(is_equal);
}

static uint64_t string_scanned(void)
{
	const char *d = WORD;
	unsigned char is_found;
	long n = 8;

	__asm__ volatile("cld; repne scasb; sete %0" : "=q"(is_found), "+D"(d), "+c"(n) : "a"('v') : "memory", "cc");
	return word_if(is_found);
}

static uint64_t string_loaded(void)
{
	const char *s = WORD - 16;
	uint64_t w;
	long n = 3;

	__asm__ volatile("cld; rep lodsq" : "=a"(w), "+S"(s), "+c"(n)::"memory");
	return w;
}

static uint64_t string_moved(void)
{
	uint64_t copy[4] = { 0 };
	const char *s = WORD - 8;
	void *d = copy;
	long n = 24;

	__asm__ volatile("cld; rep movsb" : "+S"(s), "+D"(d), "+c"(n)::"memory");
	return copy[1];
}

static uint64_t string_moved_down(void)
{
	uint64_t copy = 0;
	const char *s = WORD + 7;
	void *d = (char *)&copy + 7;
	long n = 8;

	__asm__ volatile("std; rep movsb; cld" : "+S"(s), "+D"(d), "+c"(n)::"memory");
	return copy;
}

static uint64_t pushed(void)
{
	uint64_t w;

	__asm__ volatile("sub $128, %%rsp; pushq (%1); popq %0; add $128, %%rsp" : "=r"(w) : "r"(WORD) : "memory", "cc");
	return w;
}

/* The stack pointer itself comes to the word. */
static uint64_t popped(void)
{
	uint64_t w;

	__asm__ volatile("mov %%rsp, %%r11; mov %1, %%rsp; pop %%r10; mov %%r11, %%rsp; mov %%r10, %0" : "=r"(w) : "r"(WORD) : "r10", "r11", "memory");
	return w;
}

static uint64_t looked_up(void)
{
	uint64_t w = 0;

	for (int i = 7; i >= 0; i--) {
		unsigned char c = (unsigned char)i;

		__asm__ volatile("xlatb" : "+a"(c) : "b"(WORD) : "memory");
		w = w << 8 | c;
	}
	return w;
}

static uint64_t exchanged_16(void)
{
	uint64_t low = 0, high = 0;

	__asm__ volatile("lock cmpxchg16b (%2)" : "+a"(low), "+d"(high) : "r"(WORD), "b"(0ul), "c"(0ul) : "memory", "cc");
	return low;
}

static uint64_t moved_if(void)
{
	uint64_t w = 1;

	__asm__ volatile("test %2, %2; cmovzq (%1), %0" : "+r"(w) : "r"(WORD), "r"(0ul) : "memory", "cc");
	return w;
}

static uint64_t as_number(void)
{
	uint64_t w;

	__asm__ volatile("fildll (%1); fistpll %0" : "=m"(w) : "r"(WORD) : "memory");
	return w;
}

/* The program's own view of keys: everything is open. */
static uint64_t all_keys_opened(void)
{
	need(__builtin_cpu_supports("avx2") && syscall(SYS_pkey_alloc, 0, 0) >= 0);
	__asm__ volatile("wrpkru" ::"a"(0), "c"(0), "d"(0) : "memory");
	return load(WORD);
}

const struct way ways_insns[] = {
	{ "insn.gather", gathered, 0 },
	{ "insn.gather_far", gathered_far, 0 },
	{ "insn.mask", masked, 0 },
	{ "insn.mask_512", masked_512, 0 },
	{ "insn.expand", expanded, 0 },
	{ "insn.gather_512", gathered_512, 0 },
	{ "insn.broadcast", broadcast, 0 },
	{ "insn.stream", streamed, 0 },
	{ "insn.bt_after", bits_after, 0 },
	{ "insn.bt_before", bits_before, 0 },
	{ "insn.cmps", string_compared, 0 },
	{ "insn.scas", string_scanned, 0 },
	{ "insn.lods", string_loaded, 0 },
	{ "insn.movs", string_moved, 0 },
	{ "insn.movs_down", string_moved_down, 0 },
	{ "insn.push", pushed, 0 },
	{ "insn.pop", popped, 0 },
	{ "insn.xlat", looked_up, 0 },
	{ "insn.cmpxchg16b", exchanged_16, 0 },
	{ "insn.cmov", moved_if, 0 },
	{ "insn.fild", as_number, 0 },
	{ "insn.wrpkru", all_keys_opened, 0 },
	{ 0 },
};
