/* Finds listening sockets in /proc/net, and their owners by the descriptors of processes. If
 * descriptors may not be read, for example those of another user's process, a socket counts whoever
 * owns it. */
#include "record/listening.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/processes.h"
#include "util/alloc.h"
#include "util/vec.h"

#define TCP_LISTENS 0x0a
#define UNIX_LISTENS 0x10000 /* __SO_ACCEPTCON */

struct listener {
	unsigned long inode;
	uint16_t port; /* 0: a Unix socket */
	char path[108];
};

struct listeners {
	VEC(struct listener) list;
};

static void read_tcp(struct listeners *l, const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned port, state;
	unsigned long inode;
	char line[512];

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line,
			   " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*d %lu",
			   &port, &state, &inode) == 3 &&
		    state == TCP_LISTENS)
			*vec_add(&l->list) =
				(struct listener){ .inode = inode, .port = (uint16_t)port };
	if (f)
		fclose(f);
}

static void read_unix(struct listeners *l)
{
	FILE *f = fopen("/proc/net/unix", "re");
	struct listener one;
	unsigned flags;
	char line[512];

	while (f && fgets(line, sizeof line, f)) {
		one = (struct listener){ 0 };
		if (sscanf(line, "%*s %*x %*x %x %*x %*x %lu %107[^\n]", &flags, &one.inode,
			   one.path) >= 2 &&
		    (flags & UNIX_LISTENS))
			*vec_add(&l->list) = one;
	}
	if (f)
		fclose(f);
}

/* Gives the inode of the socket behind a descriptor; 0: it is no socket. */
static unsigned long socket_of(const char *folder, const char *fd)
{
	char path[512], to[64];
	unsigned long inode;
	ssize_t n;

	snprintf(path, sizeof path, "%s/%s", folder, fd);
	n = readlink(path, to, sizeof to - 1);
	to[n > 0 ? n : 0] = '\0';
	return sscanf(to, "socket:[%lu]", &inode) == 1 ? inode : 0;
}

/* Calls a function for each listening socket of a process; false: that is unknown. */
static bool of_process(const struct listeners *l, pid_t pid,
		       void (*each)(const struct listener *one, void *arg), void *arg)
{
	char folder[64];
	struct dirent *e;
	unsigned long inode;
	DIR *fds;

	snprintf(folder, sizeof folder, "/proc/%d/fd", (int)pid);
	fds = opendir(folder);
	if (!fds)
		return errno != EACCES;
	while ((e = readdir(fds))) {
		inode = socket_of(folder, e->d_name);
		for (size_t i = 0; inode && i < l->list.n; i++)
			if (l->list.at[i].inode == inode)
				each(&l->list.at[i], arg);
	}
	closedir(fds);
	return true;
}

static void of_descendants(pid_t of, void (*each)(const struct listener *one, void *arg), void *arg)
{
	struct listeners l = { 0 };
	struct processes all;
	bool is_known = true;

	read_tcp(&l, "/proc/net/tcp");
	read_tcp(&l, "/proc/net/tcp6");
	read_unix(&l);
	processes_init(&all);
	processes_mark_descendants(&all, of);
	for (size_t i = 0; l.list.n > 0 && i < all.n; i++)
		if (all.at[i].is_marked)
			is_known &= of_process(&l, all.at[i].pid, each, arg);
	processes_release(&all);
	for (size_t i = 0; !is_known && i < l.list.n; i++)
		each(&l.list.at[i], arg);
	vec_release(&l.list);
}

struct wanted {
	uint16_t port;
	bool is_found;
};

static void look(const struct listener *one, void *arg)
{
	struct wanted *w = arg;

	w->is_found |= w->port == 0 || one->port == w->port;
}

bool listening_is(pid_t of, uint16_t port)
{
	struct wanted w = { .port = port };

	of_descendants(of, look, &w);
	return w.is_found;
}

static void tell(const struct listener *one, void *arg)
{
	char **text = arg, *longer, *name;

	name = one->port ? xasprintf("port %u", one->port) : xstrdup(one->path);
	if (!*text || !strstr(*text, name)) {
		longer = *text ? xasprintf("%s, %s", *text, name) : xstrdup(name);
		free(*text);
		*text = longer;
	}
	free(name);
}

char *listening_tell(pid_t of)
{
	char *text = NULL;

	of_descendants(of, tell, &text);
	return text ? text : xstrdup("nothing");
}
