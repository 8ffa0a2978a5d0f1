/* Makes the folder of a crash state of files. A file that has several names is one file with
 * several links. */
#include "crash/files/layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/hash.h"
#include "util/tempdir.h"

#define WHOLE_BYTES (64u << 10) /* a file that is not larger is written at once */

/* ---- which contents ---- */

struct collecting {
	struct layout *l;
	const struct layout_path *path;
	VEC(struct files_sector) sectors;
};

static void add_sector(const struct files_sector *s, void *arg)
{
	struct collecting *c = arg;

	if (s->item && s->offset < c->path->size_bytes)
		*vec_add(&c->sectors) = *s;
}

static int by_offset(const void *a, const void *b)
{
	const struct files_sector *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Gives how many bytes of the sector at this offset are inside the file. */
static size_t seen_bytes(const struct layout_path *p, uint64_t offset)
{
	return p->size_bytes - offset < FILES_SECTOR_BYTES ? p->size_bytes - offset
							   : FILES_SECTOR_BYTES;
}

static bool is_repeated(const struct files_sector *s, uint32_t version, size_t n, uint64_t size_seq)
{
	for (uint32_t later = version + 1; later < s->nversions; later++)
		if (files_sector_can_be(s, later, size_seq) &&
		    memcmp(s->versions[version], s->versions[later], n) == 0)
			return true;
	return false;
}

/* Adds a sector with its contents. Contents that differ only beyond the end of the file look alike
 * and count as one. */
static void add_line(struct layout *l, const struct layout_path *p, const struct files_sector *s)
{
	const size_t n = seen_bytes(p, s->offset), first = l->versions.n;
	struct state_line *line;
	uint32_t ncontents;
	uint8_t *to;

	for (uint32_t v = 0; v < s->nversions; v++)
		if (!files_sector_can_be(s, v, p->size_seq))
			l->hash = hash_mix(hash_mix(l->hash, s->offset), v);
		else if (!is_repeated(s, v, n, p->size_seq))
			*vec_add(&l->versions) = v;
	ncontents = (uint32_t)(l->versions.n - first);
	/* one content is listed, too, where it is not the newest */
	if (ncontents == 0 || (ncontents == 1 && l->versions.at[first] + 1 == s->nversions)) {
		l->versions.n = first;
		return;
	}
	line = vec_add(&l->set.lines);
	*line = (struct state_line){ .addr = PMT_ADDR(p->file, s->offset),
				     .ncontents = ncontents,
				     .words = (ncontents + 63) / 64,
				     .contents = l->set.bytes.n,
				     .set = l->set.nwords,
				     .asked = ~(uint64_t)0 };
	l->set.nwords += line->words;
	*vec_add(&l->lines) = (struct layout_line){ s->item - 1, first, n };
	vec_reserve(&l->set.bytes, l->set.bytes.n + (size_t)ncontents * FILES_SECTOR_BYTES);
	for (size_t i = first; i < l->versions.n; i++) {
		to = l->set.bytes.at + l->set.bytes.n;
		memset(to, 0, FILES_SECTOR_BYTES);
		memcpy(to, s->versions[l->versions.at[i]], n);
		l->set.bytes.n += FILES_SECTOR_BYTES;
	}
}

/* Adds the lines of a file that the program uses as memory. */
static void add_memory(struct layout *l, const struct layout_path *p)
{
	for (size_t i = 0; i < l->memory->n; i++) {
		const struct memory_line *m = &l->memory->at[i];
		const size_t len = (size_t)m->ncontents * m->len_bytes, first = l->versions.n;
		struct state_line *line;

		if (PMT_FILE(m->addr) != p->file || !m->item ||
		    PMT_OFFSET(m->addr) >= p->size_bytes)
			continue;
		for (uint32_t v = 0; v < m->ncontents; v++)
			*vec_add(&l->versions) = v;
		line = vec_add(&l->set.lines);
		*line = (struct state_line){ .addr = m->addr,
					     .len_bytes = m->len_bytes,
					     .ncontents = m->ncontents,
					     .words = (m->ncontents + 63) / 64,
					     .contents = l->set.bytes.n,
					     .set = l->set.nwords,
					     .asked = ~(uint64_t)0 };
		l->set.nwords += line->words;
		*vec_add(&l->lines) = (struct layout_line){ m->item - 1, first, m->len_bytes };
		vec_reserve(&l->set.bytes, l->set.bytes.n + len);
		memcpy(l->set.bytes.at + l->set.bytes.n, m->contents, len);
		l->set.bytes.n += len;
	}
}

static bool is_regular(const struct layout_path *p)
{
	return !(p->flags & (PMT_FILE_FOLDER | PMT_FILE_SYMLINK));
}

static const struct layout_path *first_of(const struct layout *l, uint32_t file)
{
	for (size_t i = 0; i < l->paths.n; i++)
		if (l->paths.at[i].file == file)
			return &l->paths.at[i];
	return NULL;
}

static void add_lines(struct layout *l, const struct layout_path *p)
{
	const bool is_memory = l->is_memory(p->file, l->arg);
	struct collecting c = { .l = l, .path = p };
	const size_t before = l->lines.n;

	if (is_memory)
		add_memory(l, p);
	else
		files_each_sector(l->model, p->file, add_sector, &c);
	if (c.sectors.n > 1)
		qsort(c.sectors.at, c.sectors.n, sizeof *c.sectors.at, by_offset);
	for (size_t i = 0; i < c.sectors.n; i++)
		add_line(l, p, &c.sectors.at[i]);
	vec_release(&c.sectors);
	/* recovery maps memory where the program did, also if all of it is durable */
	if (l->lines.n == before && !is_memory)
		return;
	*vec_add(&l->files) = (struct runner_folder_file){ p->file, p->path };
	l->is_too_large |= strlen(p->path) > l->path_max || l->files.n > RUNNER_FOLDER_FILES;
}

static void add_path(const struct files_path *p, void *arg)
{
	struct layout *l = arg;
	const struct file_root *root = file_roots_of(l->roots, p->root);

	if (!root)
		return;
	*vec_add(&l->paths) = (struct layout_path){ xasprintf("%s%s%s", root->place,
							      *root->place ? "/" : "", p->path),
						    p->file, p->flags, p->size_bytes, p->size_seq };
	for (const char *c = p->path; *c; c++)
		l->hash = hash_mix(l->hash, (uint8_t)*c);
	l->hash = hash_mix(hash_mix(l->hash, p->file), p->size_bytes);
	l->nregular += is_regular(&l->paths.at[l->paths.n - 1]);
}

/* Adds the folders of --files themselves, if there are several. */
static void add_roots(struct layout *l)
{
	for (size_t i = 0; i < l->roots->list.n; i++) {
		const struct file_root *root = &l->roots->list.at[i];

		if (*root->place && !strchr(root->place, '/'))
			*vec_add(&l->paths) = (struct layout_path){ .path = xstrdup(root->place),
								    .file = root->file,
								    .flags = PMT_FILE_FOLDER };
	}
}

static int make(void *arg, const char *folder, const uint64_t *left, struct error *err)
{
	return layout_put(arg, folder, left, err);
}

void layout_make(struct layout *l, size_t path_max)
{
	const struct layout_path *p;

	l->set.line_bytes = FILES_SECTOR_BYTES;
	l->path_max = path_max;
	add_roots(l);
	files_each_path(l->model, l->items, add_path, l);
	for (uint32_t file = 1; l->paths.n > 0 && file <= files_last(l->model); file++) {
		p = first_of(l, file);
		if (p && is_regular(p))
			add_lines(l, p);
	}
	l->folder = (struct runner_folder){ .make = make,
					    .arg = l,
					    .files = l->files.at,
					    .nfiles = l->files.n,
					    .places = l->roots->places.at,
					    .nplaces = l->roots->places.n };
}

void layout_release(struct layout *l)
{
	for (size_t i = 0; i < l->paths.n; i++)
		free(l->paths.at[i].path);
	vec_release(&l->paths);
	states_release(&l->set);
	vec_release(&l->lines);
	vec_release(&l->versions);
	vec_release(&l->files);
}

uint64_t *layout_state(const struct layout *l)
{
	uint64_t *state = states_newest(&l->set);

	for (size_t i = 0; i < l->lines.n; i++) {
		const uint32_t want = l->items->at[l->lines.at[i].item].version,
			       n = l->set.lines.at[i].ncontents;
		uint32_t c = 0;

		/* a version that is not listed looks like a later one */
		while (c + 1 < n && layout_version(l, i, c) < want)
			c++;
		states_only(&l->set.lines.at[i], state, c);
	}
	return state;
}

/* ---- the folder ---- */

static int empty_folder(const char *folder, struct error *err)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char *path;

	if (!d)
		return error_set(err, "%s: %s", folder, strerror(errno));
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		path = xasprintf("%s/%s", folder, e->d_name);
		tree_remove(path);
		free(path);
	}
	closedir(d);
	return 0;
}

struct writing {
	const struct layout *l;
	const struct layout_path *path;
	const uint64_t *left;
	uint8_t *whole; /* NULL: it is written piece by piece */
	int fd;
	bool has_failed;
};

static bool is_zero(const uint8_t *bytes, size_t n)
{
	return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

static const uint8_t *content_of(const struct writing *w, const struct files_sector *s)
{
	const struct state_set *set = &w->l->set;
	const struct state_line *line =
		w->l->is_memory(w->path->file, w->l->arg)
			? NULL
			: states_line(set, PMT_ADDR(w->path->file, s->offset));

	if (line && line->addr == PMT_ADDR(w->path->file, s->offset))
		return state_content(set, line,
				     w->left ? states_newest_left(line, w->left)
					     : line->ncontents - 1);
	/* what is seen of its versions is the same, or it has one */
	return s->versions[s->nversions - 1];
}

static void write_bytes(struct writing *w, uint64_t offset, const uint8_t *content, size_t n)
{
	const uint64_t size_bytes = w->path->size_bytes;

	if (offset >= size_bytes)
		return;
	n = size_bytes - offset < n ? size_bytes - offset : n;
	if (w->whole)
		memcpy(w->whole + offset, content, n);
	else
		w->has_failed |= pwrite(w->fd, content, n, (off_t)offset) != (ssize_t)n;
}

static void write_sector(const struct files_sector *s, void *arg)
{
	struct writing *w = arg;
	const uint8_t *content;

	if (s->offset >= w->path->size_bytes)
		return;
	content = content_of(w, s);
	/* zeros are there already */
	if (w->whole || !is_zero(content, FILES_SECTOR_BYTES))
		write_bytes(w, s->offset, content, FILES_SECTOR_BYTES);
}

/* Writes the lines of memory into the file, over the bytes that are certainly durable. */
static void write_memory(struct writing *w)
{
	const struct layout *l = w->l;
	size_t line = 0;

	for (size_t i = 0; i < l->memory->n; i++) {
		const struct memory_line *m = &l->memory->at[i];
		uint32_t content = m->ncontents - 1;

		if (PMT_FILE(m->addr) != w->path->file)
			continue;
		while (line < l->lines.n && l->set.lines.at[line].addr < m->addr)
			line++;
		if (w->left && line < l->lines.n && l->set.lines.at[line].addr == m->addr)
			content = states_newest_left(&l->set.lines.at[line], w->left);
		write_bytes(w, PMT_OFFSET(m->addr), m->contents + (size_t)content * m->len_bytes,
			    m->len_bytes);
	}
}

static int write_file(const struct layout *l, const struct layout_path *p, const char *path,
		      const uint64_t *left)
{
	struct writing w = { .l = l, .path = p, .left = left };

	w.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (w.fd < 0)
		return -1;
	if (p->size_bytes <= WHOLE_BYTES)
		w.whole = xcalloc(p->size_bytes + 1, 1);
	else
		w.has_failed = ftruncate(w.fd, (off_t)p->size_bytes) < 0;
	files_each_sector(l->model, p->file, write_sector, &w);
	write_memory(&w);
	if (w.whole && p->size_bytes > 0)
		w.has_failed |= write(w.fd, w.whole, p->size_bytes) != (ssize_t)p->size_bytes;
	free(w.whole);
	close(w.fd);
	return w.has_failed ? -1 : 0;
}

struct target {
	char *text;
	uint64_t size_bytes;
};

static void add_target(const struct files_sector *s, void *arg)
{
	struct target *t = arg;

	for (uint64_t i = 0; i < FILES_SECTOR_BYTES && s->offset + i < t->size_bytes; i++)
		t->text[s->offset + i] = (char)s->versions[s->nversions - 1][i];
}

/* Gives where a path in a recorded folder is in this one; NULL: it is in no such folder. */
static char *path_inside(const struct layout *l, const char *path, const char *folder)
{
	char *whole, *root, *inside;

	for (size_t i = 0; i < l->roots->list.n; i++) {
		const struct file_root *r = &l->roots->list.at[i];
		const size_t len = strlen(r->recorded);

		if (strncmp(path, r->recorded, len) != 0 || (path[len] && path[len] != '/'))
			continue;
		whole = realpath(folder, NULL);
		root = whole ? file_roots_path(r, whole) : NULL;
		inside = root ? xasprintf("%s%s", root, path + len) : NULL;
		free(root);
		free(whole);
		return inside;
	}
	return NULL;
}

/* A link into a recorded folder leads into this one: recovery must neither see nor change the
 * user's files. */
static int make_symlink(const struct layout *l, const struct layout_path *p, const char *folder,
			const char *path)
{
	struct target t = { xcalloc(p->size_bytes + 1, 1), p->size_bytes };
	char *inside;
	int result;

	files_each_sector(l->model, p->file, add_target, &t);
	inside = path_inside(l, t.text, folder);
	result = symlink(inside ? inside : t.text, path);
	free(inside);
	free(t.text);
	return result;
}

static int put_path(const struct layout *l, const struct layout_path *p, const char *folder,
		    const uint64_t *left)
{
	const struct layout_path *first = first_of(l, p->file);
	char *path = xasprintf("%s/%s", folder, p->path), *other = NULL;
	int result;

	if (p->flags & PMT_FILE_FOLDER) {
		result = mkdir(path, 0755);
	} else if (first != p) {
		other = xasprintf("%s/%s", folder, first->path);
		result = link(other, path);
	} else {
		result = p->flags & PMT_FILE_SYMLINK ? make_symlink(l, p, folder, path)
						     : write_file(l, p, path, left);
	}
	free(path);
	free(other);
	return result;
}

/* ---- what recovery changed ---- */

static uint64_t mix_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = hash_mix(h, (uint8_t)*text);
	return hash_mix(h, 0);
}

/* Reads the file, up to its present size; NULL: it cannot be read. */
static uint8_t *read_whole(const char *path, uint64_t *size_bytes)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	uint8_t *bytes;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return NULL;
	}
	*size_bytes = (uint64_t)st.st_size;
	bytes = xcalloc(*size_bytes + 1, 1);
	if (read(fd, bytes, *size_bytes) != (ssize_t)*size_bytes) {
		free(bytes);
		bytes = NULL;
	}
	close(fd);
	return bytes;
}

/* Gives a hash of the places in which the file is not what layout_put() made; 0: it is as it
 * was. */
static uint64_t file_changes(const struct layout *l, const struct layout_path *p, const char *path,
			     const uint64_t *left)
{
	struct writing w = { .l = l, .path = p, .left = left };
	uint64_t size = 0, h = 0;
	uint8_t *now = read_whole(path, &size);

	if (!now)
		return mix_text(1, p->path);
	w.whole = xcalloc(p->size_bytes + 1, 1);
	files_each_sector(l->model, p->file, write_sector, &w);
	write_memory(&w);
	if (size != p->size_bytes)
		h = hash_mix(1, size);
	for (uint64_t at = 0; at < size && at < p->size_bytes; at += FILES_SECTOR_BYTES) {
		const uint64_t end = size < p->size_bytes ? size : p->size_bytes,
			       n = end - at < FILES_SECTOR_BYTES ? end - at : FILES_SECTOR_BYTES;

		if (memcmp(now + at, w.whole + at, n) != 0)
			h = hash_mix(h, at);
	}
	free(w.whole);
	free(now);
	return h ? mix_text(h, p->path) : 0;
}

static bool is_of(const struct layout *l, const char *path)
{
	for (size_t i = 0; i < l->paths.n; i++)
		if (strcmp(l->paths.at[i].path, path) == 0)
			return true;
	return false;
}

/* Gives a hash of the paths in the folder that the layout does not have. Their order does not
 * matter. */
static uint64_t new_paths(const struct layout *l, const char *folder, const char *prefix)
{
	char *path = xasprintf("%s/%s", folder, prefix), *inner;
	DIR *d = opendir(path);
	struct dirent *e;
	uint64_t sum = 0;

	free(path);
	while (d && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		path = xasprintf("%s%s", prefix, e->d_name);
		inner = xasprintf("%s/", path);
		if (!is_of(l, path))
			sum += mix_text(1, path);
		else if (e->d_type == DT_DIR)
			sum += new_paths(l, folder, inner);
		free(inner);
		free(path);
	}
	if (d)
		closedir(d);
	return sum;
}

uint64_t layout_changes(struct layout *l, const char *folder, const uint64_t *left)
{
	uint64_t h = new_paths(l, folder, "");

	for (size_t i = 0; i < l->paths.n; i++) {
		const struct layout_path *p = &l->paths.at[i];
		char *path = xasprintf("%s/%s", folder, p->path);
		struct stat st;

		if (is_regular(p))
			h += file_changes(l, p, path, left);
		else if (lstat(path, &st) < 0)
			h += mix_text(1, p->path);
		free(path);
	}
	return h;
}

int layout_put(struct layout *l, const char *folder, const uint64_t *left, struct error *err)
{
	if (empty_folder(folder, err) < 0)
		return -1;
	for (size_t i = 0; i < l->paths.n; i++)
		if (put_path(l, &l->paths.at[i], folder, left) < 0)
			return error_set(err, "cannot make %s in %s: %s", l->paths.at[i].path,
					 folder, strerror(errno));
	return 0;
}
