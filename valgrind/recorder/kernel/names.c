/* Follows files that are made, removed or renamed. Which PM file a name belongs to is noted before
 * the call, because it is too late afterwards. */
#include "valgrind/recorder/kernel/names.h"

#include "valgrind/common/sys.h"
#include "valgrind/recorder/kernel/client.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/pm.h"

#include "pub_tool_libcfile.h"

#define RENAME_EXCHANGE 2 /* Valgrind's headers lack it */
#define O_TMPFILE_BIT 020000000u

/* Notes between the beginning and the end of a thread's call. */
static struct {
	Bool did_not_exist; /* open: the file is being made */
	Bool truncates;     /* open: with O_TRUNC */
	Bool exchanges;     /* rename: with RENAME_EXCHANGE */
	Bool replaces;      /* rename: the new name exists */
	UInt file;          /* unlink, rename: the PM file that it is about */
	UInt replaced;      /* unlink, rename: the PM file that disappears */
	/* with --files: of any type, and with any number of names */
	UInt followed, followed_replaced;
	Bool ends; /* unlink, rename: a folder or a symbolic link disappears, with its inode */
} g_call[512];

static Bool is_folder_or_link(const HChar *path)
{
	struct vki_stat st;

	return sys_lstat(path, &st) >= 0 &&
	       (VKI_S_ISDIR(st.st_mode) || (VKI_S_ISLNK(st.st_mode) && st.st_nlink == 1));
}

void names_before_open(ThreadId tid, Int dirfd, UWord path, UInt flags)
{
	static HChar buf[PMT_PAGE_BYTES];
	struct vg_stat st;

	if (followed_any())
		followed_target(tid, client_absolute_path_at(buf, sizeof buf, dirfd, path));
	g_call[tid].truncates = (flags & VKI_O_TRUNC) != 0;
	if (g_call[tid].truncates)
		beside_before(tid, client_absolute_path_at(buf, sizeof buf, dirfd, path));
	g_call[tid].did_not_exist =
		(flags & O_TMPFILE_BIT) ||
		((flags & VKI_O_CREAT) &&
		 sr_isError(VG_(stat)(client_path_at(buf, sizeof buf, dirfd, path), &st)));
}

void names_before_remove(ThreadId tid, Int dirfd, UWord path)
{
	static HChar buf[PMT_PAGE_BYTES];
	UInt nlink = 0;

	g_call[tid].followed =
		followed_at(tid, client_absolute_path_at(buf, sizeof buf, dirfd, path));
	g_call[tid].ends = is_folder_or_link(client_path_at(buf, sizeof buf, dirfd, path));
	beside_before(tid, client_absolute_path_at(buf, sizeof buf, dirfd, path));
	g_call[tid].file =
		pm_file_of_path(client_path_at(buf, sizeof buf, dirfd, path), False, &nlink);
	if (nlink != 1)
		g_call[tid].file = 0; /* the file has other names */
}

void names_before_rename(ThreadId tid, Int from_fd, UWord from, Int to_fd, UWord to, UInt flags)
{
	static HChar buf[PMT_PAGE_BYTES];
	UInt nlink = 0, replaced_nlink = 0;
	struct vg_stat st;

	g_call[tid].followed =
		followed_at(tid, client_absolute_path_at(buf, sizeof buf, from_fd, from));
	g_call[tid].followed_replaced =
		followed_at(tid, client_absolute_path_at(buf, sizeof buf, to_fd, to));
	g_call[tid].ends = !(flags & RENAME_EXCHANGE) &&
			   is_folder_or_link(client_path_at(buf, sizeof buf, to_fd, to));
	beside_before(tid, client_absolute_path_at(buf, sizeof buf, from_fd, from));
	beside_before(tid, client_absolute_path_at(buf, sizeof buf, to_fd, to));
	g_call[tid].exchanges = (flags & RENAME_EXCHANGE) != 0;
	g_call[tid].file =
		pm_file_of_path(client_path_at(buf, sizeof buf, from_fd, from), False, &nlink);
	g_call[tid].replaced =
		pm_file_of_path(client_path_at(buf, sizeof buf, to_fd, to), False, &replaced_nlink);
	g_call[tid].replaces =
		!sr_isError(VG_(stat)(client_path_at(buf, sizeof buf, to_fd, to), &st));
	/* two names of one file: nothing happens */
	if (g_call[tid].file == g_call[tid].replaced)
		g_call[tid].file = g_call[tid].replaced = 0;
	if (replaced_nlink != 1 && !g_call[tid].exchanges)
		g_call[tid].replaced = 0; /* the file has other names */
}

static void rename_event(ThreadId tid, UInt file, Int dirfd, UWord path)
{
	static HChar buf[PMT_PAGE_BYTES];
	const HChar *name = client_absolute_path_at(buf, sizeof buf, dirfd, path);
	ULong args[1] = { file };

	if (file != 0)
		emit_event(tid, PMT_RENAME, 0, args, name, VG_(strlen)(name));
}

void names_after_rename(ThreadId tid, Int from_fd, UWord from, Int to_fd, UWord to, UInt flags)
{
	static HChar buf[PMT_PAGE_BYTES], other[PMT_PAGE_BYTES];
	ULong args[1] = { g_call[tid].replaced };

	/* Two names of one file: nothing happened. A file from outside has no number. */
	if (g_call[tid].followed != g_call[tid].followed_replaced || g_call[tid].followed == 0)
		followed_moved(tid, g_call[tid].followed, g_call[tid].followed_replaced,
			       client_absolute_path_at(buf, sizeof buf, from_fd, from),
			       client_absolute_path_at(other, sizeof other, to_fd, to), flags);
	if (g_call[tid].followed_replaced != 0 && g_call[tid].ends)
		pm_file_gone(g_call[tid].followed_replaced);
	if (g_call[tid].exchanges) {
		rename_event(tid, g_call[tid].replaced, from_fd, from);
	} else if (args[0] != 0) {
		emit_event(tid, PMT_UNLINK, 0, args, NULL, 0);
		pm_file_gone(args[0]);
	}
	rename_event(tid, g_call[tid].file, to_fd, to);
	made_renamed(client_absolute_path_at(buf, sizeof buf, to_fd, to),
		     !g_call[tid].replaces ? MADE_ALONE
		     : args[0] != 0        ? MADE_REPLACED_KNOWN
					   : MADE_REPLACED_UNKNOWN);
	beside_renamed(tid, client_absolute_path_at(buf, sizeof buf, from_fd, from),
		       client_absolute_path_at(other, sizeof other, to_fd, to));
}

/* Notes an existing file that is linked into a folder of --files. */
void names_before_link(ThreadId tid, Int dirfd, UWord path)
{
	static HChar buf[PMT_PAGE_BYTES];

	if (followed_any())
		followed_at(tid, client_absolute_path_at(buf, sizeof buf, dirfd, path));
}

void names_after_remove(ThreadId tid, Int dirfd, UWord path)
{
	static HChar buf[PMT_PAGE_BYTES];
	ULong args[1] = { g_call[tid].file };

	followed_removed(tid, g_call[tid].followed,
			 client_absolute_path_at(buf, sizeof buf, dirfd, path));
	if (g_call[tid].followed != 0 && g_call[tid].ends)
		pm_file_gone(g_call[tid].followed);
	beside_after(tid, client_absolute_path_at(buf, sizeof buf, dirfd, path));
	if (args[0] == 0)
		return;
	emit_event(tid, PMT_UNLINK, 0, args, NULL, 0);
	pm_file_gone(args[0]);
}

void names_before_truncate(ThreadId tid, UWord path)
{
	static HChar buf[PMT_PAGE_BYTES];
	const HChar *name = client_absolute_path_at(buf, sizeof buf, VKI_AT_FDCWD, path);

	followed_target(tid, name);
	beside_before(tid, name);
}

/* Writes a name that is new: link, mkdir, symlink. */
void names_after_make(ThreadId tid, Int dirfd, UWord path, Bool is_link)
{
	static HChar buf[PMT_PAGE_BYTES];
	const HChar *name = client_absolute_path_at(buf, sizeof buf, dirfd, path);

	if (is_link)
		pm_linked(tid, name);
	if (!followed_any())
		return;
	if (is_link)
		followed_linked(tid, name);
	else
		followed_made(tid, name);
}

void names_after_truncate(ThreadId tid, UWord path)
{
	static HChar buf[PMT_PAGE_BYTES];

	beside_after(tid, client_absolute_path_at(buf, sizeof buf, VKI_AT_FDCWD, path));
	made_changed_at(client_absolute_path_at(buf, sizeof buf, VKI_AT_FDCWD, path));
}

void names_after_open(ThreadId tid, Int fd)
{
	if (g_call[tid].did_not_exist) {
		pm_created(fd);
		old_fd_made(tid, fd);
		followed_made_fd(tid, fd);
	} else if (g_call[tid].truncates) {
		pm_file_resized(tid, pm_file_of_fd(fd), 0);
		made_changed(fd);
		beside_after_fd(tid, fd);
	}
	followed_fd(tid, fd);
}
