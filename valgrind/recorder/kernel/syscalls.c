/* Follows system calls that change PM or its files, that order it (msync…), or that acknowledge
 * something (output). Kernel writes into mapped buffers (read, recv…) are not here: Valgrind
 * reports them itself, see main.c. Limits: io_uring, and processes that are not recorded, are not
 * seen; the trace says so. */
#include "valgrind/recorder/kernel/syscalls.h"

#include "valgrind/common/arch.h"
#include "valgrind/common/open_files.h"
#include "valgrind/common/sys.h"
#include "valgrind/recorder/kernel/async.h"
#include "valgrind/recorder/kernel/changes.h"
#include "valgrind/recorder/kernel/client.h"
#include "valgrind/recorder/kernel/into.h"
#include "valgrind/recorder/kernel/names.h"
#include "valgrind/recorder/kernel/writes.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/out/out.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/place/stack.h"
#include "valgrind/recorder/pm/pm.h"
#include "valgrind/recorder/schedule/points.h"
#include "valgrind/recorder/schedule/turns.h"

#include "pub_tool_libcfile.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"

/* Valgrind's headers lack these. */
#define FICLONE 0x40049409u
#define FICLONERANGE 0x4020940du
#define MADV_REMOVE 9
#define FALLOC_PUNCH_HOLE 3 /* with FALLOC_FL_KEEP_SIZE */
#define FALLOC_ZEROES 0x12u /* FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE */
#define FALLOC_MOVES 0x28u  /* FALLOC_FL_COLLAPSE_RANGE, FALLOC_FL_INSERT_RANGE */

Int g_exit_status = -1;
UInt g_nthreads;

/* Notes between the beginning and the end of a thread's call. */
static struct {
	UInt number;
	Addr buffer; /* of recvfrom */
} g_call[512];

static void before_exec(ThreadId tid, UWord name)
{
	const HChar *path = client_string(name);

	emit_event(tid, PMT_EXEC, 0, NULL, path, VG_(strlen)(path));
	if (!clo_follow)
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, "the executed program is not recorded",
			   36);
	made_before_exec();
	out_close();
}

/* Called before the process exits: marks the threads that the exit cuts off. What they had no
 * chance to do is not judged. */
static void before_exit(ThreadId tid, Int status)
{
	static const HChar cut[] = "cut=exit";

	g_exit_status = status & 0xff;
	if (!shared_has_files())
		return;
	for (ThreadId other = 1; other < VG_N_THREADS; other++)
		if (other != tid && stack_thread_number(other) != 0)
			emit_event(other, PMT_META, 0, NULL, cut, sizeof cut - 1);
}

static void before_change(ThreadId tid, Int fd)
{
	followed_fd(tid, fd);
	beside_before_fd(tid, fd);
}

/* Does the call change or sync what is followed with --files? Which thread makes it first matters
 * then. */
static Bool is_file_call(UInt number)
{
	switch (number) {
	case __NR_write:
	case __NR_writev:
	case __NR_pwrite64:
	case __NR_pwritev:
	case __NR_pwritev2:
	case __NR_sendfile:
	case __NR_copy_file_range:
	case __NR_fallocate:
	case __NR_ftruncate:
	case __NR_truncate:
	case __NR_fsync:
	case __NR_fdatasync:
	case __NR_sync_file_range:
	case __NR_rename:
	case __NR_renameat:
	case __NR_renameat2:
	case __NR_link:
	case __NR_unlink:
	case __NR_linkat:
	case __NR_unlinkat: return True;
	default: return False;
	}
}

void syscalls_before(ThreadId tid, UInt number, UWord *args, UInt nargs)
{
	g_call[tid].number = number;
	if (clo_schedule) {
		turns_before_call(tid, number, args);
		if (followed_folder(0) != NULL && is_file_call(number))
			points_call();
	}
	open_files_before(number, args);
	if (clo_stop_at_old)
		changes_before(tid, number, args);
	switch (number) {
	case __NR_recvfrom: g_call[tid].buffer = args[1]; break;
	case __NR_open: names_before_open(tid, VKI_AT_FDCWD, args[0], args[1]); break;
	case __NR_openat: names_before_open(tid, args[0], args[1], args[2]); break;
	case __NR_creat:
		names_before_open(tid, VKI_AT_FDCWD, args[0], VKI_O_CREAT | VKI_O_TRUNC);
		break;
	case __NR_unlink: names_before_remove(tid, VKI_AT_FDCWD, args[0]); break;
	case __NR_unlinkat: names_before_remove(tid, args[0], args[1]); break;
	case __NR_rmdir: names_before_remove(tid, VKI_AT_FDCWD, args[0]); break;
	case __NR_link: names_before_link(tid, VKI_AT_FDCWD, args[0]); break;
	case __NR_linkat: names_before_link(tid, args[0], args[1]); break;
	case __NR_rename:
		names_before_rename(tid, VKI_AT_FDCWD, args[0], VKI_AT_FDCWD, args[1], 0);
		break;
	case __NR_renameat: names_before_rename(tid, args[0], args[1], args[2], args[3], 0); break;
	case __NR_renameat2:
		names_before_rename(tid, args[0], args[1], args[2], args[3], args[4]);
		break;
	case __NR_write:
	case __NR_writev:
	case __NR_pwrite64:
	case __NR_pwritev:
	case __NR_pwritev2:
	case __NR_sendfile:
	case __NR_fallocate:
	case __NR_ftruncate: before_change(tid, args[0]); break;
	case __NR_fsync:
	case __NR_fdatasync: followed_fd(tid, args[0]); break;
	case __NR_truncate: names_before_truncate(tid, args[0]); break;
	case __NR_copy_file_range:
	case __NR_splice: before_change(tid, args[2]); break;
	case __NR_execve: before_exec(tid, args[0]); break;
	case __NR_exit:
		if (g_nthreads == 1)
			g_exit_status = (Int)args[0] & 0xff;
		break;
	case __NR_exit_group: before_exit(tid, (Int)args[0]); break;
	default: break;
	}
}

/* ---- after the call ---- */

/* Gives how many bytes the kernel really wrote of those that Valgrind reports. Valgrind ignores the
 * result of recvfrom. */
SizeT syscalls_written(ThreadId tid, Addr a, SizeT len)
{
	ULong result;

	if (g_call[tid].number != __NR_recvfrom || a != g_call[tid].buffer)
		return len;
	VG_(get_shadow_regs_area)(tid, (UChar *)&result, 0, arch_result_offset, sizeof result);
	return result < len ? result : len;
}

static void after_fallocate(ThreadId tid, Int fd, ULong mode, ULong offset, ULong len)
{
	ULong args[4] = { pm_file_of_fd(fd), mode, offset, len };
	struct vg_stat st;

	if (args[0] == 0) {
		pm_gone_changed(tid, fd);
		made_resized(tid, fd);
		beside_after_fd(tid, fd);
		return;
	}
	emit_event(tid, PMT_FALLOCATE, 0, args, NULL, 0);
	if (mode & FALLOC_MOVES)
		handed_zeroed(args[0], 0, ~0ULL);
	else if (mode & FALLOC_ZEROES)
		handed_zeroed(args[0], offset, len);
	if (VG_(fstat)(fd, &st) == 0)
		pm_file_resized(tid, args[0], st.size);
}

static void after_sync(ThreadId tid, enum pmt_kind kind, UInt file)
{
	ULong args[1] = { file };

	emit_event(tid, kind, 0, args, NULL, 0);
}

/* Handles madvise(MADV_REMOVE), which punches a hole into the file. */
static void remove_part(Addr va, ULong addr, SizeT len, void *arg)
{
	ULong args[4] = { PMT_FILE(addr), FALLOC_PUNCH_HOLE, PMT_OFFSET(addr), len };

	(void)va;
	handed_zeroed(PMT_FILE(addr), PMT_OFFSET(addr), len);
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

/* Handles calls that map, resize, sync or rename. */
static void after_file_call(ThreadId tid, UInt number, UWord *args, UWord result)
{
	UInt nlink, file;

	switch (number) {
	case __NR_open:
	case __NR_openat:
	case __NR_creat: names_after_open(tid, result); break;
	case __NR_mmap: pm_mapped(tid, result, args[1], args[2], args[3], args[4], args[5]); break;
	case __NR_munmap: pm_unmapped(tid, args[0], args[1]); break;
	case __NR_mremap: pm_moved(tid, args[0], args[1], result, args[2]); break;
	case __NR_mprotect: pm_protected(tid, args[0], args[1], args[2]); break;
	case __NR_msync: {
		struct msync_call m = { tid, args[2] };

		pm_each(args[0], VG_PGROUNDUP(args[1]), msync_part, &m);
		if (args[2] & 4 /* MS_SYNC */)
			made_msynced(args[0], VG_PGROUNDUP(args[1]));
		break;
	}
	case __NR_fsync:
	case __NR_fdatasync:
		file = pm_file_of_fd(args[0]);
		if (file != 0)
			after_sync(tid, number == __NR_fsync ? PMT_FSYNC : PMT_FDATASYNC, file);
		else
			made_synced(args[0]);
		break;
	case __NR_sync:
	case __NR_syncfs:
		if (shared_has_files())
			after_sync(tid, PMT_FSYNC, 0);
		made_all_synced();
		break;
	case __NR_ftruncate:
		pm_file_resized(tid, pm_file_of_fd(args[0]), args[1]);
		beside_after_fd(tid, args[0]);
		pm_gone_changed(tid, args[0]);
		made_resized(tid, args[0]);
		break;
	case __NR_truncate:
		pm_file_resized(tid, pm_file_of_path(client_string(args[0]), True, &nlink),
				args[1]);
		names_after_truncate(tid, args[0]);
		break;
	case __NR_fallocate: after_fallocate(tid, args[0], args[1], args[2], args[3]); break;
	case __NR_unlink: names_after_remove(tid, VKI_AT_FDCWD, args[0]); break;
	case __NR_unlinkat: names_after_remove(tid, args[0], args[1]); break;
	case __NR_rename:
		names_after_rename(tid, VKI_AT_FDCWD, args[0], VKI_AT_FDCWD, args[1], 0);
		break;
	case __NR_renameat: names_after_rename(tid, args[0], args[1], args[2], args[3], 0); break;
	case __NR_renameat2:
		names_after_rename(tid, args[0], args[1], args[2], args[3], args[4]);
		break;
	case __NR_rmdir: names_after_remove(tid, VKI_AT_FDCWD, args[0]); break;
	case __NR_mkdir: names_after_make(tid, VKI_AT_FDCWD, args[0], False); break;
	case __NR_mkdirat: names_after_make(tid, args[0], args[1], False); break;
	case __NR_symlink: names_after_make(tid, VKI_AT_FDCWD, args[1], False); break;
	case __NR_symlinkat: names_after_make(tid, args[1], args[2], False); break;
	case __NR_link: names_after_make(tid, VKI_AT_FDCWD, args[1], True); break;
	case __NR_linkat: names_after_make(tid, args[2], args[3], True); break;
	case __NR_sync_file_range: {
		ULong range[2] = { args[2], args[3] };

		if (pm_file_of_fd(args[0]) != 0 && followed_any())
			emit_event(tid, PMT_SYNC_RANGE, PMT_ADDR(pm_file_of_fd(args[0]), args[1]),
				   range, NULL, 0);
		break;
	}
	case __NR_ioctl:
		if (args[1] == FICLONE || args[1] == FICLONERANGE)
			made_changed(args[0]);
		if ((args[1] == FICLONE || args[1] == FICLONERANGE) && pm_file_of_fd(args[0]) != 0)
			emit_event(tid, PMT_INCOMPLETE, 0, NULL, "FICLONE is not followed", 23);
		break;
	case __NR_io_uring_setup:
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, "asynchronous I/O is not seen", 28);
		break;
	case __NR_madvise:
		if (args[2] == MADV_REMOVE)
			pm_each(args[0], VG_PGROUNDUP(args[1]), remove_part, &tid);
		break;
	default: break;
	}
}

/* Handles a write while there is no PM yet. */
static void written_early(UInt number, const UWord *args)
{
	switch (number) {
	case __NR_write:
	case __NR_writev:
	case __NR_pwrite64:
	case __NR_pwritev:
	case __NR_sendfile: made_written(args[0], writes_sync(args[0], 0)); break;
	case __NR_pwritev2: made_written(args[0], writes_sync(args[0], args[5])); break;
	case __NR_copy_file_range:
	case __NR_splice: made_written(args[2], writes_sync(args[2], 0)); break;
	default: break;
	}
}

void syscalls_after(ThreadId tid, UInt number, UWord *args, UInt nargs, SysRes result)
{
	if (clo_schedule)
		turns_after_call(tid, number, result);
	open_files_after(number, args, result);
	if (number == __NR_execve) { /* it failed, otherwise it would not return */
		out_resume();
		return;
	}
	if (sr_isError(result))
		return;
	after_file_call(tid, number, args, sr_Res(result));
	if (!shared_has_files()) {
		written_early(number, args);
		return;
	}
	writes_after(tid, number, args, sr_Res(result));
	into_after(tid, number, args, sr_Res(result));
	async_after(tid, number, args, sr_Res(result));
}
