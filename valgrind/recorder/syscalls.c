/* System calls that change PM or what is known of it, that order it (msync…), or that acknowledge something (output).
 * Kernel writes into mapped buffers (read, recv…) are not here: Valgrind reports them itself, see main.c.
 * Limit: io_uring, Linux AIO and changes by processes that are not recorded are not seen; the trace says so. */
#include "valgrind/recorder/rec.h"
#include "valgrind/common/arch.h"
#include "valgrind/common/sys.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_vkiscnums.h"

/* What Valgrind's headers lack. */
#define RENAME_EXCHANGE 2
#define MADV_REMOVE 9
#define RWF_APPEND 0x10
#define FALLOC_PUNCH_HOLE 3 /* with FALLOC_FL_KEEP_SIZE */

/* Between before and after of one thread's call. */
static struct {
	UInt number;
	Addr buffer;		 /* recvfrom's */
	Bool did_not_exist;	 /* open: the file is being made */
	Bool truncates;		 /* open: with O_TRUNC */
	Bool exchanges;		 /* rename: with RENAME_EXCHANGE */
	UInt file;		 /* unlink, rename: the PM file it is about */
	UInt replaced;		 /* rename: the PM file that goes */
} g_call[512];

const HChar *client_string(UWord a)
{
	for (Addr at = a;; at++) {
		if ((at == a || at % PMT_PAGE_BYTES == 0) && !VG_(am_is_valid_for_client)(at, 1, VKI_PROT_READ))
			return "";
		if (*(const HChar *)at == '\0')
			return (const HChar *)a;
		if (at - a >= PMT_PAGE_BYTES)
			return ""; /* longer than a path can be */
	}
}

static const HChar *path_at(HChar *buf, SizeT cap, Int dirfd, UWord a)
{
	const HChar *path = client_string(a);

	if (path[0] == '/' || dirfd == VKI_AT_FDCWD)
		return path;
	VG_(snprintf)(buf, cap, "/proc/self/fd/%d/%s", dirfd, path);
	return buf;
}

/* The same as a name that means something later, too. */
static const HChar *absolute_path_at(HChar *buf, SizeT cap, Int dirfd, UWord a)
{
	const HChar *path = client_string(a);
	HChar link[64];
	SSizeT n;

	if (path[0] == '/')
		return path;
	if (dirfd == VKI_AT_FDCWD)
		VG_(sprintf)(link, "/proc/self/cwd");
	else
		VG_(sprintf)(link, "/proc/self/fd/%d", dirfd);
	n = VG_(readlink)(link, buf, cap);
	if (n <= 0 || n + 1 + VG_(strlen)(path) >= cap)
		return path;
	buf[n] = '/';
	VG_(strcpy)(buf + n + 1, path);
	return buf;
}

static void before_open(ThreadId tid, Int dirfd, UWord path, UInt flags)
{
	static HChar buf[PMT_PAGE_BYTES];
	struct vg_stat st;

	g_call[tid].truncates = (flags & VKI_O_TRUNC) != 0;
	g_call[tid].did_not_exist = (flags & VKI_O_CREAT) && sr_isError(VG_(stat)(path_at(buf, sizeof buf, dirfd, path), &st));
}

static void before_remove(ThreadId tid, Int dirfd, UWord path)
{
	static HChar buf[PMT_PAGE_BYTES];
	UInt nlink = 0;

	g_call[tid].file = pm_file_of_path(path_at(buf, sizeof buf, dirfd, path), False, &nlink);
	if (nlink != 1)
		g_call[tid].file = 0; /* has other names */
}

static void before_rename(ThreadId tid, Int from_fd, UWord from, Int to_fd, UWord to, UInt flags)
{
	static HChar buf[PMT_PAGE_BYTES];
	UInt nlink = 0, replaced_nlink = 0;

	g_call[tid].exchanges = (flags & RENAME_EXCHANGE) != 0;
	g_call[tid].file = pm_file_of_path(path_at(buf, sizeof buf, from_fd, from), False, &nlink);
	g_call[tid].replaced = pm_file_of_path(path_at(buf, sizeof buf, to_fd, to), False, &replaced_nlink);
	if (g_call[tid].file == g_call[tid].replaced)
		g_call[tid].file = g_call[tid].replaced = 0; /* two names of one file: nothing happens */
	if (replaced_nlink != 1 && !g_call[tid].exchanges)
		g_call[tid].replaced = 0; /* has other names */
}

void syscalls_before(ThreadId tid, UInt number, UWord *args, UInt nargs)
{
	g_call[tid].number = number;
	switch (number) {
	case __NR_recvfrom: g_call[tid].buffer = args[1]; break;
	case __NR_open: before_open(tid, VKI_AT_FDCWD, args[0], args[1]); break;
	case __NR_openat: before_open(tid, args[0], args[1], args[2]); break;
	case __NR_creat: before_open(tid, VKI_AT_FDCWD, args[0], VKI_O_CREAT | VKI_O_TRUNC); break;
	case __NR_unlink: before_remove(tid, VKI_AT_FDCWD, args[0]); break;
	case __NR_unlinkat: before_remove(tid, args[0], args[1]); break;
	case __NR_rename: before_rename(tid, VKI_AT_FDCWD, args[0], VKI_AT_FDCWD, args[1], 0); break;
	case __NR_renameat: before_rename(tid, args[0], args[1], args[2], args[3], 0); break;
	case __NR_renameat2: before_rename(tid, args[0], args[1], args[2], args[3], args[4]); break;
	case __NR_execve: {
		const HChar *path = client_string(args[0]);

		emit_event(tid, PMT_EXEC, 0, NULL, path, VG_(strlen)(path));
		if (!clo_follow)
			emit_event(tid, PMT_INCOMPLETE, 0, NULL, "the executed program is not recorded", 36);
		out_close();
		break;
	}
	case __NR_exit_group: g_exit_status = (Int)args[0] & 0xff; break;
	case __NR_io_uring_setup:
	case __NR_io_setup: emit_event(tid, PMT_INCOMPLETE, 0, NULL, "asynchronous I/O is not seen", 28); break;
	default: break;
	}
}

/* ---- after the call ---- */

/* How much of what Valgrind takes for written was: it does not look at recvfrom's result. */
SizeT syscalls_written(ThreadId tid, Addr a, SizeT len)
{
	ULong result;

	if (g_call[tid].number != __NR_recvfrom || a != g_call[tid].buffer)
		return len;
	VG_(get_shadow_regs_area)(tid, (UChar *)&result, 0, arch_result_offset, sizeof result);
	return result < len ? result : len;
}

static Bool is_acknowledgement(Int fd)
{
	struct vg_stat st;

	return out_has_files() && (fd == 1 || (VG_(fstat)(fd, &st) == 0 && VKI_S_ISSOCK(st.mode)));
}

static void after_output(ThreadId tid, Int fd, const void *data, SizeT available, SizeT n)
{
	ULong args[2] = { fd, n };
	UInt shown = n < available ? n : available;

	if (is_acknowledgement(fd))
		emit_event(tid, PMT_OUTPUT, 0, args, data, shown < PMT_OUTPUT_BYTES ? shown : PMT_OUTPUT_BYTES);
}

static void after_vector_output(ThreadId tid, Int fd, const struct vki_iovec *iov, SizeT count, SizeT n)
{
	UChar data[PMT_OUTPUT_BYTES];
	SizeT filled = 0;

	/* the kernel has read n bytes; what lies beyond may not be there */
	for (SizeT i = 0; i < count && filled < sizeof data && filled < n; i++) {
		SizeT room = n < sizeof data ? n - filled : sizeof data - filled;
		SizeT part = iov[i].iov_len < room ? iov[i].iov_len : room;

		VG_(memcpy)(data + filled, iov[i].iov_base, part);
		filled += part;
	}
	after_output(tid, fd, data, filled, n);
}

/* n bytes were written at the file's position, which has moved on. */
static void after_write_at_position(ThreadId tid, Int fd, SizeT n)
{
	if (pm_file_of_fd(fd) != 0)
		pm_file_written(tid, fd, VG_(lseek)(fd, 0, VKI_SEEK_CUR) - n, n);
}

/* n bytes were written at an offset, unless the descriptor or the call says that they go to the end. */
static void after_write_at(ThreadId tid, Int fd, ULong offset, SizeT n, Bool appends)
{
	struct vg_stat st;

	if (pm_file_of_fd(fd) == 0)
		return;
	if ((appends || (sys_fcntl(fd, 3 /* F_GETFL */, 0) & VKI_O_APPEND)) && VG_(fstat)(fd, &st) == 0)
		offset = st.size - n;
	pm_file_written(tid, fd, offset, n);
}

static void after_fallocate(ThreadId tid, Int fd, ULong mode, ULong offset, ULong len)
{
	ULong args[4] = { pm_file_of_fd(fd), mode, offset, len };
	struct vg_stat st;

	if (args[0] == 0)
		return;
	emit_event(tid, PMT_FALLOCATE, 0, args, NULL, 0);
	if (VG_(fstat)(fd, &st) == 0)
		pm_file_resized(tid, args[0], st.size);
}

static void after_sync(ThreadId tid, enum pmt_kind kind, UInt file)
{
	ULong args[1] = { file };

	emit_event(tid, kind, 0, args, NULL, 0);
}

/* madvise(MADV_REMOVE) is a hole punched into the file. */
static void remove_part(Addr va, ULong addr, SizeT len, void *arg)
{
	ULong args[4] = { PMT_FILE(addr), FALLOC_PUNCH_HOLE, PMT_OFFSET(addr), len };

	(void)va;
	emit_event(*(ThreadId *)arg, PMT_FALLOCATE, 0, args, NULL, 0);
}

struct msync_call {
	ThreadId tid;
	ULong flags;
};

static void msync_part(Addr va, ULong addr, SizeT len, void *arg)
{
	const struct msync_call *m = arg;
	ULong args[2] = { len, m->flags };

	(void)va;
	emit_event(m->tid, PMT_MSYNC, addr, args, NULL, 0);
}

static void rename_event(ThreadId tid, UInt file, Int dirfd, UWord path)
{
	static HChar buf[PMT_PAGE_BYTES];
	const HChar *name = absolute_path_at(buf, sizeof buf, dirfd, path);
	ULong args[1] = { file };

	if (file != 0)
		emit_event(tid, PMT_RENAME, 0, args, name, VG_(strlen)(name));
}

static void after_rename(ThreadId tid, Int from_fd, UWord from, Int to_fd, UWord to)
{
	ULong args[1] = { g_call[tid].replaced };

	if (g_call[tid].exchanges) {
		rename_event(tid, g_call[tid].replaced, from_fd, from);
	} else if (args[0] != 0) {
		emit_event(tid, PMT_UNLINK, 0, args, NULL, 0);
		pm_file_gone(args[0]);
	}
	rename_event(tid, g_call[tid].file, to_fd, to);
}

static void after_remove(ThreadId tid)
{
	ULong args[1] = { g_call[tid].file };

	if (args[0] == 0)
		return;
	emit_event(tid, PMT_UNLINK, 0, args, NULL, 0);
	pm_file_gone(args[0]);
}

/* Calls that map, resize, sync or rename. */
static void after_file_call(ThreadId tid, UInt number, UWord *args, UWord result)
{
	UInt nlink, file;

	switch (number) {
	case __NR_open:
	case __NR_openat:
	case __NR_creat:
		if (g_call[tid].did_not_exist)
			pm_created(result);
		else if (g_call[tid].truncates)
			pm_file_resized(tid, pm_file_of_fd(result), 0);
		break;
	case __NR_mmap: pm_mapped(tid, result, args[1], args[2], args[3], args[4], args[5]); break;
	case __NR_munmap: pm_unmapped(tid, args[0], args[1]); break;
	case __NR_mremap: pm_moved(tid, args[0], args[1], result, args[2]); break;
	case __NR_mprotect: pm_protected(tid, args[0], args[1], args[2]); break;
	case __NR_msync: {
		struct msync_call m = { tid, args[2] };

		pm_each(args[0], VG_PGROUNDUP(args[1]), msync_part, &m);
		break;
	}
	case __NR_fsync:
	case __NR_fdatasync:
		file = pm_file_of_fd(args[0]);
		if (file != 0)
			after_sync(tid, number == __NR_fsync ? PMT_FSYNC : PMT_FDATASYNC, file);
		break;
	case __NR_sync:
	case __NR_syncfs:
		if (out_has_files())
			after_sync(tid, PMT_FSYNC, 0);
		break;
	case __NR_ftruncate: pm_file_resized(tid, pm_file_of_fd(args[0]), args[1]); break;
	case __NR_truncate: pm_file_resized(tid, pm_file_of_path(client_string(args[0]), True, &nlink), args[1]); break;
	case __NR_fallocate: after_fallocate(tid, args[0], args[1], args[2], args[3]); break;
	case __NR_unlink:
	case __NR_unlinkat: after_remove(tid); break;
	case __NR_rename: after_rename(tid, VKI_AT_FDCWD, args[0], VKI_AT_FDCWD, args[1]); break;
	case __NR_renameat:
	case __NR_renameat2: after_rename(tid, args[0], args[1], args[2], args[3]); break;
	case __NR_madvise:
		if (args[2] == MADV_REMOVE)
			pm_each(args[0], VG_PGROUNDUP(args[1]), remove_part, &tid);
		break;
	default: break;
	}
}

/* Calls that write to a descriptor: PM by way of its file, or output. */
static void after_write_call(ThreadId tid, UInt number, UWord *args, UWord n)
{
	switch (number) {
	case __NR_write:
		after_write_at_position(tid, args[0], n);
		after_output(tid, args[0], (const void *)args[1], args[2], n);
		break;
	case __NR_writev:
		after_write_at_position(tid, args[0], n);
		after_vector_output(tid, args[0], (const struct vki_iovec *)args[1], args[2], n);
		break;
	case __NR_pwrite64:
	case __NR_pwritev: after_write_at(tid, args[0], args[3], n, False); break;
	case __NR_pwritev2:
		if ((Long)args[3] == -1)
			after_write_at_position(tid, args[0], n);
		else
			after_write_at(tid, args[0], args[3], n, (args[5] & RWF_APPEND) != 0);
		break;
	case __NR_sendto: after_output(tid, args[0], (const void *)args[1], args[2], n); break;
	case __NR_sendmsg: {
		const struct vki_msghdr *m = (const struct vki_msghdr *)args[1];

		after_vector_output(tid, args[0], m->msg_iov, m->msg_iovlen, n);
		break;
	}
	case __NR_sendfile: after_write_at_position(tid, args[0], n); break;
	case __NR_copy_file_range:
	case __NR_splice:
		/* by now an explicit offset has moved on, like a position */
		if (args[3] != 0)
			pm_file_written(tid, args[2], *(const ULong *)args[3] - n, n);
		else
			after_write_at_position(tid, args[2], n);
		break;
	default: break;
	}
}

void syscalls_after(ThreadId tid, UInt number, UWord *args, UInt nargs, SysRes result)
{
	if (number == __NR_execve) { /* it failed, or we would not be here */
		out_resume();
		return;
	}
	if (sr_isError(result))
		return;
	after_file_call(tid, number, args, sr_Res(result));
	if (out_has_files())
		after_write_call(tid, number, args, sr_Res(result));
}
