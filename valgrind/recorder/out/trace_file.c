/* Keeps the trace file open. Its descriptor has a number that the program is unlikely to close, and
 * the file is opened again if the descriptor was closed. The program's limits on files do not apply
 * to the trace. */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/out/trace_file.h"

#include "pub_tool_libcfile.h"

#define F_DUPFD_CLOEXEC 1030 /* Valgrind's headers lack it */
#define RLIMIT_FSIZE 1
#define EOPNOTSUPP 95
#define ESTALE 116

static Int g_fd = -1;
static ULong g_inode;

/* Gives the trace's descriptor. It stays open, so that setuid and chroot do no harm. */
Int trace_file_open(void)
{
	struct vg_stat st;
	struct vki_rlimit limit;
	SysRes r;
	Long high;

	if (g_fd >= 0 && VG_(fstat)(g_fd, &st) == 0 && st.ino == g_inode)
		return g_fd;
	r = VG_(open)(clo_trace_file, VKI_O_RDWR | (g_inode ? 0 : VKI_O_CREAT), 0644);
	if (sr_isError(r))
		return -(Int)sr_Err(r);
	g_fd = sr_Res(r);
	if (VG_(fstat)(g_fd, &st) != 0 || (g_inode != 0 && st.ino != g_inode))
		return -ESTALE; /* another trace has the name now */
	g_inode = st.ino;
	/* Valgrind keeps the last few descriptors below the limit for itself */
	if (sys_getrlimit(VKI_RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 64) {
		high = sys_fcntl(g_fd, F_DUPFD_CLOEXEC, limit.rlim_cur - 4);
		if (high >= 0) {
			VG_(close)(g_fd);
			g_fd = high;
		}
	}
	return g_fd;
}

static Long write_zeros(Int fd, ULong offset, SizeT len)
{
	static const UChar zeros[PMT_PAGE_BYTES];
	Long r = sys_fallocate(fd, 0, offset, len);

	if (r != -EOPNOTSUPP && r != -VKI_ENOSYS)
		return r;
	for (SizeT i = 0; i < len; i += sizeof zeros) {
		r = sys_pwrite(fd, zeros, sizeof zeros, offset + i);
		if (r != (Long)sizeof zeros)
			return r < 0 ? r : -VKI_ENOSPC;
	}
	return 0;
}

static Long write_bytes(Int fd, ULong offset, const UChar *bytes, SizeT len)
{
	while (len > 0) {
		Long r = sys_pwrite(fd, bytes, len, offset);

		if (r <= 0)
			return r < 0 ? r : -VKI_ENOSPC;
		bytes += r;
		offset += r;
		len -= r;
	}
	return 0;
}

/* Writes to the trace. The program's limit on file sizes is lifted for that, because exceeding it
 * sends a signal that kills. */
Long trace_file_write(Int fd, ULong offset, const void *bytes, SizeT len)
{
	struct vki_rlimit limit, none;
	Bool is_limited = sys_getrlimit(RLIMIT_FSIZE, &limit) >= 0 && limit.rlim_cur < offset + len;
	Long r;

	if (is_limited) {
		if (limit.rlim_max < offset + len)
			return -VKI_EFBIG;
		none = (struct vki_rlimit){ limit.rlim_max, limit.rlim_max };
		sys_setrlimit(RLIMIT_FSIZE, &none);
	}
	r = bytes != NULL ? write_bytes(fd, offset, bytes, len) : write_zeros(fd, offset, len);
	if (is_limited)
		sys_setrlimit(RLIMIT_FSIZE, &limit);
	return r;
}
