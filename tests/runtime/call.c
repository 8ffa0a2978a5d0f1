/* System calls with buffers in PM, and on the image's descriptor. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "run.h"
#include "machine.h"

/* Eight letters, stored four by four; then eight more. */
#define TEXT(offset) { offset, { { 0, 4, 0x64636261 }, { 4, 4, 0x68676665 }, { 8, 8, 0x706f6e6d6c6b6a69 } } }
#define TEXT_DECISION(line) { line, 0, ALL, 3 }

static int write_pm(void)
{
	char *p = map_pool();

	return write(1, p, 8) == 8 && write(1, p + 4092, 6) == 6 ? 0 : 1;
}

static int fwrite_pm(void)
{
	char *p = map_pool();

	setvbuf(stdout, NULL, _IONBF, 0);
	return fwrite(p, 1, 8, stdout) == 8 ? 0 : 1;
}

static int inline_syscall(void)
{
	char *p = map_pool();

	return CALL(SYS_write, 1, (long)p, 8) == 8 ? 0 : 1;
}

static int writev_pm(void)
{
	char *p = map_pool();
	struct iovec v[2] = { { p, 4 }, { p + 64, 2 } };

	return writev(1, v, 2) == 6 ? 0 : 1;
}

static int message(void)
{
	char *p = map_pool(), got[9] = "";
	struct iovec v = { p, 8 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) < 0 || sendmsg(s[0], &m, 0) != 8 || read(s[1], got, 8) != 8)
		return 1;
	printf("%s", got);
	return 0;
}

/* What read(2) puts into PM is no longer the crash's; the rest of the buffer is. */
static int read_into(void)
{
	char *p = map_pool(), got[8];
	int ends[2];

	if (pipe(ends) < 0 || write(ends[1], "XYZ", 3) != 3 || read(ends[0], p, 8) != 3)
		return 1;
	printf("%c", p[0]);
	WORD(got, 0) = WORD(p, 0);
	printf(" %.8s", got);
	return 0;
}

static int readv_into(void)
{
	char *p = map_pool();
	struct iovec v[2] = { { p, 4 }, { p + 64, 4 } };
	int ends[2];

	if (pipe(ends) < 0 || write(ends[1], "WXYZ+", 5) != 5 || readv(ends[0], v, 2) != 5)
		return 1;
	printf("%x %x", *(volatile uint32_t *)p, *(volatile uint16_t *)(p + 64));
	return 0;
}

static int pread_image(void)
{
	char b[9] = "", *p;
	int fd = open("pool", O_RDONLY);

	if (pread(fd, b, 4, 0) != 4)
		return 1;
	printf("%s", b);
	p = map_pool();
	printf(" %lx", WORD(p, 0));
	return 0;
}

static int read_image(void)
{
	char b[9] = "";
	int fd = open("pool", O_RDONLY);
	FILE *f;

	lseek(fd, 4, SEEK_SET);
	if (read(fd, b, 4) != 4)
		return 1;
	printf("%s ", b);
	f = fopen("pool", "r"); /* a page at a time */
	if (!f || fread(b, 1, 8, f) != 8)
		return 1;
	printf("%s", b);
	return 0;
}

static int pwrite_image(void)
{
	char *p = map_pool();
	int fd = open("pool", O_RDWR);

	if (pwrite(fd, "1234", 4, 0) != 4)
		return 1;
	printf("%lx", WORD(p, 0));
	return 0;
}

static int sendfile_image(void)
{
	int fd = open("pool", O_RDONLY), ends[2];
	off_t at = 4;
	char b[5] = "";

	if (pipe(ends) < 0 || sendfile(ends[1], fd, &at, 4) != 4 || read(ends[0], b, 4) != 4)
		return 1;
	printf("%s", b);
	return 0;
}

static int truncated(void)
{
	int fd = open("pool", O_RDWR);
	char *p = map_pool();

	if (ftruncate(fd, 0) < 0 || ftruncate(fd, POOL_BYTES) < 0)
		return 1;
	printf("%lu", WORD(p, 0));
	return 0;
}

static int path_in_pm(void)
{
	char *p = map_pool();
	int r = access(p, F_OK);

	printf("%d %d", r, errno == ENOENT);
	return 0;
}

static int stat_into(void)
{
	char *p = map_pool();
	struct stat *st = (struct stat *)p;

	if (stat("pool", st) < 0)
		return 1;
	printf("%ld", (long)st->st_size);
	return 0;
}

static int poll_pm(void)
{
	char *p = map_pool();
	struct pollfd *f = (struct pollfd *)(p + 128);

	f->fd = 1;
	f->events = POLLOUT;
	printf("%d ", poll(f, 1, 1000));
	printf("%d", f->revents == POLLOUT);
	return 0;
}

static int futex_pm(void)
{
	char *p = map_pool();
	long r = syscall(SYS_futex, p, FUTEX_WAIT, 1, NULL, NULL, 0);

	printf("%ld %d ", r, errno == EAGAIN);
	printf("%ld", syscall(SYS_futex, p + 64, FUTEX_WAKE, 1, NULL, NULL, 0));
	return 0;
}

static int bad_pointers(void)
{
	long bad = 8, r;

	map_pool();
	r = syscall(SYS_write, 1, bad, 8);
	printf("%ld %d ", r, errno == EFAULT);
	r = syscall(SYS_openat, AT_FDCWD, bad, O_RDONLY);
	printf("%ld %d", r, errno == EFAULT);
	return 0;
}

static int unknown_call(void)
{
	char *p = map_pool();

	return (int)syscall(SYS_add_key, p, p, p, p, p, p);
}

static int stale_register(void)
{
	char *p = map_pool();

	return syscall(SYS_getppid, p, p, p, p, p, p) > 0 ? 0 : 1;
}

const struct test call_tests[] = {
	{ "write", write_pm, { TEXT(0), { 4032, { { 60, 4, 0x34333231 } } }, { 4096, { { 0, 2, 0x3635 } } } },
	  { TEXT_DECISION(0), { 1, 60, 15, 2 }, { 2, 0, 3, 2 } }, "abcdefgh123456" },
	{ "fwrite", fwrite_pm, { TEXT(0) }, { TEXT_DECISION(0) }, "abcdefgh" },
	{ "inline-syscall", inline_syscall, { TEXT(0) }, { TEXT_DECISION(0) }, "abcdefgh" },
	{ "writev", writev_pm, { TEXT(0), TEXT(64) }, { { 0, 0, 15, 2 }, { 1, 0, 3, 2 } }, "abcdab" },
	{ "sendmsg", message, { TEXT(0) }, { TEXT_DECISION(0) }, "abcdefgh" },
	{ "read-into", read_into, { TEXT(0) }, { { 0, 0, 0xf8, 3 } }, "X XYZdefgh" },
	{ "readv-into", readv_into, { TEXT(0), TEXT(64) }, { { 1, 0, 2, 2 } }, "5a595857 622b" },
	{ "pread", pread_image, { TEXT(0) }, { { 0, 0, 15, 2 }, { 0, 0, 0xf0, 2 } }, "abcd 6867666564636261" },
	{ "read", read_image, { TEXT(0) }, { { 0, 4, 15, 2 }, { 0, 8, ALL, 2 } }, "efgh abcdefgh" },
	{ "pwrite", pwrite_image, { TEXT(0) }, { { 0, 0, 0xf0, 2 } }, "6867666534333231" },
	{ "sendfile", sendfile_image, { TEXT(0) }, { { 0, 4, 15, 2 } }, "efgh" },
	{ "truncated", truncated, { TEXT(0) }, { { 0 } }, "0" },
	{ "path-in-pm", path_in_pm, { { 0, { { 0, 2, 0x6161 } } } }, { { 0, 0, 1, 2 } }, "-1 1" },
	{ "stat-into", stat_into, { { 0, { { 48, 8, 3 } } } }, { { 0, 48, 1, 2 } }, "65536" },
	{ "poll", poll_pm, { TEXT(0) }, { { 0 } }, "1 1" },
	{ "futex", futex_pm, { { 0, { { 0, 4, 2 } } }, { 64, { { 0, 4, 2 } } } }, { { 0, 0, 1, 2 }, { 1, 0, 1, 2 } }, "-1 1 0" },
	{ "bad-pointers", bad_pointers, { TEXT(0) }, { { 0 } }, "-1 1 -1 1" },
	{ "unknown-call", unknown_call, { TEXT(0) }, { { 0 } }, NULL, 0, 0, "an unknown system call" },
	{ "stale-register", stale_register, { TEXT(0) }, { { 0 } }, "" },
	{ 0 },
};
