/* By whatever name recovery reaches a PM file, it gets the image. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

#define LINE { 0, { { 0, 8, 7 } } }

/* The first byte of a file: 'u' is the user's own. */
static void show(int fd)
{
	char c = '?';

	errno = fd < 0 ? errno : 0;
	if (fd < 0 || pread(fd, &c, 1, 0) != 1)
		printf("[%s]", strerror(errno));
	else
		printf("[%d]", c);
	if (fd >= 0)
		close(fd);
}

static int names(void)
{
	char *real = realpath("pool", NULL), cwd[PATH_MAX];
	int dir = open(".", O_RDONLY | O_DIRECTORY);

	show(open(real, O_RDONLY));
	show(openat(dir, "pool", O_RDONLY));
	show(open("./../user//pool", O_RDONLY));
	if (chdir("/") < 0 || !getcwd(cwd, sizeof(cwd)))
		return 1;
	show(open(real + 1, O_RDONLY));
	show(openat(dir, "./pool", O_RDONLY | O_NOFOLLOW));
	free(real);
	return 0;
}

static int links(void)
{
	char *real = realpath("pool", NULL);
	struct stat a, b;

	if (mkdir("folder", 0700) < 0 || symlink("../pool", "folder/link") < 0 || symlink("folder/link", "link") < 0)
		return 1;
	show(open("folder/link", O_RDONLY));
	show(open("link", O_RDONLY));
	show(open("link", O_RDONLY | O_NOFOLLOW));
	if (lstat("link", &a) < 0 || stat("link", &b) < 0)
		return 1;
	printf(" %d %d", S_ISLNK(a.st_mode) != 0, (int)b.st_size);
	printf(" %d", realpath("link", NULL) && strcmp(realpath("link", NULL), real) == 0);
	return 0;
}

/* Another name of the same inode. */
static int hard_link(void)
{
	struct stat a, b;

	show(open("hard", O_RDONLY));
	printf(" %d", stat("hard", &a) == 0 && stat("pool", &b) == 0 && a.st_ino == b.st_ino);
	return 0;
}

static int metadata(void)
{
	struct stat a, b;
	int fd = open("pool", O_RDWR);

	if (truncate("pool", 8192) < 0 || stat("pool", &a) < 0 || fstat(fd, &b) < 0 || chmod("pool", 0640) < 0)
		return 1;
	printf("%ld %d %d", (long)a.st_size, a.st_ino == b.st_ino, access("pool", R_OK | W_OK));
	return 0;
}

static int removed(void)
{
	char *p = map_pool();
	int r;

	if (unlink("pool") < 0)
		return 1;
	r = access("pool", F_OK);
	printf("%d %d ", r, errno == ENOENT);
	printf("%lu ", WORD(p, 0)); /* the mapping stays, and what is undecided in it */
	show(open("pool", O_RDWR | O_CREAT | O_EXCL, 0600));
	return 0;
}

static int renamed(void)
{
	struct stat st;

	if (rename("pool", "other") < 0)
		return 1;
	show(open("other", O_RDONLY));
	printf(" %d ", stat("pool", &st));
	printf("%ld ", stat("other", &st) == 0 ? (long)st.st_size : -1);
	printf("%lu", WORD(map_file("other", PROT_READ, MAP_SHARED), 0));
	return 0;
}

static int renamed_away(void)
{
	return rename("pool", "elsewhere");
}

static int absent(void)
{
	struct stat st;
	char *p;
	int fd;

	fd = stat("pool", &st);
	printf("%d %d ", fd, errno == ENOENT);
	printf("%d ", open("pool", O_RDWR));
	fd = open("pool", O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, POOL_BYTES) < 0)
		return 1;
	p = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	WORD(p, 0) = 5;
	if (stat("pool", &st) < 0)
		return 1;
	printf("%d %lu %ld", (uint64_t)p == RECORDED_VA, WORD(p, 0), (long)st.st_size);
	return 0;
}

static int absent_link(void)
{
	if (symlink("pool", "link") < 0)
		return 1;
	show(open("link", O_RDWR));
	show(open("link", O_RDWR | O_CREAT, 0600));
	return access("pool", F_OK);
}

static int listing(void)
{
	DIR *d = opendir(".");
	struct dirent *e;
	int npools = 0, nothers = 0;

	while ((e = readdir(d))) {
		npools += strcmp(e->d_name, "pool") == 0;
		nothers += strcmp(e->d_name, "other") == 0;
	}
	closedir(d);
	printf("%d %d ", npools, nothers);
	return 0;
}

/* The user has both, recovery has neither, then one. */
static int listings(void)
{
	listing();
	unlink("pool");
	unlink("other");
	listing();
	close(open("pool", O_RDWR | O_CREAT, 0600));
	return listing();
}

static int listing_absent(void)
{
	listing();
	close(open("pool", O_RDWR | O_CREAT, 0600));
	return listing();
}

static int proc_mem(void)
{
	map_pool();
	return open("/proc/self/mem", O_RDONLY);
}

static int other_files(void)
{
	FILE *f = fopen("../other-file", "w");

	if (!f || fputs("text", f) < 0 || fclose(f))
		return 1;
	show(open("../other-file", O_RDONLY));
	return unlink("../other-file");
}

const struct test path_tests[] = {
	{ "names", names, { LINE }, { { 0, 0, 1, 2 } }, "[7][7][7][7][7]" },
	{ "links", links, { LINE }, { { 0, 0, 1, 2 } }, "[7][7][Too many levels of symbolic links] 1 65536 1" },
	{ "hard-link", hard_link, { LINE }, { { 0, 0, 1, 2 } }, "[7] 1", 0, HARD_LINK },
	{ "whole-image", names, { LINE }, { { 0 } }, "[7][7][7][7][7]", 0, NOT_LAZY },
	{ "metadata", metadata, { LINE }, { { 0 } }, "8192 1 0" },
	{ "removed", removed, { LINE }, { { 0, 0, 1, 2 } }, "-1 1 7 [Success]" },
	{ "renamed", renamed, { LINE }, { { 0, 0, 1, 2 } }, "[7] -1 65536 7", 0, SECOND },
	{ "renamed-away", renamed_away, { LINE }, { { 0 } }, NULL, 0, 0, "a PM file is renamed" },
	{ "absent", absent, { { 0 } }, { { 0 } }, "-1 1 -1 1 5 65536", 0, ABSENT },
	{ "absent-link", absent_link, { { 0 } }, { { 0 } }, "[No such file or directory][Success]", 0, ABSENT },
	{ "listings", listings, { LINE }, { { 0 } }, "1 1 0 0 1 0 ", 0, SECOND },
	{ "listing-absent", listing_absent, { { 0 } }, { { 0 } }, "0 0 1 0 ", 0, ABSENT },
	{ "proc-mem", proc_mem, { LINE }, { { 0 } }, NULL, 0, 0, "memory is read by /proc" },
	{ "other-files", other_files, { LINE }, { { 0 } }, "[116]" },
	{ 0 },
};
