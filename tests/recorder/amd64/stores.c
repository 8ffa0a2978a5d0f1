/* Every way to store. Each operation has its own bytes of the pool, so that the replayed trace must equal the file. */
#include <setjmp.h>
#include <signal.h>

#include "tests/recorder/expect.h"

typedef uint64_t u64;

static char *next; /* the next free byte of the pool */

/* The next place for a store, `skew` bytes into a line of its own. */
static char *place(int skew)
{
	char *p = next + skew;

	next += 128;
	return p;
}

static void plain(void)
{
	for (int skew = 0; skew < 64; skew += 7) {
		volatile char *p = place(skew);

		STORE(p, 1, *(volatile uint8_t *)p = 0xa1);
		STORE(p + 1, 2, *(volatile uint16_t *)(p + 1) = 0xb2b1);
		STORE(p + 3, 4, *(volatile uint32_t *)(p + 3) = 0xc4c3c2c1);
		STORE(p + 7, 8, *(volatile u64 *)(p + 7) = 0xd8d7d6d5d4d3d2d1);
	}
}

static void crossing(char *pool)
{
	volatile char *p = pool + 4096;

	for (int before = 1; before < 8; before++)
		STORE(p - before, 8, *(volatile u64 *)(p - before) = 0x1112131415161718ull * (u64)before);
	STORE(p + 64 - 1, 2, *(volatile uint16_t *)(p + 63) = 0x2122);
	STORE(p + 64 - 2, 4, *(volatile uint32_t *)(p + 62) = 0x31323334);
}

static void arithmetic(void)
{
	char *p = place(0);

	STORE(p, 8, __asm__ volatile("movq $-2, %0" : "=m"(*(u64 *)p)));
	STORE(p, 8, __asm__ volatile("addq $5, %0" : "+m"(*(u64 *)p)));
	STORE(p, 4, __asm__ volatile("subl $5, %0" : "+m"(*(uint32_t *)p)));
	STORE(p, 2, __asm__ volatile("xorw $0x5a5a, %0" : "+m"(*(uint16_t *)p)));
	STORE(p, 1, __asm__ volatile("incb %0" : "+m"(*(uint8_t *)p)));
	STORE(p, 8, __asm__ volatile("negq %0" : "+m"(*(u64 *)p)));
	STORE(p, 4, __asm__ volatile("notl %0" : "+m"(*(uint32_t *)p)));
	STORE(p, 8, __asm__ volatile("shlq $3, %0" : "+m"(*(u64 *)p)));
	STORE(p, 8, __asm__ volatile("rorq $9, %0" : "+m"(*(u64 *)p)));
	STORE(p, 8, __asm__ volatile("shldq $7, %1, %0" : "+m"(*(u64 *)p) : "r"(0x123456789ull)));
	STORE(p, 1, __asm__ volatile("cmp %%rsp, %%rsp; sete %0" : "=m"(*(uint8_t *)p)));
	STORE(p, 4, __asm__ volatile("movbe %1, %0" : "=m"(*(uint32_t *)p) : "r"(0x01020304)));
	STORE(p + 8, 4, __asm__ volatile("btsl $3, %0" : "+m"(*(uint32_t *)(p + 8))));
	STORE(p + 16, 8, __asm__ volatile("pushq $77; popq %0" : "=m"(*(u64 *)(p + 16))));
	STORE(p + 24, 4, __asm__ volatile("stmxcsr %0" : "=m"(*(uint32_t *)(p + 24))));
	STORE(p + 32, 4, __asm__ volatile("xaddl %1, %0" : "+m"(*(uint32_t *)(p + 32)) : "r"(9)));
	STORE(p + 40, 8, __asm__ volatile("cmpxchgq %1, %0" : "+m"(*(u64 *)(p + 40)) : "r"(0x4242ull), "a"(0)));
}

static void vectors(void)
{
	static const unsigned char src[33] __attribute__((aligned(32))) = "0123456789abcdefghijklmnopqrstuv";
	char *p = place(0), *q = place(0), *r = place(3), *s = place(51);

	__asm__ volatile("vmovdqa %0, %%ymm1" ::"m"(*(const char(*)[32])src) : "xmm1");
	STORE_ARG("store-vector", p, 16, 16, __asm__ volatile("movaps %%xmm1, (%0)" ::"r"(p) : "memory"));
	STORE_ARG("store-vector", p + 16, 16, 16, __asm__ volatile("movdqa %%xmm1, (%0)" ::"r"(p + 16) : "memory"));
	STORE(p + 32, 32, __asm__ volatile("vmovaps %%ymm1, (%0)" ::"r"(p + 32) : "memory"));
	STORE_ARG("store-vector", s - 51, 16, 16, __asm__ volatile("movapd %%xmm1, (%0)" ::"r"(s - 51) : "memory"));
	STORE_ARG("store-vector", s - 35, 16, 16, __asm__ volatile("vmovaps %%xmm1, (%0)" ::"r"(s - 35) : "memory"));
	STORE_ARG("store-vector", s - 19, 16, 16, __asm__ volatile("vmovdqa %%xmm1, (%0)" ::"r"(s - 19) : "memory"));
	STORE(q, 16, __asm__ volatile("movups %%xmm1, (%0)" ::"r"(q) : "memory"));
	STORE(q + 17, 16, __asm__ volatile("vmovdqu %%xmm1, (%0)" ::"r"(q + 17) : "memory"));
	STORE(r, 32, __asm__ volatile("vmovdqu %%ymm1, (%0)" ::"r"(r) : "memory"));
	STORE(s, 32, __asm__ volatile("vmovups %%ymm1, (%0)" ::"r"(s) : "memory"));
	p = place(0);
	STORE(p, 4, __asm__ volatile("movss %%xmm1, (%0)" ::"r"(p) : "memory"));
	STORE(p + 8, 8, __asm__ volatile("movsd %%xmm1, (%0)" ::"r"(p + 8) : "memory"));
	STORE(p + 16, 8, __asm__ volatile("movhps %%xmm1, (%0)" ::"r"(p + 16) : "memory"));
	STORE(p + 24, 8, __asm__ volatile("movlps %%xmm1, (%0)" ::"r"(p + 24) : "memory"));
	STORE(p + 32, 4, __asm__ volatile("movd %%xmm1, (%0)" ::"r"(p + 32) : "memory"));
	STORE(p + 40, 8, __asm__ volatile("movq %%xmm1, (%0)" ::"r"(p + 40) : "memory"));
	STORE(p + 48, 1, __asm__ volatile("pextrb $3, %%xmm1, (%0)" ::"r"(p + 48) : "memory"));
	STORE(p + 50, 2, __asm__ volatile("pextrw $2, %%xmm1, (%0)" ::"r"(p + 50) : "memory"));
	STORE(p + 52, 4, __asm__ volatile("pextrd $2, %%xmm1, (%0)" ::"r"(p + 52) : "memory"));
	STORE(p + 56, 8, __asm__ volatile("pextrq $1, %%xmm1, (%0)" ::"r"(p + 56) : "memory"));
	p = place(0);
	STORE(p, 16, __asm__ volatile("vextracti128 $1, %%ymm1, (%0)" ::"r"(p) : "memory"));
	STORE(p + 16, 16, __asm__ volatile("vextractf128 $1, %%ymm1, (%0)" ::"r"(p + 16) : "memory"));
}

/* One event for each element whose mask is set. */
static void masked_vectors(void)
{
	static const uint32_t mask4[8] __attribute__((aligned(32))) = {~0u, 0, ~0u, ~0u, 0, 0, 0, ~0u};
	static const u64 mask8[4] __attribute__((aligned(32))) = {0, ~0ull, 0, ~0ull};
	static const uint32_t value[8] __attribute__((aligned(32))) = {1, 2, 3, 4, 5, 6, 7, 8};
	char *p = place(0), *q = place(0), *r = place(0), *s = place(0);

	__asm__ volatile("vmovdqa %0, %%ymm1" ::"m"(value) : "xmm1");
	__asm__ volatile("vmovdqa %0, %%ymm2" ::"m"(mask4) : "xmm2");
	__asm__ volatile("vmovdqa %0, %%ymm3" ::"m"(mask8) : "xmm3");
	__asm__ volatile("vmaskmovps %%ymm1, %%ymm2, (%0)" ::"r"(p) : "memory");
	for (int i = 0; i < 8; i++)
		if (mask4[i])
			expect_store("store", p + 4 * i, 4, 0, __func__);
	__asm__ volatile("vpmaskmovd %%xmm1, %%xmm2, (%0)" ::"r"(q) : "memory");
	for (int i = 0; i < 4; i++)
		if (mask4[i])
			expect_store("store", q + 4 * i, 4, 0, __func__);
	__asm__ volatile("vmaskmovpd %%ymm1, %%ymm3, (%0)" ::"r"(r) : "memory");
	for (int i = 0; i < 4; i++)
		if (mask8[i])
			expect_store("store", r + 8 * i, 8, 0, __func__);
	__asm__ volatile("vpmaskmovq %%ymm1, %%ymm3, (%0)" ::"r"(s) : "memory");
	for (int i = 0; i < 4; i++)
		if (mask8[i])
			expect_store("store", s + 8 * i, 8, 0, __func__);
}

static void non_temporal(void)
{
	static const unsigned char src[32] __attribute__((aligned(32))) = "non-temporal-non-temporal-non-t";
	char *p = place(0), *q = place(0);

	__asm__ volatile("vmovdqa %0, %%ymm1; movq %0, %%mm1" ::"m"(*(const char(*)[32])src) : "xmm1", "mm1");
	STORE_NT(p, 4, __asm__ volatile("movntil %1, %0" : "=m"(*(uint32_t *)p) : "r"(0x51525354)));
	STORE_NT(p + 8, 8, __asm__ volatile("movntiq %1, %0" : "=m"(*(u64 *)(p + 8)) : "r"(0x5152535455565758)));
	STORE_NT(p + 16, 16, __asm__ volatile("movntdq %%xmm1, (%0)" ::"r"(p + 16) : "memory"));
	STORE_NT(p + 32, 16, __asm__ volatile("movntps %%xmm1, (%0)" ::"r"(p + 32) : "memory"));
	STORE_NT(p + 48, 16, __asm__ volatile("movntpd %%xmm1, (%0)" ::"r"(p + 48) : "memory"));
	STORE_NT(q, 32, __asm__ volatile("vmovntdq %%ymm1, (%0)" ::"r"(q) : "memory"));
	STORE_NT(q + 32, 16, __asm__ volatile("vmovntdq %%xmm1, (%0)" ::"r"(q + 32) : "memory"));
	STORE_NT(q + 64, 32, __asm__ volatile("vmovntps %%ymm1, (%0)" ::"r"(q + 64) : "memory"));
	STORE_NT(q + 96, 32, __asm__ volatile("vmovntpd %%ymm1, (%0)" ::"r"(q + 96) : "memory"));
	STORE_NT(q + 48, 8, __asm__ volatile("movntq %%mm1, (%0); emms" ::"r"(q + 48) : "memory"));
	p = place(0);
	STORE_NT(p, 8, __asm__ volatile("movntiq %0, (%1,%2,8)" ::"r"(0x77ull), "r"(p - 8), "r"(1ull) : "memory"));
	FENCE("sfence", __asm__ volatile("sfence"));
}

/* maskmovdqu: a non-temporal event for each run of selected bytes. */
static void byte_masks(void)
{
	static const unsigned char mask[16] __attribute__((aligned(16))) = {
		0x80, 0xff, 0x80, 0, 0, 0x80, 0, 0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
	static const unsigned char value[17] __attribute__((aligned(16))) = "maskmovdqu-value";
	char *p = place(0), *q = place(5), *r = place(9);

	__asm__ volatile("movdqa %0, %%xmm1; movdqa %1, %%xmm2" ::"m"(value), "m"(mask) : "xmm1", "xmm2");
	__asm__ volatile("maskmovdqu %%xmm2, %%xmm1" ::"D"(p) : "memory");
	expect_store("store-nt", p, 3, 0, __func__);
	expect_store("store-nt", p + 5, 1, 0, __func__);
	expect_store("store-nt", p + 8, 8, 0, __func__);
	__asm__ volatile("vmaskmovdqu %%xmm2, %%xmm1" ::"D"(q) : "memory");
	expect_store("store-nt", q, 3, 0, __func__);
	expect_store("store-nt", q + 5, 1, 0, __func__);
	expect_store("store-nt", q + 8, 8, 0, __func__);
	__asm__ volatile("movq %0, %%mm1; movq %1, %%mm2" ::"m"(value), "m"(mask) : "mm1", "mm2");
	__asm__ volatile("maskmovq %%mm2, %%mm1; emms" ::"D"(r) : "memory");
	expect_store("store-nt", r, 3, 0, __func__);
	expect_store("store-nt", r + 5, 1, 0, __func__);
	__asm__ volatile("pxor %%xmm2, %%xmm2; maskmovdqu %%xmm2, %%xmm1" ::"D"(p) : "memory", "xmm2"); /* no byte, no event */
	FENCE("sfence", __asm__ volatile("sfence"));
}

#define STRING(insn, ptr, size, n, down, source)                                                                     \
	do {                                                                                                         \
		char *di_ = (ptr);                                                                                   \
		const char *si_ = (source);                                                                          \
		u64 cx_ = (n);                                                                                       \
		__asm__ volatile(insn : "+D"(di_), "+S"(si_), "+c"(cx_) : "a"(0x0123456789abcdefull) : "memory");    \
		expect_string(ptr, size, n, down, __LINE__, __func__);                                      \
	} while (0)

/* Without rep, it is a store like any other. */
#define STRING1(insn, ptr, size, source)                                                                          \
	do {                                                                                                      \
		char *di_ = (ptr);                                                                                \
		const char *si_ = (source);                                                                       \
		__asm__ volatile(insn : "+D"(di_), "+S"(si_) : "a"(0x0123456789abcdefull) : "memory");            \
		expect_store("store", ptr, size, __LINE__, __func__);                                             \
	} while (0)

static void strings(void)
{
	static const char src[192] = "the quick brown fox jumps over the lazy dog and comes back agai";
	char *p = place(0), *q = place(60), *r = place(0), *s = place(0), *t = place(0);

	place(0); /* t has two */

	STRING("rep movsb", p, 1, 13, 0, src);
	STRING("rep movsw", p + 13, 2, 5, 0, src);
	STRING("rep movsl", p + 24, 4, 3, 0, src);
	STRING("rep movsq", q, 8, 7, 0, src);
	STRING("rep stosb", r, 1, 9, 0, src);
	STRING("rep stosw", r + 9, 2, 3, 0, src);
	STRING("rep stosl", r + 16, 4, 3, 0, src);
	STRING("rep stosq", r + 32, 8, 5, 0, src);
	STRING("std; rep movsb; cld", s + 10, 1, 8, 1, src + 20);
	STRING("std; rep stosq; cld", s + 48, 8, 3, 1, src);
	STRING("std; rep movsq; cld", s + 100, 8, 7, 1, src + 48); /* across the line, not aligned */
	STRING("rep movsb", t, 1, 150, 0, src);
	for (int i = 0; i < 3; i++)
		STRING("rep stosb", t + 160 + 4 * i, 1, 4, 0, src); /* one instruction, executed three times */
	STRING1("movsb", t + 180, 1, src);
	STRING1("movsq", t + 184, 8, src);
	STRING1("stosl", t + 176, 4, src);
	{
		u64 none = 0;
		__asm__ volatile("rep stosb" : "+c"(none) : "D"(s + 90), "a"(1) : "memory"); /* zero times: no event */
	}
}

static char *g_handler_stores, *g_copied;
static sigjmp_buf g_after;

static void on_fault(int sig)
{
	(void)sig;
	expect_store_arg("store-vector", g_copied, 20, 1, 0, "interrupted_string");
	STORE(g_handler_stores, 8, __asm__ volatile("movq $77, %0" : "=m"(*(u64 *)g_handler_stores)));
	siglongjmp(g_after, 1);
}

/* A copy whose source ends at a page that cannot be read: what was stored until then comes before what the handler stores. (Valgrind does not go on where a
 * copy was interrupted, but behind the next element: so it is left.) */
static void interrupted_string(void)
{
	char *p = place(0), *source = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *di = p;
	const char *si = source + 4096 - 20;
	u64 n = 50;

	g_handler_stores = place(0);
	memset(source, 'a', 8192);
	CHECK(mprotect(source + 4096, 4096, PROT_NONE) == 0);
	signal(SIGSEGV, on_fault);
	g_copied = p;
	if (sigsetjmp(g_after, 1) == 0)
		__asm__ volatile("rep movsb" : "+D"(di), "+S"(si), "+c"(n) : : "memory");
	STRING("rep stosb", p + 20, 1, 3, 0, source); /* right behind it */
	signal(SIGSEGV, SIG_DFL);
	munmap(source, 8192);
}

/* A stack in PM: what push and call write are stores. */
static void stack_in_pm(void)
{
	char *top = place(0) + 120;

	STORE(top - 8, 8, __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; pushq $0x1234; mov %%rbx, %%rsp" ::"r"(top) : "rbx", "memory"));
	STORE(top - 16, 8, __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; push %0; mov %%rbx, %%rsp" ::"r"(top - 8) : "rbx", "memory"));
	STORE(top - 18, 2, __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; pushw $0x77; mov %%rbx, %%rsp" ::"r"(top - 16) : "rbx", "memory"));
	STORE(top - 32, 8, __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; call 1f; 1: mov %%rbx, %%rsp" ::"r"(top - 24) : "rbx", "memory"));
	STORE(top - 48, 8, __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; lea 1f(%%rip), %%rax; call *%%rax; 1: mov %%rbx, %%rsp" ::"r"(top - 40) : "rax", "rbx", "memory"));
	STORE(top - 56, 8, __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; pushfq; mov %%rbx, %%rsp" ::"r"(top - 48) : "rbx", "memory"));
	STORE(top - 64, 8, __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; call 2f; jmp 3f; 2: ret; 3: mov %%rbx, %%rsp" ::"r"(top - 56) : "rbx", "memory"));
}

static void x87(void)
{
	static const double pi = 3.14159265358979;
	char *p = place(0), *q = place(59);

	STORE(p, 4, __asm__ volatile("fldl %1; fstps %0" : "=m"(*(float *)p) : "m"(pi)));
	STORE(p + 8, 8, __asm__ volatile("fldl %1; fstpl %0" : "=m"(*(double *)(p + 8)) : "m"(pi)));
	STORE(p + 16, 10, __asm__ volatile("fldl %0; fstpt (%1)" ::"m"(pi), "r"(p + 16) : "memory"));
	STORE(p + 32, 2, __asm__ volatile("fldl %1; fistps %0" : "=m"(*(short *)(p + 32)) : "m"(pi)));
	STORE(p + 36, 4, __asm__ volatile("fldl %1; fistpl %0" : "=m"(*(int *)(p + 36)) : "m"(pi)));
	STORE(p + 40, 8, __asm__ volatile("fldl %1; fistpll %0" : "=m"(*(u64 *)(p + 40)) : "m"(pi)));
	STORE(p + 48, 4, __asm__ volatile("fldl %1; fisttpl %0" : "=m"(*(int *)(p + 48)) : "m"(pi)));
	STORE(p + 52, 2, __asm__ volatile("fnstcw %0" : "=m"(*(short *)(p + 52))));
	STORE(q, 10, __asm__ volatile("fldl %0; fstpt (%1)" ::"m"(pi), "r"(q) : "memory"));
}

/* Instructions that write more than a store event holds: any events that cover what changed. */
static void wide(void)
{
	char *p = next;

	next += 2048;
	__asm__ volatile("fxsave64 (%0)" ::"r"(p) : "memory");
	expect_cover("store", p, 512);
	__asm__ volatile("fnstenv (%0)" ::"r"(p + 512) : "memory");
	expect_cover("store", p + 512, 28);
	__asm__ volatile("xsave64 (%0)" ::"r"(p + 1024), "a"(7), "d"(0) : "memory");
	expect_cover("store", p + 1024, 1024);
}

static void locked(void)
{
	char *p = place(0), *q = place(0);
	u64 ax = 0;

	STORE_RMW(p, 8, __asm__ volatile("lock addq $3, %0" : "+m"(*(u64 *)p)));
	STORE_RMW(p, 4, __asm__ volatile("lock subl $1, %0" : "+m"(*(uint32_t *)p)));
	STORE_RMW(p, 2, __asm__ volatile("lock orw $0x100, %0" : "+m"(*(uint16_t *)p)));
	STORE_RMW(p, 1, __asm__ volatile("lock andb $0xfe, %0" : "+m"(*(uint8_t *)p)));
	STORE_RMW(p, 8, __asm__ volatile("lock xorq %1, %0" : "+m"(*(u64 *)p) : "r"(0x1111222233334444ull)));
	STORE_RMW(p, 8, __asm__ volatile("lock incq %0" : "+m"(*(u64 *)p)));
	STORE_RMW(p, 4, __asm__ volatile("lock decl %0" : "+m"(*(uint32_t *)p)));
	STORE_RMW(p, 8, __asm__ volatile("lock negq %0" : "+m"(*(u64 *)p)));
	STORE_RMW(p, 8, __asm__ volatile("lock notq %0" : "+m"(*(u64 *)p)));
	STORE_RMW(p + 8, 8, __asm__ volatile("lock xaddq %1, %0" : "+m"(*(u64 *)(p + 8)) : "r"(5ull)));
	STORE_RMW(p + 16, 4, __asm__ volatile("lock xaddl %1, %0" : "+m"(*(uint32_t *)(p + 16)) : "r"(6)));
	STORE_RMW(p + 24, 8, __asm__ volatile("xchgq %1, %0" : "+m"(*(u64 *)(p + 24)) : "r"(7ull)));
	STORE_RMW(p + 32, 4, __asm__ volatile("xchgl %1, %0" : "+m"(*(uint32_t *)(p + 32)) : "r"(8)));
	STORE_RMW(p + 36, 2, __asm__ volatile("xchgw %1, %0" : "+m"(*(uint16_t *)(p + 36)) : "r"((uint16_t)9)));
	STORE_RMW(p + 38, 1, __asm__ volatile("xchgb %1, %0" : "+m"(*(uint8_t *)(p + 38)) : "q"((uint8_t)10)));
	STORE_RMW(p + 40, 4, __asm__ volatile("lock btsl $7, %0" : "+m"(*(uint32_t *)(p + 40))));
	STORE_RMW(p + 40, 4, __asm__ volatile("lock btrl $7, %0" : "+m"(*(uint32_t *)(p + 40))));
	STORE_RMW(p + 40, 4, __asm__ volatile("lock btcl $2, %0" : "+m"(*(uint32_t *)(p + 40))));
	STORE_RMW(q, 8, __asm__ volatile("lock cmpxchgq %2, %0" : "+m"(*(u64 *)q), "+a"(ax) : "r"(11ull)));
	STORE_RMW(q + 8, 4, __asm__ volatile("lock cmpxchgl %1, %0" : "+m"(*(uint32_t *)(q + 8)) : "r"(12), "a"(0)));
	STORE_RMW(q + 12, 2, __asm__ volatile("lock cmpxchgw %1, %0" : "+m"(*(uint16_t *)(q + 12)) : "r"((uint16_t)13), "a"(0)));
	STORE_RMW(q + 14, 1, __asm__ volatile("lock cmpxchgb %1, %0" : "+m"(*(uint8_t *)(q + 14)) : "q"((uint8_t)14), "a"(0)));
	STORE_RMW(q + 24, 8, __asm__ volatile("lock cmpxchg8b (%0)" ::"r"(q + 24), "a"(0), "d"(0), "b"(15), "c"(16) : "memory"));
	STORE_RMW(q + 32, 16, __asm__ volatile("lock cmpxchg16b (%0)" ::"r"(q + 32), "a"(0ull), "d"(0ull), "b"(17ull), "c"(18ull) : "memory"));
	/* These fail, nothing is pending: no event. */
	__asm__ volatile("lock cmpxchgq %1, %0" : "+m"(*(u64 *)q) : "r"(99ull), "a"(98ull));
	__asm__ volatile("lock cmpxchg16b (%0)" ::"r"(q + 32), "a"(1ull), "d"(1ull), "b"(1ull), "c"(1ull) : "memory");
	STORE_RMW(q + 48, 8, __sync_fetch_and_add((u64 *)(q + 48), 21));
	STORE_RMW(q + 56, 8, __atomic_store_n((u64 *)(q + 56), 22, __ATOMIC_SEQ_CST));
}

/* A page of PM between two pages of ordinary memory: only what lies in PM is recorded. */
static void clipped(const char *dir)
{
	const char *path = pool_path(dir, "clipped");
	char *all = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *p = pool_map_at(path, 4096, all + 4096, MAP_FIXED), *end = p + 4096;

	*(volatile u64 *)(p - 4) = 0x8877665544332211;
	expect_store("store", p, 4, __LINE__ - 1, __func__);
	*(volatile u64 *)(end - 3) = 0x8877665544332211;
	expect_store("store", end - 3, 3, __LINE__ - 1, __func__);
	__asm__ volatile("vpcmpeqd %%ymm1, %%ymm1, %%ymm1" ::: "xmm1");
	__asm__ volatile("movdqu %%xmm1, (%0)" ::"r"(end - 9) : "memory");
	expect_store("store", end - 9, 9, __LINE__ - 1, __func__);
	__asm__ volatile("vmovdqu %%ymm1, (%0)" ::"r"(p - 31) : "memory");
	expect_store("store", p, 1, __LINE__ - 1, __func__);
	*(volatile u64 *)(p - 8) = 1;
	*(volatile u64 *)end = 1;
	STORE(p + 100, 8, *(volatile u64 *)(p + 100) = 5);
}

/* Two stores by one register, first to ordinary memory, then to PM: the recorder looks at the first one's address only. */
static void neighbours(const char *dir)
{
	const u64 size = 64 << 10;
	char *all = mmap(NULL, 4 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *p = (char *)(((u64)all + 2 * size - 1) & ~(size - 1)), *end = p + size;

	pool_map_at(pool_path(dir, "neighbours"), size, p, MAP_FIXED);
	__asm__ volatile("movq %1, -4000(%0); movq %1, 64(%0)" ::"r"(p), "r"(5ull) : "memory");
	expect_store("store", p + 64, 8, __LINE__ - 1, __func__);
	__asm__ volatile("movq %1, 4000(%0); movq %1, -64(%0)" ::"r"(end), "r"(6ull) : "memory");
	expect_store("store", end - 64, 8, __LINE__ - 1, __func__);
	/* far apart, and by a register that changes in between */
	__asm__ volatile("movq %1, -65536(%0); movq %1, 128(%0)" ::"r"(p), "r"(7ull) : "memory");
	expect_store("store", p + 128, 8, __LINE__ - 1, __func__);
	__asm__ volatile("lea -65536(%0), %%rax; movq %1, (%%rax); add $65536, %%rax; movq %1, 192(%%rax)" ::"r"(p), "r"(8ull) : "rax", "memory");
	expect_store("store", p + 192, 8, __LINE__ - 1, __func__);
}

int main(int argc, char **argv)
{
	const char *path;
	char *pool;

	CHECK(argc == 2);
	path = pool_path(argv[1], "pool");
	pool = pool_map(path, 64 << 10);
	next = pool + 8192;
	plain();
	crossing(pool);
	arithmetic();
	vectors();
	masked_vectors();
	non_temporal();
	byte_masks();
	strings();
	interrupted_string();
	stack_in_pm();
	x87();
	wide();
	locked();
	clipped(argv[1]);
	neighbours(argv[1]);
	return 0;
}
