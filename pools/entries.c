/* Goes over the entries of folders: all names but . and .. A symbolic link is no folder here, since
 * it may lead to what is not to be moved or removed. */
#include "pools/entries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/alloc.h"
#include "util/tempdir.h"
#include "util/vec.h"

typedef VEC(char *) name_list;

static void names_release(name_list *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->at[i]);
	vec_release(names);
}

static int names_read(name_list *names, const char *folder, struct error *err)
{
	const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d)
		return error_set(err, "cannot read the folder %s: %s", folder, strerror(errno));
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			*vec_add(names) = xstrdup(e->d_name);
	closedir(d);
	return 0;
}

int entries_each(const char *from, const char *to,
		 int (*each)(const char *from, const char *to, struct error *err),
		 struct error *err)
{
	name_list names = { 0 };
	int result = names_read(&names, from, err);

	for (size_t i = 0; result == 0 && i < names.n; i++) {
		char *a = xasprintf("%s/%s", from, names.at[i]),
		     *b = xasprintf("%s/%s", to, names.at[i]);

		result = each(a, b, err);
		free(a);
		free(b);
	}
	names_release(&names);
	return result;
}

static int move(const char *from, const char *to, struct error *err)
{
	if (rename(from, to) < 0)
		return error_set(err, "cannot move %s aside: %s", from, strerror(errno));
	return 0;
}

static int erase(const char *path, const char *ignored, struct error *err)
{
	struct stat st;

	(void)ignored;
	tree_remove(path);
	if (lstat(path, &st) == 0)
		return error_set(err, "cannot remove %s", path);
	return 0;
}

int entries_move(const char *from, const char *to, struct error *err)
{
	return entries_each(from, to, move, err);
}

int entries_erase(const char *folder, struct error *err)
{
	return entries_each(folder, folder, erase, err);
}
