/* Searches /proc for processes that have a PM file open for writing, or mapped shared and writable.
 * Processes that pmend started are recorded and do not count. */
#include "pools/unseen/others.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/vec.h"

struct wanted { /* a file to search for */
	dev_t dev;
	ino_t ino;
	int fd;
};
typedef VEC(struct wanted) wanted_list;

static const struct wanted *wanted_find(const wanted_list *list, dev_t dev, ino_t ino)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].ino == ino && list->at[i].dev == dev)
			return &list->at[i];
	return NULL;
}

/* ---- one process ---- */

static const struct wanted *find_open(int proc, const char *pid, const wanted_list *list)
{
	const struct wanted *found = NULL;
	char name[NAME_MAX + 8];
	struct dirent *e;
	struct stat st;
	DIR *d;
	int fd;

	snprintf(name, sizeof name, "%s/fd", pid);
	fd = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	while (d && !found && (e = readdir(d))) {
		/* the mode of the link itself tells how the file was opened */
		if (e->d_name[0] == '.' || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !(st.st_mode & S_IWUSR))
			continue;
		if (fstatat(fd, e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
			found = wanted_find(list, st.st_dev, st.st_ino);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return found;
}

static const struct wanted *find_mapped(int proc, const char *pid, const wanted_list *list)
{
	const struct wanted *found = NULL;
	char name[NAME_MAX + 8], line[512], mode[5];
	unsigned major, minor;
	unsigned long inode;
	FILE *f;
	int fd;

	snprintf(name, sizeof name, "%s/maps", pid);
	fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	/* the rest of a long line does not look like a mapping */
	while (f && !found && fgets(line, sizeof line, f))
		if (sscanf(line, "%*x-%*x %4s %*x %x:%x %lu", mode, &major, &minor, &inode) == 4 &&
		    mode[1] == 'w' && mode[3] == 's')
			found = wanted_find(list, makedev(major, minor), inode);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return found;
}

static pid_t parent_of(pid_t pid)
{
	char name[64], text[512], *after;
	ssize_t n;
	int fd;

	snprintf(name, sizeof name, "/proc/%d/stat", (int)pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	after = strrchr(text, ')'); /* the program's name may contain anything */
	return after && strlen(after) > 4 ? (pid_t)atoi(after + 4) : 0;
}

static bool is_ours(pid_t pid)
{
	for (; pid > 1; pid = parent_of(pid))
		if (pid == getpid())
			return true;
	return false;
}

/* ---- all processes ---- */

/* Describes the process in words; free() it. */
static char *describe_process(const char *pid, const struct wanted *w)
{
	char link[NAME_MAX + 16], path[PATH_MAX], comm[64] = "";
	ssize_t n;
	FILE *f;

	snprintf(link, sizeof link, "/proc/self/fd/%d", w->fd);
	n = readlink(link, path, sizeof path - 1);
	path[n < 0 ? 0 : n] = '\0';
	snprintf(link, sizeof link, "/proc/%s/comm", pid);
	f = fopen(link, "re");
	if (f && fgets(comm, sizeof comm, f))
		comm[strcspn(comm, "\n")] = '\0';
	if (f)
		fclose(f);
	return xasprintf("process %s (%s), which was not recorded, had %s open for writing", pid,
			 comm, path);
}

static char *search_proc(const wanted_list *list)
{
	DIR *d = opendir("/proc");
	char *found = NULL;
	struct dirent *e;

	while (d && !found && (e = readdir(d))) {
		const struct wanted *w;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		w = find_open(dirfd(d), e->d_name, list);
		if (!w)
			w = find_mapped(dirfd(d), e->d_name, list);
		if (w && !is_ours((pid_t)atoi(e->d_name)))
			found = describe_process(e->d_name, w);
	}
	if (d)
		closedir(d);
	return found;
}

void others_look(struct others *o, struct kept *k, bool is_for_all)
{
	const uint32_t n = kept_n(k);
	wanted_list list = { 0 };
	struct stat st;

	for (uint32_t i = is_for_all ? 0 : o->nlooked; i < n && !o->found; i++)
		if (kept_fd(k, i) >= 0 && fstat(kept_fd(k, i), &st) == 0)
			*vec_add(&list) = (struct wanted){ st.st_dev, st.st_ino, kept_fd(k, i) };
	if (list.n > 0)
		o->found = search_proc(&list);
	o->nlooked = n;
	vec_release(&list);
}

void others_release(struct others *o)
{
	free(o->found);
}
