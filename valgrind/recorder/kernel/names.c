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
	/* unlink, rename: the PM file that it is about, and the one that disappears; file 0: none.
	 * With other names, only the name disappears. */
	struct named {
		UInt file, nlink;
		ULong dev, ino;
	} about, replaced;
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

/* Notes the PM file that has this name. */
static void note_named(struct named *n, const HChar *path)
{
	struct vg_stat st;

	n->file = pm_file_of_path(path, False, &n->nlink);
	if (n->file == 0 || sr_isError(VG_(stat)(path, &st)))
		return;
	n->dev = st.dev;
	n->ino = st.ino;
}

void names_before_remove(ThreadId tid, Int dirfd, UWord path)
{
	static HChar buf[PMT_PAGE_BYTES];

	g_call[tid].followed =
		followed_at(tid, client_absolute_path_at(buf, sizeof buf, dirfd, path));
	g_call[tid].ends = is_folder_or_link(client_path_at(buf, sizeof buf, dirfd, path));
	beside_before(tid, client_absolute_path_at(buf, sizeof buf, dirfd, path));
	note_named(&g_call[tid].about, client_path_at(buf, sizeof buf, dirfd, path));
}

void names_before_rename(ThreadId tid, Int from_fd, UWord from, Int to_fd, UWord to, UInt flags)
{
	static HChar buf[PMT_PAGE_BYTES];
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
	note_named(&g_call[tid].about, client_path_at(buf, sizeof buf, from_fd, from));
	note_named(&g_call[tid].replaced, client_path_at(buf, sizeof buf, to_fd, to));
	g_call[tid].replaces =
		!sr_isError(VG_(stat)(client_path_at(buf, sizeof buf, to_fd, to), &st));
	/* two names of one file: nothing happens */
	if (g_call[tid].about.file == g_call[tid].replaced.file)
		g_call[tid].about.file = g_call[tid].replaced.file = 0;
	folder_renames(tid, client_absolute_path_at(buf, sizeof buf, from_fd, from));
}

static void rename_to(ThreadId tid, UInt file, const HChar *name)
{
	const ULong args[1] = { file };

	emit_event(tid, PMT_RENAME, 0, args, name, VG_(strlen)(name));
	name_is(file, name);
}

static void rename_event(ThreadId tid, UInt file, Int dirfd, UWord path)
{
	static HChar buf[PMT_PAGE_BYTES];

	if (file != 0)
		rename_to(tid, file, client_absolute_path_at(buf, sizeof buf, dirfd, path));
}

/* Writes to the trace that a file has lost a name. If that was its name in the trace, it has one of
 * its others now. */
static void name_gone(ThreadId tid, const struct named *n)
{
	const ULong args[1] = { n->file };
	const HChar *other;

	if (n->file == 0)
		return;
	if (n->nlink == 1) {
		emit_event(tid, PMT_UNLINK, 0, args, NULL, 0);
		pm_file_gone(n->file);
	} else if (!followed_any() && (other = name_after(n->file, n->dev, n->ino)) != NULL) {
		rename_to(tid, n->file, other);
	}
}

void names_after_rename(ThreadId tid, Int from_fd, UWord from, Int to_fd, UWord to, UInt flags)
{
	static HChar buf[PMT_PAGE_BYTES], other[PMT_PAGE_BYTES];
	const struct named *about = &g_call[tid].about, *replaced = &g_call[tid].replaced;
	const Bool is_known = replaced->file != 0 && replaced->nlink == 1;

	/* Two names of one file: nothing happened. A file from outside has no number. */
	if (g_call[tid].followed != g_call[tid].followed_replaced || g_call[tid].followed == 0)
		followed_moved(tid, g_call[tid].followed, g_call[tid].followed_replaced,
			       client_absolute_path_at(buf, sizeof buf, from_fd, from),
			       client_absolute_path_at(other, sizeof other, to_fd, to), flags);
	if (g_call[tid].followed_replaced != 0 && g_call[tid].ends)
		pm_file_gone(g_call[tid].followed_replaced);
	if (g_call[tid].exchanges) {
		rename_event(tid, replaced->file, from_fd, from);
	} else {
		name_gone(tid, replaced);
	}
	/* otherwise it was renamed by a name that is not the one in the trace */
	if (about->nlink == 1 || g_call[tid].exchanges || followed_any() ||
	    !name_holds(about->file, about->dev, about->ino))
		rename_event(tid, about->file, to_fd, to);
	folder_renamed_to(tid, client_absolute_path_at(buf, sizeof buf, to_fd, to));
	made_renamed(client_absolute_path_at(buf, sizeof buf, to_fd, to),
		     !g_call[tid].replaces ? MADE_ALONE
		     : is_known            ? MADE_REPLACED_KNOWN
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

	followed_removed(tid, g_call[tid].followed,
			 client_absolute_path_at(buf, sizeof buf, dirfd, path));
	if (g_call[tid].followed != 0 && g_call[tid].ends)
		pm_file_gone(g_call[tid].followed);
	beside_after(tid, client_absolute_path_at(buf, sizeof buf, dirfd, path));
	name_gone(tid, &g_call[tid].about);
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
		pm_created(tid, fd);
		old_fd_made(tid, fd);
		followed_made_fd(tid, fd);
	} else if (g_call[tid].truncates) {
		pm_file_resized(tid, pm_file_of_fd(fd), 0);
		made_changed(fd);
		beside_after_fd(tid, fd);
	}
	followed_fd(tid, fd);
}
