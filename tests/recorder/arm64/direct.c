/* Instructions that Valgrind 3.19 cannot decode: they run under the recorder all the same, and compute what they should. */
#include "tests/recorder/expect.h"

typedef uint64_t u64;
#define RELEASE 2

__asm__(".arch armv8.4-a");

static void stores(char *p)
{
	const u64 a = 0x1122334455667788, b = 0x99aabbccddeeff01;

	STORE_KIND("store-pair", p, 16, __asm__ volatile("stnp %1, %2, [%0]" ::"r"(p), "r"(a), "r"(b) : "memory"));
	STORE_KIND("store-pair", p + 504, 16, __asm__ volatile("stnp %1, %2, [%0, #504]" ::"r"(p), "r"(b), "r"(a) : "memory"));
	STORE_KIND("store-pair", p + 40, 8, __asm__ volatile("stnp %w1, %w2, [%0, #-24]" ::"r"(p + 64), "r"(a), "r"(b) : "memory"));
	STORE_KIND("store-pair", p + 48, 16, __asm__ volatile("stnp xzr, %1, [%0]" ::"r"(p + 48), "r"(b) : "memory"));
	CHECK(*(u64 *)p == a && *(u64 *)(p + 8) == b && *(u64 *)(p + 504) == b && *(u64 *)(p + 40) == (a & 0xffffffff) + (b << 32));
	CHECK(*(u64 *)(p + 48) == 0);
	STORE_ARG("store-ordered", p + 1024, 8, RELEASE, __asm__ volatile("stlur %1, [%0]" ::"r"(p + 1024), "r"(a) : "memory"));
	STORE_ARG("store-ordered", p + 1032, 4, RELEASE, __asm__ volatile("stlur %w1, [%0, #-8]" ::"r"(p + 1040), "r"(a) : "memory"));
	STORE_ARG("store-ordered", p + 1042, 2, RELEASE, __asm__ volatile("stlurh %w1, [%0, #2]" ::"r"(p + 1040), "r"(a) : "memory"));
	STORE_ARG("store-ordered", p + 1295, 1, RELEASE, __asm__ volatile("stlurb %w1, [%0, #255]" ::"r"(p + 1040), "r"(a) : "memory"));
	CHECK(*(u64 *)(p + 1024) == a && *(uint32_t *)(p + 1032) == 0x55667788 && *(uint16_t *)(p + 1042) == 0x7788);
}

static void loads(char *p)
{
	u64 a, b;

	__asm__ volatile("ldnp %0, %1, [%2, #504]" : "=&r"(a), "=&r"(b) : "r"(p));
	CHECK(a == *(u64 *)(p + 504) && b == *(u64 *)(p + 512));
	__asm__ volatile("ldnp %w0, %w1, [%2, #-8]" : "=&r"(a), "=&r"(b) : "r"(p + 8));
	CHECK(a == 0x55667788 && b == 0x11223344);
	__asm__ volatile("ldapr %0, [%1]" : "=r"(a) : "r"(p));
	CHECK(a == 0x1122334455667788);
	__asm__ volatile("ldaprb %w0, [%1]" : "=r"(a) : "r"(p));
	CHECK(a == 0x88);
	__asm__ volatile("ldaprh %w0, [%1]" : "=r"(a) : "r"(p + 4));
	CHECK(a == 0x3344);
	__asm__ volatile("ldapur %0, [%1, #-8]" : "=r"(a) : "r"(p + 8));
	CHECK(a == 0x1122334455667788);
	__asm__ volatile("ldapursb %0, [%1]" : "=r"(a) : "r"(p));
	CHECK(a == 0xffffffffffffff88);
	__asm__ volatile("ldapursb %w0, [%1]" : "=r"(a) : "r"(p));
	CHECK(a == 0xffffff88);
	__asm__ volatile("ldapursw %0, [%1, #12]" : "=r"(a) : "r"(p));
	CHECK(a == 0xffffffff99aabbcc);
}

/* The stack pointer as the base, and hints of newer processors. */
static void others(void)
{
	u64 x = 5, y;

	__asm__ volatile("stnp %1, %1, [sp, #-16]; ldapur %0, [sp, #-8]" : "=r"(y) : "r"(x) : "memory");
	CHECK(y == 5);
	__asm__ volatile("hint #34; hint #25; hint #29; hint #20" ::: "x30"); /* bti c, paciasp, autiasp, csdb */
}

static void clear(char *p)
{
	u64 dczid, bytes;

	__asm__ volatile("mrs %0, dczid_el0" : "=r"(dczid));
	memset(p, 0x77, 4096);
	expect_cover("store", p, 4096);
	STORE(p - 8, 8, *(volatile u64 *)(p - 8) = 1);
	__asm__ volatile("dc zva, %0" ::"r"(p + 2048 + 5) : "memory");
	for (bytes = 0; p[2048 + bytes] == 0; bytes++)
		;
	CHECK(bytes >= 16 && bytes <= 2048);
	for (u64 i = 0; i < bytes; i += 64)
		expect_store_arg("store-vector", p + 2048 + i, bytes < 64 ? bytes : 64, 1, 0, __func__);
}

int main(int argc, char **argv)
{
	char *p;

	CHECK(argc == 2);
	p = pool_map(pool_path(argv[1], "pool"), 8192);
	stores(p);
	loads(p);
	others();
	clear(p + 4096);
	return 0;
}
