/* Maps a trace file and lists its chunks; it does not read what is in them. The list ends at the
 * first damaged chunk header, because only a header says where the next chunk begins. */
#include "trace/chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_header(struct chunks *c, const char *path, struct error *err)
{
	struct pmt_header *h = &c->header;
	uint64_t have = c->size_bytes < sizeof *h ? c->size_bytes : sizeof *h;

	if (c->size_bytes == 0)
		return error_set(err, "%s: empty file, not a trace; record again", path);
	memcpy(h, c->base, have);
	if (memcmp(h->magic, PMT_MAGIC, have < 8 ? have : 8) != 0)
		return error_set(err, "%s: not a pmend trace", path);
	if (have == sizeof *h && h->version > PMT_VERSION)
		return error_set(
			err,
			"%s: made by a newer pmend (trace version %u; this pmend reads up to %u)",
			path, h->version, PMT_VERSION);
	if (c->size_bytes < PMT_HEADER_BYTES)
		return error_set(err,
				 "%s: truncated: %" PRIu64
				 " bytes, but the header alone has %u; record again",
				 path, c->size_bytes, PMT_HEADER_BYTES);
	if (h->version == 0 || h->header_bytes != PMT_HEADER_BYTES)
		return error_set(err,
				 "%s: the header is damaged (version %u, %u bytes); record again",
				 path, h->version, h->header_bytes);
	return 0;
}

/* Says why the bytes at h are not a chunk header; NULL if they are one. */
static const char *chunk_problem(const struct pmt_chunk *h, uint64_t room, uint32_t nstreams)
{
	if (room < sizeof *h)
		return "the file ends inside a chunk header";
	if (h->magic == 0 && h->capacity == 0)
		return "a chunk was never begun: the recording was cut off";
	if (h->magic != PMT_CHUNK_MAGIC)
		return "there is no chunk header";
	if (h->capacity < sizeof *h || h->capacity > PMT_CHUNK_MAX_BYTES ||
	    h->used > h->capacity - sizeof *h)
		return "a chunk's size is impossible";
	if (h->state != PMT_CHUNK_OPEN && h->state != PMT_CHUNK_CLOSED)
		return "a chunk's state is unknown";
	if (h->stream >= nstreams)
		return "a chunk belongs to an unknown process";
	return NULL;
}

static void list_chunks(struct chunks *c)
{
	uint64_t end = c->header.end < c->size_bytes ? c->header.end : c->size_bytes;
	uint64_t offset = PMT_HEADER_BYTES;
	struct pmt_chunk h;
	const char *problem;

	while (offset < end) {
		/* may read beyond the end of the file, into the slack */
		memcpy(&h, c->base + offset, sizeof h);
		problem = chunk_problem(&h, c->size_bytes - offset, c->header.nstreams);
		if (problem) {
			c->damage = xasprintf("%s at file offset %" PRIu64
					      "; nothing after it was read",
					      problem, offset);
			return;
		}
		*vec_add(&c->list) = (struct chunk_ref){ .offset = offset,
							 .stream = h.stream,
							 .number = h.number };
		offset += h.capacity;
	}
	if (offset < c->header.end)
		c->damage = xasprintf("the file is truncated: it has %" PRIu64 " bytes of %" PRIu64,
				      c->size_bytes, c->header.end);
}

static int by_stream_and_number(const void *a, const void *b)
{
	const struct chunk_ref *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Sorts the chunks by number. Two chunks have one number if the recorder was killed while it copied
 * a chunk to the end of the file; then the copy is kept. */
static void sort_chunks(struct chunks *c)
{
	size_t n = 0;

	if (c->list.n)
		qsort(c->list.at, c->list.n, sizeof *c->list.at, by_stream_and_number);
	for (size_t i = 0; i < c->list.n; i++) {
		struct chunk_ref *ref = &c->list.at[i];

		if (i + 1 < c->list.n && ref[1].stream == ref->stream &&
		    ref[1].number == ref->number)
			ref[1].is_copy = true;
		else
			c->list.at[n++] = *ref;
	}
	c->list.n = n;
}

/* Maps the file over the beginning of a larger anonymous mapping. What the file does not cover is
 * the slack, which is zero. */
static int map_file(struct chunks *c, int fd)
{
	uint8_t *base = mmap(NULL, c->size_bytes + CHUNKS_SLACK_BYTES, PROT_READ,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		return -1;
	c->base = base;
	if (c->size_bytes == 0)
		return 0;
	if (mmap(base, c->size_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		return -1;
	madvise(base, c->size_bytes, MADV_SEQUENTIAL);
	return 0;
}

int chunks_open(struct chunks *c, const char *path, struct error *err)
{
	struct stat st;
	int result = -1;
	/* opening a FIFO must not wait for a writer */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*c = (struct chunks){ 0 };
	if (fd < 0)
		return error_set(err, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0) {
		error_set(err, "%s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		error_set(err, "%s: %s, not a trace", path,
			  S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
		goto out;
	}
	c->size_bytes = (uint64_t)st.st_size;
	if (map_file(c, fd) < 0) {
		error_set(err, "%s: cannot be mapped: %s", path, strerror(errno));
		goto out;
	}
	if (check_header(c, path, err) < 0)
		goto out;
	list_chunks(c);
	sort_chunks(c);
	result = 0;
out:
	close(fd);
	if (result < 0)
		chunks_close(c);
	return result;
}

void chunks_close(struct chunks *c)
{
	if (c->base)
		munmap((void *)c->base, c->size_bytes + CHUNKS_SLACK_BYTES);
	vec_release(&c->list);
	free(c->damage);
	*c = (struct chunks){ 0 };
}
