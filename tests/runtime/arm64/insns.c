/* Instructions of arm64 that touch undecided lines. All classes are compared with what the processor does on open pages; exclusive loads and stores, literals and cache operations also
 * have tests of their own. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#include "differential.h"
#include "run.h"

static const struct form plain_forms[] = {
	{ "??111000??0?????????00??????????", false }, /* ldur, stur */
	{ "??111000??0?????????01??????????", false }, /* post-indexed */
	{ "??111000??0?????????10??????????", false }, /* ldtr, sttr */
	{ "??111000??0?????????11??????????", false }, /* pre-indexed */
	{ "??111000??1??????1??10??????????", false }, /* with an index */
	{ "??111001????????????????????????", false }, /* scaled offset */
	{ "??111100??0?????????00??????????", false }, /* vector registers: the same */
	{ "??111100??0?????????01??????????", false },
	{ "??111100??0?????????11??????????", false },
	{ "??111100??1??????1??10??????????", false },
	{ "??111101????????????????????????", false },
	{ "??01100001000000????????????????", false }, /* literals */
	{ "??01110001000000????????????????", false },
	{ "??1010000???????????????????????", false }, /* pairs: hinted and post-indexed */
	{ "??1010001???????????????????????", false },
	{ "??101001????????????????????????", false }, /* with an offset and pre-indexed */
	{ "??101101????????????????????????", false },
	{ "??101100????????????????????????", false },
	{ "0?0011000?000000????????????????", false }, /* structures */
	{ "0?0011001?0?????????????????????", false },
	{ "0?0011010??00000????????????????", false }, /* lanes */
	{ "0?0011011???????????????????????", false },
	{ "??00100010011111?11111??????????", true }, /* stlr */
	{ "??00100011011111?11111??????????", true }, /* ldar */
	{ "110101010000101101110100001?????", false }, /* dc zva */
	{ "110101010000101101111010001?????", false }, /* dc cvac */
	{ NULL, false },
};

static const struct form atomic_forms[] = {
	{ "??0010001?1??????11111??????????", true }, /* cas */
	{ "0?0010000?1??????11111??????????", true }, /* casp */
	{ "??111000??1?????0???00??????????", true }, /* ldadd … */
	{ "??111000??1?????100000??????????", true }, /* swp */
	{ "??11100010111111110000??????????", true }, /* ldapr */
	{ "??011001??0?????????00??????????", true }, /* ldapur, stlur */
	{ NULL, false },
};

static int plain(void)
{
	compare_forms(plain_forms, 60, false);
	return 0;
}

static int atomics(void)
{
	compare_forms(atomic_forms, 60, false);
	return 0;
}

static int vector16(void)
{
	char *p = map_pool();
	uint64_t w[2];

	__asm__ volatile("ldr q17, [%1]\n\tstr q17, %0" : "=m"(w) : "r"(p) : "v17", "memory");
	printf("%lx %lx", w[0], w[1]);
	return 0;
}

static int pair_over_line(void)
{
	char *p = map_pool();
	uint64_t a, b;

	__asm__ volatile("ldp %0, %1, [%2, #56]" : "=&r"(a), "=&r"(b) : "r"(p) : "memory");
	printf("%lx %lx", a, b);
	return 0;
}

/* Only the second register's word is undecided. */
static int pair_store(void)
{
	char *p = map_pool();

	__asm__ volatile("stp %0, %1, [%2]" : : "r"(5ul), "r"(6ul), "r"(p) : "memory");
	printf("%lx %lx %lx", WORD(p, 0), WORD(p, 8), WORD(p, 64));
	return 0;
}

/* Addresses may have a tag in their upper byte. */
static int tagged(void)
{
	char *p = map_pool();
	uint64_t a;

	__asm__ volatile("ldr %0, [%1]" : "=r"(a) : "r"((uint64_t)p | 0xa5ul << 56) : "memory");
	printf("%lx", a);
	return 0;
}

static int cleared(void)
{
	char *p = map_pool();
	uint64_t dczid;

	__asm__("mrs %0, dczid_el0" : "=r"(dczid));
	if ((4u << (dczid & 15)) == 64)
		__asm__ volatile("dc zva, %0" : : "r"(p + 20) : "memory");
	else
		for (int i = 0; i < 64; i += 8)
			WORD(p, i) = 0;
	printf("%lx %lx", WORD(p, 0), WORD(p, 64));
	return 0;
}

/* ---- exclusive loads and stores ---- */

static uint64_t exclusive_add(char *p, uint64_t more)
{
	uint64_t old, new;
	uint32_t failed;

	__asm__ volatile("1:	ldxr %0, [%3]\n	add %1, %0, %4\n	stxr %w2, %1, [%3]\n	cbnz %w2, 1b"
			 : "=&r"(old), "=&r"(new), "=&r"(failed) : "r"(p), "r"(more) : "memory");
	return old;
}

/* 1: it was as expected. */
static int exclusive_swap(char *p, uint64_t expected, uint64_t new)
{
	uint64_t old;
	uint32_t failed;

	__asm__ volatile("1:	ldaxr %0, [%2]\n	cmp %0, %3\n	b.ne 2f\n	stlxr %w1, %4, [%2]\n	cbnz %w1, 1b\n2:"
			 : "=&r"(old), "=&r"(failed) : "r"(p), "r"(expected), "r"(new) : "memory", "cc");
	return old == expected;
}

static int exclusive(void)
{
	char *p = map_pool();
	uint64_t a = exclusive_add(p, 1), b = exclusive_add(p, 1);
	int c = exclusive_swap(p + 8, 1, 2), d = exclusive_swap(p + 8, 0x2222222222222222, 9);

	printf("%lx %lx %lx %d %d %lx", a, b, WORD(p, 0), c, d, WORD(p, 8));
	return 0;
}

static int exclusive_pair(void)
{
	char *p = map_pool();
	uint64_t a, b;
	uint32_t failed;

	__asm__ volatile("1:	ldaxp %0, %1, [%3]\n	stlxp %w2, %1, %0, [%3]\n	cbnz %w2, 1b" : "=&r"(a), "=&r"(b), "=&r"(failed) : "r"(p) : "memory");
	printf("%lx %lx %lx %lx", a, b, WORD(p, 0), WORD(p, 8));
	return 0;
}

/* A branch over an instruction goes on to the store; one bit decides, then a byte. */
static int exclusive_inside(void)
{
	char *p = map_pool();
	uint32_t old, new, failed;

	__asm__ volatile("1:	ldxrb %w0, [%3]\n	mov %w1, %w0\n	tbz %w0, #0, 2f\n	add %w1, %w1, #1\n2:	stxrb %w2, %w1, [%3]\n	cbnz %w2, 1b"
			 : "=&r"(old), "=&r"(new), "=&r"(failed) : "r"(p) : "memory");
	printf("%x %lx ", old, WORD(p, 0));
	__asm__ volatile("1:	ldxrh %w0, [%3]\n	mov %w1, %w0\n	tbz %w0, #0, 2f\n	add %w1, %w1, #1\n2:	stxrh %w2, %w1, [%3]\n	cbnz %w2, 1b"
			 : "=&r"(old), "=&r"(new), "=&r"(failed) : "r"(p + 8) : "memory");
	printf("%x %lx", old, WORD(p, 8));
	return 0;
}

/* Another load between them. */
static int exclusive_unknown(void)
{
	char *p = map_pool();
	uint64_t old, other = 3;
	uint32_t failed;

	__asm__ volatile("1:	ldxr %0, [%2]\n	ldr %0, [%3]\n	stxr %w1, %0, [%2]\n	cbnz %w1, 1b" : "=&r"(old), "=&r"(failed) : "r"(p), "r"(&other) : "memory");
	return 0;
}

/* A second store, where the first is branched over: whichever is stepped, the other would fail for ever. */
static int exclusive_fork(void)
{
	char *p = map_pool();
	uint64_t old;
	uint32_t failed;

	__asm__ volatile("1:	ldxr %0, [%2]\n	cbnz %0, 2f\n	stxr %w1, xzr, [%2]\n	cbnz %w1, 1b\n	b 3f\n2:	stxr %w1, %0, [%2]\n	cbnz %w1, 1b\n3:"
			 : "=&r"(old), "=&r"(failed) : "r"(p) : "memory");
	return 0;
}

/* Not aligned: what the processor says about it is the program's. */
static sigjmp_buf g_out;
static volatile int g_signal;
static volatile uint64_t g_pc, g_x0, g_x1;

static void note(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	(void)si;
	g_signal = sig;
	g_pc = uc->uc_mcontext.pc;
	g_x0 = uc->uc_mcontext.regs[0];
	g_x1 = uc->uc_mcontext.regs[1];
	siglongjmp(g_out, 1);
}

/* A literal of which the second half is beyond the pool, from code that is behind it: the fault has the program's own registers. */
static int literal_fault(void)
{
	struct sigaction a = { .sa_sigaction = note, .sa_flags = SA_SIGINFO };
	char *end = map_pool() + POOL_BYTES;
	uint32_t *code;

	munmap(end, 4096);
	code = mmap(end + 8192, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	code[0] = 0x58000000 | ((uint32_t)(-(8192 + 4) / 4) & 0x7ffff) << 5; /* ldr x0, end - 4 */
	code[1] = 0x58000001 | ((uint32_t)(-(8192 + 8 + 4) / 4) & 0x7ffff) << 5; /* ldr x1, end - 8 */
	code[2] = 0xd65f03c0; /* ret */
	__builtin___clear_cache((char *)code, (char *)(code + 3));
	sigaction(SIGSEGV, &a, NULL);
	if (!sigsetjmp(g_out, 1)) {
		register uint64_t x0 __asm__("x0") = 55, x1 __asm__("x1") = 66;

		__asm__ volatile("blr %2" : "+r"(x0), "+r"(x1) : "r"(code) : "x30", "memory");
	}
	printf("%d %d %lu %lu ", g_signal == SIGSEGV, g_pc == (uint64_t)code, g_x0, g_x1);
	{
		register uint64_t x1 __asm__("x1") = 66;

		__asm__ volatile("blr %1" : "+r"(x1) : "r"(code + 1) : "x30", "memory");
		printf("%lx", x1);
	}
	return 0;
}

/* A gather is not known; nor is an address that is signed. */
static int signed_address(void)
{
	char *p = map_pool();

	__asm__ volatile(".arch armv8.3-a\n	mov x9, %0\n	mov x10, #0\n	pacdza x9\n	ldraa x10, [x9]" : : "r"(p) : "x9", "x10", "memory");
	return 0;
}

const struct test insn_tests[] = {
	{ "plain", plain, { PAIR(0) }, { { 0 } }, "0 wrong of 1560", 0, 0, NULL },
	{ "atomics", atomics, { PAIR(0) }, { { 0 } }, "0 wrong of 360", 0, NEEDS_ATOMICS, NULL },
	{ "detours", detours_plain, { PAIR(0) }, { { 0 } }, "0 wrong of 1560", 0, 0, NULL },
	{ "detours-ordered", detours_ordered, { PAIR(0) }, { { 0 } }, "0 wrong of 180", 0, NEEDS_ATOMICS, NULL },
	{ "detours-refused", detours_refused, { PAIR(0) }, { { 0 } }, "0 wrong", 0, 0, NULL },
	{ "vector16", vector16, { PAIR(0) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 } }, "1111111111111111 2222222222222222", 0, 0, NULL },
	{ "pair-over-line", pair_over_line, { { 0, { { 56, 8, 7 } } }, PAIR(64) }, { { 0, 56, 1, 2 }, { 1, 0, ALL, 2 } }, "7 1111111111111111", 0, 0, NULL },
	{ "pair-store", pair_store, { PAIR(0), PAIR(64) }, { { 1, 0, ALL, 2 } }, "5 6 1111111111111111", 0, 0, NULL },
	{ "tagged", tagged, { PAIR(0) }, { { 0, 0, ALL, 2 } }, "1111111111111111", 0, 0, NULL },
	{ "cleared", cleared, { PAIR(0), PAIR(64) }, { { 1, 0, ALL, 2 } }, "0 1111111111111111", 0, 0, NULL },
	{ "exclusive", exclusive, { PAIR(0) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 } },
	  "1111111111111111 1111111111111112 1111111111111113 0 1 9", 0, 0, NULL },
	{ "exclusive-pair", exclusive_pair, { PAIR(0) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 } },
	  "1111111111111111 2222222222222222 2222222222222222 1111111111111111", 0, 0, NULL },
	{ "exclusive-inside", exclusive_inside, { PAIR(0) }, { { 0, 0, 1, 2 }, { 0, 8, 3, 2 } },
	  "11 1111111111111112 2222 2222222222222222", 0, 0, NULL },
	{ "exclusive-unknown", exclusive_unknown, { PAIR(0) }, { { 0 } }, NULL, 0, 0, UNKNOWN },
	{ "exclusive-fork", exclusive_fork, { PAIR(0) }, { { 0 } }, NULL, 0, 0, UNKNOWN },
	{ "literal-fault", literal_fault, { { POOL_BYTES - 64, { { 56, 8, 7 } } } }, { { 0, 56, 1, 2 } }, "1 1 55 66 7", 0, 0, NULL },
	{ "signed-address", signed_address, { PAIR(0) }, { { 0 } }, NULL, 0, NEEDS_ATOMICS, UNKNOWN },
	{ 0 },
};
