/* Memory that is handed to the kernel: the word lies in it. */
#include "ways.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

static int g_ends[2];

static uint64_t from_end(long sent)
{
	uint64_t w = 0;

	need(sent == 8 && read(g_ends[0], &w, 8) == 8);
	return w;
}

static void make_pipe(void)
{
	need(pipe(g_ends) == 0);
}

static void make_sockets(void)
{
	need(socketpair(AF_UNIX, SOCK_STREAM, 0, g_ends) == 0);
}

static uint64_t written(void)
{
	make_pipe();
	return from_end(write(g_ends[1], WORD, 8));
}

static uint64_t written_in_parts(void)
{
	struct iovec v[2] = { { WORD, 4 }, { WORD + 4, 4 } };

	make_pipe();
	return from_end(writev(g_ends[1], v, 2));
}

/* The list itself lies in the pool. */
static uint64_t written_by_list_in_pool(void)
{
	struct iovec *const v = (struct iovec *)(g_pool + ROOM_AT);

	make_pipe();
	*v = (struct iovec){ WORD, 8 };
	return from_end(writev(g_ends[1], v, 1));
}

static uint64_t vmspliced(void)
{
	struct iovec v = { WORD, 8 };

	make_pipe();
	return from_end(vmsplice(g_ends[1], &v, 1, 0));
}

static uint64_t sent(void)
{
	make_sockets();
	return from_end(send(g_ends[1], WORD, 8, 0));
}

static uint64_t sent_as_message(void)
{
	struct iovec v = { WORD, 8 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	make_sockets();
	return from_end(sendmsg(g_ends[1], &m, 0));
}

static uint64_t sent_as_messages(void)
{
	struct iovec v[2] = { { WORD, 3 }, { WORD + 3, 5 } };
	struct mmsghdr m[2] = { { .msg_hdr = { .msg_iov = &v[0], .msg_iovlen = 1 } }, { .msg_hdr = { .msg_iov = &v[1], .msg_iovlen = 1 } } };

	make_sockets();
	return from_end(sendmmsg(g_ends[1], m, 2, 0) == 2 ? 8 : 0);
}

/* Received into the pool, behind the word: what is read then is not what a crash left. The word itself stays. */
static uint64_t received_beside(void)
{
	make_sockets();
	need(write(g_ends[1], "12345678", 8) == 8 && recv(g_ends[0], WORD + 8, 8, 0) == 8);
	return load(WORD);
}

static uint64_t received_as_messages(void)
{
	struct iovec v = { WORD + 8, 8 };
	struct mmsghdr m = { .msg_hdr = { .msg_iov = &v, .msg_iovlen = 1 } };

	make_sockets();
	need(write(g_ends[1], "12345678", 8) == 8 && recvmmsg(g_ends[0], &m, 1, 0, NULL) == 1 && memcmp(WORD + 8, "12345678", 8) == 0);
	return load(WORD);
}

static uint64_t read_of_own_process(void)
{
	uint64_t w = 0;
	struct iovec to = { &w, 8 }, from = { WORD, 8 };

	need(process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 8);
	return w;
}

/* ---- words that the kernel compares or uses ---- */

static uint64_t waited_for(void)
{
	const struct timespec soon = { 0, 1000 };

	return word_if(syscall(SYS_futex, WORD, FUTEX_WAIT, (uint32_t)word_kept(), &soon, NULL, 0) == 0 || errno != EAGAIN);
}

static uint64_t requeued(void)
{
	return word_if(syscall(SYS_futex, WORD, FUTEX_CMP_REQUEUE, 1, 1, g_pool + ROOM_AT, (uint32_t)word_kept()) >= 0 || errno != EAGAIN);
}

/* Adds 0 to the second word, and asks what it was. */
static uint64_t woken_by_operation(void)
{
	const uint32_t none = (uint32_t)FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0);

	need(syscall(SYS_futex, g_pool + ROOM_AT, FUTEX_WAKE_OP, 1, 1, WORD, none) >= 0);
	return load(WORD);
}

static uint64_t waited_for_several(void)
{
	struct futex_waitv w = { .val = (uint32_t)word_kept(), .uaddr = (uintptr_t)WORD, .flags = FUTEX_32 };
	struct timespec now;
	long r;

	clock_gettime(CLOCK_MONOTONIC, &now);
	r = syscall(SYS_futex_waitv, &w, 1, 0, &now, CLOCK_MONOTONIC);
	need(r >= 0 || errno != ENOSYS);
	return word_if(r >= 0 || errno == ETIMEDOUT);
}

static uint64_t as_signal_mask(void)
{
	sigset_t now;

	/* not SIGSEGV and the like, which nobody can block for long */
	need(syscall(SYS_rt_sigprocmask, SIG_BLOCK, WORD, NULL, 8) == 0 && syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, 8) == 0);
	return word_if(sigismember(&now, 33) || sigismember(&now, SIGALRM) || sigismember(&now, SIGPIPE));
}

static uint64_t as_option(void)
{
	int is_on = 0;
	socklen_t n = sizeof is_on;

	make_sockets();
	need(setsockopt(g_ends[0], SOL_SOCKET, SO_KEEPALIVE, WORD, 4) == 0 && getsockopt(g_ends[0], SOL_SOCKET, SO_KEEPALIVE, &is_on, &n) == 0);
	return word_if(is_on);
}

static uint64_t as_ioctl(void)
{
	make_sockets();
	need(ioctl(g_ends[0], FIONBIO, WORD) == 0);
	return word_if(fcntl(g_ends[0], F_GETFL) & O_NONBLOCK);
}

static uint64_t as_events(void)
{
	struct epoll_event got, *const e = (struct epoll_event *)(WORD - offsetof(struct epoll_event, data)); /* its data is the word */
	const int ep = epoll_create1(0);

	make_pipe();
	e->events = EPOLLIN;
	need(write(g_ends[1], "x", 1) == 1 && epoll_ctl(ep, EPOLL_CTL_ADD, g_ends[0], e) == 0 && epoll_wait(ep, &got, 1, 0) == 1);
	return got.data.u64;
}

static uint64_t as_descriptors(void)
{
	struct pollfd *const p = (struct pollfd *)WORD;

	return word_if(poll(p, 1, 0) == 1 && p->revents & POLLNVAL);
}

static uint64_t as_time(void)
{
	const int fd = memfd_create("ways", 0);
	struct stat st;

	need(syscall(SYS_utimensat, fd, NULL, WORD, 0) == 0 && fstat(fd, &st) == 0);
	return word_if(st.st_atim.tv_sec != 0);
}

static uint64_t as_place(void)
{
	const int fd = memfd_create("ways", 0);
	off_t *const at = (off_t *)WORD;
	ssize_t n;

	make_pipe();
	need(write(fd, "x", 1) == 1);
	n = syscall(SYS_sendfile, g_ends[1], fd, at, 1); /* a place behind its end, or its beginning */
	return word_if(n == 0);
}

static uint64_t as_queued_signal(void)
{
	union {
		siginfo_t si;
		uint64_t words[16];
	} *const s = (void *)(WORD - 24); /* its value is the word */
	const struct timespec none = { 0, 0 };
	siginfo_t got;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	need(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	s->si.si_signo = SIGUSR1;
	s->si.si_code = SI_QUEUE;
	need(syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, s) == 0 && sigtimedwait(&set, &got, &none) == SIGUSR1);
	return (uint64_t)(uintptr_t)got.si_value.sival_ptr;
}

/* ---- submitted, and done by somebody else ---- */

static uint64_t submitted(uint16_t opcode, int fd, void *at, int64_t offset, void *result)
{
	struct iocb cb = { .aio_fildes = (uint32_t)fd, .aio_lio_opcode = opcode, .aio_buf = (uintptr_t)at, .aio_nbytes = 8, .aio_offset = offset }, *list = &cb;
	aio_context_t c = 0;
	struct io_event done;

	need(syscall(SYS_io_setup, 4, &c) == 0 && syscall(SYS_io_submit, c, 1, &list) == 1 && syscall(SYS_io_getevents, c, 1, 1, &done, NULL) == 1);
	need(done.res == 8);
	return load(result);
}

static uint64_t aio_read(void)
{
	uint64_t w = 0;

	return submitted(IOCB_CMD_PREAD, g_fd, &w, WORD_AT, &w);
}

static uint64_t aio_written(void)
{
	const int fd = memfd_create("ways", 0);
	uint64_t w = 0;

	submitted(IOCB_CMD_PWRITE, fd, WORD, 0, WORD);
	need(pread(fd, &w, 8, 0) == 8);
	return w;
}

struct ring {
	int fd;
	struct io_uring_params p;
	char *queue;
	struct io_uring_sqe *entries;
};

static void ring_make(struct ring *r)
{
	memset(r, 0, sizeof *r);
	r->fd = (int)syscall(SYS_io_uring_setup, 4, &r->p);
	need(r->fd >= 0);
	r->queue = mmap(NULL, r->p.sq_off.array + r->p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
	r->entries = mmap(NULL, r->p.sq_entries * sizeof *r->entries, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQES);
	need(r->queue != MAP_FAILED && r->entries != MAP_FAILED);
}

static void ring_do(struct ring *r, uint8_t opcode, int fd, void *at, uint64_t offset)
{
	memset(r->entries, 0, sizeof *r->entries);
	r->entries->opcode = opcode;
	r->entries->fd = fd;
	r->entries->addr = (uintptr_t)at;
	r->entries->len = 8;
	r->entries->off = offset;
	((uint32_t *)(r->queue + r->p.sq_off.array))[0] = 0;
	__atomic_store_n((uint32_t *)(r->queue + r->p.sq_off.tail), 1, __ATOMIC_RELEASE);
	need(syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
}

static uint64_t ring_read(void)
{
	struct ring r;
	uint64_t w = 0;

	ring_make(&r);
	ring_do(&r, IORING_OP_READ, g_fd, &w, WORD_AT);
	return load(&w);
}

static uint64_t ring_written(void)
{
	const int fd = memfd_create("ways", 0);
	struct ring r;
	uint64_t w = 0;

	ring_make(&r);
	ring_do(&r, IORING_OP_WRITE, fd, WORD, 0);
	need(pread(fd, &w, 8, 0) == 8);
	return w;
}

/* The pool is registered before anything is read. */
static uint64_t ring_written_registered(void)
{
	const int fd = memfd_create("ways", 0);
	struct iovec all = { g_pool, POOL_BYTES };
	struct ring r;
	uint64_t w = 0;

	ring_make(&r);
	/* a kernel may refuse to keep pages of a file */
	need(syscall(SYS_io_uring_register, r.fd, IORING_REGISTER_BUFFERS, &all, 1) == 0);
	ring_do(&r, IORING_OP_WRITE_FIXED, fd, WORD, 0);
	need(pread(fd, &w, 8, 0) == 8);
	return w;
}

const struct way ways_buffers[] = {
	{ "buffer.write", written, 0 },
	{ "buffer.writev", written_in_parts, 0 },
	{ "buffer.list_in_pool", written_by_list_in_pool, 0 },
	{ "buffer.vmsplice", vmspliced, 0 },
	{ "buffer.send", sent, 0 },
	{ "buffer.sendmsg", sent_as_message, 0 },
	{ "buffer.sendmmsg", sent_as_messages, 0 },
	{ "buffer.recv_beside", received_beside, 0 },
	{ "buffer.recvmmsg", received_as_messages, 0 },
	{ "buffer.process_vm_readv", read_of_own_process, 0 },
	{ "buffer.futex_wait", waited_for, 0 },
	{ "buffer.futex_requeue", requeued, 0 },
	{ "buffer.futex_wake_op", woken_by_operation, 0 },
	{ "buffer.futex_waitv", waited_for_several, 0 },
	{ "buffer.sigprocmask", as_signal_mask, 0 },
	{ "buffer.setsockopt", as_option, 0 },
	{ "buffer.ioctl", as_ioctl, 0 },
	{ "buffer.epoll_ctl", as_events, 0 },
	{ "buffer.poll", as_descriptors, 0 },
	{ "buffer.utimensat", as_time, 0 },
	{ "buffer.sendfile_place", as_place, 0 },
	{ "buffer.sigqueue", as_queued_signal, 0 },
	{ "buffer.aio_read", aio_read, 0 },
	{ "buffer.aio_write", aio_written, 0 },
	{ "buffer.uring_read", ring_read, 0 },
	{ "buffer.uring_write", ring_written, 0 },
	{ "buffer.uring_registered", ring_written_registered, 0 },
	{ 0 },
};
