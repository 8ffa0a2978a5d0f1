/* Paths of PM files lead to their images. A file is known by its inode, so that links lead there too, or by its folder's inode and its
 * name, so that it is found when it does not exist. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>

#include "internal.h"

#define MAX_FILES 64u
#define PATH_ROOM 4096u

/* The images' inodes at the beginning of the run, and those which recovery made in their place. */
static struct {
	uint64_t dev, ino, new_dev, new_ino;
} g_images[MAX_FILES];

const struct run_file *paths_file(uint32_t i)
{
	return (const struct run_file *)((char *)g_region + g_region->files) + i;
}

void paths_init(void)
{
	if (g_region->nfiles > MAX_FILES)
		rt_unsound("too many PM files");
	for (uint32_t i = 0; i < g_region->nfiles; i++) {
		struct stat st;
		bool exists = CALL4(SYS_newfstatat, AT_FDCWD, paths_file(i)->image, &st, 0) == 0;

		g_images[i].new_dev = exists ? st.st_dev : 0;
		g_images[i].new_ino = exists ? st.st_ino : 0;
		g_images[i].dev = paths_file(i)->image_ino ? paths_file(i)->image_dev : g_images[i].new_dev;
		g_images[i].ino = paths_file(i)->image_ino ? paths_file(i)->image_ino : g_images[i].new_ino;
	}
}

int paths_file_of_inode(uint64_t dev, uint64_t ino)
{
	for (uint32_t i = 0; i < g_region->nfiles; i++)
		if (g_images[i].ino && g_images[i].ino == ino && g_images[i].dev == dev)
			return (int)i;
	return -1;
}

int paths_file_of_fd(long fd)
{
	struct stat st;

	if (CALL2(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	return paths_file_of_inode(st.st_dev, st.st_ino);
}

int paths_file_mapped(long fd)
{
	struct stat st;
	int file;

	if (CALL2(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	file = paths_file_of_inode(st.st_dev, st.st_ino);
	for (uint32_t i = 0; file < 0 && i < g_region->nfiles; i++)
		if (g_images[i].new_ino == st.st_ino && g_images[i].new_dev == st.st_dev)
			file = (int)i;
	return file;
}

/* ---- which file a path means ---- */

/* Splits off the last component: "/" and "." stand for what is not there. NULL: it has none. */
static const char *split(char *path, const char **folder)
{
	char *slash = strrchr(path, '/');

	if (!slash) {
		*folder = ".";
		return path;
	}
	if (!slash[1])
		return NULL;
	*folder = slash == path ? "/" : path;
	*slash = 0;
	return slash + 1;
}

/* The folder was there when the program was recorded: it is known by its path only. */
static int file_in_gone_folder(const char *folder, const char *name)
{
	for (uint32_t i = 0; folder[0] == '/' && i < g_region->nfiles; i++)
		if (!paths_file(i)->folder_ino && strcmp(paths_file(i)->name, name) == 0 &&
		    paths_file(i)->folder_hash == run_hash(folder, strlen(folder)))
			return (int)i;
	return -1;
}

/* By folder and name; destroys path. */
static int file_by_name(long dirfd, char *path)
{
	const char *folder, *name;
	struct stat st;
	bool is_known = false;

	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	for (uint32_t i = 0; i < g_region->nfiles; i++)
		is_known |= strcmp(paths_file(i)->name, name) == 0;
	if (!is_known)
		return -1;
	name = split(path, &folder);
	if (!name)
		return -1;
	if (CALL4(SYS_newfstatat, dirfd, folder, &st, 0) != 0)
		return file_in_gone_folder(folder, name);
	for (uint32_t i = 0; i < g_region->nfiles; i++)
		if (paths_file(i)->folder_ino == st.st_ino && paths_file(i)->folder_dev == st.st_dev && strcmp(paths_file(i)->name, name) == 0)
			return (int)i;
	return -1;
}

/* Replaces the path of a symbolic link by what it leads to; false: it is none. */
static __attribute__((noinline)) bool follow_link(long dirfd, char *path)
{
	char target[PATH_ROOM];
	char *slash = strrchr(path, '/');
	size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
	long n = CALL4(SYS_readlinkat, dirfd, path, target, sizeof(target) - 1);

	if (n <= 0)
		return false;
	target[n] = 0;
	if (target[0] == '/')
		folder = 0;
	if (folder + (size_t)n >= PATH_ROOM)
		return false;
	memcpy(path + folder, target, (size_t)n + 1);
	return true;
}

/* Index of the PM file, -1: none. The path, in a buffer of PATH_ROOM, is destroyed: handlers may have little stack. */
static int file_of_path(long dirfd, char *path, bool follows_links)
{
	struct stat st;

	if (!path[0])
		return -1;
	for (int depth = 0; depth < 40; depth++) {
		long r = CALL4(SYS_newfstatat, dirfd, path, &st, AT_SYMLINK_NOFOLLOW);

		if (r == 0 && S_ISLNK(st.st_mode)) {
			if (!follows_links || !follow_link(dirfd, path))
				return -1;
			continue;
		}
		for (uint32_t i = 0; r == 0 && i < g_region->nfiles; i++)
			if (paths_file(i)->ino && paths_file(i)->ino == st.st_ino && paths_file(i)->dev == st.st_dev)
				return (int)i;
		if (r != 0 && r != -ENOENT)
			return -1;
		return file_by_name(dirfd, path);
	}
	return -1;
}

/* ---- calls with paths ---- */

enum follow {
	FOLLOW, NO_FOLLOW,
	AT_NO,	/* unless flags have AT_SYMLINK_NOFOLLOW */
	AT_YES, /* if flags have AT_SYMLINK_FOLLOW */
	BY_OPEN, /* unless O_NOFOLLOW, or O_CREAT with O_EXCL */
	BY_HOW,	/* the same in struct open_how */
};

struct path_call {
	uint16_t number;
	int8_t dirfd, path; /* argument numbers; dirfd -1: the working folder */
	int8_t dirfd2, path2; /* 0, 0: there is no second */
	uint8_t follow;
	int8_t flags; /* argument number */
};

static const struct path_call path_calls[] = {
	{ SYS_open, -1, 0, 0, 0, BY_OPEN, 1 },
	{ SYS_creat, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_openat, 0, 1, 0, 0, BY_OPEN, 2 },
	{ SYS_openat2, 0, 1, 0, 0, BY_HOW, 2 },
	{ SYS_stat, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_lstat, -1, 0, 0, 0, NO_FOLLOW, 0 },
	{ SYS_newfstatat, 0, 1, 0, 0, AT_NO, 3 },
	{ SYS_statx, 0, 1, 0, 0, AT_NO, 2 },
	{ SYS_access, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_faccessat, 0, 1, 0, 0, FOLLOW, 0 },
	{ SYS_faccessat2, 0, 1, 0, 0, AT_NO, 3 },
	{ SYS_unlink, -1, 0, 0, 0, NO_FOLLOW, 0 },
	{ SYS_unlinkat, 0, 1, 0, 0, NO_FOLLOW, 0 },
	{ SYS_rename, -1, 0, -1, 1, NO_FOLLOW, 0 },
	{ SYS_renameat, 0, 1, 2, 3, NO_FOLLOW, 0 },
	{ SYS_renameat2, 0, 1, 2, 3, NO_FOLLOW, 0 },
	{ SYS_link, -1, 0, -1, 1, NO_FOLLOW, 0 },
	{ SYS_linkat, 0, 1, 2, 3, AT_YES, 4 },
	{ SYS_symlink, -1, 1, 0, 0, NO_FOLLOW, 0 },
	{ SYS_symlinkat, 1, 2, 0, 0, NO_FOLLOW, 0 },
	{ SYS_mknod, -1, 0, 0, 0, NO_FOLLOW, 0 },
	{ SYS_mknodat, 0, 1, 0, 0, NO_FOLLOW, 0 },
	{ SYS_truncate, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_chmod, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_fchmodat, 0, 1, 0, 0, FOLLOW, 0 },
	{ SYS_chown, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_lchown, -1, 0, 0, 0, NO_FOLLOW, 0 },
	{ SYS_fchownat, 0, 1, 0, 0, AT_NO, 4 },
	{ SYS_utime, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_utimes, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_futimesat, 0, 1, 0, 0, FOLLOW, 0 },
	{ SYS_utimensat, 0, 1, 0, 0, AT_NO, 3 },
	{ SYS_readlink, -1, 0, 0, 0, NO_FOLLOW, 0 },
	{ SYS_readlinkat, 0, 1, 0, 0, NO_FOLLOW, 0 },
	{ SYS_statfs, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_setxattr, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_lsetxattr, -1, 0, 0, 0, NO_FOLLOW, 0 },
	{ SYS_getxattr, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_lgetxattr, -1, 0, 0, 0, NO_FOLLOW, 0 },
	{ SYS_listxattr, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_llistxattr, -1, 0, 0, 0, NO_FOLLOW, 0 },
	{ SYS_removexattr, -1, 0, 0, 0, FOLLOW, 0 },
	{ SYS_lremovexattr, -1, 0, 0, 0, NO_FOLLOW, 0 },
	{ SYS_inotify_add_watch, -1, 1, 0, 0, FOLLOW, 0 },
};

static bool open_follows(uint64_t flags)
{
	return !(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
}

static bool follows(const struct path_call *c, const long a[6], uint64_t *open_flags)
{
	struct open_how how = { 0 };

	*open_flags = 0;
	switch ((enum follow)c->follow) {
	case FOLLOW: return true;
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

/* Recovery opened an image: it may be one that it has just made, or emptied. */
static void note_open(int file, long fd, bool truncates)
{
	struct stat st;

	if (CALL2(SYS_fstat, fd, &st) != 0)
		return;
	g_images[file].new_dev = st.st_dev;
	g_images[file].new_ino = st.st_ino;
	if (truncates && g_is_lazy && paths_file_of_inode(st.st_dev, st.st_ino) == file)
		lines_written((uint32_t)file, 0, ~0ul);
}

static long call_one(const struct path_call *c, long number, long a[6], int file, uint64_t open_flags)
{
	long r;

	if (c->follow == BY_OPEN)
		a[c->flags] &= ~O_DIRECT; /* the image's folder cannot do that */
	a[c->path] = (long)paths_file((uint32_t)file)->image;
	r = calls_perform(number, a);
	if (IS_ERROR(r))
		return r;
	if (c->follow == BY_OPEN || c->follow == BY_HOW || number == SYS_creat)
		note_open(file, r, number == SYS_creat || open_flags & O_TRUNC);
	if (number == SYS_truncate && g_is_lazy)
		lines_written((uint32_t)file, (uint64_t)a[1], ~0ul);
	return r;
}

/* rename and link: both must be PM files, for the user's folder is not written. */
static __attribute__((noinline)) long call_two(const struct path_call *c, long number, long a[6], int file)
{
	char path[PATH_ROOM];
	int second;

	if (!rt_copy_string(path, (uint64_t)a[c->path2], sizeof(path)))
		return CALL_PASS;
	second = file_of_path(c->dirfd2 < 0 ? AT_FDCWD : a[c->dirfd2], path, false);
	if (file < 0 && second < 0)
		return CALL_PASS;
	if (file < 0 || second < 0)
		rt_unsound("a PM file is renamed to, or linked with, a name that the recorded program did not use");
	a[c->path] = (long)paths_file((uint32_t)file)->image;
	a[c->path2] = (long)paths_file((uint32_t)second)->image;
	return calls_perform(number, a);
}

static __attribute__((noinline)) long call_with_path(const struct path_call *c, long number, long a[6])
{
	char path[PATH_ROOM];
	uint64_t open_flags;
	int file;

	if (!rt_copy_string(path, (uint64_t)a[c->path], sizeof(path)))
		return CALL_PASS;
	if (g_is_lazy && strncmp(path, "/proc/", 6) == 0 && strcmp(path + strlen(path) - 4, "/mem") == 0)
		rt_unsound("memory is read by /proc");
	file = file_of_path(c->dirfd < 0 ? AT_FDCWD : a[c->dirfd], path, follows(c, a, &open_flags));
	if (c->path2)
		return call_two(c, number, a, file);
	return file < 0 ? CALL_PASS : call_one(c, number, a, file, open_flags);
}

long paths_call(long number, long a[6])
{
	for (size_t i = 0; i < sizeof(path_calls) / sizeof(path_calls[0]); i++)
		if (path_calls[i].number == number)
			return a[path_calls[i].path] ? call_with_path(&path_calls[i], number, a) : CALL_PASS;
	return CALL_PASS;
}
