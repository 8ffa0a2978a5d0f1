/* Reads by children, threads, signal handlers, and other programs. */
#include "ways.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "tests/machine.h"

extern char **environ;

static uint64_t ends_well(pid_t child)
{
	int status = 0;

	need(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT)
		_exit(CANNOT);
	return word_if(WEXITSTATUS(status) == 0);
}

static int found(uint64_t w)
{
	return w == word_kept() ? 0 : LOST;
}

static uint64_t forked(void)
{
	const pid_t child = fork();

	if (child == 0)
		_exit(found(load(WORD)));
	return ends_well(child);
}

static uint64_t vforked(void)
{
	const pid_t child = vfork();

	if (child == 0)
		_exit(found(load(WORD)));
	return ends_well(child);
}

static uint64_t forked_twice(void)
{
	int ends[2];
	uint64_t w = 0;
	pid_t child;

	need(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		if (fork())
			_exit(0);
		setsid();
		w = load(WORD);
		_exit(write(ends[1], &w, 8) != 8);
	}
	ends_well(child);
	need(read(ends[0], &w, 8) == 8);
	return w;
}

static int child_loads(void *to)
{
	*(volatile uint64_t *)to = load(WORD);
	return 0;
}

static char g_stack[1 << 16] __attribute__((aligned(64)));

static uint64_t cloned(int flags)
{
	volatile uint64_t w = 0;

	ends_well(clone(child_loads, g_stack + sizeof g_stack, flags | SIGCHLD, (void *)&w));
	return w;
}

static uint64_t cloned_with_memory(void)
{
	return cloned(CLONE_VM);
}

static uint64_t cloned_and_waited(void)
{
	return cloned(CLONE_VM | CLONE_VFORK);
}

static uint64_t cloned_anew(void)
{
	struct clone_args a = { .exit_signal = SIGCHLD };
	const pid_t child = (pid_t)syscall(SYS_clone3, &a, sizeof a);

	need(child >= 0);
	if (child == 0)
		_exit(found(load(WORD)));
	return ends_well(child);
}

/* ---- threads ---- */

static void *thread_loads(void *to)
{
	child_loads(to);
	return NULL;
}

static uint64_t by_thread(const pthread_attr_t *a)
{
	volatile uint64_t w = 0;
	pthread_t t;

	need(pthread_create(&t, a, thread_loads, (void *)&w) == 0 && pthread_join(t, NULL) == 0);
	return w;
}

static uint64_t thread(void)
{
	return by_thread(NULL);
}

/* Its stack is where nothing was stored: what lies in PM is written before it is read. */
static uint64_t thread_on_pool(void)
{
	pthread_attr_t a;

	need(pthread_attr_init(&a) == 0 && pthread_attr_setstack(&a, g_pool + ROOM_AT, ROOM_BYTES) == 0);
	return by_thread(&a);
}

/* ---- signals ---- */

static volatile uint64_t g_seen;
static sigjmp_buf g_back;

static void handler_loads(int number)
{
	(void)number;
	g_seen = load(WORD);
}

static void handler_leaves(int number)
{
	(void)number;
	siglongjmp(g_back, 1);
}

static uint64_t by_handler(int number, int flags)
{
	struct sigaction a = { .sa_handler = handler_loads, .sa_flags = flags };

	need(sigaction(number, &a, NULL) == 0 && raise(number) == 0);
	return g_seen;
}

static uint64_t handler(void)
{
	return by_handler(SIGUSR1, 0);
}

static uint64_t handler_of_faults(void)
{
	return by_handler(SIGSEGV, 0);
}

static uint64_t handler_on(void *stack, size_t n)
{
	stack_t s = { .ss_sp = stack, .ss_size = n };

	need(sigaltstack(&s, NULL) == 0);
	return by_handler(SIGUSR1, SA_ONSTACK);
}

static uint64_t handler_on_stack(void)
{
	return handler_on(g_stack, sizeof g_stack);
}

static uint64_t handler_on_pool(void)
{
	return handler_on(g_pool + ROOM_AT, ROOM_BYTES);
}

/* The word lies in that stack; handlers begin at its other end. */
static uint64_t handler_on_word(void)
{
	return handler_on(WORD, POOL_BYTES - WORD_AT);
}

static uint64_t after_a_fault(void)
{
	static volatile uint64_t nothing;

	signal(SIGSEGV, handler_leaves);
	if (!sigsetjmp(g_back, 1))
		LOAD_NULL(nothing);
	return load(WORD) | nothing;
}

static uint64_t handler_of_timer(void)
{
	sigset_t none, alarm;

	signal(SIGALRM, handler_loads);
	sigemptyset(&none);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	ualarm(1000, 0);
	sigsuspend(&none);
	return g_seen;
}

/* ---- one process reads another's memory, or file ---- */

static uint64_t traced(void)
{
	const pid_t child = fork();
	uint64_t w = 0;
	int status;

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	need(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	w = (uint64_t)ptrace(PTRACE_PEEKDATA, child, WORD, NULL);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return w;
}

/* What a child of this process does with it, and writes to a pipe. */
static uint64_t by_child(uint64_t (*read_parent)(pid_t parent))
{
	const pid_t self = getpid();
	int ends[2];
	uint64_t w = 0;
	pid_t child;

	need(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		w = read_parent(self);
		_exit(write(ends[1], &w, 8) != 8);
	}
	ends_well(child);
	need(read(ends[0], &w, 8) == 8);
	return w;
}

static uint64_t memory_of(pid_t parent)
{
	uint64_t w = 0;
	struct iovec to = { &w, 8 }, from = { WORD, 8 };

	need(process_vm_readv(parent, &to, 1, &from, 1, 0) == 8);
	return w;
}

static uint64_t read_at(int fd, off_t at)
{
	uint64_t w = 0;

	need(fd >= 0 && pread(fd, &w, 8, at) == 8);
	return w;
}

static uint64_t mem_of(pid_t parent)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/mem", parent);
	return read_at(open(path, O_RDONLY), (off_t)(uintptr_t)WORD);
}

static uint64_t descriptor_in_proc_of(pid_t parent)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd/%d", parent, g_fd);
	close(g_fd);
	return read_at(open(path, O_RDONLY), WORD_AT);
}

static uint64_t descriptor_of(pid_t parent)
{
	const long pid = syscall(SYS_pidfd_open, parent, 0);

	close(g_fd);
	need(pid >= 0);
	return read_at((int)syscall(438 /* pidfd_getfd */, pid, g_fd, 0), WORD_AT);
}

static uint64_t memory_of_parent(void)
{
	return by_child(memory_of);
}

static uint64_t mem_of_parent(void)
{
	return by_child(mem_of);
}

static uint64_t proc_fd_of_parent(void)
{
	return by_child(descriptor_in_proc_of);
}

static uint64_t descriptor_of_parent(void)
{
	return by_child(descriptor_of);
}

/* A descriptor in a message. */
static uint64_t passed(void)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c = { .h = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	char one = 1;
	struct iovec v = { &one, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c };
	int ends[2], fd;

	memcpy(CMSG_DATA(&c.h), &g_fd, sizeof g_fd);
	need(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0 && sendmsg(ends[0], &m, 0) == 1);
	close(g_fd);
	need(recvmsg(ends[1], &m, 0) == 1);
	memcpy(&fd, CMSG_DATA(&c.h), sizeof fd);
	return read_at(fd, WORD_AT);
}

/* ---- other programs ---- */

static uint64_t shell(const char *format)
{
	char command[9000];
	int status;

	snprintf(command, sizeof command, format, g_path);
	status = system(command);
	need(WIFEXITED(status));
	return word_if(WEXITSTATUS(status) == 0);
}

static uint64_t shell_reads(void)
{
	return shell("tail -c +8193 '%s' | head -c 7 | grep -q " WORD_TEXT);
}

static uint64_t shell_copies(void)
{
	return shell("f='%s'; c=$(mktemp); cp \"$f\" $c && grep -q " WORD_TEXT " $c; r=$?; rm $c; exit $r");
}

static uint64_t shell_without_environment(void)
{
	return shell("env -i grep -q " WORD_TEXT " '%s'");
}

static uint64_t spawned_itself(void)
{
	char *arguments[] = { (char *)g_self, "read", "load.plain", (char *)g_path, NULL };
	pid_t child;

	need(posix_spawn(&child, g_self, NULL, NULL, arguments, environ) == 0);
	return ends_well(child);
}

static uint64_t executed_static(void)
{
	char path[4096];
	const pid_t child = fork();

	if (child == 0) {
		snprintf(path, sizeof path, "%s_static", g_self);
		execl(path, path, "read", "load.plain", g_path, NULL);
		_exit(CANNOT);
	}
	return ends_well(child);
}

static uint64_t made_code(void)
{
	static const unsigned char code[] = WRITE_CODE;
	char *const at = mmap(NULL, PAGE_AT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t w = 0;
	int ends[2];

	need(at != MAP_FAILED && pipe(ends) == 0);
	memcpy(at, code, sizeof code);
	need(mprotect(at, PAGE_AT, PROT_READ | PROT_EXEC) == 0);
	__builtin___clear_cache(at, at + sizeof code);
	need(((long (*)(int, const void *, size_t))(uintptr_t)at)(ends[1], WORD, 8) == 8 && read(ends[0], &w, 8) == 8);
	return w;
}

const struct way ways_processes[] = {
	{ "process.fork", forked, 0 },
	{ "process.vfork", vforked, 0 },
	{ "process.daemon", forked_twice, 0 },
	{ "process.clone_memory", cloned_with_memory, 0 },
	{ "process.clone_vfork", cloned_and_waited, 0 },
	{ "process.clone3", cloned_anew, 0 },
	{ "process.thread", thread, 0 },
	{ "process.thread_on_pool", thread_on_pool, 0 },
	{ "process.handler", handler, 0 },
	{ "process.handler_of_faults", handler_of_faults, 0 },
	{ "process.handler_on_stack", handler_on_stack, 0 },
	{ "process.handler_on_pool", handler_on_pool, 0 },
	{ "process.handler_on_word", handler_on_word, 0 },
	{ "process.handler_of_timer", handler_of_timer, 0 },
	{ "process.after_a_fault", after_a_fault, 0 },
	{ "process.ptrace", traced, 0 },
	{ "process.vm_readv_of_parent", memory_of_parent, 0 },
	{ "process.mem_of_parent", mem_of_parent, 0 },
	{ "process.fd_of_parent", proc_fd_of_parent, 0 },
	{ "process.pidfd_getfd", descriptor_of_parent, 0 },
	{ "process.passed", passed, 0 },
	{ "process.shell", shell_reads, 0 },
	{ "process.cp", shell_copies, 0 },
	{ "process.no_environment", shell_without_environment, 0 },
	{ "process.spawn", spawned_itself, 0 },
	{ "process.static", executed_static, 1 },
	{ "process.made_code", made_code, 0 },
	{ 0 },
};
