/* What only amd64's instructions do: they fault in the middle of a move, trap after each instruction, and fault when they divide by zero. And bytes that
 * look like system calls, for calls are caught by changing the code where the kernel has no syscall user dispatch. */
#include <cpuid.h>
#include <dlfcn.h>
#include <elf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <libgen.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "machine.h"
#include "run.h"

#define LINE(offset) { offset, { { 0, 8, 7 } } }
#define TEXT(offset) { offset, { { 0, 4, 0x64636261 }, { 4, 4, 0x68676665 } } }

static sigjmp_buf g_out;
static char *g_pool;
static volatile siginfo_t g_info;
static volatile uint64_t g_ntraps;

static void note_fault(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	g_info = *si;
	(void)WORD(g_pool, 0); /* undecided, inside a handler */
	siglongjmp(g_out, 1);
}

/* A move from PM whose destination is bad: the fault comes in the middle of a step. */
static int fault_in_step(void)
{
	struct sigaction a = { .sa_sigaction = note_fault, .sa_flags = SA_SIGINFO };
	const char *volatile from;
	char *volatile to = (char *)0x4000;
	volatile uint64_t n = 1;

	g_pool = map_pool();
	from = g_pool + 64;
	sigaction(SIGSEGV, &a, NULL);
	if (!sigsetjmp(g_out, 1))
		__asm__ volatile("movsq" : "+S"(from), "+D"(to) : : "memory");
	printf("%lx ", (long)g_info.si_addr);
	from = g_pool + 64;
	to = (char *)0x5000;
	if (!sigsetjmp(g_out, 1))
		__asm__ volatile("rep movsq" : "+S"(from), "+D"(to), "+c"(n) : : "memory");
	printf("%lx %lu", (long)g_info.si_addr, WORD(g_pool, 64));
	return 0;
}

static void on_trap(int sig)
{
	(void)sig;
	g_ntraps++;
}

static int own_trap_flag(void)
{
	char *p = map_pool();
	uint64_t v;

	signal(SIGTRAP, on_trap);
	__asm__ volatile("sub $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; mov (%1), %0; pushfq; andq $~0x100, (%%rsp); popfq; add $128, %%rsp"
			 : "=&r"(v) : "r"(p) : "memory", "cc");
	printf("%lu %lu", v, g_ntraps);
	return 0;
}

static int dies_divide(void)
{
	char *p = map_pool();
	volatile int zero = (int)WORD(p, 8);

	return 100 / zero;
}

/* ---- code ---- */

/* Numbers that look like syscall, sysenter and int $0x80, in a function that call frame information lists, and in two that it does not: one has little code before it, one has much. */
__asm__(".text\n"
	"number_listed:\n"
	"	.cfi_startproc\n"
	"	mov $0x050f, %eax\n"
	"	add $0x340f, %eax\n"
	"	add $0x80cd, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"number_near:\n"
	"	mov $0x050f, %eax\n"
	"	ret\n"
	"	.rept 40\n"
	"	lea 0x1234(%rax,%rcx,8), %rax\n"
	"	mov %rax, %rcx\n"
	"	.endr\n"
	"number_far:\n"
	"	mov $0x050f, %eax\n"
	"	ret\n"
	"pid_far:\n" /* this is one */
	"	mov $39, %eax\n"
	"	syscall\n"
	"	ret\n"
	/* lock in front of an instruction that a jump leads behind: no doubt about the number in it. */
	"number_locked:\n"
	"	.cfi_startproc\n"
	"	push %rax\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movl $0, (%rsp)\n"
	"	jmp 1f + 1\n"
	"1:	lock addl $0x050f, (%rsp)\n"
	"	pop %rax\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n");
uint32_t number_listed(void);
uint32_t number_near(void);
uint32_t number_far(void);
uint32_t number_locked(void);
long pid_far(void);

static int numbers(void)
{
	map_pool();
	printf("%x %x %x %x %d", number_listed(), number_near(), number_far(), number_locked(), pid_far() == getpid());
	return 0;
}

static void *load(const char *name)
{
	char path[4096];
	void *object;

	snprintf(path, sizeof path, "%s", g_argv[0]);
	snprintf(path, sizeof path, "%s/%s", dirname(strdup(path)), name);
	object = dlopen(path, RTLD_NOW);
	if (!object)
		fprintf(stderr, "%s\n", dlerror());
	return object ? dlsym(object, "f") : NULL;
}

/* A system call of a library that is loaded later. */
static int loaded(void)
{
	long (*f)(int, const void *, size_t) = load("loaded.so");
	char *p = map_pool();

	return f && f(1, p, 8) == 8 && f(1, "!", 1) == 1 ? 0 : 1;
}

static int print_number(const char *object)
{
	long (*f)(void) = load(object);

	map_pool();
	printf("%lx", f ? f() : 0);
	return 0;
}

/* A jump into a number: is it a system call, or is it not? It is both. */
static int doubtful_jump(void)
{
	return print_number("doubtful_jump.so");
}

/* Data in the middle of a function. */
static int doubtful_data(void)
{
	return print_number("doubtful_data.so");
}

/* It is loaded, and not run. */
static int doubtful_unused(void)
{
	char *p = map_pool();

	printf("%d %lu", load("doubtful_data.so") != NULL, WORD(p, 0));
	return 0;
}

static int writable_code(void)
{
	static const unsigned char code[] = { 0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3 };
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long (*f)(void) = (long (*)(void))at;

	if (at == MAP_FAILED)
		return 1;
	memcpy(at, code, sizeof code);
	map_pool();
	printf("%d", f() == getpid());
	return 0;
}

static int moved_code(void)
{
	void *at = map_code(MAP_PRIVATE);
	long (*f)(int, const void *, size_t);

	map_pool();
	f = (long (*)(int, const void *, size_t))mremap(at, 1u << 16, 1u << 16, MREMAP_MAYMOVE | MREMAP_FIXED, 0x300000000000ul);
	return f(1, "!", 1) == 1 ? 0 : 1;
}

static int shared_code(void)
{
	return map_code(MAP_SHARED) ? 0 : 1;
}

/* A 32-bit call of a 64-bit program. Where the kernel has none, dispatch sees a fault. */
static int old_call(void)
{
	long r = 20;

	map_pool();
	__asm__ volatile("int $0x80" : "+a"(r) : : "memory");
	return 0;
}

static void note_illegal(int sig)
{
	(void)sig;
	siglongjmp(g_out, 1);
}

/* The program's own illegal instructions are its own, also while it believes to block the signal of others. */
static int own_illegal(void)
{
	volatile int n = 0;

	g_pool = map_pool();
	signal(SIGILL, note_illegal);
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(g_out, 1))
			__asm__ volatile("ud2");
		else
			n++;
	printf("%d %lu", n, WORD(g_pool, 0));
	return 0;
}

static int dies_illegal(void)
{
	map_pool();
	__asm__ volatile("ud2");
	return 0;
}

/* ---- protection keys ---- */

bool machine_open_keys(int pid)
{
	static _Alignas(64) char state[1 << 16];
	struct iovec v = { state, sizeof state };
	uint32_t a, b, c, d;

	if (!__get_cpuid_count(0xd, 9, &a, &b, &c, &d) || ptrace(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &v) < 0)
		return false;
	*(uint64_t *)(state + 512) |= 1u << 9;
	*(uint32_t *)(state + b) = 0;
	return ptrace(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &v) == 0;
}

/* ---- shadow stacks ---- */

#define ARCH_SHSTK_STATUS 0x5005

bool machine_filter_shadow(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_SHSTK_STATUS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { sizeof code / sizeof code[0], code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool machine_say_shadow(int pid)
{
	struct user_regs_struct g;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &g) < 0 || ptrace(PTRACE_POKEDATA, pid, (void *)g.rsi, (void *)1) < 0)
		return false;
	g.orig_rax = ~0ul; /* the kernel is not asked */
	g.rax = 0;
	return ptrace(PTRACE_SETREGS, pid, NULL, &g) == 0;
}

/* A program that opens all keys reads what is undecided unseen. */
static int opens_keys(void)
{
	char *p = map_pool();

	if (pkey_alloc(0, 0) >= 0)
		__asm__ volatile("wrpkru" : : "a"(0), "c"(0), "d"(0) : "memory");
	printf("%lu", WORD(p, 0));
	return 0;
}

const struct test machine_tests[] = {
	{ "opens-keys", opens_keys, { LINE(0) }, { { 0, 0, 1, 2 } }, "7", 0, KEYS_UNSOUND },
	{ "fault-in-step", fault_in_step, { LINE(0), LINE(64) }, { { 1, 0, 1, 2 }, { 0, 0, 1, 2 } }, "4000 5000 7" },
	{ "own-trap-flag", own_trap_flag, { LINE(0), LINE(64) }, { { 0, 0, 1, 2 } }, "7 4" },
	{ "numbers", numbers, { LINE(0) }, { { 0 } }, "b9eb 50f 50f 50f 1", 0, SHADOW },
	{ "loaded-code", loaded, { TEXT(0) }, { { 0, 0, ALL, 3 } }, "abcdefgh!" },
	{ "doubtful-jump", doubtful_jump, { LINE(0) }, { { 0 } }, "50f", 0, NO_DISPATCH_UNSOUND },
	{ "doubtful-data", doubtful_data, { LINE(0) }, { { 0 } }, "9090050f", 0, NO_DISPATCH_UNSOUND },
	{ "doubtful-unused", doubtful_unused, { LINE(0) }, { { 0, 0, 1, 2 } }, "1 7" },
	{ "writable-code", writable_code, { LINE(0) }, { { 0 } }, "1", 0, NO_DISPATCH_UNSOUND },
	{ "moved-code", moved_code, { LINE(0) }, { { 0 } }, "!" },
	{ "shared-code", shared_code, { LINE(0) }, { { 0 } }, "", 0, NO_DISPATCH_UNSOUND },
	{ "old-call", old_call, { LINE(0) }, { { 0 } }, NULL, 0, 0, "a 32-bit system call" },
	{ "own-illegal", own_illegal, { LINE(0) }, { { 0, 0, 1, 2 } }, "3 7" },
	{ "dies-illegal", dies_illegal, { LINE(0) }, { { 0 } }, "", SIGILL },
	{ "dies-divide", dies_divide, { LINE(0) }, { { 0 } }, "", SIGFPE },
	{ 0 },
};
