/* Knows which memory each system call reads and writes. Bytes that a call reads in PM are decided
 * before the call; bytes that it writes are marked after the call. A call without pointers is in
 * no_pointers. For any other call that is not listed, a pointer into PM makes the run unsound. */
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "calls.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* The kernel's struct futex_waitv, from Linux 5.16 on. */
struct waited {
	uint64_t value, addr;
	uint32_t flags, reserved;
};

/* clang-format off */
static const struct buffer_call calls[] = {
	{ SYS_read, { { 1, OUT, ARG(2) } } },
	{ SYS_pread64, { { 1, OUT, ARG(2) } } },
	{ SYS_write, { { 1, IN, ARG(2) } } },
	{ SYS_pwrite64, { { 1, IN, ARG(2) } } },
	{ SYS_readv, { { 1, IOV_OUT, ARG(2) } } },
	{ SYS_preadv, { { 1, IOV_OUT, ARG(2) } } },
	{ SYS_preadv2, { { 1, IOV_OUT, ARG(2) } } },
	{ SYS_writev, { { 1, IOV_IN, ARG(2) } } },
	{ SYS_pwritev, { { 1, IOV_IN, ARG(2) } } },
	{ SYS_pwritev2, { { 1, IOV_IN, ARG(2) } } },
	{ SYS_vmsplice, { { 1, IOV_IN, ARG(2) } } },
	{ SYS_sendto, { { 1, IN, ARG(2) }, { 4, IN, ARG(5) } } },
	{ SYS_recvfrom, { { 1, OUT, ARG(2) }, { 4, INOUT, 128 }, { 5, INOUT, 4 } } },
	{ SYS_sendmsg, { { 1, MSG_IN, 0 } } },
	{ SYS_recvmsg, { { 1, MSG_OUT, 0 } } },
	{ SYS_sendmmsg, { { 1, MSGS_IN, ARG(2) } } },
	{ SYS_recvmmsg, { { 1, MSGS_INOUT, ARG(2) }, { 4, INOUT, 16 } } },
	{ SYS_getrandom, { { 0, OUT, ARG(1) } } },
	{ SYS_getdents64, { { 1, OUT, ARG(2) } } },
	{ SYS_getcwd, { { 0, OUT, ARG(1) } } },
	{ SYS_readlinkat, { { 1, STRING, 0 }, { 2, OUT, ARG(3) } } },
	{ SYS_fstat, { { 1, INOUT, sizeof(struct stat) } } },
	{ SYS_newfstatat, { { 1, STRING, 0 }, { 2, INOUT, sizeof(struct stat) } } },
	{ SYS_statx, { { 1, STRING, 0 }, { 4, INOUT, 256 } } },
	{ SYS_statfs, { { 0, STRING, 0 }, { 1, INOUT, 120 } } },
	{ SYS_fstatfs, { { 1, INOUT, 120 } } },
	{ SYS_openat, { { 1, STRING, 0 } } },
	{ SYS_faccessat, { { 1, STRING, 0 } } },
	{ SYS_faccessat2, { { 1, STRING, 0 } } },
	{ SYS_unlinkat, { { 1, STRING, 0 } } },
	{ SYS_mkdirat, { { 1, STRING, 0 } } },
	{ SYS_chdir, { { 0, STRING, 0 } } },
	{ SYS_chroot, { { 0, STRING, 0 } } },
	{ SYS_pivot_root, { { 0, STRING, 0 }, { 1, STRING, 0 } } },
	{ SYS_truncate, { { 0, STRING, 0 } } },
	{ SYS_renameat, { { 1, STRING, 0 }, { 3, STRING, 0 } } },
	{ SYS_renameat2, { { 1, STRING, 0 }, { 3, STRING, 0 } } },
	{ SYS_execve, { { 0, STRING, 0 }, { 1, NOTHING, 0 }, { 2, NOTHING, 0 } } },
	{ SYS_futex, { { 0, IN, 4 }, { 3, IN, 16 }, { 4, IN, 4 } } },
	{ SYS_futex_waitv, { { 0, FUTEXES, ARG(1) }, { 3, IN, 16 } } },
	{ SYS_ppoll, { { 0, INOUT, TIMES(1, 8) }, { 2, INOUT, 16 } } },
	{ SYS_epoll_pwait, { { 1, INOUT, TIMES(2, sizeof(struct epoll_event)) } } },
	{ SYS_epoll_ctl, { { 3, IN, sizeof(struct epoll_event) } } },
	{ SYS_nanosleep, { { 0, IN, 16 }, { 1, INOUT, 16 } } },
	{ SYS_clock_nanosleep, { { 2, IN, 16 }, { 3, INOUT, 16 } } },
	{ SYS_clock_gettime, { { 1, INOUT, 16 } } },
	{ SYS_clock_getres, { { 1, INOUT, 16 } } },
	{ SYS_gettimeofday, { { 0, INOUT, 16 } } },
	{ SYS_times, { { 0, INOUT, 32 } } },
	{ SYS_uname, { { 0, INOUT, 390 } } },
	{ SYS_sysinfo, { { 0, INOUT, 112 } } },
	{ SYS_getrusage, { { 1, INOUT, 144 } } },
	{ SYS_getrlimit, { { 1, INOUT, 16 } } },
	{ SYS_setrlimit, { { 1, IN, 16 } } },
	{ SYS_prlimit64, { { 2, IN, 16 }, { 3, INOUT, 16 } } },
	{ SYS_pipe2, { { 0, INOUT, 8 } } },
	{ SYS_socketpair, { { 3, INOUT, 8 } } },
	{ SYS_wait4, { { 1, INOUT, 4 }, { 3, INOUT, 144 } } },
	{ SYS_waitid, { { 2, INOUT, 128 }, { 4, INOUT, 144 } } },
	{ SYS_bind, { { 1, IN, ARG(2) } } },
	{ SYS_connect, { { 1, IN, ARG(2) } } },
	{ SYS_accept, { { 1, INOUT, 128 }, { 2, INOUT, 4 } } },
	{ SYS_accept4, { { 1, INOUT, 128 }, { 2, INOUT, 4 } } },
	{ SYS_getsockname, { { 1, INOUT, 128 }, { 2, INOUT, 4 } } },
	{ SYS_getpeername, { { 1, INOUT, 128 }, { 2, INOUT, 4 } } },
	{ SYS_setsockopt, { { 3, IN, ARG(4) } } },
	{ SYS_getsockopt, { { 3, INOUT, 64 }, { 4, INOUT, 4 } } },
	{ SYS_sendfile, { { 2, INOUT, 8 } } },
	{ SYS_splice, { { 1, INOUT, 8 }, { 3, INOUT, 8 } } },
	{ SYS_copy_file_range, { { 1, INOUT, 8 }, { 3, INOUT, 8 } } },
	{ SYS_mincore, { { 2, INOUT, 4096 } } },
	{ SYS_rt_sigaction, { { 1, IN, 32 }, { 2, INOUT, 32 } } },
	{ SYS_rt_sigprocmask, { { 1, IN, 8 }, { 2, INOUT, 8 } } },
	{ SYS_rt_sigsuspend, { { 0, IN, 8 } } },
	{ SYS_sched_setaffinity, { { 2, IN, ARG(1) } } },
	{ SYS_sched_getaffinity, { { 2, OUT, ARG(1) } } },
	{ SYS_memfd_create, { { 0, STRING, 0 } } },
	{ SYS_utimensat, { { 1, STRING, 0 }, { 2, IN, 32 } } },
	{ SYS_fchmodat, { { 1, STRING, 0 } } },
	{ SYS_fchownat, { { 1, STRING, 0 } } },
	{ SYS_getxattr, { { 0, STRING, 0 }, { 1, STRING, 0 }, { 2, OUT, ARG(3) } } },
	{ SYS_fcntl, { { 2, INOUT, 32 } } }, /* for locks; other commands have a number here */
	{ SYS_openat2, { { 1, STRING, 0 }, { 2, IN, 24 } } },
	{ SYS_linkat, { { 1, STRING, 0 }, { 3, STRING, 0 } } },
	{ SYS_symlinkat, { { 0, STRING, 0 }, { 2, STRING, 0 } } },
	{ SYS_mknodat, { { 1, STRING, 0 } } },
	{ SYS_setxattr, { { 0, STRING, 0 }, { 1, STRING, 0 }, { 2, IN, ARG(3) } } },
	{ SYS_fsetxattr, { { 1, STRING, 0 }, { 2, IN, ARG(3) } } },
	{ SYS_listxattr, { { 0, STRING, 0 }, { 1, OUT, ARG(2) } } },
	{ SYS_flistxattr, { { 1, OUT, ARG(2) } } },
	{ SYS_inotify_add_watch, { { 1, STRING, 0 } } },
	{ SYS_execveat, { { 1, STRING, 0 }, { 2, NOTHING, 0 }, { 3, NOTHING, 0 } } },
	{ SYS_pselect6, { { 1, INOUT, 128 }, { 2, INOUT, 128 }, { 3, INOUT, 128 }, { 4, INOUT, 16 } } },
	{ SYS_epoll_pwait2, { { 1, INOUT, TIMES(2, sizeof(struct epoll_event)) }, { 3, IN, 16 } } },
	{ SYS_setitimer, { { 1, IN, 32 }, { 2, INOUT, 32 } } },
	{ SYS_getitimer, { { 1, INOUT, 32 } } },
	{ SYS_timerfd_settime, { { 2, IN, 32 }, { 3, INOUT, 32 } } },
	{ SYS_timerfd_gettime, { { 1, INOUT, 32 } } },
	{ SYS_timer_create, { { 1, IN, 64 }, { 2, INOUT, 4 } } },
	{ SYS_timer_settime, { { 2, IN, 32 }, { 3, INOUT, 32 } } },
	{ SYS_rt_sigpending, { { 0, INOUT, 8 } } },
	{ SYS_rt_sigtimedwait, { { 0, IN, 8 }, { 1, INOUT, 128 }, { 2, IN, 16 } } },
	{ SYS_signalfd4, { { 1, IN, 8 } } },
	{ SYS_sigaltstack, { { 0, IN, 24 }, { 1, INOUT, 24 } } },
	{ SYS_prctl, { { 1, STRING, 0 } } },
	{ SYS_getgroups, { { 1, INOUT, TIMES(0, 4) } } },
	{ SYS_semop, { { 1, IN, TIMES(2, 6) } } },
	{ SYS_sched_getparam, { { 1, INOUT, 4 } } },
	{ SYS_sched_setparam, { { 1, IN, 4 } } },
	{ SYS_sched_setscheduler, { { 2, IN, 4 } } },
	{ SYS_getcpu, { { 0, INOUT, 4 }, { 1, INOUT, 4 } } },
	{ SYS_getresuid, { { 0, INOUT, 4 }, { 1, INOUT, 4 }, { 2, INOUT, 4 } } },
	{ SYS_getresgid, { { 0, INOUT, 4 }, { 1, INOUT, 4 }, { 2, INOUT, 4 } } },
	{ SYS_fgetxattr, { { 1, STRING, 0 }, { 2, OUT, ARG(3) } } },
};

/* Their arguments are numbers, or addresses whose bytes are not accessed. */
static const uint16_t no_pointers[] = {
	SYS_close, SYS_lseek, SYS_mmap, SYS_mprotect, SYS_munmap, SYS_brk, SYS_sched_yield, SYS_mremap, SYS_msync, SYS_madvise, SYS_dup,
	SYS_dup3, SYS_getpid, SYS_socket, SYS_shutdown, SYS_listen, SYS_clone, SYS_clone3, SYS_exit,
	SYS_exit_group, SYS_kill, SYS_tkill, SYS_tgkill, SYS_flock, SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_fchdir, SYS_fchmod,
	SYS_fchown, SYS_umask, SYS_getuid, SYS_getgid, SYS_setuid, SYS_setgid, SYS_geteuid, SYS_getegid, SYS_setpgid, SYS_getppid,
	SYS_setsid, SYS_getpgid, SYS_getsid, SYS_gettid, SYS_mlock, SYS_munlock, SYS_mlockall, SYS_munlockall, SYS_sync, SYS_syncfs,
	SYS_fadvise64, SYS_readahead, SYS_fallocate, SYS_sync_file_range, SYS_set_tid_address, SYS_set_robust_list, SYS_rseq,
	SYS_epoll_create1, SYS_eventfd2, SYS_timerfd_create, SYS_inotify_init1, SYS_close_range,
	SYS_getpriority, SYS_setpriority, SYS_sched_getscheduler, SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_personality,
	SYS_pkey_mprotect, SYS_pkey_alloc, SYS_pkey_free, SYS_membarrier, SYS_shmget, SYS_shmdt, SYS_mlock2, SYS_rt_sigreturn,
	SYS_restart_syscall, SYS_pidfd_open, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_tee, SYS_shmat, SYS_timer_delete,
	SYS_timer_getoverrun, SYS_ioprio_get, SYS_ioprio_set, SYS_setfsuid, SYS_setfsgid, SYS_unshare, SYS_semget, SYS_msgget,
};
/* clang-format on */

/* By call number: 0: unknown; NO_POINTERS; otherwise 1 plus the row, in calls and then in
 * arch_buffer_calls. */
static uint8_t g_rows[512];
#define NO_POINTERS 255u
#define NCALLS (sizeof(calls) / sizeof(calls[0]))

void buffers_init(void)
{
	_Static_assert(NCALLS < NO_POINTERS - 64,
		       "rows fit a byte, with those of the architecture");
	for (size_t i = 0; i < NCALLS; i++)
		g_rows[calls[i].number] = (uint8_t)(i + 1);
	for (size_t i = 0; arch_buffer_calls[i].number; i++)
		g_rows[arch_buffer_calls[i].number] = (uint8_t)(NCALLS + i + 1);
	for (size_t i = 0; i < sizeof(no_pointers) / sizeof(no_pointers[0]); i++)
		g_rows[no_pointers[i]] = NO_POINTERS;
	for (size_t i = 0; arch_no_pointers[i]; i++)
		g_rows[arch_no_pointers[i]] = NO_POINTERS;
}

static const struct buffer_call *find(long number)
{
	uint8_t row = number >= 0 && number < 512 ? g_rows[number] : 0;

	if (row == 0 || row == NO_POINTERS)
		return NULL;
	return row <= NCALLS ? &calls[row - 1] : &arch_buffer_calls[row - 1 - NCALLS];
}

static bool has_no_pointers(long number)
{
	return number >= 0 && number < 512 && g_rows[number] == NO_POINTERS;
}

static uint64_t length(const struct buffer_pointer *p, const long a[6])
{
	if (!(p->len & 0x8000))
		return p->len;
	return (uint64_t)a[p->len & 15] * ((p->len >> 4 & 0x7ff) ? (p->len >> 4 & 0x7ff) : 1);
}

uint64_t buffers_iov_bytes(uint64_t iov, uint64_t n)
{
	struct iovec v;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n && i < 1024 && rt_copy_in(&v, iov + i * sizeof(v), sizeof(v));
	     i++)
		sum += v.iov_len;
	return sum;
}

/* ---- each range of memory that a call accesses ---- */

typedef bool range_fn(uint64_t addr, uint64_t len_bytes, enum buffer_kind kind, uint64_t *arg);

static bool each_iov(uint64_t iov, uint64_t n, enum buffer_kind kind, range_fn *fn, uint64_t *arg)
{
	struct iovec v;

	if (n > 1024)
		return false;
	if (fn(iov, n * sizeof(v), IN, arg))
		return true;
	for (uint64_t i = 0; i < n && rt_copy_in(&v, iov + i * sizeof(v), sizeof(v)); i++)
		if (fn((uint64_t)v.iov_base, v.iov_len, kind, arg))
			return true;
	return false;
}

static bool each_msg(uint64_t addr, enum buffer_kind kind, range_fn *fn, uint64_t *arg)
{
	enum buffer_kind rest = kind == IN ? IN : INOUT; /* kind is IN, OUT or INOUT */
	struct msghdr m;

	if (!rt_copy_in(&m, addr, sizeof(m)))
		return false;
	return fn(addr, sizeof(m), rest, arg) ||
	       fn((uint64_t)m.msg_name, m.msg_namelen, rest, arg) ||
	       fn((uint64_t)m.msg_control, m.msg_controllen, rest, arg) ||
	       each_iov((uint64_t)m.msg_iov, m.msg_iovlen, kind, fn, arg);
}

/* Calls fn for the buffers of several messages. The call's result does not say how much of each
 * message was received, so all that may be written counts as read. */
static bool each_msgs(uint64_t addr, uint64_t n, enum buffer_kind kind, range_fn *fn, uint64_t *arg)
{
	if (n > 1024)
		n = 1024;
	if (fn(addr, n * sizeof(struct mmsghdr), INOUT, arg)) /* lengths are written */
		return true;
	for (uint64_t i = 0; i < n; i++)
		if (each_msg(addr + i * sizeof(struct mmsghdr), kind, fn, arg))
			return true;
	return false;
}

static bool each_futex(uint64_t addr, uint64_t n, range_fn *fn, uint64_t *arg)
{
	struct waited w;

	if (n > 128) /* the kernel refuses more */
		return false;
	if (fn(addr, n * sizeof(w), IN, arg))
		return true;
	for (uint64_t i = 0; i < n && rt_copy_in(&w, addr + i * sizeof(w), sizeof(w)); i++)
		if (fn(w.addr, 4, IN, arg))
			return true;
	return false;
}

/* Calls fn for each range of memory that the call accesses, until fn returns true. */
static bool each_range(const struct buffer_call *c, const long a[6], range_fn *fn, uint64_t *arg)
{
	for (size_t i = 0; i < sizeof(c->pointers) / sizeof(c->pointers[0]) && c->pointers[i].kind;
	     i++) {
		const struct buffer_pointer *p = &c->pointers[i];
		uint64_t addr = (uint64_t)a[p->arg], len = length(p, a);
		bool stop = false;

		if (addr == 0)
			continue;
		switch ((enum buffer_kind)p->kind) {
		case IN:
		case OUT:
		case INOUT: stop = fn(addr, len, p->kind, arg); break;
		case STRING: stop = fn(addr, 1, STRING, arg); break;
		case IOV_IN: stop = each_iov(addr, len, IN, fn, arg); break;
		case IOV_OUT: stop = each_iov(addr, len, OUT, fn, arg); break;
		case MSG_IN: stop = each_msg(addr, IN, fn, arg); break;
		case MSG_OUT: stop = each_msg(addr, OUT, fn, arg); break;
		case MSGS_IN: stop = each_msgs(addr, len, IN, fn, arg); break;
		case MSGS_INOUT: stop = each_msgs(addr, len, INOUT, fn, arg); break;
		case FUTEXES: stop = each_futex(addr, len, fn, arg); break;
		case NOTHING: break;
		}
		if (stop)
			return true;
	}
	return false;
}

static bool range_touches(uint64_t addr, uint64_t len_bytes, enum buffer_kind kind, uint64_t *arg)
{
	(void)kind, (void)arg;
	return maps_touch(addr, len_bytes);
}

/* Gives the number of arguments that the call can have. The other registers hold values of earlier
 * code. */
static int arguments(long number)
{
	return number == SYS_ioctl || number == SYS_fcntl || number == SYS_shmctl ? 3 : 6;
}

/* Ends the run because of a system call that is not in the tables. It formats the number itself:
 * printf() must not be called in signal handlers. */
_Noreturn static void unknown_call(long number)
{
	char why[] = "an unknown system call (number     ) got a pointer into PM",
	     *at = strchr(why, ')');

	for (uint64_t n = (uint64_t)number; n > 0 && at[-1] == ' '; n /= 10)
		*--at = (char)('0' + n % 10);
	rt_unsound(why);
}

bool buffers_touch(long number, const long a[6])
{
	const struct buffer_call *c;

	if (!g_is_lazy)
		return false;
	c = find(number);
	if (c)
		return each_range(c, a, range_touches, NULL);
	if (has_no_pointers(number))
		return false;
	for (int i = 0; i < arguments(number); i++)
		if (maps_touch((uint64_t)a[i], 1))
			unknown_call(number);
	return false;
}

static void read_string(uint64_t addr)
{
	char c;

	while (maps_touch(addr, 1) && rt_copy_in(&c, addr, 1) && c)
		addr++;
}

static bool range_before(uint64_t addr, uint64_t len_bytes, enum buffer_kind kind, uint64_t *arg)
{
	(void)arg;
	if (!maps_touch(addr, len_bytes))
		return false;
	if (kind == STRING) {
		read_string(addr);
		len_bytes = PAGE;
	}
	if (kind == IN || kind == INOUT)
		maps_read(addr, len_bytes);
	if (kind == OUT || kind == INOUT)
		maps_read_private(addr, len_bytes);
	maps_open(addr, len_bytes);
	return false;
}

void buffers_before(long number, const long a[6])
{
	const struct buffer_call *c = find(number);

	if (c)
		each_range(c, a, range_before, NULL);
}

/* Marks the bytes of a range that the call has written. *arg: how many bytes of the call's result
 * no earlier range has used. */
static bool range_after(uint64_t addr, uint64_t len_bytes, enum buffer_kind kind, uint64_t *arg)
{
	uint64_t n = len_bytes;

	if (kind == OUT) {
		n = n < *arg ? n : *arg;
		*arg -= n;
	}
	if ((kind == OUT || kind == INOUT) && maps_touch(addr, len_bytes))
		maps_written(addr, n);
	return false;
}

static bool range_close(uint64_t addr, uint64_t len_bytes, enum buffer_kind kind, uint64_t *arg)
{
	(void)arg;
	if (maps_touch(addr, len_bytes))
		maps_close(addr, kind == STRING ? PAGE : len_bytes);
	return false;
}

void buffers_after(long number, const long a[6], long result)
{
	const struct buffer_call *c = find(number);
	uint64_t left = IS_ERROR(result) ? 0 : (uint64_t)result;

	if (!c)
		return;
	if (!IS_ERROR(result))
		each_range(c, a, range_after, &left);
	each_range(c, a, range_close, NULL);
}
