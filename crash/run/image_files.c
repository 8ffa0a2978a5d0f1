/* The image files: one file in the runner's folder per PM file; files of one folder stay in one
 * folder. After each run, presence, size, mode and contents are restored, and other files in the
 * folders are removed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"
#include "util/sysroot.h"

#define UNKNOWN_BLOCKS UINT64_MAX

static void file_close(struct image_file *f)
{
	if (f->map)
		munmap(f->map, f->map_bytes);
	if (f->fd >= 0)
		close(f->fd);
	free(f->zero);
	f->map = NULL;
	f->zero = NULL;
	f->fd = -1;
	f->nzero = f->npages = f->size_bytes = 0;
	f->blocks = UNKNOWN_BLOCKS;
}

static void images_clear(struct image_files *s)
{
	for (size_t i = 0; i < s->files.n; i++) {
		file_close(&s->files.at[i]);
		free(s->files.at[i].path);
	}
	for (size_t i = 0; i < s->folders.n; i++) {
		tree_remove(s->folders.at[i].image);
		free(s->folders.at[i].path);
		free(s->folders.at[i].image);
	}
	s->files.n = s->folders.n = 0;
}

void image_files_release(struct image_files *s)
{
	images_clear(s);
	vec_release(&s->files);
	vec_release(&s->folders);
}

int image_files_find(const struct image_files *s, uint32_t number)
{
	for (size_t i = 0; i < s->files.n; i++)
		if (s->files.at[i].number == number && number)
			return (int)i;
	return -1;
}

/* ---- the list of files ---- */

static uint32_t folder_index(struct image_files *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	const size_t len = !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
	struct image_folder *f;
	char *place;

	for (size_t i = 0; i < s->folders.n; i++)
		if (strlen(s->folders.at[i].path) == len &&
		    memcmp(s->folders.at[i].path, path, len) == 0)
			return (uint32_t)i;
	f = vec_add(&s->folders);
	*f = (struct image_folder){ .path = xasprintf("%.*s", (int)len, path),
				    .image = xasprintf("%s/%zu", s->folder, s->folders.n - 1) };
	place = sysroot_path(len ? f->path : ".");
	if (stat(place, &f->st) < 0)
		f->st.st_ino = 0;
	free(place);
	return (uint32_t)(s->folders.n - 1);
}

static void file_add(struct image_files *s, uint32_t number, const char *path)
{
	struct image_file *f = vec_add(&s->files);
	const char *slash, *folder;
	struct stat st;

	*f = (struct image_file){ .number = number, .path = xstrdup(path), .fd = -1, .mode = 0644 };
	slash = strrchr(f->path, '/');
	f->name = slash ? slash + 1 : f->path;
	f->folder = folder_index(s, f->path);
	folder = s->folders.at[f->folder].image;
	if (snprintf(f->image, sizeof f->image, "%s/%s", folder, f->name) >= (int)sizeof f->image)
		snprintf(f->image, sizeof f->image, "%s/%zu", folder, s->files.n);
	if (stat(f->path, &st) == 0 && S_ISREG(st.st_mode))
		f->mode = (st.st_mode & 0777) | 0600;
}

/* Calls visit for each file that belongs on the list, until it returns false. */
static bool each_file(const struct crash_image *im, const char *const *paths,
		      bool (*visit)(void *arg, uint32_t number, const char *path), void *arg)
{
	for (size_t i = 1; i < im->files.n; i++)
		if (im->files.at[i].path && !visit(arg, (uint32_t)i, im->files.at[i].path))
			return false;
	for (; paths && *paths; paths++) {
		size_t i = 1;

		while (i < im->files.n &&
		       !(im->files.at[i].path && strcmp(im->files.at[i].path, *paths) == 0))
			i++;
		if (i >= im->files.n && !visit(arg, 0, *paths))
			return false;
	}
	return true;
}

struct comparison {
	const struct image_files *s;
	size_t n;
};

static bool file_is_next(void *arg, uint32_t number, const char *path)
{
	struct comparison *c = arg;
	const struct image_file *f = c->n < c->s->files.n ? &c->s->files.at[c->n++] : NULL;

	return f && f->number == number && strcmp(f->path, path) == 0;
}

static bool file_list(void *arg, uint32_t number, const char *path)
{
	file_add(arg, number, path);
	return true;
}

void image_files_list_folder(struct image_files *s, const char *folder,
			     const struct runner_folder_file *files, size_t n)
{
	images_clear(s);
	for (size_t i = 0; i < n; i++) {
		struct image_file *f = vec_add(&s->files);

		*f = (struct image_file){ .number = files[i].number,
					  .path = xasprintf("%s/%s", folder, files[i].path),
					  .fd = -1,
					  .is_in_folder = true };
		f->name = f->path;
		snprintf(f->image, sizeof f->image, "%s", f->path);
	}
}

bool image_files_list(struct image_files *s, const struct crash_image *im, const char *const *paths)
{
	struct comparison c = { .s = s };

	if (each_file(im, paths, file_is_next, &c) && c.n == s->files.n)
		return false;
	images_clear(s);
	each_file(im, paths, file_list, s);
	s->generation++;
	return true;
}

/* ---- restoring ---- */

static const struct crash_file *file_of(const struct crash_image *im, const struct image_file *f)
{
	const struct crash_file *cf =
		f->number && f->number < im->files.n ? &im->files.at[f->number] : NULL;

	return cf && cf->exists ? cf : NULL;
}

/* Removes from a folder everything that does not belong there. */
static int folder_sweep(struct image_files *s, uint32_t folder, const struct crash_image *im,
			struct error *err)
{
	const char *path = s->folders.at[folder].image;
	struct dirent *e;
	DIR *d = opendir(path);

	if (!d) {
		tree_remove(path); /* whatever kind of file it is now */
		if (mkdir(path, 0700) < 0)
			return error_set(err, "%s: %s", path, strerror(errno));
		return 0;
	}
	while ((e = readdir(d))) {
		bool is_wanted = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;

		for (size_t i = 0; i < s->files.n && !is_wanted; i++) {
			const struct image_file *f = &s->files.at[i];

			is_wanted = f->folder == folder &&
				    strcmp(strrchr(f->image, '/') + 1, e->d_name) == 0 &&
				    file_of(im, f);
		}
		if (!is_wanted) {
			char *other = xasprintf("%s/%s", path, e->d_name);

			tree_remove(other);
			free(other);
		}
	}
	closedir(d);
	return 0;
}

static int file_create(struct image_file *f, const struct crash_file *cf, struct error *err)
{
	const uint64_t room = cf->room > cf->size_bytes ? cf->room : cf->size_bytes;

	file_close(f);
	tree_remove(f->image);
	f->fd = open(f->image, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (f->fd < 0 || fchmod(f->fd, f->mode) < 0 || fstat(f->fd, &f->st) < 0)
		return error_set(err, "%s: %s", f->image, strerror(errno));
	f->npages = (room + IMAGE_PAGE_BYTES - 1) / IMAGE_PAGE_BYTES;
	f->zero = xcalloc(f->npages / 64 + 1, sizeof *f->zero);
	f->map_bytes = (f->npages ? f->npages : 1) * IMAGE_PAGE_BYTES;
	f->map = mmap(NULL, f->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (f->map == MAP_FAILED) {
		f->map = NULL;
		return error_set(err, "%s: mmap: %s", f->image, strerror(errno));
	}
	return 0;
}

static int file_restore(struct image_file *f, const struct crash_file *cf, struct error *err)
{
	struct stat st;

	if (!cf) { /* the folder was emptied */
		file_close(f);
		return 0;
	}
	if (f->fd < 0 || lstat(f->image, &st) < 0 || st.st_ino != f->st.st_ino ||
	    cf->room > f->npages * IMAGE_PAGE_BYTES) {
		if (file_create(f, cf, err) < 0)
			return -1;
		st = f->st;
	}
	if ((st.st_mode & 07777) != f->mode)
		fchmod(f->fd, f->mode);
	if (f->size_bytes != cf->size_bytes || (uint64_t)st.st_size != cf->size_bytes) {
		if (ftruncate(f->fd, (off_t)cf->size_bytes) < 0)
			return error_set(err, "%s: %s", f->image, strerror(errno));
		memset(f->zero, 0, (f->npages / 64 + 1) * sizeof *f->zero);
		f->nzero = 0;
		f->blocks = UNKNOWN_BLOCKS;
	}
	f->size_bytes = cf->size_bytes;
	return pages_restore(f, cf, err);
}

const uint8_t *line_newest(const struct state_set *set, size_t i, const uint64_t *left)
{
	const struct state_line *l = &set->lines.at[i];

	for (uint32_t k = l->ncontents; k--;)
		if (!left || bit_get(left + l->set, k))
			return state_content(set, l, k);
	return NULL;
}

/* Gives the position of line i in a file of cf's size, and how many bytes of it are inside the
 * file. */
static size_t line_len(const struct state_set *set, size_t i, const struct crash_file *cf)
{
	const uint64_t offset = PMT_OFFSET(set->lines.at[i].addr);

	if (!cf || offset >= cf->size_bytes)
		return 0;
	return cf->size_bytes - offset < set->line_bytes ? (size_t)(cf->size_bytes - offset)
							 : set->line_bytes;
}

static int lines_apply(struct image_files *s, const struct crash_image *im,
		       const struct state_set *set, const uint64_t *left, struct error *err)
{
	int index = -1;

	for (size_t i = 0; set && i < set->lines.n; i++) {
		const uint64_t addr = set->lines.at[i].addr, offset = PMT_OFFSET(addr);
		const uint8_t *content = line_newest(set, i, left);
		const struct crash_file *cf;
		struct image_file *f;
		size_t len;

		if (index < 0 || s->files.at[index].number != PMT_FILE(addr))
			index = image_files_find(s, PMT_FILE(addr));
		if (index < 0 || !content)
			continue;
		f = &s->files.at[index];
		cf = file_of(im, f);
		len = line_len(set, i, cf);
		if (!len)
			continue;
		if (page_is_expected(f, cf, offset / IMAGE_PAGE_BYTES)) {
			memcpy(f->map + offset, content, len);
			continue;
		}
		/* there may be no space for a new page */
		if (pwrite(f->fd, content, len, (off_t)offset) != (ssize_t)len)
			return error_set(err, "%s: %s", f->image, strerror(errno));
		/* the line's page is expected for its other lines, and in the next run */
		page_expect(f, offset / IMAGE_PAGE_BYTES);
	}
	return 0;
}

int image_files_restore(struct image_files *s, const struct crash_image *im,
			const struct state_set *set, const uint64_t *left, struct error *err)
{
	for (size_t i = 0; i < s->folders.n; i++)
		if (folder_sweep(s, (uint32_t)i, im, err) < 0)
			return -1;
	for (size_t i = 0; i < s->files.n; i++)
		if (file_restore(&s->files.at[i], file_of(im, &s->files.at[i]), err) < 0)
			return -1;
	return lines_apply(s, im, set, left, err);
}

void image_files_write(struct image_files *s, uint64_t addr, const uint8_t *bytes, size_t len_bytes)
{
	const int index = image_files_find(s, PMT_FILE(addr));
	const uint64_t offset = PMT_OFFSET(addr), last = offset + len_bytes - 1;
	struct image_file *f = index < 0 ? NULL : &s->files.at[index];
	struct stat st;

	if (!f || f->fd < 0 || !len_bytes || fstat(f->fd, &st) < 0 || last >= (uint64_t)st.st_size)
		return;
	if (pwrite(f->fd, bytes, len_bytes, (off_t)offset) < 0)
		return;
	for (uint64_t page = offset / IMAGE_PAGE_BYTES; page <= last / IMAGE_PAGE_BYTES; page++)
		page_expect(f, page);
}

/* ---- export ---- */

static int export_pages(int fd, const struct crash_file *cf)
{
	uint8_t buf[IMAGE_PAGE_BYTES];

	if (ftruncate(fd, (off_t)cf->size_bytes) < 0)
		return -1;
	for (uint64_t page = 0; page * IMAGE_PAGE_BYTES < cf->size_bytes; page++) {
		const uint64_t offset = page * IMAGE_PAGE_BYTES, left = cf->size_bytes - offset;
		const size_t len = left < IMAGE_PAGE_BYTES ? (size_t)left : IMAGE_PAGE_BYTES;

		if (cf->touched[page / 64] >> page % 64 & 1 &&
		    pwrite(fd, page_want(cf, page, buf), len, (off_t)offset) != (ssize_t)len)
			return -1;
	}
	return 0;
}

static int export_lines(int fd, const struct crash_file *cf, uint32_t number,
			const struct state_set *set, const uint64_t *left)
{
	for (size_t i = 0; set && i < set->lines.n; i++) {
		const uint8_t *content = line_newest(set, i, left);
		const size_t len =
			PMT_FILE(set->lines.at[i].addr) == number ? line_len(set, i, cf) : 0;

		if (content && len &&
		    pwrite(fd, content, len, (off_t)PMT_OFFSET(set->lines.at[i].addr)) !=
			    (ssize_t)len)
			return -1;
	}
	return 0;
}

int image_files_export(const struct image_files *s, const struct crash_image *im,
		       const struct state_set *set, const uint64_t *left, const char *folder,
		       struct error *err)
{
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return error_set(err, "%s: %s", folder, strerror(errno));
	for (size_t i = 0; i < s->files.n; i++) {
		const struct image_file *f = &s->files.at[i];
		const struct crash_file *cf = file_of(im, f);
		bool is_taken = false, ok;
		char *path;
		int fd;

		if (!cf)
			continue;
		for (size_t j = 0; j < i; j++)
			is_taken |= strcmp(s->files.at[j].name, f->name) == 0 &&
				    file_of(im, &s->files.at[j]);
		path = is_taken ? xasprintf("%s/%u-%s", folder, f->number, f->name)
				: xasprintf("%s/%s", folder, f->name);
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, f->mode);
		ok = fd >= 0 && export_pages(fd, cf) == 0 &&
		     export_lines(fd, cf, f->number, set, left) == 0;
		if (!ok)
			error_set(err, "%s: %s", path, strerror(errno));
		if (fd >= 0 && close(fd) < 0 && ok)
			ok = error_set(err, "%s: %s", path, strerror(errno)) == 0;
		free(path);
		if (!ok)
			return -1;
	}
	return 0;
}
