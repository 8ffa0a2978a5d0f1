/* Makes recovery use the files of a bundle, which come from another machine. If recovery names an
 * absolute path, and the folder of the unpacked bundle has this file, that one is used. For packing
 * a bundle, this file also notes which paths recovery names. Limit: files that the loader opens
 * before it has loaded this library are not seen; LD_LIBRARY_PATH tells the loader where to
 * look. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "calls.h"

static char g_root[ROOT_PATH_ROOM / 2]; /* the bundle's folder; "": there is no bundle */
static size_t g_root_len;
static char g_notes[ROOT_PATH_ROOM / 2]; /* file for notes; "": none are wanted */
static bool g_is_changed;

static void take(char *to, size_t room, const char *name)
{
	const char *value = environment_get(name);

	to[0] = 0;
	if (value && value[0] == '/' && strlen(value) < room)
		strcpy(to, value);
}

void root_init(void)
{
	take(g_root, sizeof(g_root), RUN_ENV_ROOT);
	take(g_notes, sizeof(g_notes), RUN_ENV_NOTES);
	g_root_len = strlen(g_root);
}

bool root_is_changed(void)
{
	return g_is_changed;
}

bool root_is_there(void)
{
	return g_root_len > 0;
}

static bool is_inside(const char *path)
{
	return strncmp(path, g_root, g_root_len) == 0 &&
	       (path[g_root_len] == '/' || !path[g_root_len]);
}

bool root_enter(char *path)
{
	const size_t n = strlen(path);

	if (!g_root_len || path[0] != '/' || is_inside(path) || n + g_root_len >= ROOT_PATH_ROOM)
		return false;
	memmove(path + g_root_len, path, n + 1);
	memcpy(path, g_root, g_root_len);
	return true;
}

static bool exists(const char *path)
{
	struct stat st;

	return CALL4(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Asks whether the folder of the path exists. The path is unchanged afterwards. */
static bool has_folder(char *path)
{
	char *slash = strrchr(path, '/');
	bool is_there;

	if (slash == path)
		return true;
	*slash = 0;
	is_there = exists(path);
	*slash = '/';
	return is_there;
}

/* Asks whether the path under the root is to be used. A file that is not in the bundle may be one
 * of this machine: a device, /proc, /tmp. A new file is made where its folder exists. */
bool root_takes(char *path)
{
	return exists(path) || (!has_folder(path + g_root_len) && has_folder(path));
}

/* Reads the path of an open file, without a terminating NUL. Returns its length, or an error. */
static long path_of_fd(long fd, char *to, size_t room)
{
	char name[32] = "/proc/self/fd/", digits[20];
	size_t n = strlen(name), k = 0;

	if (fd < 0)
		return -EBADF;
	do
		digits[k++] = (char)('0' + fd % 10);
	while ((fd /= 10) > 0);
	while (k > 0)
		name[n++] = digits[--k];
	name[n] = 0;
	return CALL4(SYS_readlinkat, AT_FDCWD, name, to, room);
}

__attribute__((noinline)) bool root_holds(long fd)
{
	char path[ROOT_PATH_ROOM];
	const long len = g_root_len ? path_of_fd(fd, path, sizeof(path) - 1) : -1;

	if (len <= 0)
		return false;
	path[len] = 0;
	return is_inside(path);
}

/* ---- notes ---- */

/* Makes a path absolute. Returns its length with the NUL; 0: unknown. */
static size_t absolute(long dirfd, const char *path, char *to)
{
	long len = 0;

	if (path[0] != '/')
		len = (int)dirfd == AT_FDCWD ? CALL2(SYS_getcwd, to, ROOT_PATH_ROOM) - 1
					     : path_of_fd((int)dirfd, to, ROOT_PATH_ROOM);
	if (len < 0 || (size_t)len + strlen(path) + 2 > ROOT_PATH_ROOM)
		return 0;
	if (path[0] != '/')
		to[len++] = '/';
	strcpy(to + len, path);
	return (size_t)len + strlen(path) + 1;
}

static __attribute__((noinline)) void note_write(enum run_note how, long dirfd, const char *path)
{
	char text[ROOT_PATH_ROOM + 1];
	const size_t n = absolute(dirfd, path, text + 1);
	const long fd =
		n ? CALL4(SYS_openat, AT_FDCWD, g_notes, O_WRONLY | O_APPEND | O_CLOEXEC, 0) : -1;

	if (IS_ERROR(fd))
		return;
	text[0] = (char)how;
	CALL3(SYS_write, fd, text, n + 1);
	CALL1(SYS_close, fd);
}

void root_note(enum run_note how, long dirfd, const char *path)
{
	if (g_notes[0])
		note_write(how, dirfd, path);
}

static void note_socket(uint64_t address, uint64_t len_bytes)
{
	struct sockaddr_un to = { 0 };

	if (!rt_copy_in(&to, address, len_bytes < sizeof(to) - 1 ? len_bytes : sizeof(to) - 1))
		return;
	root_note(RUN_NOTE_SOCKET, AT_FDCWD,
		  to.sun_family == AF_UNIX && to.sun_path[0] == '/' ? to.sun_path : "/");
}

/* ---- calls that concern no PM file ---- */

/* Makes getcwd, and removes the root from the path, so the program sees the path that its folder
 * had. */
static __attribute__((noinline)) long call_getcwd(long a[6])
{
	char path[ROOT_PATH_ROOM];
	const long n = CALL2(SYS_getcwd, path, sizeof(path));
	const char *own = path;

	if (IS_ERROR(n))
		return n;
	if (is_inside(path))
		own = path[g_root_len] ? path + g_root_len : "/";
	if (strlen(own) + 1 > (size_t)a[1])
		return -ERANGE;
	return rt_copy_out((uint64_t)a[0], own, strlen(own) + 1) ? (long)strlen(own) + 1 : -EFAULT;
}

static __attribute__((noinline)) long call_moved(long number, long a[6], int at)
{
	char path[ROOT_PATH_ROOM];

	if (!rt_copy_string(path, (uint64_t)a[at], sizeof(path)) || !root_enter(path) ||
	    !root_takes(path))
		return CALL_PASS;
	a[at] = (long)path;
	return rt_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long call_chroot(long number, long a[6])
{
	const long r = calls_perform(number, a);

	g_is_changed |= !IS_ERROR(r);
	return r;
}

long root_call(long number, long a[6])
{
	if (number == SYS_chroot || number == SYS_pivot_root)
		return call_chroot(number, a);
	if (g_notes[0] && (number == SYS_connect || number == SYS_bind))
		note_socket((uint64_t)a[1], (uint64_t)a[2]);
	if (!g_root_len)
		return CALL_PASS;
	switch (number) {
	case SYS_getcwd: return call_getcwd(a);
#ifdef SYS_mkdir
	case SYS_mkdir:
#endif
#ifdef SYS_rmdir
	case SYS_rmdir:
#endif
	case SYS_chdir: return call_moved(number, a, 0);
	case SYS_mkdirat: return call_moved(number, a, 1);
	default: return CALL_PASS;
	}
}
