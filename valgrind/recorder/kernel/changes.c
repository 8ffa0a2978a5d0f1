/* Finds the file whose content, mode or owner a call is about to change, by descriptor or by name.
 * Changes by other means (io_uring, a mapping that is not PM) are not seen. */
#include "valgrind/recorder/kernel/changes.h"

#include "valgrind/common/sys.h"
#include "valgrind/recorder/kernel/client.h"
#include "valgrind/recorder/pm/pm.h"

#include "pub_tool_vkiscnums.h"

static void name_changes(ThreadId tid, Int dirfd, UWord path, Bool follow)
{
	static HChar buf[PMT_PAGE_BYTES];

	old_path_changes(tid, client_absolute_path_at(buf, sizeof buf, dirfd, path), follow);
}

static void open_changes(ThreadId tid, Int dirfd, UWord path, UInt flags)
{
	if (flags & VKI_O_TRUNC)
		name_changes(tid, dirfd, path, True);
}

void changes_before(ThreadId tid, UInt number, const UWord *args)
{
	switch (number) {
	case __NR_write:
	case __NR_writev:
	case __NR_pwrite64:
	case __NR_pwritev:
	case __NR_pwritev2:
	case __NR_ftruncate:
	case __NR_fallocate:
	case __NR_fchmod:
	case __NR_fchown:
	case __NR_sendfile: old_fd_changes(tid, args[0]); break;
	case __NR_copy_file_range: old_fd_changes(tid, args[2]); break;
	case __NR_chmod:
	case __NR_chown: name_changes(tid, VKI_AT_FDCWD, args[0], True); break;
	case __NR_lchown: name_changes(tid, VKI_AT_FDCWD, args[0], False); break;
	case __NR_fchmodat:
	case __NR_fchownat: name_changes(tid, args[0], args[1], True); break;
	case __NR_truncate: name_changes(tid, VKI_AT_FDCWD, args[0], True); break;
	case __NR_creat: name_changes(tid, VKI_AT_FDCWD, args[0], True); break;
	case __NR_open: open_changes(tid, VKI_AT_FDCWD, args[0], args[1]); break;
	case __NR_openat: open_changes(tid, args[0], args[1], args[2]); break;
	case __NR_unlink: name_changes(tid, VKI_AT_FDCWD, args[0], False); break;
	case __NR_unlinkat: name_changes(tid, args[0], args[1], False); break;
	case __NR_rename:
		name_changes(tid, VKI_AT_FDCWD, args[0], False);
		name_changes(tid, VKI_AT_FDCWD, args[1], False);
		break;
	case __NR_renameat:
	case __NR_renameat2:
		name_changes(tid, args[0], args[1], False);
		name_changes(tid, args[2], args[3], False);
		break;
	default: break;
	}
}
