/* Reads an index. The file is mapped, and a frame is decompressed when it is needed. */
#include "crash/index/index.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash/index/directory.h"
#include "trace/position.h"

struct index {
	char *path;
	uint8_t *base;
	uint64_t size_bytes;
	struct directory directory;
};

/* ---- opening ---- */

static int map_file(struct index *ix, struct error *err)
{
	const int fd = open(ix->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *base;

	if (fd < 0) {
		err->msg[0] = '\0';
		return errno == ENOENT ? -1 : error_set(err, "%s: %s", ix->path, strerror(errno));
	}
	base = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)INDEX_HEADER_BYTES
		       ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
		       : MAP_FAILED;
	close(fd);
	if (base == MAP_FAILED)
		return error_set(err, "%s is no index of a trace", ix->path);
	ix->base = base;
	ix->size_bytes = (uint64_t)st.st_size;
	return 0;
}

static int read_directory(struct index *ix, struct error *err)
{
	uint64_t header[INDEX_HEADER_BYTES / sizeof(uint64_t)];
	struct wire w;

	memcpy(header, ix->base, sizeof header);
	if (memcmp(header, INDEX_MAGIC, sizeof *header) != 0)
		return error_set(err, "%s is no index of a trace", ix->path);
	if (le64toh(header[1]) != INDEX_VERSION)
		return error_set(err, "%s was made by another version of pmend", ix->path);
	if (frame_read(ix->base, ix->size_bytes,
		       &(struct frame){ le64toh(header[2]), le64toh(header[3]) }, &w) < 0)
		return error_set(err, "%s is damaged", ix->path);
	directory_pass(&w, &ix->directory);
	if (w.is_bad || !ix->directory.version || !ix->directory.platform)
		error_set(err, "%s is damaged", ix->path);
	else
		err->msg[0] = '\0';
	wire_release(&w);
	return err->msg[0] ? -1 : 0;
}

struct index *index_open(const char *path, const struct trace *t, const struct platform *platform,
			 bool is_distrusting, struct error *err)
{
	struct index *ix = xcalloc(1, sizeof *ix);
	const struct directory *d = &ix->directory;
	int result = -1;

	ix->path = xstrdup(path);
	if (map_file(ix, err) < 0 || read_directory(ix, err) < 0)
		goto out;
	if (strcmp(d->version, PMEND_VERSION) != 0)
		error_set(err, "%s was made by another version of pmend", path);
	else if (d->identity != trace_identity(t))
		error_set(err, "%s is of another trace", path);
	else if (strcmp(d->platform, platform->name) != 0 || d->is_distrusting != is_distrusting)
		error_set(err, "%s was made for other options", path);
	else
		result = 0;
out:
	if (result == 0)
		return ix;
	index_close(ix);
	return NULL;
}

void index_close(struct index *ix)
{
	if (!ix)
		return;
	directory_release(&ix->directory);
	if (ix->base)
		munmap(ix->base, ix->size_bytes);
	free(ix->path);
	free(ix);
}

bool index_fits(const struct index *ix, const struct plan *p, unsigned stops)
{
	const unsigned has = ix->directory.stops;

	return (has | WALK_OVERTAKEN) == (stops | WALK_OVERTAKEN) &&
	       (has & stops & WALK_OVERTAKEN) == (stops & WALK_OVERTAKEN) &&
	       ix->directory.making == making_hash(p);
}

/* ---- its contents ---- */

struct plan *index_plan(const struct index *ix, struct trace *t, const struct platform *platform,
			bool is_distrusting, struct error *err)
{
	struct plan *p = NULL;
	struct wire w;

	if (frame_read(ix->base, ix->size_bytes, &ix->directory.plan, &w) == 0)
		p = plan_receive(t, platform, is_distrusting, &w);
	else
		trace_close(t);
	if (!p || w.is_bad) {
		error_set(err, "%s is damaged; remove it", ix->path);
		plan_free(p);
		p = NULL;
	}
	wire_release(&w);
	return p;
}

int index_each_point(const struct index *ix, void (*f)(uint64_t seq, uint64_t cost, void *arg),
		     void *arg, struct error *err)
{
	uint64_t n = 0;

	for (size_t i = 0; i < ix->directory.points.n; i++) {
		uint64_t seq = 0;
		struct wire w;

		if (frame_read(ix->base, ix->size_bytes, &ix->directory.points.at[i], &w) < 0)
			break;
		for (; w.at < w.n; n++) {
			seq += wire_number(&w, 0);
			f(seq, wire_number(&w, 0), arg);
		}
		wire_release(&w);
	}
	return n == ix->directory.npoints ? 0
					  : error_set(err, "%s is damaged; remove it", ix->path);
}

uint64_t index_cost(const struct walk *w)
{
	return 1 + model_nlines(w->model);
}

/* ---- moving a walk ---- */

/* The number of checkpoints at or before the walk's present event. */
static size_t passed(const struct directory *d, uint64_t seq)
{
	size_t low = 0, high = d->checkpoints.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (d->checkpoints.at[middle].seq <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int pass_frame(const struct index *ix, const struct frame *f, struct walk *w, bool is_image,
		      struct error *err)
{
	struct wire m;
	bool is_bad;

	if (frame_read(ix->base, ix->size_bytes, f, &m) == 0) {
		if (is_image)
			image_pass_changes(&w->image, &m);
		else
			walk_pass(w, &m);
		m.is_bad |= m.at != m.n;
	} else {
		m.is_bad = true;
	}
	is_bad = m.is_bad;
	wire_release(&m);
	return is_bad ? error_set(
				err,
				"%s is damaged, or the trace is; remove the index and begin again",
				ix->path)
		      : 0;
}

/* Moves the walk to a checkpoint: applies all changes of the image up to there, and then the
 * checkpoint's state. */
static int go_to(const struct index *ix, struct walk *w, size_t to, struct error *err)
{
	const struct directory *d = &ix->directory;
	int result = 0;

	if (w->shadow || w->rewriter)
		return 0;
	for (size_t i = passed(d, walk_passed_seq(w)); i <= to && result == 0; i++) {
		result = pass_frame(ix, &d->checkpoints.at[i].image, w, true, err);
		if (i == to && result == 0)
			result = pass_frame(ix, &d->checkpoints.at[i].state, w, false, err);
	}
	return result;
}

int index_seek_point(const struct index *ix, struct walk *w, uint64_t point, struct error *err)
{
	const struct directory *d = ix ? &ix->directory : NULL;
	size_t low = 0, high = d ? d->checkpoints.n : 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (d->checkpoints.at[middle].point < point)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? go_to(ix, w, low - 1, err) : 0;
}

int index_seek_event(const struct index *ix, struct walk *w, uint64_t seq, struct error *err)
{
	const size_t n = ix && seq ? passed(&ix->directory, seq - 1) : 0;

	return n > 0 ? go_to(ix, w, n - 1, err) : 0;
}
