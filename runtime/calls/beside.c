/* Protects the user's files that are beside PM files. If recovery changes such a file, the change
 * is made to a copy of the same name in the images' folder. The worker empties that folder before
 * the next run. So the user's files stay unchanged, and no run sees what another one did. For a
 * file that recovery removes, the folder gets a mark.
 *
 *   user's folder   images' folder
 *   pool            pool                      the image: calls/paths.c
 *   pool-wal        pool-wal                  opened for writing: the copy counts
 *   pool.lock       .pmend-gone-pool.lock     removed
 *                   pool.new                  made by recovery
 *
 * Limits: only this folder is protected, not the folders inside of it, and no others. A descriptor
 * that was opened for reading before the copy was made still reads the user's file. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls.h"

#define MARK ".pmend-gone-"
#define COPYING ".pmend-copy-"
#define PLACE_ROOM 600u /* room for an image's folder, a mark and a name */
#define PIECE_BYTES (64l << 20)

/* The place of a copy of one of the user's files, whether or not the copy exists. */
struct place {
	const struct run_file *f; /* a PM file in the same folder */
	char copy[PLACE_ROOM], mark[PLACE_ROOM];
	bool has_copy, is_gone, is_rerouted;
};

static bool exists(long dirfd, const char *path)
{
	struct stat st;

	return CALL4(SYS_newfstatat, dirfd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Makes a path in the image's folder; false: it is too long. */
static bool in_images(char to[PLACE_ROOM], const struct run_file *f, const char *prefix,
		      const char *name)
{
	const char *slash = strrchr(f->image, '/');
	const size_t folder = slash ? (size_t)(slash - f->image) + 1 : 0;

	if (!folder || folder + strlen(prefix) + strlen(name) >= PLACE_ROOM)
		return false;
	memcpy(to, f->image, folder);
	strcpy(to + folder, prefix);
	strcpy(to + folder + strlen(prefix), name);
	return true;
}

/* Finds a PM file in this folder; NULL: there is none. */
static const struct run_file *file_of_folder(const struct stat *folder)
{
	for (uint32_t i = 0; i < g_region->nfiles; i++)
		if (images_file(i)->folder_ino == folder->st_ino &&
		    images_file(i)->folder_dev == folder->st_dev)
			return images_file(i);
	return NULL;
}

/* Finds the place for a path. False: the path is in no folder with PM files. Destroys `text`, the
 * path. */
static bool place_of_name(struct place *p, long dirfd, char *text)
{
	const char *folder, *name = name_split(text, &folder);
	struct stat st;

	if (!name || !name[0] || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    CALL4(SYS_newfstatat, dirfd, folder, &st, 0) != 0)
		return false;
	p->f = file_of_folder(&st);
	if (!p->f || !in_images(p->copy, p->f, "", name) || !in_images(p->mark, p->f, MARK, name))
		return false;
	p->has_copy = g_region->has_beside && exists(AT_FDCWD, p->copy);
	p->is_gone = g_region->has_beside && !p->has_copy && exists(AT_FDCWD, p->mark);
	return true;
}

__attribute__((noinline)) bool beside_follow_link(long dirfd, char *path)
{
	char text[ROOT_PATH_ROOM];
	struct place p;
	long n;

	if (!g_region->has_beside)
		return false;
	strcpy(text, path);
	if (!place_of_name(&p, dirfd, text) || !p.has_copy)
		return false;
	n = CALL4(SYS_readlinkat, AT_FDCWD, p.copy, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = 0;
	return name_follow(path, text);
}

/* Like place_of_name(), but follows symbolic links, which are replaced in the path. is_rerouted: a
 * link that recovery made was followed; the kernel does not know this link. False: the path is in
 * no folder with PM files. */
static __attribute__((noinline)) bool place_find(struct place *p, long dirfd,
						 char path[ROOT_PATH_ROOM], bool follows_links)
{
	char text[ROOT_PATH_ROOM];

	for (int depth = 0; depth < 40; depth++) {
		struct stat st;

		if (follows_links && beside_follow_link(dirfd, path)) {
			p->is_rerouted = true;
			continue;
		}
		strcpy(text, path);
		if (!place_of_name(p, dirfd, text))
			p->f = NULL;
		if (p->f && (p->has_copy || p->is_gone))
			return true;
		if (CALL4(SYS_newfstatat, dirfd, path, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISLNK(st.st_mode) || !follows_links)
			return p->f != NULL;
		if (!name_follow_link(dirfd, path))
			return false;
	}
	return false;
}

/* ---- copies and marks ---- */

static long mark(const struct place *p)
{
	const long fd = CALL4(SYS_openat, AT_FDCWD, p->mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	if (IS_ERROR(fd))
		return fd;
	CALL1(SYS_close, fd);
	g_region->has_beside = 1;
	return 0;
}

static void unmark(const struct place *p)
{
	if (p->is_gone)
		CALL3(SYS_unlinkat, AT_FDCWD, p->mark, 0);
}

static long copy_bytes(long from, long to)
{
	long n;

	do
		n = CALL4(SYS_sendfile, to, from, NULL, PIECE_BYTES);
	while (n > 0);
	return n;
}

static void unique_name(char to[sizeof COPYING + 20])
{
	unsigned long tid = (unsigned long)CALL0(SYS_gettid);
	size_t n = strlen(strcpy(to, COPYING));

	do
		to[n++] = (char)('0' + tid % 10);
	while ((tid /= 10) > 0);
	to[n] = 0;
}

/* Copies the file's bytes (unless the call will cut them off), mode and times. Another process may
 * do the same, so the copy gets its name only when it is complete. */
static __attribute__((noinline)) long copy_file(struct place *p, long from, const struct stat *st,
						bool is_cut)
{
	const struct timespec times[2] = { st->st_atim, st->st_mtim };
	char temporary[PLACE_ROOM], name[sizeof COPYING + 20];
	long to, r;

	unique_name(name);
	if (!in_images(temporary, p->f, "", name))
		return -ENAMETOOLONG;
	to = CALL4(SYS_openat, AT_FDCWD, temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (IS_ERROR(to))
		return to;
	r = is_cut ? 0 : copy_bytes(from, to);
	CALL2(SYS_fchmod, to, st->st_mode & 07777);
	CALL4(SYS_utimensat, to, NULL, times, 0);
	CALL1(SYS_close, to);
	if (!IS_ERROR(r))
		r = CALL5(SYS_linkat, AT_FDCWD, temporary, AT_FDCWD, p->copy, 0);
	CALL3(SYS_unlinkat, AT_FDCWD, temporary, 0);
	g_region->has_beside = 1;
	return r == -EEXIST ? 0 : r;
}

/* Makes the copy of the user's file in the images' folder. CALL_PASS: this file cannot be
 * copied. */
static long take(struct place *p, long dirfd, const char *path, bool is_cut)
{
	struct stat st;
	long from, r;

	if (CALL4(SYS_newfstatat, dirfd, path, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode))
		return CALL_PASS;
	from = CALL4(SYS_openat, dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (IS_ERROR(from))
		return CALL_PASS; /* the kernel tells the program the reason */
	r = copy_file(p, from, &st, is_cut);
	CALL1(SYS_close, from);
	p->has_copy = !IS_ERROR(r);
	return r;
}

/* ---- calls ---- */

static bool is_writable(long dirfd, const char *path)
{
	return CALL3(SYS_faccessat, dirfd, path, W_OK) == 0;
}

static bool opens(const struct path_call *c)
{
	return c->follow == BY_OPEN || c->follow == BY_HOW || c->follow == BY_CREAT;
}

static bool makes(const struct path_call *c, uint64_t flags)
{
	return c->effect == PATH_MAKES || c->follow == BY_CREAT || (opens(c) && flags & O_CREAT);
}

static bool changes(const struct path_call *c, uint64_t flags)
{
	return c->effect != PATH_LOOKS || makes(c, flags) ||
	       (opens(c) && (flags & O_ACCMODE || flags & O_TRUNC) && !(flags & O_PATH));
}

/* Makes the call with the path of the copy. */
static long perform_on(const struct place *p, const struct path_call *c, long number, long a[6])
{
	if (c->follow == BY_OPEN)
		/* the file system of the images' folder may not support it */
		a[c->flags] &= ~O_DIRECT;
	a[c->path] = (long)p->copy;
	return calls_perform(number, a);
}

static long remove_copy(struct place *p, const struct path_call *c, long number, long a[6],
			long dirfd, const char *path)
{
	const long r = perform_on(p, c, number, a);

	return !IS_ERROR(r) && exists(dirfd, path) ? mark(p) : r;
}

/* Opens a file without a name (O_TMPFILE) in the images' folder. linkat() may name it later, which
 * works only in the folder's own file system. */
static long open_unnamed(const struct path_call *c, long number, long a[6], long dirfd,
			 const char *path)
{
	struct place p = { 0 };
	struct stat st;

	if (CALL4(SYS_newfstatat, dirfd, path, &st, 0) == 0)
		p.f = file_of_folder(&st);
	return p.f && in_images(p.copy, p.f, "", ".") ? perform_on(&p, c, number, a) : CALL_PASS;
}

/* Handles the first call of this run that changes the user's file, or makes the file. */
static long call_first(struct place *p, const struct path_call *c, long number, long a[6],
		       uint64_t flags, long dirfd, const char *path)
{
	const bool is_cut = c->follow == BY_CREAT || (opens(c) && flags & O_TRUNC);
	long r = 0;

	if (exists(dirfd, path)) {
		if (c->effect == PATH_MAKES || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
			return CALL_PASS; /* the kernel answers EEXIST */
		if (c->effect == PATH_REMOVES)
			return mark(p);
		if (!is_writable(dirfd, path))
			return CALL_PASS;
		r = take(p, dirfd, path, is_cut);
		return IS_ERROR(r) || r == CALL_PASS ? r : perform_on(p, c, number, a);
	}
	if (!makes(c, flags))
		return CALL_PASS;
	r = perform_on(p, c, number, a);
	if (!IS_ERROR(r))
		g_region->has_beside = 1;
	return r;
}

static bool removes_folder(const struct path_call *c, long number, const long a[6])
{
	return c->effect == PATH_REMOVES && number == SYS_unlinkat && a[2] & AT_REMOVEDIR;
}

/* Makes a call that concerns the user's own file. If a link that recovery made leads to the file,
 * the call is made with the target of that link. */
static long pass(const struct place *p, const struct path_call *c, long number, long a[6],
		 const char *path)
{
	if (!p->is_rerouted)
		return CALL_PASS;
	a[c->path] = (long)path;
	return calls_perform(number, a);
}

/* Asks whether the file may be copied: it is a regular file, or does not exist. Folders, sockets
 * and devices stay the user's own. or_link: a link may be copied, too, since it can be removed. */
static bool is_file_or_absent(long dirfd, const char *path, bool or_link)
{
	struct stat st;

	return CALL4(SYS_newfstatat, dirfd, path, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	       S_ISREG(st.st_mode) || (or_link && S_ISLNK(st.st_mode));
}

__attribute__((noinline)) long beside_call(const struct path_call *c, long number, long a[6],
					   uint64_t flags, bool follows_links)
{
	const long dirfd = c->dirfd < 0 ? AT_FDCWD : a[c->dirfd];
	char path[ROOT_PATH_ROOM];
	struct place p = { 0 };
	long r;

	if ((!changes(c, flags) && !g_region->has_beside) || root_is_there() || root_is_changed() ||
	    removes_folder(c, number, a) ||
	    !rt_copy_string(path, (uint64_t)a[c->path], sizeof(path)))
		return CALL_PASS;
	if (opens(c) && (flags & O_TMPFILE) == O_TMPFILE)
		return open_unnamed(c, number, a, dirfd, path);
	if (!place_find(&p, dirfd, path, follows_links))
		return pass(&p, c, number, a, path);
	if (p.has_copy)
		return c->effect == PATH_REMOVES ? remove_copy(&p, c, number, a, dirfd, path)
						 : perform_on(&p, c, number, a);
	if (p.is_gone) {
		if (!makes(c, flags))
			return -ENOENT;
		r = perform_on(&p, c, number, a);
		if (!IS_ERROR(r))
			unmark(&p);
		return r;
	}
	r = CALL_PASS;
	if (changes(c, flags) && is_file_or_absent(dirfd, path, c->effect == PATH_REMOVES))
		r = call_first(&p, c, number, a, flags, dirfd, path);
	return r == CALL_PASS ? pass(&p, c, number, a, path) : r;
}

/* Finds the copy for the first path of rename or link, and makes it if necessary. CALL_PASS: the
 * path names a file in another folder, which is the user's own. */
static long take_first(struct place *p, const struct path_call *c, const long a[6], char *path)
{
	const long dirfd = c->dirfd < 0 ? AT_FDCWD : a[c->dirfd];

	if (!rt_copy_string(path, (uint64_t)a[c->path], ROOT_PATH_ROOM) ||
	    !place_find(p, dirfd, path, false))
		return CALL_PASS;
	if (p->is_gone)
		return -ENOENT;
	return p->has_copy ? 0 : take(p, dirfd, path, false);
}

__attribute__((noinline)) long beside_call_two(const struct path_call *c, long number, long a[6])
{
	const long to_dirfd = c->dirfd2 < 0 ? AT_FDCWD : a[c->dirfd2],
		   from_dirfd = c->dirfd < 0 ? AT_FDCWD : a[c->dirfd];
	char from_path[ROOT_PATH_ROOM], path[ROOT_PATH_ROOM];
	struct place from = { 0 }, to = { 0 };
	bool was_user_s;
	long r;

	if (root_is_there() || root_is_changed() ||
	    !rt_copy_string(path, (uint64_t)a[c->path2], sizeof(path)) ||
	    !place_find(&to, to_dirfd, path, false))
		return CALL_PASS;
	r = take_first(&from, c, a, from_path);
	if (IS_ERROR(r) && r != CALL_PASS)
		return r;
	if (r == CALL_PASS && from.f)
		return CALL_PASS; /* it is a folder, or does not exist */
	if (c->effect == PATH_LINKS && !to.has_copy && !to.is_gone && exists(to_dirfd, path))
		return -EEXIST;
	was_user_s = from.f && c->effect == PATH_MOVES && exists(from_dirfd, from_path);
	if (from.f)
		a[c->path] = (long)from.copy;
	a[c->path2] = (long)to.copy;
	r = calls_perform(number, a);
	if (IS_ERROR(r))
		return r;
	g_region->has_beside = 1;
	unmark(&to);
	return was_user_s ? mark(&from) : r;
}

/* ---- listing ---- */

bool beside_is_gone(const struct run_file *f, const char *name)
{
	char copy[PLACE_ROOM], text[PLACE_ROOM];

	return g_region->has_beside && in_images(copy, f, "", name) &&
	       in_images(text, f, MARK, name) && !exists(AT_FDCWD, copy) && exists(AT_FDCWD, text);
}

struct listed { /* an entry, as the kernel writes it */
	uint64_t ino;
	int64_t off;
	uint16_t len_bytes;
	uint8_t type;
	char name[];
};

static bool is_image(const struct run_file *f, const char *name)
{
	char text[PLACE_ROOM];

	if (!in_images(text, f, "", name))
		return true;
	for (uint32_t i = 0; i < g_region->nfiles; i++)
		if (strcmp(images_file(i)->image, text) == 0)
			return true;
	return false;
}

/* Gives the next file that recovery made in the image's folder. It reads one entry per call:
 * folders with many new files are rare. */
__attribute__((noinline)) bool beside_next(const struct run_file *f, long *at, char name[256])
{
	char folder[PLACE_ROOM], buffer[1024];
	const struct listed *e = (const struct listed *)buffer;
	bool is_found = false;
	long fd;

	if (!g_region->has_beside || !in_images(folder, f, "", "."))
		return false;
	fd = CALL4(SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (IS_ERROR(fd))
		return false;
	CALL3(SYS_lseek, fd, *at, SEEK_SET);
	while (!is_found && CALL3(SYS_getdents64, fd, buffer, sizeof buffer) > 0) {
		*at = e->off;
		is_found = strncmp(e->name, ".pmend-", strlen(".pmend-")) != 0 &&
			   strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0 &&
			   !is_image(f, e->name);
		strcpy(name, e->name);
		CALL3(SYS_lseek, fd, *at, SEEK_SET);
	}
	CALL1(SYS_close, fd);
	return is_found;
}
