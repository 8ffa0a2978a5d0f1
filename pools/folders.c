/* Keeps what folders hold. It is renamed into FOLDER.pmend-PID beside the folder, and copied from
 * there before each run: permissions, owners and times of modification are those of the originals.
 * If pmend dies, all of it is there.
 *
 * Refused are files with several names, and what is neither file, folder nor symbolic link. Limit:
 * extended attributes are not copied. */
#include "pools/folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pools/guardian.h"
#include "util/alloc.h"
#include "util/tempdir.h"
#include "util/vec.h"

struct folder {
	char *path, *aside;
};

struct folders {
	VEC(struct folder) list;
};

/* ---- entries ---- */

typedef VEC(char *) name_list;

static void names_release(name_list *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->at[i]);
	vec_release(names);
}

static int names_read(name_list *names, const char *folder, struct error *err)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	if (!d)
		return error_set(err, "cannot read the folder %s: %s", folder, strerror(errno));
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			*vec_add(names) = xstrdup(e->d_name);
	closedir(d);
	return 0;
}

/* Calls for each entry of `from`, with its path there and in `to`, until one fails. */
static int each_entry(const char *from, const char *to,
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

/* Can the entry be copied? */
static int examine(const char *path, const char *ignored, struct error *err)
{
	struct stat st;

	(void)ignored;
	if (lstat(path, &st) < 0)
		return error_set(err, "cannot find %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return each_entry(path, path, examine, err);
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return error_set(err, "%s is neither a file nor a folder nor a symbolic link",
				 path);
	if (st.st_nlink != 1)
		return error_set(err, "%s has several names", path);
	return 0;
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

static int copy_link(const char *from, const char *to, const struct stat *st)
{
	char *text = xcalloc((size_t)st->st_size + 1, 1);
	ssize_t n = readlink(from, text, (size_t)st->st_size);
	int result = n < 0 ? -1 : symlink(text, to);

	free(text);
	return result;
}

/* Gives the copy the owner, the permissions and the time of the original. */
static int copy_properties(const char *to, const struct stat *st)
{
	const struct timespec times[2] = { st->st_atim, st->st_mtim };

	if (lchown(to, st->st_uid, st->st_gid) < 0 && (geteuid() == 0 || st->st_uid != geteuid()))
		return -1;
	if (!S_ISLNK(st->st_mode) && chmod(to, st->st_mode & 07777) < 0)
		return -1;
	return utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW);
}

static int copy_content(const char *from, const char *to)
{
	const int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	const int result = in < 0 ? -1 : guardian_copy(in, to);

	if (in >= 0)
		close(in);
	return result;
}

static int copy(const char *from, const char *to, struct error *err)
{
	struct stat st;
	int result;

	if (lstat(from, &st) < 0)
		return error_set(err, "cannot find %s: %s", from, strerror(errno));
	result = S_ISDIR(st.st_mode)   ? mkdir(to, 0700)
		 : S_ISLNK(st.st_mode) ? copy_link(from, to, &st)
				       : copy_content(from, to);
	if (result == 0 && S_ISDIR(st.st_mode) && each_entry(from, to, copy, err) < 0)
		return -1;
	if (result == 0 && !S_ISREG(st.st_mode))
		result = copy_properties(to, &st);
	return result < 0 ? error_set(err, "cannot write %s: %s", to, strerror(errno)) : 0;
}

/* ---- folders ---- */

static void folders_free(struct folders *f)
{
	for (size_t i = 0; i < f->list.n; i++) {
		free(f->list.at[i].path);
		free(f->list.at[i].aside);
	}
	vec_release(&f->list);
	free(f);
}

static int folder_begin(struct folders *f, const char *name, struct error *err)
{
	struct folder own = { .path = realpath(name, NULL) };

	if (!own.path)
		return error_set(err, "cannot find the folder %s: %s", name, strerror(errno));
	if (each_entry(own.path, own.path, examine, err) < 0) {
		free(own.path);
		return -1;
	}
	own.aside = xasprintf("%s.pmend-%d", own.path, (int)getpid());
	if (mkdir(own.aside, 0700) < 0) {
		error_set(err, "cannot make the folder %s: %s", own.aside, strerror(errno));
		free(own.path);
		free(own.aside);
		return -1;
	}
	*vec_add(&f->list) = own;
	return each_entry(own.path, own.aside, move, err);
}

struct folders *folders_begin(const struct word_list *names, struct error *err)
{
	struct folders *f = xcalloc(1, sizeof *f);
	struct error ignored;

	for (size_t i = 0; i < names->n; i++)
		if (folder_begin(f, names->item[i], err) < 0) {
			for (size_t k = 0; k < f->list.n; k++) {
				each_entry(f->list.at[k].aside, f->list.at[k].path, move, &ignored);
				rmdir(f->list.at[k].aside);
			}
			folders_free(f);
			return NULL;
		}
	return f;
}

int folders_fill(const struct folders *f, struct error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < f->list.n; i++) {
		const struct folder *one = &f->list.at[i];

		result = each_entry(one->path, one->path, erase, err);
		if (result == 0)
			result = each_entry(one->aside, one->path, copy, err);
	}
	return result;
}

static int folder_end(const struct folder *f, bool has_run, struct error *err)
{
	if (has_run) {
		tree_remove(f->aside);
		return 0;
	}
	if (each_entry(f->path, f->path, erase, err) < 0 ||
	    each_entry(f->aside, f->path, move, err) < 0)
		return -1;
	rmdir(f->aside);
	return 0;
}

int folders_end(struct folders *f, bool has_run, struct error *err)
{
	struct error failed;
	int result = 0;

	for (size_t i = 0; f && i < f->list.n; i++)
		if (folder_end(&f->list.at[i], has_run, &failed) < 0 && result == 0)
			result = error_set(err, "what %s held is now in %s: %s", f->list.at[i].path,
					   f->list.at[i].aside, failed.msg);
	if (f)
		folders_free(f);
	return result;
}
