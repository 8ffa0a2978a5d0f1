/* Makes read(2) and similar calls on an image's descriptor. Bytes that a call reads from the file
 * are decided before the call; bytes that it writes are marked as written by the run. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "calls.h"

/* A call that transfers bytes between memory and a file, and which arguments give length and
 * offset. */
struct transfer {
	uint16_t number;
	bool is_write;
	bool is_vector; /* argument 1 is an iovec of argument 2 elements */
	/* argument 3 is the offset; otherwise the descriptor's own offset is used */
	bool has_offset;
};

static const struct transfer transfers[] = {
	{ SYS_read, false, false, false },   { SYS_pread64, false, false, true },
	{ SYS_readv, false, true, false },   { SYS_preadv, false, true, true },
	{ SYS_preadv2, false, true, true },  { SYS_write, true, false, false },
	{ SYS_pwrite64, true, false, true }, { SYS_writev, true, true, false },
	{ SYS_pwritev, true, true, true },   { SYS_pwritev2, true, true, true },
};

static uint64_t position(long fd)
{
	long at = CALL3(SYS_lseek, fd, 0, SEEK_CUR);

	return IS_ERROR(at) ? 0 : (uint64_t)at;
}

static uint64_t end_of(uint64_t at, uint64_t n)
{
	return at + n < at ? ~0ul : at + n;
}

/* Gives the offset in the file at which a write begins. */
static uint64_t write_position(long fd, uint64_t given)
{
	struct stat st;

	if (CALL3(SYS_fcntl, fd, F_GETFL, 0) & O_APPEND && CALL2(SYS_fstat, fd, &st) == 0)
		return (uint64_t)st.st_size;
	return given;
}

static bool is_full(long fd)
{
	struct statfs s;

	return CALL2(SYS_fstatfs, fd, &s) == 0 && s.f_bavail == 0;
}

/* Makes a call that may write n bytes to an image (0: unknown). The image is in our folder, so the
 * program is not to blame if the folder is full: the run does not count. */
static long perform(long number, long a[6], uint64_t n)
{
	const long r = calls_perform(number, a);

	if (r == -ENOSPC || r == -EDQUOT || (r >= 0 && (uint64_t)r < n && is_full(a[0])))
		rt_unsound(NO_ROOM);
	return r;
}

static long call_transfer(const struct transfer *t, long a[6])
{
	int file = images_find_fd(a[0]);
	uint64_t at, n;
	long r;

	if (file < 0)
		return CALL_PASS;
	n = t->is_vector ? buffers_iov_bytes((uint64_t)a[1], (uint64_t)a[2]) : (uint64_t)a[2];
	if (!g_is_lazy)
		return perform(t->number, a, n);
	at = t->has_offset && a[3] != -1 ? (uint64_t)a[3] : position(a[0]);
	if (t->is_write)
		at = write_position(a[0], at);
	else
		lines_read((uint32_t)file, at, end_of(at, n), n <= 8);
	r = perform(t->number, a, t->is_write ? n : 0);
	if (t->is_write && !IS_ERROR(r))
		lines_written((uint32_t)file, at, at + (uint64_t)r);
	return r;
}

/* Makes a call that copies from one descriptor to another. in_at and out_at are the arguments that
 * point to an offset; without one, the descriptor's own position counts. */
static long call_copy(long number, long a[6], int in, int in_at, int out, int out_at, int len)
{
	int from = images_find_fd(a[in]), to = images_find_fd(a[out]);
	uint64_t at, to_at = 0;
	long r;

	if (from < 0 && to < 0)
		return CALL_PASS;
	if (!g_is_lazy)
		return to < 0 ? CALL_PASS : perform(number, a, 0);
	if (from >= 0) {
		if (!a[in_at] || !rt_copy_in(&at, (uint64_t)a[in_at], 8))
			at = position(a[in]);
		lines_read((uint32_t)from, at, end_of(at, (uint64_t)a[len]), false);
	}
	if (to >= 0 && (out_at < 0 || !a[out_at] || !rt_copy_in(&to_at, (uint64_t)a[out_at], 8)))
		to_at = write_position(a[out], position(a[out]));
	r = to < 0 ? calls_perform(number, a) : perform(number, a, 0);
	if (to >= 0 && !IS_ERROR(r))
		lines_written((uint32_t)to, to_at, to_at + (uint64_t)r);
	return r;
}

/* Asks whether the call removes bytes [*from, *to) of the file. */
static bool is_removing(long number, const long a[6], uint64_t *from, uint64_t *to)
{
	*from = (uint64_t)(number == SYS_ftruncate ? a[1] : a[2]);
	*to = number == SYS_ftruncate ? ~0ul : *from + (uint64_t)a[3];
	return number == SYS_ftruncate || a[1] & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE);
}

/* Makes ftruncate and fallocate: bytes that these calls remove read as zero afterwards. */
static long call_resize(long number, long a[6])
{
	int file = images_find_fd(a[0]);
	uint64_t from, to;
	struct stat was;
	long r;

	if (file < 0)
		return CALL_PASS;
	if (g_is_lazy && number == SYS_fallocate &&
	    a[1] & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE |
		     FALLOC_FL_UNSHARE_RANGE))
		rt_unsound("fallocate moves parts of a PM file");
	if (CALL2(SYS_fstat, a[0], &was) != 0)
		was.st_size = 0;
	r = perform(number, a, 0);
	if (IS_ERROR(r) || !is_removing(number, a, &from, &to))
		return r;
	if (g_is_lazy)
		lines_written((uint32_t)file, from, to);
	if (to >= (uint64_t)was.st_size)
		images_note_cut((uint32_t)file, from, (uint64_t)was.st_size);
	return r;
}

long fileio_call(long number, long a[6])
{
	for (size_t i = 0; i < sizeof(transfers) / sizeof(transfers[0]); i++)
		if (transfers[i].number == number && (g_is_lazy || transfers[i].is_write))
			return call_transfer(&transfers[i], a);
	switch (number) {
	case SYS_sendfile: return call_copy(number, a, 1, 2, 0, -1, 3);
	case SYS_splice: return call_copy(number, a, 0, 1, 2, 3, 4);
	case SYS_copy_file_range: return call_copy(number, a, 0, 1, 2, 3, 4);
	case SYS_ftruncate:
	case SYS_fallocate: return call_resize(number, a);
	default: return CALL_PASS;
	}
}
