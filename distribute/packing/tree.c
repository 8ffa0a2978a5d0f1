/* Turns paths into entries of a bundle. A path is followed part by part, and each link on it
 * becomes a link in the bundle. So every name of a file works there, too, and the file itself is
 * packed once. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "distribute/packing/internal.h"
#include "util/hash.h"

#define LINKS_MAX 40

void tree_lack(struct packing *p, const char *fmt, ...)
{
	static char mark;
	char *text;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		alloc_die();
	va_end(args);
	if (map_get(&p->said, hash_text(text))) {
		free(text);
		return;
	}
	map_set(&p->said, hash_text(text), &mark);
	*vec_add(&p->b->lacks) = text;
}

/* Notes the path as seen. False: it was seen before. */
static bool is_new(struct packing *p, const char *path)
{
	static char mark;

	if (map_get(&p->known, hash_text(path)))
		return false;
	map_set(&p->known, hash_text(path), &mark);
	return true;
}

static struct bundle_entry *entry_add(struct packing *p, const char *path, enum bundle_kind kind)
{
	struct bundle_entry *e = vec_add(&p->b->entries);

	*e = (struct bundle_entry){ .path = xstrdup(path + 1), .kind = kind };
	return e;
}

static bool is_left_out(const struct packing *p, const char *path)
{
	for (size_t i = 0; i < p->left_out.n; i++)
		if (strcmp(p->left_out.at[i], path) == 0)
			return true;
	return false;
}

/* Asks whether the path belongs to the machine, such as /proc or a device. Such a path is not
 * packed: another machine has its own, or cannot be given one. */
static bool is_of_machine(struct packing *p, const char *path)
{
	static const char *const common[] = { "/dev/null",   "/dev/zero",    "/dev/full",
					      "/dev/random", "/dev/urandom", "/dev/tty",
					      "/dev/stdin",  "/dev/stdout",  "/dev/stderr",
					      "/dev/shm" };

	if (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0 ||
	    strcmp(path, "/proc") == 0 || strcmp(path, "/sys") == 0)
		return true;
	if (strncmp(path, "/dev/", 5) != 0)
		return false;
	if (strncmp(path, "/dev/shm/", 9) == 0)
		return false;
	for (size_t i = 0; i < sizeof common / sizeof *common; i++)
		if (strcmp(path, common[i]) == 0)
			return true;
	if (!is_left_out(p, path) && strncmp(path, "/dev/fd/", 8) != 0 &&
	    strncmp(path, "/dev/pts", 8) != 0)
		tree_lack(p, "%s is a device: it must exist where the bundle runs", path);
	return true;
}

/* Packs the file or folder at the end of a path that has no links. */
static bool end_add(struct packing *p, const char *path, const struct stat *st)
{
	if (S_ISDIR(st->st_mode)) {
		if (path[1] && is_new(p, path))
			entry_add(p, path, BUNDLE_FOLDER);
		return true;
	}
	if (is_left_out(p, path))
		return false;
	if (S_ISSOCK(st->st_mode) || S_ISFIFO(st->st_mode)) {
		tree_lack(p, "%s is a %s, which cannot be packed: recovery will not find it", path,
			  S_ISSOCK(st->st_mode) ? "socket" : "named pipe");
		return false;
	}
	if (!S_ISREG(st->st_mode))
		return false;
	if (st->st_mode & (S_ISUID | S_ISGID)) {
		tree_lack(
			p,
			"%s is setuid, which a bundle cannot preserve: it must exist where the bundle runs",
			path);
		return false;
	}
	if (access(path, R_OK) < 0) {
		tree_lack(p, "%s cannot be read: %s", path, strerror(errno));
		return false;
	}
	if (!bundle_path_is_good(path + 1)) {
		tree_lack(
			p,
			"a file of %.*s has a name that is too long, or has control characters in it",
			(int)(strrchr(path, '/') - path), path);
		return false;
	}
	if (is_new(p, path)) {
		entry_add(p, path, BUNDLE_FILE);
		*vec_add(&p->files) = xstrdup(path);
	}
	return true;
}

/* Appends a part to a path without links; drops "." and resolves "..". */
static void part_add(char path[PATH_MAX], const char *part, size_t n)
{
	size_t len = strlen(path);

	if (n == 0 || (n == 1 && part[0] == '.'))
		return;
	if (n == 2 && part[0] == '.' && part[1] == '.') {
		if (strrchr(path, '/'))
			*strrchr(path, '/') = 0;
		return;
	}
	if (len + n + 2 < PATH_MAX)
		snprintf(path + len, PATH_MAX - len, "/%.*s", (int)n, part);
}

/* Removes "." and ".." from a path, without looking at the disk. */
static void path_normalise(const char *path, char to[PATH_MAX])
{
	to[0] = 0;
	for (const char *end; *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, '/');
		part_add(to, path, (size_t)(end - path));
	}
}

static void link_add(struct packing *p, const char *path, const char *target)
{
	char to[PATH_MAX];

	path_normalise(target, to);
	if (to[0] && bundle_path_is_good(to + 1) && strcmp(to, path) != 0 && is_new(p, path))
		entry_add(p, path, BUNDLE_LINK)->target = xstrdup(to + 1);
}

/* Follows a path to its first link. 1: *rest is the path to follow next; 0: nothing is there; 2:
 * the end was reached. */
static int follow_to_link(struct packing *p, const char *path, char at[PATH_MAX], char **rest,
			  struct stat *st)
{
	at[0] = 0;
	for (const char *end; *path; path = *end ? end + 1 : end) {
		char link[PATH_MAX];
		ssize_t n;

		end = strchrnul(path, '/');
		part_add(at, path, (size_t)(end - path));
		if (!at[0])
			continue;
		if (is_of_machine(p, at) || lstat(at, st) < 0)
			return 0;
		if (!S_ISLNK(st->st_mode))
			continue;
		n = readlink(at, link, sizeof link - 1);
		if (n <= 0)
			return 0;
		link[n] = 0;
		*rest = link[0] == '/' ? xasprintf("%s%s", link, end)
				       : xasprintf("%.*s/%s%s", (int)(strrchr(at, '/') - at), at,
						   link, end);
		(*rest)[strlen(*rest) - strlen(end)] = 0;
		link_add(p, at, *rest);
		(*rest)[strlen(*rest)] = *end;
		return 1;
	}
	return at[0] ? 2 : 0;
}

bool tree_add(struct packing *p, const char *path)
{
	char *next = xstrdup(path), *rest, at[PATH_MAX];
	struct stat st;
	bool is_added = false;
	int got = 1;

	for (int i = 0; i < LINKS_MAX && got == 1; i++) {
		got = next[0] == '/' ? follow_to_link(p, next, at, &rest, &st) : 0;
		if (got == 1) {
			free(next);
			next = rest;
		}
	}
	if (got == 2)
		is_added = end_add(p, at, &st);
	free(next);
	return is_added;
}

void tree_add_folder(struct packing *p, const char *path)
{
	if (!tree_add(p, path) && bundle_path_is_good(path + 1) && is_new(p, path))
		entry_add(p, path, BUNDLE_FOLDER);
}
