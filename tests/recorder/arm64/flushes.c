/* Every flush instruction, every barrier with every option, and accesses that order, of which only what says something new is told. Also what the
 * auxiliary vector says. */
#include "tests/recorder/expect.h"
#include "tests/machine.h"

#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>

typedef uint64_t u64;

#define POOL_BYTES 16384
#define ACQUIRE 1
#define RELEASE 2
#define ATOMIC 4

__asm__(".arch armv8.5-a");

static char *pool;
static u64 word[2] __attribute__((aligned(16))); /* not persistent */

#define EVENT_ARG(kind, arg, ...)                     \
	do {                                          \
		__VA_ARGS__;                          \
		ARGS(kind, NULL, arg);                \
	} while (0)

#define FOUR(ptr, operand, setup)                                                                      \
	do {                                                                                           \
		FLUSH("dc-cvac", ptr, __asm__ volatile(setup "dc cvac, " operand ::"r"(ptr) : "x9", "x30")); \
		FLUSH("dc-civac", ptr, __asm__ volatile(setup "dc civac, " operand ::"r"(ptr) : "x9", "x30")); \
		FLUSH("dc-cvap", ptr, __asm__ volatile(setup "dc cvap, " operand ::"r"(ptr) : "x9", "x30")); \
		FLUSH("dc-cvadp", ptr, __asm__ volatile(setup "dc cvadp, " operand ::"r"(ptr) : "x9", "x30")); \
	} while (0)

static void flushes(void)
{
	FOUR(pool, "%0", "");
	FOUR(pool + 63, "x9", "mov x9, %0; ");
	FOUR(pool + 8192, "x30", "mov x30, %0; ");
	__asm__ volatile("dc cvau, %0" ::"r"(pool)); /* for instructions: no event */
}

static void volatile_memory(void)
{
	__asm__ volatile("dc cvac, %0; dc civac, %0; dc cvap, %0; dc cvadp, %0" ::"r"(word));
	for (int i = 0; i < 4; i++)
		ARGS("flush-volatile", NULL, (u64)word);
}

#define BARRIER(option, number)                                                 \
	do {                                                                    \
		EVENT_ARG("dmb", number, __asm__ volatile("dmb " option));      \
		EVENT_ARG("dsb", number, __asm__ volatile("dsb " option));      \
	} while (0)

static void barriers(void)
{
	BARRIER("oshld", 1);
	BARRIER("oshst", 2);
	BARRIER("osh", 3);
	BARRIER("nshld", 5);
	BARRIER("nshst", 6);
	BARRIER("nsh", 7);
	BARRIER("ishld", 9);
	BARRIER("ishst", 10);
	BARRIER("ish", 11);
	BARRIER("ld", 13);
	BARRIER("st", 14);
	BARRIER("sy", 15);
	EVENT_ARG("dsb", 15, fence());
	__asm__ volatile("isb; hint #20"); /* order no stores: no event */
}

#define PM_STORE() STORE(pool, 8, *(volatile u64 *)pool += 1)
#define AT_WORD(text) __asm__ volatile(text ::"r"(word) : "x9", "x10", "x11", "memory")

/* On memory that is not persistent. */
static void orders(void)
{
	AT_WORD("ldar x9, [%0]"); /* after no release */
	PM_STORE();
	EVENT_ARG("order", RELEASE, AT_WORD("stlr x9, [%0]"));
	AT_WORD("stlr x9, [%0]"); /* follows no more than the one before */
	EVENT_ARG("order", ACQUIRE, AT_WORD("ldar x9, [%0]"));
	AT_WORD("ldar x9, [%0]");
	AT_WORD("stlr x9, [%0]; ldar x9, [%0]"); /* a lock that is taken and given back, without a store in between: nothing new */
	PM_STORE();
	AT_WORD("ldar x9, [%0]"); /* the last release is followed by an acquire already */
	EVENT_ARG("order", RELEASE, AT_WORD("1: ldxr x9, [%0]; stlxr w10, x9, [%0]; cbnz w10, 1b"));
	PM_STORE();
	EVENT_ARG("order", ACQUIRE, AT_WORD("ldaxr x9, [%0]; clrex"));
	PM_STORE();
	AT_WORD("1: ldxr x9, [%0]; stxr w10, x9, [%0]; cbnz w10, 1b; ldadd x9, x10, [%0]; ldapr x9, [%0]"); /* orders nothing */
	EVENT_ARG("order", RELEASE | ATOMIC, AT_WORD("ldaddl x9, x10, [%0]"));
	EVENT_ARG("order", ACQUIRE | ATOMIC, AT_WORD("swpa x9, x10, [%0]"));
	PM_STORE();
	EVENT_ARG("order", ACQUIRE | RELEASE | ATOMIC, AT_WORD("ldsetal x9, x10, [%0]"));
	AT_WORD("ldsetal x9, x10, [%0]; stlr x9, [%0]; ldar x9, [%0]");
	PM_STORE();
	EVENT_ARG("order", RELEASE | ATOMIC, AT_WORD("staddl x9, [%0]"));
	EVENT_ARG("order", ACQUIRE, AT_WORD("ldr x9, [%0]; add x9, x9, #1; casal x9, x10, [%0]")); /* fails */
	PM_STORE();
	AT_WORD("ldr x9, [%0]; add x9, x9, #1; casl x9, x10, [%0]"); /* fails */
	EVENT_ARG("order", ACQUIRE | RELEASE | ATOMIC, AT_WORD("ldr x9, [%0]; casal x9, x9, [%0]"));
}

/* On persistent memory: releases are stores of their own kind, acquires as elsewhere. */
static void orders_in_pm(void)
{
	STORE_ARG("store-ordered", pool, 8, RELEASE, __asm__ volatile("stlr %1, [%0]" ::"r"(pool), "r"(5ull) : "memory"));
	EVENT_ARG("order", ACQUIRE, __asm__ volatile("ldar x9, [%0]" ::"r"(pool) : "x9"));
	STORE_ARG("store-ordered", pool, 8, RELEASE, __asm__ volatile("stlr %1, [%0]" ::"r"(pool), "r"(6ull) : "memory"));
	EVENT_ARG("order", ACQUIRE, __asm__ volatile("casa %1, %1, [%0]" ::"r"(pool), "r"(5ull) : "memory")); /* fails */
}

static volatile int turn;

static void *other_thread(void *arg)
{
	turn = -1;
	while (turn != 1)
		sched_yield();
	AT_WORD("ldar x9, [%0]"); /* the other thread's release is none of ours */
	turn = 2;
	while (turn != 3)
		sched_yield();
	return arg;
}

/* Orders are a matter of each thread. Turns are passed without them. */
static void threads(void)
{
	PM_STORE();
	EVENT_ARG("order", RELEASE, AT_WORD("stlr x9, [%0]"));
	turn = 1;
	while (turn != 2)
		sched_yield();
	EVENT_ARG("order", ACQUIRE, AT_WORD("ldar x9, [%0]"));
}

int main(int argc, char **argv)
{
	pthread_t t;

	CHECK(argc == 2);
	__asm__ volatile("dmb sy; dsb sy"); /* no PM yet: not recorded */
	printf("dcpop %d dcpodp %d\n", (int)(getauxval(AT_HWCAP) >> 16 & 1), (int)(getauxval(AT_HWCAP2) & 1));
	fflush(stdout);
	CHECK(pthread_create(&t, NULL, other_thread, NULL) == 0);
	while (turn != -1) /* libc's part of its start is over */
		sched_yield();
	pool = pool_map(pool_path(argv[1], "pool"), POOL_BYTES);
	flushes();
	volatile_memory();
	barriers();
	orders();
	orders_in_pm();
	threads();
	expect_begin("anything"); /* what libc does at the end */
	expect_end();
	turn = 3;
	pthread_join(t, NULL);
	return 0;
}
