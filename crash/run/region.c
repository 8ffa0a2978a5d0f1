/* The memory that pmend shares with the runtime; include/pmend_run.h has the layout. Each run maps
 * it anew, so it may grow between runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"

#define DECISIONS_ROOM 24576u

int region_init(struct region *g, const char *folder, struct error *err)
{
	g->path = xasprintf("%s/region", folder);
	g->fd = open(g->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (g->fd < 0)
		return error_set(err, "%s: %s", g->path, strerror(errno));
	return 0;
}

void region_release(struct region *g)
{
	if (g->at)
		munmap(g->at, g->len_bytes);
	if (g->fd >= 0)
		close(g->fd);
	vec_release(&g->mappings);
	free(g->path);
}

/* Makes the region at least len_bytes long, and allocates its first `used` bytes, so that writing
 * them cannot fail. */
static int region_grow(struct region *g, size_t len_bytes, size_t used, struct error *err)
{
	void *at;

	/* an error here, instead of SIGBUS later */
	if (fallocate(g->fd, 0, 0, (off_t)used) < 0 && errno != EOPNOTSUPP)
		return error_set(err, "%s: %s (set TMPDIR to a folder with more free space)",
				 g->path, strerror(errno));
	if (len_bytes <= g->len_bytes)
		return 0;
	len_bytes += len_bytes / 2; /* some more, so that it does not grow each time */
	if (ftruncate(g->fd, (off_t)len_bytes) < 0)
		return error_set(err, "%s: %s", g->path, strerror(errno));
	at = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, 0);
	if (at == MAP_FAILED)
		return error_set(err, "%s: mmap: %s", g->path, strerror(errno));
	if (g->at)
		munmap(g->at, g->len_bytes);
	g->at = at;
	g->len_bytes = len_bytes;
	return 0;
}

static uint64_t place(uint64_t *end, uint64_t len_bytes)
{
	const uint64_t at = (*end + 63) / 64 * 64;

	*end = at + len_bytes;
	return at;
}

static void *at_offset(const struct region *g, uint64_t offset)
{
	return (char *)g->at + offset;
}

static void fill_files(struct region *g, const struct image_files *images)
{
	struct run_file *to = at_offset(g, g->at->files);

	for (size_t i = 0; i < images->files.n; i++, to++) {
		const struct image_file *f = &images->files.at[i];
		const struct image_folder *folder =
			f->is_in_folder ? NULL : &images->folders.at[f->folder];
		/* a later file has this path now, and the runtime must find that one */
		bool is_other = false;
		struct stat st;

		for (size_t j = i + 1; j < images->files.n; j++)
			is_other |= strcmp(images->files.at[j].path, f->path) == 0;
		memset(to, 0, sizeof *to);
		snprintf(to->image, sizeof to->image, "%s", f->image);
		if (is_other || !folder || strlen(f->name) >= sizeof to->name)
			continue;
		snprintf(to->name, sizeof to->name, "%s", f->name);
		to->folder_hash =
			run_hash(f->path, f->name > f->path ? (size_t)(f->name - f->path) - 1 : 0);
		if (folder->st.st_ino) {
			to->folder_dev = folder->st.st_dev;
			to->folder_ino = folder->st.st_ino;
		}
		if (stat(f->path, &st) == 0) {
			to->dev = st.st_dev;
			to->ino = st.st_ino;
		}
	}
}

static uint32_t fill_mappings(struct region *g, const struct image_files *images)
{
	struct run_mapping *to = at_offset(g, g->at->mappings);
	uint32_t n = 0;

	for (size_t i = 0; i < g->mappings.n; i++) {
		int index = image_files_find(images, g->mappings.at[i].file);

		if (index < 0) /* the file does not exist yet */
			continue;
		to[n] = g->mappings.at[i];
		to[n++].file = (uint32_t)index;
	}
	return n;
}

/* Fills in the lines. Files that are not listed have none: their bytes come from their own
 * events. */
static void fill_lines(struct region *g, const struct image_files *images,
		       const struct state_set *set, uint64_t contents, uint64_t sets)
{
	struct run_line *to = at_offset(g, g->at->lines);
	uint32_t number = 0;
	int index = -1;

	for (size_t i = 0; set && i < set->lines.n; i++) {
		const struct state_line *l = &set->lines.at[i];

		if (PMT_FILE(l->addr) != number) {
			number = PMT_FILE(l->addr);
			index = image_files_find(images, number);
			if (index < 0)
				BUG("a line of file %u, which is not in the image", number);
		}
		to[i] = (struct run_line){ .offset = PMT_OFFSET(l->addr),
					   .file = (uint32_t)index,
					   .ncontents = l->ncontents,
					   .contents = contents + l->contents,
					   .left = sets + l->set * sizeof(uint64_t),
					   .line_bytes = state_line_bytes(set, l) };
	}
	if (set && set->bytes.n)
		memcpy(at_offset(g, contents), set->bytes.at, set->bytes.n);
}

int region_load(struct region *g, const struct image_files *images, const struct state_set *set,
		struct error *err)
{
	const size_t nlines = set ? set->lines.n : 0;
	uint64_t end = sizeof(struct run_region), contents, sets, used;
	struct run_region head = { .magic = RUN_MAGIC,
				   .nfiles = (uint32_t)images->files.n,
				   .nlines = (uint32_t)nlines,
				   .decisions_room = DECISIONS_ROOM };

	head.files = place(&end, images->files.n * sizeof(struct run_file));
	head.mappings = place(&end, g->mappings.n * sizeof(struct run_mapping));
	head.lines = place(&end, nlines * sizeof(struct run_line));
	contents = place(&end, set ? set->bytes.n : 0);
	sets = place(&end, (set ? set->nwords : 0) * sizeof(uint64_t));
	used = end + 4096;
	head.decisions = place(&end, DECISIONS_ROOM * sizeof(struct run_decision));
	if (region_grow(g, end, used, err) < 0)
		return -1;
	head.len_bytes = g->len_bytes;
	head.max_memory_bytes = g->at->max_memory_bytes;
	head.max_file_bytes = g->at->max_file_bytes;
	head.max_processes = g->at->max_processes;
	head.has_roi = g->at->has_roi;
	head.has_opened = g->at->has_opened;
	head.has_missed = g->at->has_missed;
	head.has_moved = g->at->has_moved;
	head.has_sandbox = g->at->has_sandbox;
	*g->at = head;
	fill_files(g, images);
	g->at->nmappings = fill_mappings(g, images);
	fill_lines(g, images, set, contents, sets);
	g->left = at_offset(g, sets);
	g->nwords = set ? set->nwords : 0;
	return 0;
}

void region_note_images(struct region *g, const struct image_files *images)
{
	struct run_file *to = at_offset(g, g->at->files);

	for (size_t i = 0; i < images->files.n; i++) {
		const struct image_file *f = &images->files.at[i];
		struct stat st = f->st;
		const bool is_there = f->is_in_folder ? stat(f->image, &st) == 0 : f->fd >= 0;

		to[i].image_dev = is_there ? st.st_dev : 0;
		to[i].image_ino = is_there ? st.st_ino : 0;
	}
}

void region_begin(struct region *g, const struct state_set *set, const uint64_t *left, bool is_lazy,
		  enum runner_watch watch)
{
	struct run_line *lines = at_offset(g, g->at->lines);
	struct run_file *files = at_offset(g, g->at->files);

	for (uint32_t i = 0; i < g->at->nfiles; i++)
		files[i].cut_bytes = UINT64_MAX;
	g->at->flags = (is_lazy ? RUN_LAZY : 0u) | (watch == WATCH_ALL ? RUN_WATCH_ALL : 0u);
	g->at->ndecisions = g->at->lock = g->at->is_unsound = 0;
	g->at->nfaults = 0;
	g->at->is_moved = g->at->has_beside = 0;
	g->at->why_unsound[0] = 0;
	region_begin_command(g);
	if (left && g->nwords)
		memcpy(g->left, left, g->nwords * sizeof *left);
	for (size_t i = 0; i < g->at->nlines; i++) {
		const struct state_line *l = &set->lines.at[i];

		const uint64_t unasked = ~l->asked;

		memset(lines[i].written, 0, sizeof lines[i].written);
		/* both sides are little-endian */
		memcpy(lines[i].unasked, &unasked, sizeof lines[i].unasked);
		if (l->is_watched && watch != WATCH_NOTHING)
			memcpy(lines[i].watch, set->watches.at + l->watch, sizeof lines[i].watch);
		else
			memset(lines[i].watch, 0, sizeof lines[i].watch);
		for (uint32_t k = 0; !left && k < l->words; k++)
			g->left[l->set + k] = states_word(l, k);
	}
}

void region_begin_command(struct region *g)
{
	g->at->roi_depth = 0;
	g->at->is_done = g->at->signal = g->at->signal_nframes = 0;
	g->at->signal_addr = 0;
}
