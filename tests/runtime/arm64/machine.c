/* What only arm64's instructions do: a pair of loads of which the second half faults, in the middle of a step; literals that look like system calls, which are caught by changing the
 * code here. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run.h"

#define LINE(offset) { offset, { { 0, 8, 7 } } }

static sigjmp_buf g_out;
static char *g_pool;
static volatile siginfo_t g_info;

static void note_fault(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	g_info = *si;
	siglongjmp(g_out, 1);
}

/* The first register's word is the last of the pool, the second's is beyond it. */
static int fault_in_step(void)
{
	struct sigaction a = { .sa_sigaction = note_fault, .sa_flags = SA_SIGINFO };
	char *end;

	g_pool = map_pool();
	end = g_pool + POOL_BYTES;
	munmap(end, 4096);
	sigaction(SIGSEGV, &a, NULL);
	if (!sigsetjmp(g_out, 1))
		__asm__ volatile("ldp x9, x10, [%0]" : : "r"(end - 8) : "x9", "x10", "memory");
	printf("%d %lu", (char *)g_info.si_addr == end, WORD(g_pool, POOL_BYTES - 8));
	return 0;
}

/* Words of data that look like a system call: behind a branch, alone and behind another, and named by ldr and by adr. */
__asm__(".text\n"
	"ldr_literal:\n"
	"	ldr w0, 1f\n"
	"	ret\n"
	"1:	.word 0xd4000001\n"
	"ldr_pair:\n"
	"	ldr x0, 2f\n"
	"	ldr w1, 3f\n"
	"	add x0, x0, x1\n"
	"	br x30\n"
	"2:	.word 0, 0xd4000001\n"
	"3:	.word 0xd4000001\n"
	"adr_literal:\n"
	"	adr x0, 4f\n"
	"	ldr w0, [x0]\n"
	"	b 5f\n"
	"4:	.word 0xd4000001\n"
	"5:	ret\n"
	/* A word of data that looks like a load which names a call: that one is none. */
	"not_named:\n"
	"	mov x8, #172\n" /* getpid */
	"6:	svc #0\n"
	"	ret\n"
	"	.word 0x18000000 | (((6b - .) / 4) & 0x7ffff) << 5\n");
uint32_t ldr_literal(void);
uint64_t ldr_pair(void);
uint32_t adr_literal(void);
long not_named(void);

static int literals(void)
{
	map_pool();
	printf("%x %lx %x ", ldr_literal(), ldr_pair(), adr_literal());
	printf("%d", not_named() == getpid() && *((const uint32_t *)not_named + 1) != 0xd4000001);
	return 0;
}

/* It cannot be changed, for the file would be, too. */
static int shared_code(void)
{
	return map_code(MAP_SHARED) ? 0 : 1;
}

static int moved_code(void)
{
	void *at = map_code(MAP_PRIVATE);
	long (*f)(int, const void *, size_t);

	map_pool();
	f = (long (*)(int, const void *, size_t))mremap(at, 1u << 16, 1u << 16, MREMAP_MAYMOVE | MREMAP_FIXED, 0x300000000000ul);
	return f(1, "!", 1) == 1 ? 0 : 1;
}

bool machine_filter_shadow(void)
{
	return false; /* there are none */
}

bool machine_say_shadow(int pid)
{
	(void)pid;
	return false;
}

bool machine_open_keys(int pid)
{
	(void)pid; /* there are none */
	return false;
}

const struct test machine_tests[] = {
	{ "literals", literals, { LINE(0) }, { { 0 } }, "d4000001 d4000001d4000001 d4000001 1" },
	{ "shared-code", shared_code, { LINE(0) }, { { 0 } }, NULL, 0, 0, "executable memory in which system calls cannot be caught" },
	{ "moved-code", moved_code, { LINE(0) }, { { 0 } }, NULL, 0, 0, "code that makes system calls was copied or moved" },
	{ "fault-in-step", fault_in_step, { { POOL_BYTES - 64, { { 56, 8, 7 } } } }, { { 0, 56, 1, 2 } }, "1 7" },
	{ 0 },
};
