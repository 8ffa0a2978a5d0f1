/* Every flush instruction in every addressing mode, every fence, and locked instructions as fences. Also what CPUID says. */
#include "tests/recorder/expect.h"

#include <cpuid.h>
#include <pthread.h>
#include <sched.h>

typedef uint64_t u64;

#define POOL_BYTES 16384
#define LOW_ADDR 0x20000000 /* below 2 GiB: reachable by a plain disp32 */

/* The modes' code names these: operands of its own would need registers. */
u64 reg_base, reg_index, reg_saved_base, reg_saved_index;
char rip_pool[POOL_BYTES] __attribute__((aligned(4096)));

static char *pool;

/* `operand` with each of the three instructions; setup and restore save registers that the compiler uses. */
#define THREE(ptr, setup, operand, restore)                                             \
	do {                                                                            \
		FLUSH("clflush", ptr, __asm__(setup "clflush " operand restore));       \
		FLUSH("clflushopt", ptr, __asm__(setup "clflushopt " operand restore)); \
		FLUSH("clwb", ptr, __asm__(setup "clwb " operand restore));             \
	} while (0)

#define BASE_IN(r) "mov %" r ", reg_saved_base(%rip); mov reg_base(%rip), %" r "; "
#define BASE_OUT(r) "; mov reg_saved_base(%rip), %" r
#define INDEX_IN(r) "mov %" r ", reg_saved_index(%rip); mov reg_index(%rip), %" r "; "
#define INDEX_OUT(r) "; mov reg_saved_index(%rip), %" r

#define BASE(r)                                                                         \
	do {                                                                            \
		reg_base = (u64)pool + 1000;                                            \
		THREE(pool + 1000, BASE_IN(r), "(%" r ")", BASE_OUT(r));                \
		THREE(pool + 1000 + 77, BASE_IN(r), "77(%" r ")", BASE_OUT(r));         \
		THREE(pool + 1000 - 128, BASE_IN(r), "-128(%" r ")", BASE_OUT(r));      \
		THREE(pool + 1000 + 4243, BASE_IN(r), "4243(%" r ")", BASE_OUT(r));     \
		THREE(pool + 1000 - 999, BASE_IN(r), "-999(%" r ")", BASE_OUT(r));      \
	} while (0)

#define SCALED(b, i, scale)                                                                                                     \
	do {                                                                                                                    \
		THREE(pool + 64 + 24 * scale, BASE_IN(b) INDEX_IN(i), "(%" b ",%" i "," #scale ")", INDEX_OUT(i) BASE_OUT(b));  \
		THREE(pool + 64 + 24 * scale + 5, BASE_IN(b) INDEX_IN(i), "5(%" b ",%" i "," #scale ")", INDEX_OUT(i) BASE_OUT(b)); \
		THREE(pool + 64 + 24 * scale + 8191, BASE_IN(b) INDEX_IN(i), "8191(%" b ",%" i "," #scale ")", INDEX_OUT(i) BASE_OUT(b)); \
	} while (0)

#define INDEX(b, i)                        \
	do {                               \
		reg_base = (u64)pool + 64; \
		reg_index = 24;            \
		SCALED(b, i, 1);           \
		SCALED(b, i, 2);           \
		SCALED(b, i, 4);           \
		SCALED(b, i, 8);           \
	} while (0)

/* No base: disp32 + index * scale. */
#define INDEX_ONLY(i, scale)                                                                             \
	do {                                                                                             \
		reg_index = ((u64)pool + 4096) / scale;                                                  \
		THREE(pool + 4096 + 72, INDEX_IN(i), "72(,%" i "," #scale ")", INDEX_OUT(i));            \
		THREE(pool + 4096 - 1024, INDEX_IN(i), "-1024(,%" i "," #scale ")", INDEX_OUT(i));       \
	} while (0)

static void bases(void)
{
	BASE("rax");
	BASE("rbx");
	BASE("rcx");
	BASE("rdx");
	BASE("rsi");
	BASE("rdi");
	BASE("rbp");
	BASE("rsp");
	BASE("r8");
	BASE("r9");
	BASE("r10");
	BASE("r11");
	BASE("r12");
	BASE("r13");
	BASE("r14");
	BASE("r15");
}

static void indexes(void)
{
	INDEX("rax", "rbx");
	INDEX("rbp", "rcx");
	INDEX("rsp", "rdx");
	INDEX("r13", "rsi");
	INDEX("rdi", "rbp");
	INDEX("r12", "r8");
	INDEX("r9", "r12");
	INDEX("r15", "r13");
	INDEX("rcx", "r15");
	INDEX_ONLY("rax", 1);
	INDEX_ONLY("rbp", 2);
	INDEX_ONLY("r9", 4);
	INDEX_ONLY("r12", 8);
}

static void fs_and_gs(void)
{
	u64 fs;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(fs));
	reg_base = (u64)pool + 128 - fs;
	THREE(pool + 128, BASE_IN("rax"), "%fs:(%rax)", BASE_OUT("rax"));
	THREE(pool + 128 + 100, BASE_IN("r11"), "%fs:100(%r11)", BASE_OUT("r11"));
	reg_index = 16;
	THREE(pool + 128 + 64 + 300, BASE_IN("rbx") INDEX_IN("r8"), "%fs:300(%rbx,%r8,4)", INDEX_OUT("r8") BASE_OUT("rbx"));
	reg_base = (u64)pool + 192; /* gs is 0 */
	THREE(pool + 192, BASE_IN("rax"), "%gs:(%rax)", BASE_OUT("rax"));
}

static void low_addresses(const char *dir)
{
	char *low = pool_map_at(pool_path(dir, "low"), POOL_BYTES, (void *)LOW_ADDR, MAP_FIXED);

	THREE(low + 0x123, "", "0x20000123", "");
	reg_index = 8;
	reg_base = (u64)low | 0x77ull << 56; /* 32-bit addressing ignores the upper half */
	THREE(low + 40, BASE_IN("rax"), "40(%eax)", BASE_OUT("rax"));
	THREE(low + 40 + 32, BASE_IN("rax") INDEX_IN("r10"), "40(%eax,%r10d,4)", INDEX_OUT("r10") BASE_OUT("rax"));
}

static void rip_relative(const char *dir)
{
	pool_map_at(pool_path(dir, "rip"), POOL_BYTES, rip_pool, MAP_FIXED);
	THREE(rip_pool, "", "rip_pool(%rip)", "");
	THREE(rip_pool + 5000, "", "rip_pool+5000(%rip)", "");
	STORE(rip_pool + 8, 8, __asm__("movq $12, rip_pool+8(%rip)"));
}

/* Not persistent memory: an event of its own kind. */
static void volatile_memory(void)
{
	u64 x = 0;

	__asm__ volatile("clflush %0; clflushopt %0; clwb %0" : "+m"(x));
	for (int i = 0; i < 3; i++)
		ARGS("flush-volatile", NULL, (u64)(uintptr_t)&x);
}

static void fences(void)
{
	FENCE("sfence", __asm__ volatile("sfence"));
	FENCE("mfence", __asm__ volatile("mfence"));
	FENCE("lfence", __asm__ volatile("lfence"));
	FENCE("sfence", __asm__ volatile("sfence"));
	for (int i = 0; i < 3; i++)
		FENCE("mfence", __asm__ volatile("mfence"));
}

/* A locked instruction on volatile memory counts only while this thread has something to wait for. */
static void locked_fences(void)
{
	volatile u64 x[2] __attribute__((aligned(16))) = {0, 0};
	volatile u64 *p = (u64 *)pool;

	__asm__ volatile("lock incq %0" : "+m"(x[0])); /* nothing pending */
	STORE(p, 8, p[0] = 1);
	__asm__ volatile("lock incq %0" : "+m"(x[0])); /* a store alone does not wait */
	FLUSH("clwb", p, __asm__ volatile("clwb %0" : "+m"(p[0])));
	FENCE("rmw-fence", __asm__ volatile("lock incq %0" : "+m"(x[0])));
	__asm__ volatile("lock incq %0" : "+m"(x[0])); /* nothing pending any more */
	FLUSH("clflushopt", p, __asm__ volatile("clflushopt %0" : "+m"(p[0])));
	FENCE("rmw-fence", __asm__ volatile("xchgq %%rax, %0" : "+m"(x[0])::"rax"));
	STORE_NT(p + 1, 8, __asm__ volatile("movntiq %1, %0" : "=m"(p[1]) : "r"(3ull)));
	FENCE("rmw-fence", __asm__ volatile("lock xaddq %%rax, %0" : "+m"(x[0])::"rax"));
	FLUSH("clwb", p, __asm__ volatile("clwb %0" : "+m"(p[0])));
	FENCE("rmw-fence", __asm__ volatile("lock cmpxchgq %1, %0" : "+m"(x[1]) : "r"(3ull), "a"(99ull))); /* fails */
	FLUSH("clwb", p, __asm__ volatile("clwb %0" : "+m"(p[0])));
	FENCE("rmw-fence", __asm__ volatile("lock cmpxchgq %1, %0" : "+m"(p[0]) : "r"(3ull), "a"(99ull))); /* fails, on PM */
	__asm__ volatile("lock cmpxchgq %1, %0" : "+m"(p[0]) : "r"(3ull), "a"(99ull)); /* again: nothing pending */
	FLUSH("clwb", p, __asm__ volatile("clwb %0" : "+m"(p[0])));
	FENCE("rmw-fence", __asm__ volatile("lock cmpxchg16b %0" : "+m"(x) : "a"(5ull), "d"(5ull), "b"(5ull), "c"(5ull)));
	FLUSH("clwb", p, __asm__ volatile("clwb %0" : "+m"(p[0])));
	STORE_RMW(p + 2, 8, __asm__ volatile("lock addq $7, %0" : "+m"(p[2]))); /* a fence itself */
	__asm__ volatile("lock incq %0" : "+m"(x[0]));
	FLUSH("clwb", p, __asm__ volatile("clwb %0" : "+m"(p[0])));
	FENCE("lfence", __asm__ volatile("lfence")); /* completes nothing */
	FENCE("rmw-fence", __asm__ volatile("lock orb $0, (%%rsp)" ::: "memory"));
	FLUSH("clwb", p, __asm__ volatile("clwb %0" : "+m"(p[0])));
	FENCE("mfence", __asm__ volatile("mfence"));
	__asm__ volatile("lock incq %0" : "+m"(x[0]));
	FLUSH("clwb", p, __asm__ volatile("clwb %0" : "+m"(p[0])));
	FENCE("sfence", __asm__ volatile("sfence"));
	__asm__ volatile("lock incq %0" : "+m"(x[0]));
}

static volatile int turn;

static void *other_thread(void *arg)
{
	volatile u64 x = 0;

	while (turn != 1)
		sched_yield();
	__asm__ volatile("lock incq %0" : "+m"(x)); /* the other thread's flush is none of ours */
	turn = 2;
	return arg;
}

/* Pending is a matter of each thread. Turns are passed without locked instructions. */
static void threads(void)
{
	pthread_t t;

	CHECK(pthread_create(&t, NULL, other_thread, NULL) == 0);
	FLUSH("clwb", pool, __asm__ volatile("clwb %0" : "+m"(*pool)));
	turn = 1;
	while (turn != 2)
		sched_yield();
	FENCE("sfence", __asm__ volatile("sfence"));
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	unsigned a, b = 0, c, d;

	CHECK(argc == 2);
	__asm__ volatile("sfence; mfence; lfence"); /* no PM yet: not recorded */
	pool = pool_map(pool_path(argv[1], "pool"), POOL_BYTES);
	CHECK(__get_cpuid_count(7, 0, &a, &b, &c, &d));
	printf("clwb %d clflushopt %d avx512f %d\n", b >> 24 & 1, b >> 23 & 1, b >> 16 & 1);
	fflush(stdout);
	bases();
	indexes();
	fs_and_gs();
	FENCE("sfence", __asm__ volatile("sfence")); /* from here on nothing is pending */
	low_addresses(argv[1]);
	FENCE("sfence", __asm__ volatile("sfence"));
	rip_relative(argv[1]);
	volatile_memory();
	fences();
	locked_fences();
	threads();
	return 0;
}
