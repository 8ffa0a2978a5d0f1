/* Ways to store to persistent memory, each in a block of its own and with a flag of its own.
 *
 *	stores ok POOL [WAY]...     each block is durable before its flag is set
 *	stores bug POOL [WAY]...    each block is flushed only after its flag
 *	stores check POOL           recovery: a block whose flag is set is not empty
 *	stores unseen WAY POOL      one of the ways that the recorder does not see
 *	stores withdrawn WAY POOL   likewise, and its flag is taken back in the end
 *	stores late WHEN POOL       a second file is made by calls, named in the pool, and mapped last; WHEN it is synced: before, after
 *	stores late-check POOL      recovery: the second file is there if the pool names it
 *	stores direct POOL          a pool that holds something is opened with O_DIRECT
 *	stores direct-check POOL    recovery: what it held is there
 *	stores list | unseen-list   their names
 *
 * A way that this machine does not have stores plainly instead, and says so. */
#include "tests/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define MAX_WAYS 120
#define BLOCKS (MAX_WAYS * PAGE) /* behind the flags */
#define POOL_BYTES (2 * MAX_WAYS * PAGE)
#define BLOCK_BYTES 512 /* of which something is stored to */

static char *pool, *block; /* block: of the present way */
static const char *path;
static int fd;
static uint64_t value = 0x1122334455667788;

static void failed(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(9);
}
#define NEEDS(condition)             \
	do {                         \
		if (!(condition))    \
			failed(#condition); \
	} while (0)

static off_t block_offset(void)
{
	return block - pool;
}

static int pipe_with_value(void)
{
	int p[2];

	NEEDS(pipe(p) == 0 && write(p[1], &value, 8) == 8);
	return p[0];
}

static int socket_with_value(int type)
{
	int s[2];

	NEEDS(socketpair(AF_UNIX, type, 0, s) == 0 && write(s[1], &value, 8) == 8);
	return s[0];
}

/* Not in the folder of the pool. */
static int file_with_value(void)
{
	int m = memfd_create("value", 0);

	NEEDS(m >= 0 && write(m, &value, 8) == 8 && lseek(m, 0, SEEK_SET) == 0);
	return m;
}

static void wait_for(pid_t child)
{
	int status;

	NEEDS(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

#define STORE() (*(volatile uint64_t *)block = value)

/* ---- instructions and functions of libc ---- */

static bool plain(void) { STORE(); return true; }
static bool bytewise(void) { for (int i = 0; i < 100; i++) ((volatile char *)block)[i] = (char)(i + 1); return true; }
static bool copied(void) { char from[300]; memset(from, 7, sizeof from); memcpy(block + 3, from, sizeof from); return true; }
static bool filled(void) { memset(block, 9, 400); return true; }
static bool moved(void) { memmove(block + 8, "moved text", 10); return true; }
static bool string(void) { strcpy(block, "milk"); return true; }
static bool printed(void) { snprintf(block, 64, "%d bottles", 99); return true; }
static bool scanned(void) { return sscanf("77", "%ld", (long *)block) == 1; }
static bool exchanged(void) { __atomic_exchange_n((uint64_t *)block, value, __ATOMIC_SEQ_CST); return true; }
static bool added(void) { __atomic_fetch_add((uint64_t *)block, 5, __ATOMIC_SEQ_CST); return true; }
static bool swapped(void) { uint64_t old = 0; return __atomic_compare_exchange_n((uint64_t *)block, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); }
static bool released(void) { __atomic_store_n((uint64_t *)block, value, __ATOMIC_RELEASE); return true; }
static bool across_lines(void) { memcpy(block + 60, &value, 8); return true; }

/* ---- the kernel copies into a buffer ---- */

static bool by_read(void) { return read(pipe_with_value(), block, 8) == 8; }
static bool by_pread(void) { return pread(file_with_value(), block, 8, 0) == 8; }
static bool by_readv(void) { struct iovec v[2] = { { block, 4 }, { block + 100, 4 } }; return readv(pipe_with_value(), v, 2) == 8; }
static bool by_preadv2(void) { struct iovec v = { block, 8 }; return preadv2(file_with_value(), &v, 1, 0, 0) == 8; }
static bool by_recv(void) { return recv(socket_with_value(SOCK_STREAM), block, 8, 0) == 8; }
static bool by_recvmsg(void) { struct iovec v = { block, 8 }; struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 }; return recvmsg(socket_with_value(SOCK_STREAM), &m, 0) == 8; }
static bool by_recvmmsg(void) { struct iovec v = { block, 8 }; struct mmsghdr m = { .msg_hdr = { .msg_iov = &v, .msg_iovlen = 1 } }; return recvmmsg(socket_with_value(SOCK_DGRAM), &m, 1, 0, NULL) == 1; }
static bool by_stdio(void) { FILE *f = fdopen(file_with_value(), "r"); setvbuf(f, NULL, _IONBF, 0); return fread(block, 8, 1, f) == 1; }
static bool by_getcwd(void) { return syscall(SYS_getcwd, block, 256) > 0; }
static bool by_readlink(void) { return readlink("/proc/self/exe", block, 64) > 0; }
static bool by_stat(void) { return stat("/", (struct stat *)block) == 0; }
static bool by_pipe(void) { return pipe((int *)block) == 0; }
static bool by_clock(void) { return syscall(SYS_clock_gettime, CLOCK_REALTIME, block) == 0; }
static bool by_ioctl(void) { return ioctl(pipe_with_value(), FIONREAD, block) == 0; }
static bool by_sigmask(void) { sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR2); NEEDS(sigprocmask(SIG_BLOCK, &s, NULL) == 0); return syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, block, 8) == 0; }
static bool by_wait(void) { pid_t c = fork(); if (c == 0) _exit(3); return waitpid(c, (int *)block, 0) == c; }
static bool by_poll(void) { struct pollfd *f = (struct pollfd *)block; struct pollfd own = { .fd = pipe_with_value(), .events = POLLIN }; *f = own; return poll(f, 1, 0) == 1; }

/* ---- the file changes ---- */

static bool by_pwrite(void) { return pwrite(fd, &value, 8, block_offset()) == 8; }
static bool by_write(void) { return lseek(fd, block_offset(), SEEK_SET) >= 0 && write(fd, &value, 8) == 8; }
static bool by_pwritev(void) { struct iovec v = { &value, 8 }; return pwritev2(fd, &v, 1, block_offset(), 0) == 8; }
static bool by_other_descriptor(void) { int f = open(path, O_WRONLY); return pwrite(f, &value, 8, block_offset()) == 8 && close(f) == 0; }
static bool by_sendfile(void) { return lseek(fd, block_offset(), SEEK_SET) >= 0 && sendfile(fd, file_with_value(), NULL, 8) == 8; }
static bool by_splice(void) { loff_t to = block_offset(); return splice(pipe_with_value(), NULL, fd, &to, 8, 0) == 8; }

static bool by_copy_file_range(void)
{
	loff_t from = block_offset() - PAGE, to = block_offset();

	*(volatile uint64_t *)(block - PAGE + 1024) = value; /* the block before has been judged already */
	from += 1024;
	return copy_file_range(fd, &from, fd, &to, 8, 0) == 8;
}

/* ---- other mappings ---- */

static bool second_mapping(void)
{
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, block_offset());

	NEEDS(p != MAP_FAILED);
	*(volatile uint64_t *)p = value;
	return munmap(p, PAGE) == 0;
}

static bool reopened_mapping(void)
{
	char name[64], *p;
	int f;

	sprintf(name, "/proc/self/fd/%d", fd);
	f = open(name, O_RDWR);
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f, block_offset());
	NEEDS(p != MAP_FAILED);
	*(volatile uint64_t *)p = value;
	return true;
}

static bool made_writable(void)
{
	char *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, block_offset());

	NEEDS(p != MAP_FAILED && mprotect(p, PAGE, PROT_READ | PROT_WRITE) == 0);
	*(volatile uint64_t *)p = value;
	return true;
}

static bool duplicated_mapping(void)
{
	char *p = mremap(pool, 0, POOL_BYTES, MREMAP_MAYMOVE);

	if (p == MAP_FAILED)
		return false; /* Valgrind refuses it */
	*(volatile uint64_t *)(p + block_offset()) = value;
	return true;
}

/* A private mapping is memory of the process: what is stored to it must not count. */
static bool private_mapping(void)
{
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, block_offset());

	NEEDS(p != MAP_FAILED);
	memset(p, 5, PAGE);
	return false;
}

/* Neither is a file without a name. */
static bool memfd_mapping(void)
{
	int m = memfd_create("volatile", 0);
	char *p;

	NEEDS(ftruncate(m, PAGE) == 0);
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0);
	NEEDS(p != MAP_FAILED);
	memset(p, 5, PAGE);
	return false;
}

static bool advised(void)
{
	struct iovec v = { block, PAGE };
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0);

	syscall(440 /* process_madvise */, self, &v, 1, MADV_WILLNEED, 0);
	madvise(block, PAGE, MADV_NOHUGEPAGE);
	madvise(block, PAGE, MADV_HUGEPAGE);
	STORE();
	return true;
}

/* ---- other processes and threads ---- */

static bool forked(void) { pid_t c = fork(); if (c == 0) { STORE(); _exit(0); } wait_for(c); return true; }

static bool forked_mapping(void)
{
	pid_t c = fork();
	char *p;

	if (c == 0) {
		p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, block_offset());
		*(volatile uint64_t *)p = value;
		_exit(0);
	}
	wait_for(c);
	return true;
}

static bool vforked(void) { pid_t c = vfork(); if (c == 0) { STORE(); _exit(0); } wait_for(c); return true; }

static void *threaded_store(void *unused) { STORE(); return unused; }
static bool threaded(void) { pthread_t t; return pthread_create(&t, NULL, threaded_store, NULL) == 0 && pthread_join(t, NULL) == 0; }
static void signalled_store(int number) { (void)number; STORE(); }
static bool signalled(void) { signal(SIGUSR1, signalled_store); return raise(SIGUSR1) == 0; }

static bool by_vm_writev(void)
{
	struct iovec from = { &value, 8 }, to[2] = { { block, 3 }, { block + 200, 5 } };

	return process_vm_writev(getpid(), &from, 1, to, 2, 0) == 8;
}

/* The child's own mapping of the pool is gone. */
static bool by_child_vm_writev(void)
{
	struct iovec from = { &value, 8 }, to = { block, 8 };
	pid_t parent = getpid(), c = fork();

	if (c == 0) {
		munmap(pool, POOL_BYTES);
		_exit(process_vm_writev(parent, &from, 1, &to, 1, 0) != 8);
	}
	wait_for(c);
	return true;
}

static int open_memory(pid_t pid)
{
	char name[64];

	sprintf(name, "/proc/%d/mem", pid);
	return open(name, O_RDWR);
}

static bool by_own_memory(void) { return pwrite(open("/proc/self/mem", O_RDWR), &value, 8, (off_t)(uintptr_t)block) == 8; }

static bool by_position_of_memory(void)
{
	int f = open("/proc/thread-self/mem", O_WRONLY);

	return lseek(f, (off_t)(uintptr_t)block, SEEK_SET) >= 0 && write(f, &value, 8) == 8;
}

static bool by_memory_of_parent(void)
{
	pid_t parent = getpid(), c = fork();

	if (c == 0)
		_exit(pwrite(open_memory(parent), &value, 8, (off_t)(uintptr_t)block) != 8);
	wait_for(c);
	return true;
}

static bool by_tracer(void)
{
	pid_t c = fork();
	int status;

	if (c == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(c, &status, 0) != c || !WIFSTOPPED(status))
		return false;
	if (ptrace(PTRACE_POKEDATA, c, block, value) != 0)
		failed("PTRACE_POKEDATA");
	ptrace(PTRACE_CONT, c, NULL, NULL);
	wait_for(c);
	return true;
}

static bool by_clone(void)
{
	pid_t c = (pid_t)syscall(SYS_clone, CLONE_PARENT_SETTID | SIGCHLD, NULL, block, NULL, NULL);

	if (c == 0)
		_exit(0);
	wait_for(c);
	return *(volatile int *)block != 0;
}

static bool by_clone3(void)
{
	struct clone_args a = { .flags = CLONE_PARENT_SETTID, .parent_tid = (uintptr_t)block, .exit_signal = SIGCHLD };
	pid_t c = (pid_t)syscall(SYS_clone3, &a, sizeof a);

	if (c < 0)
		return false;
	if (c == 0)
		_exit(0);
	wait_for(c);
	return true;
}

/* ---- futexes ---- */

static bool by_wake_op(void)
{
	static int word;

	return syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 1, block, FUTEX_OP(FUTEX_OP_SET, 7, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

static bool by_lock_pi(void) { return syscall(SYS_futex, block, FUTEX_LOCK_PI, 0, NULL, NULL, 0) == 0; }
static bool by_trylock_pi(void) { return syscall(SYS_futex, block, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0) == 0; }

/* ---- asynchronous ---- */

static aio_context_t context;

/* In each way itself, so that the call is there. */
#define SUBMIT(b)                                                                                                                                    \
	__extension__({                                                                                                                              \
		struct iocb *list_ = (b);                                                                                                            \
		struct io_event e_ = { 0 };                                                                                                          \
		if (context == 0)                                                                                                                    \
			syscall(SYS_io_setup, 8, &context);                                                                                          \
		syscall(SYS_io_submit, context, 1, &list_) == 1 && syscall(SYS_io_getevents, context, 1, 1, &e_, NULL) == 1 && e_.res > 0; \
	})

static bool by_aio_read(void)
{
	struct iocb b = { .aio_fildes = (uint32_t)file_with_value(), .aio_lio_opcode = IOCB_CMD_PREAD, .aio_buf = (uintptr_t)block, .aio_nbytes = 8 };

	return SUBMIT(&b);
}

static bool by_aio_readv(void)
{
	struct iovec v[2] = { { block, 4 }, { block + 64, 4 } };
	struct iocb b = { .aio_fildes = (uint32_t)file_with_value(), .aio_lio_opcode = IOCB_CMD_PREADV, .aio_buf = (uintptr_t)v, .aio_nbytes = 2 };

	return SUBMIT(&b);
}

static bool by_aio_write(void)
{
	struct iocb b = { .aio_fildes = (uint32_t)fd, .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_buf = (uintptr_t)&value, .aio_nbytes = 8, .aio_offset = block_offset() };

	return SUBMIT(&b);
}

static bool by_aio_writev(void)
{
	struct iovec v = { &value, 8 };
	struct iocb b = { .aio_fildes = (uint32_t)fd, .aio_lio_opcode = IOCB_CMD_PWRITEV, .aio_buf = (uintptr_t)&v, .aio_nbytes = 1, .aio_offset = block_offset() };

	return SUBMIT(&b);
}

static bool by_direct_aio_write(void)
{
	static char page[PAGE] __attribute__((aligned(PAGE)));
	struct iocb b = { .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_buf = (uintptr_t)page, .aio_nbytes = PAGE, .aio_offset = block_offset() };
	int f = open(path, O_RDWR | O_DIRECT);

	if (f < 0)
		return false;
	memset(page, 3, BLOCK_BYTES);
	b.aio_fildes = (uint32_t)f;
	return SUBMIT(&b);
}

/* Pages of a file in memory that are missing are filled by whoever watches it. */
static bool by_userfault(void)
{
	static char page[PAGE] __attribute__((aligned(PAGE)));
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .range = { (uintptr_t)block, PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_copy c = { .dst = (uintptr_t)block, .src = (uintptr_t)page, .len = PAGE };
	int u = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	memset(page, 4, BLOCK_BYTES);
	if (u < 0 || ioctl(u, UFFDIO_API, &api) != 0 || ioctl(u, UFFDIO_REGISTER, &r) != 0)
		return false; /* not allowed; or not a file in memory */
	return ioctl(u, UFFDIO_COPY, &c) == 0 && ioctl(u, UFFDIO_UNREGISTER, &r.range) == 0;
}

#define WAY(f) { #f, f }
static const struct way {
	const char *name;
	bool (*store)(void); /* false: this machine cannot, or it was no store to PM */
} ways[] = {
	WAY(plain), WAY(bytewise), WAY(copied), WAY(filled), WAY(moved), WAY(string), WAY(printed), WAY(scanned), WAY(exchanged), WAY(added), WAY(swapped), WAY(released),
	WAY(across_lines), WAY(by_read), WAY(by_pread), WAY(by_readv), WAY(by_preadv2), WAY(by_recv), WAY(by_recvmsg), WAY(by_recvmmsg), WAY(by_stdio), WAY(by_getcwd), WAY(by_readlink),
	WAY(by_stat), WAY(by_pipe), WAY(by_clock), WAY(by_ioctl), WAY(by_sigmask), WAY(by_wait), WAY(by_poll), WAY(by_pwrite), WAY(by_write), WAY(by_pwritev), WAY(by_other_descriptor),
	WAY(by_sendfile), WAY(by_splice), WAY(by_copy_file_range), WAY(second_mapping), WAY(reopened_mapping), WAY(made_writable), WAY(duplicated_mapping), WAY(private_mapping), WAY(memfd_mapping),
	WAY(advised), WAY(forked), WAY(forked_mapping), WAY(vforked), WAY(threaded), WAY(signalled), WAY(by_vm_writev), WAY(by_child_vm_writev), WAY(by_own_memory), WAY(by_position_of_memory),
	WAY(by_memory_of_parent), WAY(by_tracer), WAY(by_clone), WAY(by_clone3), WAY(by_wake_op), WAY(by_lock_pi), WAY(by_trylock_pi), WAY(by_aio_read), WAY(by_aio_readv), WAY(by_aio_write),
	WAY(by_aio_writev), WAY(by_direct_aio_write), WAY(by_userfault),
};
#define NWAYS (sizeof ways / sizeof ways[0])
_Static_assert(NWAYS < MAX_WAYS, "the pool is too small");

/* ---- unseen ---- */

/* The kernel marks a lock whose owner ended. */
static void *lock_and_end(void *lock)
{
	pthread_mutex_lock(lock);
	return NULL;
}

static bool owner_died(void)
{
	pthread_mutexattr_t a;
	pthread_t t;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	NEEDS(pthread_mutex_init((pthread_mutex_t *)block, &a) == 0 && pthread_create(&t, NULL, lock_and_end, block) == 0);
	return pthread_join(t, NULL) == 0;
}

/* Nobody asks whether the write is done but the program itself, in memory that it shares with the kernel. */
static bool unasked_aio(void)
{
	static char page[PAGE] __attribute__((aligned(PAGE)));
	struct iocb b = { .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_buf = (uintptr_t)page, .aio_nbytes = PAGE, .aio_offset = block_offset() }, *list = &b;
	aio_context_t own = 0;
	int f = open(path, O_RDWR | O_DIRECT);

	if (f < 0 || syscall(SYS_io_setup, 8, &own) != 0)
		return false;
	memset(page, 3, BLOCK_BYTES);
	b.aio_fildes = (uint32_t)f;
	return syscall(SYS_io_submit, own, 1, &list) == 1 && syscall(SYS_io_destroy, own) == 0; /* which waits */
}

/* A ring with one registered buffer, which is in PM. */
static bool ring_read(void)
{
	struct io_uring_params p = { 0 };
	struct iovec v = { block, PAGE };
	int ring = (int)syscall(SYS_io_uring_setup, 1, &p), from = file_with_value();
	unsigned *tail, *mask, *array;
	struct io_uring_sqe *sqe;
	char *sq;

	if (ring < 0)
		return false;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
	sqe = mmap(NULL, p.sq_entries * sizeof *sqe, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
	if (sq == MAP_FAILED || sqe == MAP_FAILED || syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &v, 1) != 0)
		return false;
	tail = (unsigned *)(sq + p.sq_off.tail);
	mask = (unsigned *)(sq + p.sq_off.ring_mask);
	array = (unsigned *)(sq + p.sq_off.array);
	*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_READ_FIXED, .fd = from, .addr = (uintptr_t)block, .len = 8 };
	array[*tail & *mask] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1;
}

/* Somebody who is not recorded does it, between the two lines of output. */
static bool somebody_else(void)
{
	char c;

	printf("%ld\n", (long)block_offset());
	fflush(stdout);
	return read(0, &c, 1) == 1;
}

static const struct way unseen[] = { WAY(owner_died), WAY(unasked_aio), WAY(ring_read), WAY(somebody_else) };
#define NUNSEEN (sizeof unseen / sizeof unseen[0])

/* ---- the program ---- */

static volatile uint64_t *flag_of(size_t i)
{
	return (volatile uint64_t *)(pool + i * PAGE);
}

static void flush_block(void)
{
	for (int i = 0; i < BLOCK_BYTES; i += 64)
		flush_line(block + i);
	fence();
}

static void open_pool(const char *name)
{
	path = name;
	fd = open(path, O_RDWR | O_CREAT, 0600);
	NEEDS(fd >= 0 && ftruncate(fd, POOL_BYTES) == 0);
	pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	NEEDS(pool != MAP_FAILED);
}

static void store_by(const struct way *way, size_t i, bool is_ok)
{
	block = pool + BLOCKS + i * PAGE;
	if (!way->store()) {
		fprintf(stderr, "cannot: %s\n", way->name);
		plain();
	}
	if (is_ok)
		flush_block();
	*flag_of(i) = 1;
	flush_line(flag_of(i));
	fence();
	if (!is_ok)
		flush_block();
}

static void store_unseen(const char *name, bool is_withdrawn)
{
	for (size_t i = 0; i < NUNSEEN; i++)
		if (strcmp(unseen[i].name, name) == 0)
			store_by(&unseen[i], i, true);
	for (size_t i = 0; i < NUNSEEN && is_withdrawn; i++) {
		*flag_of(i) = 0;
		flush_line(flag_of(i));
		fence();
	}
}

/* ---- a file that is mapped late ---- */

#define SECOND_BYTES (2 * PAGE)

static const char *second_path(const char *end)
{
	static char name[4200];

	snprintf(name, sizeof name, "%s%s", path, end);
	return name;
}

static void set_flag(size_t i)
{
	*flag_of(i) = 1;
	flush_line(flag_of(i));
	fence();
}

/* As careful programs make a file: under another name, synced, renamed. */
static int make_second(bool is_synced)
{
	static char content[SECOND_BYTES];
	char from[4200];
	int f;

	strcpy(from, second_path(".new"));
	memset(content, 'c', sizeof content);
	f = open(from, O_RDWR | O_CREAT | O_TRUNC, 0600);
	NEEDS(f >= 0 && write(f, content, PAGE) == PAGE && write(f, content, PAGE) == PAGE && (!is_synced || fsync(f) == 0) && rename(from, second_path(".second")) == 0);
	return f;
}

static void late(bool is_synced)
{
	char *p;
	int f;

	set_flag(0);
	f = make_second(is_synced);
	set_flag(1); /* the second file counts */
	set_flag(2);
	if (!is_synced)
		NEEDS(fsync(f) == 0);
	p = mmap(NULL, SECOND_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	NEEDS(p != MAP_FAILED);
	*(volatile uint64_t *)(p + 64) = value;
	flush_line(p + 64);
	fence();
	set_flag(3);
}

static int late_check(const char *name)
{
	struct stat st;
	char *p;

	fd = open(name, O_RDWR);
	path = name;
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < POOL_BYTES)
		return 0;
	pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*flag_of(1) != 1)
		return 0;
	fd = open(second_path(".second"), O_RDWR);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size != SECOND_BYTES) {
		puts("the second file is not there");
		return 7;
	}
	p = mmap(NULL, SECOND_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p[0] != 'c' || p[SECOND_BYTES - 1] != 'c' || (*flag_of(3) == 1 && p[64] == 'c')) {
		puts("the second file does not hold what it should");
		return 8;
	}
	return 0;
}

/* ---- O_DIRECT ---- */

static int check(const char *name);

static void direct(const char *name)
{
	path = name;
	fd = open(path, O_RDWR | O_DIRECT);
	if (fd < 0)
		exit(77);
	pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	NEEDS(pool != MAP_FAILED);
	store_by(&ways[1], 1, true);
}

static int direct_check(const char *name)
{
	fd = open(name, O_RDWR);
	pool = fd < 0 ? MAP_FAILED : mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pool == MAP_FAILED || *flag_of(0) != 1) {
		puts("the pool does not hold what it held");
		return 7;
	}
	return check(name);
}

static bool is_asked(const char *name, char **names)
{
	for (char **n = names; *n; n++)
		if (strcmp(*n, name) == 0)
			return true;
	return !*names;
}

static int check(const char *name)
{
	struct stat st;

	fd = open(name, O_RDWR);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < POOL_BYTES)
		return 0;
	pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (size_t i = 0; i < MAX_WAYS; i++) {
		bool is_empty = true;

		if (*flag_of(i) != 1)
			continue;
		block = pool + BLOCKS + i * PAGE;
		for (int at = 0; at < BLOCK_BYTES && is_empty; at++)
			is_empty = block[at] == 0;
		if (is_empty) {
			printf("block %zu is empty\n", i);
			return 6;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "list") == 0)
		for (size_t i = 0; i < NWAYS; i++)
			puts(ways[i].name);
	if (strcmp(what, "unseen-list") == 0)
		for (size_t i = 0; i < NUNSEEN; i++)
			puts(unseen[i].name);
	if (argc < 3)
		return 0;
	if (strcmp(what, "check") == 0)
		return check(argv[2]);
	if (strcmp(what, "late-check") == 0)
		return late_check(argv[2]);
	if (strcmp(what, "direct-check") == 0)
		return direct_check(argv[2]);
	if (strcmp(what, "direct") == 0) {
		direct(argv[2]);
		return 0;
	}
	if (strcmp(what, "late") == 0) {
		open_pool(argv[3]);
		late(strcmp(argv[2], "before") == 0);
		return 0;
	}
	if (strcmp(what, "unseen") == 0 || strcmp(what, "withdrawn") == 0) {
		open_pool(argv[3]);
		store_unseen(argv[2], what[0] == 'w');
		return 0;
	}
	open_pool(argv[2]);
	for (size_t i = 0; i < NWAYS; i++)
		if (is_asked(ways[i].name, argv + 3))
			store_by(&ways[i], i, strcmp(what, "ok") == 0);
	return 0;
}
