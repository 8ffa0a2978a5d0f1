/* Keeps what folders hold. It is renamed into FOLDER.pmend-PID beside the folder, and copied from
 * there before each run: permissions, owners and times of modification are those of the originals.
 * If pmend dies, all of it is there.
 *
 * Refused are files with several names, and what is neither file, folder nor symbolic link. Limit:
 * extended attributes are not copied. */
#include "pools/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pools/entries.h"
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

/* Can the entry be copied? */
static int examine(const char *path, const char *ignored, struct error *err)
{
	struct stat st;

	(void)ignored;
	if (lstat(path, &st) < 0)
		return error_set(err, "cannot find %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return entries_each(path, path, examine, err);
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return error_set(err, "%s is neither a file nor a folder nor a symbolic link",
				 path);
	if (st.st_nlink != 1)
		return error_set(err, "%s has several names", path);
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
	if (result == 0 && S_ISDIR(st.st_mode) && entries_each(from, to, copy, err) < 0)
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
	if (entries_each(own.path, own.path, examine, err) < 0) {
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
	return entries_move(own.path, own.aside, err);
}

struct folders *folders_begin(const struct word_list *names, struct error *err)
{
	struct folders *f = xcalloc(1, sizeof *f);
	struct error ignored;

	for (size_t i = 0; i < names->n; i++)
		if (folder_begin(f, names->item[i], err) < 0) {
			for (size_t k = 0; k < f->list.n; k++) {
				entries_move(f->list.at[k].aside, f->list.at[k].path, &ignored);
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

		result = entries_erase(one->path, err);
		if (result == 0)
			result = entries_each(one->aside, one->path, copy, err);
	}
	return result;
}

static int folder_end(const struct folder *f, bool has_run, struct error *err)
{
	if (has_run) {
		tree_remove(f->aside);
		return 0;
	}
	if (entries_erase(f->path, err) < 0 || entries_move(f->aside, f->path, err) < 0)
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
