/* Recovery that changes files beside the pool, in each way there is. Every run must find them as the
 * user has them, and the user's must stay as they are:
 *   private POOL run      the program; POOL-wal holds "precious", POOL-keep "kept"
 *   private POOL check    recovery */
#include "pm.h"

#include <dirent.h>
#include <stdbool.h>
#include <sys/wait.h>

#define NWORDS 4

struct pool {
	struct {
		_Alignas(LINE_BYTES) uint64_t value;
	} word[NWORDS];
};

static char g_folder[4096], g_wal[4096], g_keep[4096], g_lock[4096], g_new[4096];

static const char *name_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

static void names(const char *pool)
{
	CHECK(realpath(pool, g_folder) && strlen(g_folder) + 10 < sizeof g_folder);
	snprintf(g_wal, sizeof g_wal, "%.4000s-wal", g_folder);
	snprintf(g_keep, sizeof g_keep, "%.4000s-keep", g_folder);
	snprintf(g_lock, sizeof g_lock, "%.4000s.lock", g_folder);
	snprintf(g_new, sizeof g_new, "%.4000s.new", g_folder);
	*strrchr(g_folder, '/') = 0;
}

static void put(const char *path, int flags, const char *text)
{
	int fd = open(path, O_WRONLY | flags, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

static bool has(const char *path, const char *text)
{
	char found[64];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, found, sizeof found);

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text) && memcmp(found, text, (size_t)n) == 0;
}

static bool is_absent(const char *path)
{
	return access(path, F_OK) < 0 && errno == ENOENT && open(path, O_RDWR) < 0 && errno == ENOENT;
}

static int times_listed(const char *path)
{
	DIR *d = opendir(g_folder);
	struct dirent *e;
	int n = 0;

	CHECK(d);
	while ((e = readdir(d)))
		n += strcmp(e->d_name, name_of(path)) == 0;
	closedir(d);
	return n;
}

static void run(const char *path)
{
	struct pool *p = pool_create(path, sizeof *p);

	names(path);
	put(g_wal, O_CREAT | O_TRUNC, "precious");
	put(g_keep, O_CREAT | O_TRUNC, "kept");
	for (uint64_t i = 0; i < NWORDS; i++) {
		p->word[i].value = i + 1;
		persist(&p->word[i], sizeof p->word[i].value);
	}
}

static void lock(void)
{
	CHECK(open(g_lock, O_CREAT | O_EXCL | O_RDWR, 0600) >= 0);
	CHECK(open(g_lock, O_CREAT | O_EXCL | O_RDWR, 0600) < 0 && errno == EEXIST);
	CHECK(times_listed(g_lock) == 1);
}

static void change(void)
{
	struct stat st;

	put(g_wal, O_APPEND, "!");
	CHECK(has(g_wal, "precious!") && times_listed(g_wal) == 1);
	CHECK(truncate(g_wal, 3) == 0 && has(g_wal, "pre"));
	CHECK(chmod(g_keep, 0640) == 0 && stat(g_keep, &st) == 0 && (st.st_mode & 0777) == 0640 && has(g_keep, "kept"));
	put(g_keep, O_TRUNC, "");
	CHECK(has(g_keep, ""));
}

static void move(void)
{
	CHECK(rename(g_wal, g_new) == 0 && is_absent(g_wal) && has(g_new, "pre"));
	CHECK(times_listed(g_wal) == 0 && times_listed(g_new) == 1);
	CHECK(unlink(g_wal) < 0 && errno == ENOENT);
	put(g_wal, O_CREAT, "again");
	CHECK(has(g_wal, "again") && times_listed(g_wal) == 1);
	CHECK(link(g_new, g_wal) < 0 && errno == EEXIST && link(g_new, g_lock) < 0 && errno == EEXIST);
	CHECK(unlink(g_wal) == 0 && is_absent(g_wal) && link(g_new, g_wal) == 0 && has(g_wal, "pre"));
	CHECK(unlink(g_new) == 0 && times_listed(g_new) == 0);
	CHECK(rename(g_keep, g_wal) == 0 && has(g_wal, "") && is_absent(g_keep));
}

static void make(const char *pool)
{
	char unnamed[64];
	struct stat st;
	int fd = open(g_folder, O_TMPFILE | O_RDWR, 0600);

	if (fd >= 0) { /* not every file system has that */
		snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", fd);
		CHECK(write(fd, "late", 4) == 4 && linkat(AT_FDCWD, unnamed, AT_FDCWD, g_new, AT_SYMLINK_FOLLOW) == 0);
		CHECK(has(g_new, "late") && unlink(g_new) == 0);
	}
	CHECK(symlink("nowhere", g_new) == 0 && lstat(g_new, &st) == 0 && S_ISLNK(st.st_mode) && is_absent(g_new) && unlink(g_new) == 0);
	CHECK(symlink(name_of(g_wal), g_new) == 0 && has(g_new, "") && open(g_new, O_RDONLY | O_NOFOLLOW) < 0);
	put(g_new, O_TRUNC, "linked");
	CHECK(has(g_wal, "linked") && unlink(g_new) == 0 && has(g_wal, "linked"));
	CHECK(symlink(pool, g_new) == 0 && stat(g_new, &st) == 0 && st.st_size == sizeof(struct pool) && unlink(g_new) == 0);
	CHECK(symlink("/dev/null", g_new) == 0 && stat(g_new, &st) == 0 && S_ISCHR(st.st_mode) && unlink(g_new) == 0);
	CHECK(mkfifo(g_new, 0600) == 0 && stat(g_new, &st) == 0 && S_ISFIFO(st.st_mode) && unlink(g_new) == 0);
}

/* Processes of one run see the same. */
static void share(void)
{
	int folder = open(g_folder, O_RDONLY | O_DIRECTORY), status;
	char command[20000];

	if (fork() == 0) {
		put(g_wal, O_TRUNC, "child");
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0 && has(g_wal, "child"));
	snprintf(command, sizeof command, "test -e '%s' && rm '%s' && ! test -e '%s' && printf new >'%s'", g_wal, g_wal, g_wal, g_wal);
	CHECK(system(command) == 0 && has(g_wal, "new"));
	CHECK(folder >= 0 && unlinkat(folder, name_of(g_wal), 0) == 0 && times_listed(g_wal) == 0);
	CHECK(chdir(g_folder) == 0 && is_absent(name_of(g_wal)));
	put(name_of(g_wal), O_CREAT, "relative");
	CHECK(has(g_wal, "relative"));
}

static void check(const char *path)
{
	const struct pool *p = pool_open(path, sizeof *p);

	if (!p)
		return;
	for (int i = 1; i < NWORDS; i++)
		CHECK(p->word[i - 1].value || !p->word[i].value);
	names(path);
	if (!has(g_keep, "kept")) { /* the recording is over, and so is the first part of it */
		CHECK(is_absent(g_keep));
		return;
	}
	CHECK(has(g_wal, "precious") && is_absent(g_new));
	lock();
	change();
	move();
	make(path);
	share();
	CHECK(unlink(g_lock) == 0);
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	if (strcmp(argv[2], "run") == 0)
		run(argv[1]);
	else
		check(argv[1]);
	return 0;
}
