/* Replaces paths of PM files by those of their images. A file is recognised by its inode, so links
 * work, too. A file that does not exist is recognised by its folder's inode and its name. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "calls.h"

#define PATH_ROOM ROOT_PATH_ROOM

/* ---- which file a path names ---- */

/* Finds the PM file by the path of a folder that existed when the program was recorded, but does
 * not exist now. -1: there is none. */
static int file_in_gone_folder(const char *folder, const char *name)
{
	for (uint32_t i = 0; folder[0] == '/' && i < g_region->nfiles; i++)
		if (!images_file(i)->folder_ino && strcmp(images_file(i)->name, name) == 0 &&
		    images_file(i)->folder_hash == run_hash(folder, strlen(folder)))
			return (int)i;
	return -1;
}

/* Finds a PM file whose folder, which does not exist now, is the first len bytes of the path. */
static const struct run_file *file_of_gone_folder(const char *path, size_t len)
{
	const uint64_t hash = run_hash(path, len);

	for (uint32_t i = 0; i < g_region->nfiles; i++)
		if (!images_file(i)->folder_ino && images_file(i)->name[0] &&
		    images_file(i)->folder_hash == hash)
			return images_file(i);
	return NULL;
}

/* Turns the path of a folder of PM files that does not exist now, or of something in it, into the
 * path in the folder of images, which the worker empties after each run. False: another path. */
static bool enter_gone_folder(char *path)
{
	const struct run_file *f;
	struct stat st;
	char *slash;
	size_t len, to;

	for (len = 1; path[0] == '/' && path[len]; len++) {
		if (path[len + 1] != '/' && path[len + 1])
			continue;
		f = file_of_gone_folder(path, len + 1);
		if (!f)
			continue;
		slash = strrchr(f->image, '/');
		to = slash ? (size_t)(slash - f->image) : 0;
		if (!to || to + strlen(path) >= PATH_ROOM ||
		    CALL4(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return false;
		memmove(path + to, path + len + 1, strlen(path + len + 1) + 1);
		memcpy(path, f->image, to);
		return true;
	}
	return false;
}

/* Finds the PM file by folder and name. Destroys path. */
static int file_by_name(long dirfd, char *path)
{
	const char *folder, *name;
	struct stat st;
	bool is_known = false;

	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	for (uint32_t i = 0; i < g_region->nfiles; i++)
		is_known |= strcmp(images_file(i)->name, name) == 0;
	if (!is_known)
		return -1;
	name = name_split(path, &folder);
	if (!name)
		return -1;
	if (CALL4(SYS_newfstatat, dirfd, folder, &st, 0) != 0)
		return file_in_gone_folder(folder, name);
	for (uint32_t i = 0; i < g_region->nfiles; i++)
		if (images_file(i)->folder_ino == st.st_ino &&
		    images_file(i)->folder_dev == st.st_dev &&
		    strcmp(images_file(i)->name, name) == 0)
			return (int)i;
	return -1;
}

/* Finds the user's PM file with this inode; -1: there is none. */
static int file_of_inode(const struct stat *st)
{
	for (uint32_t i = 0; i < g_region->nfiles; i++)
		if (images_file(i)->ino && images_file(i)->ino == st->st_ino &&
		    images_file(i)->dev == st->st_dev)
			return (int)i;
	return -1;
}

static bool is_in_proc(long dirfd, const char *path)
{
	const long fd = CALL4(SYS_openat, dirfd, path, O_PATH | O_CLOEXEC, 0);
	struct statfs s;
	bool is_there;

	if (IS_ERROR(fd))
		return false;
	is_there = CALL2(SYS_fstatfs, fd, &s) == 0 && s.f_type == PROC_SUPER_MAGIC;
	CALL1(SYS_close, fd);
	return is_there;
}

/* Asks whether the name has the form FROM-TO, as files in /proc/PID/map_files. */
static bool is_range(const char *name)
{
	static const char digits[] = "0123456789abcdef";
	const size_t from = strspn(name, digits),
		     to = name[from] == '-' ? strspn(name + from + 1, digits) : 0;

	return from && to && !name[from + 1 + to];
}

/* Ends the run if the path leads around closed pages: /proc/PID/mem reads memory, also closed
 * memory; /proc/PID/map_files/FROM-TO opens a mapped file, and our closing of pages has split one
 * mapping into several of these. */
static void check_proc(long dirfd, char *path)
{
	char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;

	if (!g_is_lazy)
		return;
	if (strcmp(name, "mem") == 0 && is_in_proc(dirfd, path))
		rt_unsound("memory is read by /proc");
	if (!is_range(name))
		return;
	if (slash)
		*slash = 0;
	if (is_in_proc(dirfd, slash ? path : "."))
		rt_unsound("mapped files are opened by /proc");
	if (slash)
		*slash = '/';
}

/* Gives the index of the PM file to which the path leads; -1: it leads to none. Destroys the path,
 * which is in a buffer of PATH_ROOM: handlers may have little stack. */
static int file_of_path(long dirfd, char *path, bool follows_links)
{
	struct stat st;

	if (!path[0])
		return -1;
	for (int depth = 0; depth < 40; depth++) {
		long r = CALL4(SYS_newfstatat, dirfd, path, &st, AT_SYMLINK_NOFOLLOW);

		if (follows_links && beside_follow_link(dirfd, path))
			continue;
		check_proc(dirfd, path);
		if (r == 0 && S_ISLNK(st.st_mode)) {
			if (!follows_links || !name_follow_link(dirfd, path))
				return -1;
			continue;
		}
		if (r == 0 && file_of_inode(&st) >= 0)
			return file_of_inode(&st);
		if (r != 0 && r != -ENOENT)
			return -1;
		return file_by_name(dirfd, path);
	}
	return -1;
}

/* ---- calls with paths ---- */

static const struct path_call path_calls[] = {
	{ SYS_openat, 0, 1, 0, 0, BY_OPEN, 2, PATH_LOOKS },
	{ SYS_openat2, 0, 1, 0, 0, BY_HOW, 2, PATH_LOOKS },
	{ SYS_newfstatat, 0, 1, 0, 0, AT_NO, 3, PATH_LOOKS },
	{ SYS_statx, 0, 1, 0, 0, AT_NO, 2, PATH_LOOKS },
	{ SYS_faccessat, 0, 1, 0, 0, FOLLOW, 0, PATH_LOOKS },
	{ SYS_faccessat2, 0, 1, 0, 0, AT_NO, 3, PATH_LOOKS },
	{ SYS_unlinkat, 0, 1, 0, 0, NO_FOLLOW, 0, PATH_REMOVES },
	{ SYS_renameat, 0, 1, 2, 3, NO_FOLLOW, 0, PATH_MOVES },
	{ SYS_renameat2, 0, 1, 2, 3, NO_FOLLOW, 0, PATH_MOVES },
	{ SYS_linkat, 0, 1, 2, 3, AT_YES, 4, PATH_LINKS },
	{ SYS_symlinkat, 1, 2, 0, 0, NO_FOLLOW, 0, PATH_MAKES },
	{ SYS_mknodat, 0, 1, 0, 0, NO_FOLLOW, 0, PATH_MAKES },
	{ SYS_truncate, -1, 0, 0, 0, FOLLOW, 0, PATH_CHANGES },
	{ SYS_fchmodat, 0, 1, 0, 0, FOLLOW, 0, PATH_CHANGES },
	{ SYS_fchownat, 0, 1, 0, 0, AT_NO, 4, PATH_CHANGES },
	{ SYS_utimensat, 0, 1, 0, 0, AT_NO, 3, PATH_CHANGES },
	{ SYS_readlinkat, 0, 1, 0, 0, NO_FOLLOW, 0, PATH_LOOKS },
	{ SYS_statfs, -1, 0, 0, 0, FOLLOW, 0, PATH_LOOKS },
	{ SYS_setxattr, -1, 0, 0, 0, FOLLOW, 0, PATH_CHANGES },
	{ SYS_lsetxattr, -1, 0, 0, 0, NO_FOLLOW, 0, PATH_CHANGES },
	{ SYS_getxattr, -1, 0, 0, 0, FOLLOW, 0, PATH_LOOKS },
	{ SYS_lgetxattr, -1, 0, 0, 0, NO_FOLLOW, 0, PATH_LOOKS },
	{ SYS_listxattr, -1, 0, 0, 0, FOLLOW, 0, PATH_LOOKS },
	{ SYS_llistxattr, -1, 0, 0, 0, NO_FOLLOW, 0, PATH_LOOKS },
	{ SYS_removexattr, -1, 0, 0, 0, FOLLOW, 0, PATH_CHANGES },
	{ SYS_lremovexattr, -1, 0, 0, 0, NO_FOLLOW, 0, PATH_CHANGES },
	{ SYS_inotify_add_watch, -1, 1, 0, 0, FOLLOW, 0, PATH_LOOKS },
	{ SYS_name_to_handle_at, 0, 1, 0, 0, AT_YES, 4, PATH_LOOKS },
};

#define BY_HANDLE "a PM file is opened by a handle"

static bool open_follows(uint64_t flags)
{
	return !(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
}

static bool follows(const struct path_call *c, const long a[6], uint64_t *open_flags)
{
	struct open_how how = { 0 };

	*open_flags = 0;
	switch ((enum path_follow)c->follow) {
	case FOLLOW:
	case BY_CREAT: return true;
	case NO_FOLLOW: return false;
	case AT_NO: return !(a[c->flags] & AT_SYMLINK_NOFOLLOW);
	case AT_YES: return a[c->flags] & AT_SYMLINK_FOLLOW;
	case BY_OPEN: *open_flags = (uint64_t)a[c->flags]; return open_follows(*open_flags);
	case BY_HOW:
		rt_copy_in(&how, (uint64_t)a[c->flags], sizeof(how));
		*open_flags = how.flags;
		return open_follows(how.flags);
	}
	return true;
}

/* Notes that recovery works on PM: it opened a PM file, or changed its length. Asking about a file,
 * missing it or removing it does not count. */
static void note_use(const struct path_call *c, long number, uint64_t open_flags, long result)
{
	const bool is_open =
		(c->follow == BY_OPEN || c->follow == BY_HOW || c->follow == BY_CREAT) &&
		!(open_flags & O_PATH);

	if (result == -ENOENT)
		g_region->has_missed = 1;
	if (!IS_ERROR(result) && (is_open || number == SYS_truncate))
		g_region->has_opened = 1;
}

static bool is_removal(long number)
{
#ifdef SYS_unlink
	if (number == SYS_unlink)
		return true;
#endif
	return number == SYS_unlinkat;
}

/* Notes that recovery may learn what the file contains, or whether it exists. Opening for writing
 * only, and removing, do not count. */
static void note_look(const struct path_call *c, long number, int file, uint64_t open_flags)
{
	const bool is_open = c->follow == BY_OPEN || c->follow == BY_HOW;

	if (c->follow == BY_CREAT || is_removal(number) ||
	    (is_open && (open_flags & O_ACCMODE) == O_WRONLY))
		return;
	((struct run_file *)((char *)g_region + g_region->files) + file)->is_looked_at = 1;
}

static long call_one(const struct path_call *c, long number, long a[6], int file,
		     uint64_t open_flags)
{
	struct stat was;
	long r;

	if (root_is_changed())
		rt_unsound(CHANGED_ROOT);
	if (number == SYS_name_to_handle_at) /* the handle would be of another file system */
		rt_unsound(BY_HANDLE);
	note_look(c, number, file, open_flags);
	if (c->follow == BY_OPEN)
		/* the file system of the image's folder may not support it */
		a[c->flags] &= ~O_DIRECT;
	a[c->path] = (long)images_file((uint32_t)file)->image;
	if (number == SYS_truncate && CALL4(SYS_newfstatat, AT_FDCWD, a[c->path], &was, 0) != 0)
		was.st_size = 0;
	r = calls_perform(number, a);
	note_use(c, number, open_flags, r);
	if (IS_ERROR(r))
		return r;
	if (c->follow == BY_OPEN || c->follow == BY_HOW || c->follow == BY_CREAT)
		images_note_open(file, r, c->follow == BY_CREAT || open_flags & O_TRUNC);
	if (number == SYS_truncate && g_is_lazy)
		lines_written((uint32_t)file, (uint64_t)a[1], ~0ul);
	if (number == SYS_truncate)
		images_note_cut((uint32_t)file, (uint64_t)a[1], (uint64_t)was.st_size);
	if (is_removal(number))
		images_note_cut((uint32_t)file, 0, ~0ul);
	return r;
}

/* Makes rename and link of two files that are no PM files. */
static __attribute__((noinline)) long call_two_in_gone_folder(const struct path_call *c,
							      long number, long a[6])
{
	char path[PATH_ROOM], path2[PATH_ROOM];

	if (!rt_copy_string(path, (uint64_t)a[c->path], sizeof(path)) ||
	    !rt_copy_string(path2, (uint64_t)a[c->path2], sizeof(path2)) ||
	    !enter_gone_folder(path) || !enter_gone_folder(path2))
		return beside_call_two(c, number, a);
	a[c->path] = (long)path;
	a[c->path2] = (long)path2;
	return calls_perform(number, a);
}

/* Makes rename and link. Both paths must be PM files, since the user's folder is not written. */
static __attribute__((noinline)) long call_two(const struct path_call *c, long number, long a[6],
					       int file)
{
	char path[PATH_ROOM];
	int second;

	if (!rt_copy_string(path, (uint64_t)a[c->path2], sizeof(path)))
		return CALL_PASS;
	second = file_of_path(c->dirfd2 < 0 ? AT_FDCWD : a[c->dirfd2], path, false);
	if (file < 0 && second < 0)
		return call_two_in_gone_folder(c, number, a);
	if (root_is_changed())
		rt_unsound(CHANGED_ROOT);
	if (file < 0 || second < 0)
		rt_unsound(
			"a PM file is renamed to, or linked with, a name that the recorded program did not use");
	a[c->path] = (long)images_file((uint32_t)file)->image;
	a[c->path2] = (long)images_file((uint32_t)second)->image;
	g_region->has_opened = 1;
	return calls_perform(number, a);
}

/* ---- in a bundle ---- */

/* Gives the index of the PM file that an absolute path means in the bundle; -1: it means none. */
static __attribute__((noinline)) int file_in_root(long at, bool follows_links)
{
	char path[PATH_ROOM];

	return rt_copy_string(path, (uint64_t)at, sizeof(path)) && root_enter(path)
		       ? file_of_path(AT_FDCWD, path, follows_links)
		       : -1;
}

/* Turns the path at `at` into the path of the same file under the root; false: the file is not
 * there. */
static bool path_in_root(char *path, long at)
{
	return rt_copy_string(path, (uint64_t)at, PATH_ROOM) && root_enter(path) &&
	       root_takes(path);
}

static __attribute__((noinline)) long call_two_in_root(const struct path_call *c, long number,
						       long a[6])
{
	const int file = file_in_root(a[c->path], false), second = file_in_root(a[c->path2], false);
	char path[PATH_ROOM], path2[PATH_ROOM];

	if ((file < 0) != (second < 0))
		return CALL_PASS; /* the other file may have a relative path, too */
	if (file >= 0) {
		a[c->path] = (long)images_file((uint32_t)file)->image;
		a[c->path2] = (long)images_file((uint32_t)second)->image;
		g_region->has_opened = 1;
		return calls_perform(number, a);
	}
	if (!path_in_root(path, a[c->path]) || !path_in_root(path2, a[c->path2]))
		return CALL_PASS;
	a[c->path] = (long)path;
	a[c->path2] = (long)path2;
	return calls_perform(number, a);
}

static __attribute__((noinline)) long call_in_root(const struct path_call *c, long number,
						   long a[6])
{
	char path[PATH_ROOM];
	uint64_t open_flags;
	int file;

	if (c->path2)
		return call_two_in_root(c, number, a);
	file = file_in_root(a[c->path], follows(c, a, &open_flags));
	if (file >= 0)
		return call_one(c, number, a, file, open_flags);
	if (!path_in_root(path, a[c->path]))
		return CALL_PASS;
	a[c->path] = (long)path;
	return calls_perform(number, a);
}

/* ---- all calls with paths ---- */

static enum run_note use_of(const struct path_call *c, uint64_t open_flags)
{
	const bool is_open = c->follow == BY_OPEN || c->follow == BY_HOW;

	if (is_open && open_flags & O_DIRECTORY)
		return RUN_NOTE_LIST;
	return c->follow == BY_CREAT || (is_open && (open_flags & (O_ACCMODE | O_CREAT)))
		       ? RUN_NOTE_WRITE
		       : RUN_NOTE_READ;
}

static __attribute__((noinline)) long call_with_path(const struct path_call *c, long number,
						     long a[6])
{
	char path[PATH_ROOM];
	uint64_t open_flags;
	bool is_following;
	int file;

	if (root_is_there()) {
		const long r = call_in_root(c, number, a);

		if (r != CALL_PASS)
			return r;
	}
	if (!rt_copy_string(path, (uint64_t)a[c->path], sizeof(path)))
		return CALL_PASS;
	is_following = follows(c, a, &open_flags);
	root_note(use_of(c, open_flags), c->dirfd < 0 ? AT_FDCWD : a[c->dirfd], path);
	file = file_of_path(c->dirfd < 0 ? AT_FDCWD : a[c->dirfd], path, is_following);
	if (c->path2)
		return call_two(c, number, a, file);
	if (file >= 0)
		return call_one(c, number, a, file, open_flags);
	if (rt_copy_string(path, (uint64_t)a[c->path], sizeof(path)) && enter_gone_folder(path)) {
		a[c->path] = (long)path;
		return calls_perform(number, a);
	}
	return beside_call(c, number, a, open_flags, is_following);
}

static const struct path_call *find_call(long number)
{
	for (size_t i = 0; i < sizeof(path_calls) / sizeof(path_calls[0]); i++)
		if (path_calls[i].number == number)
			return &path_calls[i];
	for (const struct path_call *c = arch_path_calls; c->number; c++)
		if (c->number == number)
			return c;
	return NULL;
}

/* Opens a file by a handle. It has no path, so a stored handle leads to the user's own PM file. The
 * run does not count then. */
static long open_by_handle(const long a[6])
{
	const long fd = CALL3(SYS_open_by_handle_at, a[0], a[1], a[2]);
	struct stat st;

	if (!IS_ERROR(fd) && CALL2(SYS_fstat, fd, &st) == 0 && file_of_inode(&st) >= 0)
		rt_unsound(BY_HANDLE);
	return fd;
}

long paths_call(long number, long a[6])
{
	const struct path_call *c = find_call(number);

	if (number == SYS_open_by_handle_at && !maps_touch((uint64_t)a[1], PAGE))
		return open_by_handle(a);
	return c && a[c->path] ? call_with_path(c, number, a) : CALL_PASS;
}
