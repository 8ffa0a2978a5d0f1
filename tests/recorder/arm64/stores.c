/* Every way to store. Each operation has its own bytes of the pool, so that the replayed trace must equal the file. */
#include "tests/recorder/expect.h"

typedef uint64_t u64;

#define ACQUIRE 1
#define RELEASE 2
#define ATOMIC 4

__asm__(".arch armv8.4-a");

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

#define AT(at, text) __asm__ volatile(text ::"r"(at), "r"(0x1122334455667788ull), "r"(0x99aabbccddeeff01ull) : "x9", "x10", "x11", "memory")

static void addressing(void)
{
	char *p = place(0), *q = place(0);

	STORE(p, 8, AT(p, "mov x9, %0; str %1, [x9], #8"));
	STORE(p + 8, 8, AT(p, "mov x9, %0; str %1, [x9, #8]!"));
	STORE(p + 16, 8, AT(p, "mov x10, #2; str %1, [%0, x10, lsl #3]"));
	STORE(p + 28, 4, AT(p + 32, "mov w10, #-4; str %w1, [%0, w10, sxtw]"));
	STORE(p + 33, 2, AT(p + 34, "sturh %w1, [%0, #-1]"));
	STORE(p + 40, 8, AT(p + 40, "str xzr, [%0]"));
	STORE(p + 48, 8, AT(p + 48, "mov x10, sp; mov sp, %0; str %1, [sp]; mov sp, x10"));
	STORE_KIND("store-pair", q, 16, AT(q, "stp %1, %2, [%0]"));
	STORE_KIND("store-pair", q + 16, 16, AT(q, "mov x9, %0; stp %1, %2, [x9, #16]!"));
	STORE_KIND("store-pair", q + 32, 16, AT(q + 32, "mov x9, %0; stp %1, %2, [x9], #-16"));
	STORE_KIND("store-pair", q + 48, 8, AT(q + 64, "stp %w1, %w2, [%0, #-16]"));
	STORE_KIND("store-pair", q + 56, 16, AT(q + 56, "stp %1, xzr, [%0]")); /* over two lines */
	STORE_KIND("store-pair", q + 75, 8, AT(q + 75, "stp %w2, %w1, [%0]"));
	STORE_KIND("store-pair", q + 96, 16, AT(q + 112, "mov x10, sp; mov sp, %0; stp x10, x30, [sp, #-16]!; mov sp, x10")); /* as functions begin */
}

#define VECTOR(ptr, size, element, text) STORE_ARG("store-vector", ptr, size, element, __asm__ volatile(text ::"r"(ptr) : "x9", "memory"))

static void vectors(void)
{
	static const unsigned char src[64] = "0123456789abcdefghijklmnopqrstuvABCDEFGHIJKLMNOPQRSTUVWXYZ.-+*/";
	char *p = place(0), *q = place(3), *r = place(0), *s = place(0);

	__asm__ volatile("ld1 {v0.16b-v3.16b}, [%0]" ::"r"(src) : "v0", "v1", "v2", "v3");
	STORE(p, 1, __asm__ volatile("str b0, [%0]" ::"r"(p) : "memory"));
	STORE(p + 2, 2, __asm__ volatile("str h0, [%0]" ::"r"(p + 2) : "memory"));
	STORE(p + 4, 4, __asm__ volatile("str s0, [%0]" ::"r"(p + 4) : "memory"));
	STORE(p + 8, 8, __asm__ volatile("str d0, [%0]" ::"r"(p + 8) : "memory"));
	VECTOR(p + 16, 16, 16, "str q1, [%0]");
	VECTOR(p + 32, 16, 16, "stur q2, [%0]");
	VECTOR(p + 48, 16, 16, "mov x9, %0; str q3, [x9], #16");
	VECTOR(q, 16, 16, "str q1, [%0]"); /* not aligned */
	VECTOR(q + 16, 16, 16, "mov x9, #0; str q2, [%0, x9]");
	__asm__ volatile("stp q0, q1, [%0]" ::"r"(r) : "memory");
	expect_store_arg("store-vector", r, 16, 16, __LINE__ - 1, __func__);
	expect_store_arg("store-vector", r + 16, 16, 16, __LINE__ - 2, __func__);
	__asm__ volatile("stp d2, d3, [%0]" ::"r"(r + 32) : "memory");
	expect_stores("store", r + 32, 8, 2, 0, __LINE__ - 1, __func__);
	__asm__ volatile("stp s2, s3, [%0]" ::"r"(r + 48) : "memory");
	expect_stores("store", r + 48, 4, 2, 0, __LINE__ - 1, __func__);
	VECTOR(s, 16, 1, "st1 {v0.16b}, [%0]");
	VECTOR(s + 16, 16, 8, "st1 {v1.2d}, [%0]");
	VECTOR(s + 32, 8, 2, "st1 {v2.4h}, [%0]");
	VECTOR(s + 40, 8, 4, "mov x9, %0; st1 {v2.2s}, [x9], #8");
	STORE(s + 48, 4, __asm__ volatile("st1 {v2.s}[2], [%0]" ::"r"(s + 48) : "memory"));
	STORE(s + 52, 1, __asm__ volatile("st1 {v2.b}[7], [%0]" ::"r"(s + 52) : "memory"));
	STORE(s + 56, 8, __asm__ volatile("st1 {v2.d}[1], [%0]" ::"r"(s + 56) : "memory"));
}

/* Instructions that write several registers: any vector events that cover what changed. */
static void structures(void)
{
	char *p = next;

	next += 512;
	__asm__ volatile("st1 {v0.16b-v3.16b}, [%0]" ::"r"(p) : "memory");
	expect_cover("store-vector", p, 64);
	STORE(p + 504, 8, *(volatile u64 *)(p + 504) = 1);
	__asm__ volatile("st2 {v0.8h, v1.8h}, [%0]" ::"r"(p + 64) : "memory");
	expect_cover("store-vector", p + 64, 32);
	STORE(p + 504, 8, *(volatile u64 *)(p + 504) = 2);
	__asm__ volatile("st3 {v0.4s-v2.4s}, [%0]" ::"r"(p + 128) : "memory");
	expect_cover("store-vector", p + 128, 48);
	STORE(p + 504, 8, *(volatile u64 *)(p + 504) = 3);
	__asm__ volatile("st4 {v0.16b-v3.16b}, [%0]" ::"r"(p + 192) : "memory");
	expect_cover("store-vector", p + 192, 64);
	STORE(p + 504, 8, *(volatile u64 *)(p + 504) = 4);
	__asm__ volatile("st2 {v0.d, v1.d}[1], [%0]" ::"r"(p + 256) : "memory");
	expect_cover("store", p + 256, 16);
}

#define ORDERED(ptr, size, order, text) STORE_ARG("store-ordered", ptr, size, order, AT(ptr, text))

static void releases(void)
{
	char *p = place(0);

	ORDERED(p, 8, RELEASE, "stlr %1, [%0]");
	ORDERED(p + 8, 4, RELEASE, "stlr %w1, [%0]");
	ORDERED(p + 12, 2, RELEASE, "stlrh %w1, [%0]");
	ORDERED(p + 14, 1, RELEASE, "stlrb %w1, [%0]");
	ORDERED(p + 16, 8, RELEASE, "stlr xzr, [%0]");
}

static void exclusives(void)
{
	char *p = place(0), *q = place(0);

	ORDERED(p, 8, 0, "1: ldxr x9, [%0]; add x9, x9, #3; stxr w10, x9, [%0]; cbnz w10, 1b");
	ORDERED(p + 8, 4, 0, "1: ldaxr w9, [%0]; add w9, w9, #3; stxr w10, w9, [%0]; cbnz w10, 1b");
	ORDERED(p + 12, 2, RELEASE, "1: ldxrh w9, [%0]; add w9, w9, #3; stlxrh w10, w9, [%0]; cbnz w10, 1b");
	ORDERED(p + 14, 1, RELEASE, "1: ldaxrb w9, [%0]; add w9, w9, #3; stlxrb w10, w9, [%0]; cbnz w10, 1b");
	ORDERED(p + 16, 16, 0, "1: ldxp x9, x10, [%0]; stxp w11, %1, %2, [%0]; cbnz w11, 1b");
	ORDERED(p + 32, 16, RELEASE, "1: ldaxp x9, x10, [%0]; stlxp w11, %2, %1, [%0]; cbnz w11, 1b");
	ORDERED(p + 48, 8, 0, "1: ldxp w9, w10, [%0]; stxp w11, %w1, %w2, [%0]; cbnz w11, 1b");
	AT(q, "clrex; stxr w9, %1, [%0]"); /* fails */
	AT(q, "ldxr x9, [%0]; add x10, %0, #8; stxr w9, %1, [x10]"); /* is for another address, and fails */
	CHECK(*(u64 *)q == 0 && *(u64 *)(q + 8) == 0);
}

#define EACH_ORDER(ptr, size, op, b)                                                      \
	do {                                                                              \
		ORDERED(ptr, size, ATOMIC, op b " %1, x9, [%0]");                         \
		ORDERED(ptr, size, ATOMIC | ACQUIRE, op "a" b " %1, x9, [%0]");           \
		ORDERED(ptr, size, ATOMIC | RELEASE, op "l" b " %1, x9, [%0]");           \
		ORDERED(ptr, size, ATOMIC | ACQUIRE | RELEASE, op "al" b " %1, x9, [%0]"); \
	} while (0)
#define EACH_ORDER_NARROW(ptr, size, op, b)                                                 \
	do {                                                                                \
		ORDERED(ptr, size, ATOMIC, op b " %w1, w9, [%0]");                          \
		ORDERED(ptr, size, ATOMIC | ACQUIRE, op "a" b " %w2, w9, [%0]");            \
		ORDERED(ptr, size, ATOMIC | RELEASE, op "l" b " %w1, w9, [%0]");            \
		ORDERED(ptr, size, ATOMIC | ACQUIRE | RELEASE, op "al" b " %w2, w9, [%0]"); \
	} while (0)
#define EACH_SIZE(op)                                          \
	do {                                                   \
		char *p_ = place(0);                           \
		EACH_ORDER(p_, 8, op, "");                     \
		EACH_ORDER_NARROW(p_ + 8, 4, op, "");          \
		EACH_ORDER_NARROW(p_ + 12, 2, op, "h");        \
		EACH_ORDER_NARROW(p_ + 14, 1, op, "b");        \
	} while (0)

static void atomics(void)
{
	char *p = place(0);

	EACH_SIZE("ldadd");
	EACH_SIZE("ldclr");
	EACH_SIZE("ldeor");
	EACH_SIZE("ldset");
	EACH_SIZE("ldsmax");
	EACH_SIZE("ldsmin");
	EACH_SIZE("ldumax");
	EACH_SIZE("ldumin");
	EACH_SIZE("swp");
	ORDERED(p, 8, ATOMIC, "stadd %1, [%0]");
	ORDERED(p, 8, ATOMIC | RELEASE, "staddl %1, [%0]");
	ORDERED(p, 8, ATOMIC | RELEASE, "ldaddal %1, xzr, [%0]"); /* acquires nothing */
	STORE_ARG("store-ordered", p + 8, 8, ATOMIC | ACQUIRE | RELEASE, __atomic_fetch_add((u64 *)(p + 8), 21, __ATOMIC_SEQ_CST));
}

static void compares(void)
{
	char *p = place(0), *q = place(0);

	ORDERED(p, 8, ATOMIC, "mov x9, #0; cas x9, %1, [%0]");
	ORDERED(p, 8, ATOMIC | ACQUIRE, "mov x9, %1; casa x9, %2, [%0]");
	ORDERED(p, 8, ATOMIC | RELEASE, "mov x9, %2; casl x9, %1, [%0]");
	ORDERED(p, 8, ATOMIC | ACQUIRE | RELEASE, "mov x9, %1; casal x9, %2, [%0]");
	ORDERED(p + 8, 4, ATOMIC, "mov x9, #0; cas w9, %w1, [%0]");
	ORDERED(p + 12, 2, ATOMIC | ACQUIRE, "mov x9, #0; casah w9, %w1, [%0]");
	ORDERED(p + 14, 1, ATOMIC | RELEASE, "mov x9, #0; caslb w9, %w1, [%0]");
	AT(p, "mov x9, #5; cas x9, xzr, [%0]"); /* these fail */
	AT(p, "mov x9, #5; casl x9, xzr, [%0]");
	STORE_ARG("store-ordered", q, 16, ATOMIC, __asm__ volatile("mov x0, #0; mov x1, #0; mov x2, #7; mov x3, #8; casp x0, x1, x2, x3, [%0]" ::"r"(q) : "x0", "x1", "x2", "x3", "memory"));
	STORE_ARG("store-ordered", q, 16, ATOMIC | ACQUIRE | RELEASE, __asm__ volatile("mov x0, #7; mov x1, #8; mov x2, #9; mov x3, #10; caspal x0, x1, x2, x3, [%0]" ::"r"(q) : "x0", "x1", "x2", "x3", "memory"));
	STORE_ARG("store-ordered", q + 16, 8, ATOMIC | RELEASE, __asm__ volatile("mov x0, #0; mov x1, #0; mov x2, #9; mov x3, #10; caspl w0, w1, w2, w3, [%0]" ::"r"(q + 16) : "x0", "x1", "x2", "x3", "memory"));
	__asm__ volatile("mov x0, #9; mov x1, #9; mov x2, #1; mov x3, #1; casp x0, x1, x2, x3, [%0]" ::"r"(q) : "x0", "x1", "x2", "x3", "memory"); /* fails */
	CHECK(*(u64 *)q == 9 && *(u64 *)(q + 8) == 10);
}

/* A page of PM between two pages of ordinary memory: only what lies in PM is recorded. */
static void clipped(const char *dir)
{
	const char *path = pool_path(dir, "clipped");
	u64 page = (u64)sysconf(_SC_PAGESIZE);
	char *all = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *p = pool_map_at(path, page, all + page, MAP_FIXED), *end = p + page;

	*(volatile u64 *)(p - 4) = 0x8877665544332211;
	expect_store("store", p, 4, __LINE__ - 1, __func__);
	*(volatile u64 *)(end - 3) = 0x8877665544332211;
	expect_store("store", end - 3, 3, __LINE__ - 1, __func__);
	AT(end - 9, "dup v0.2d, %1; str q0, [%0]");
	expect_store_arg("store-vector", end - 9, 9, 16, __LINE__ - 1, __func__);
	AT(p - 15, "stp %1, %2, [%0]");
	expect_store("store-pair", p, 1, __LINE__ - 1, __func__);
	AT(end - 8, "stp %1, %2, [%0]");
	expect_store("store-pair", end - 8, 8, __LINE__ - 1, __func__);
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
	AT(p - 128, "stur %1, [%0, #-128]; str %1, [%0, #192]");
	expect_store("store", p + 64, 8, __LINE__ - 1, __func__);
	AT(end + 128, "str %2, [%0, #4000]; stur %2, [%0, #-192]");
	expect_store("store", end - 64, 8, __LINE__ - 1, __func__);
	AT(p, "sub x9, %0, #16, lsl #12; str %1, [x9]; add x9, x9, #16, lsl #12; str %1, [x9, #192]");
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
	addressing();
	vectors();
	structures();
	releases();
	exclusives();
	atomics();
	compares();
	clipped(argv[1]);
	neighbours(argv[1]);
	return 0;
}
