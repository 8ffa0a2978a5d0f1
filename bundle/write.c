/* Writes a bundle: first the contents, each compressed while it is read, then the index, and last
 * the header, which makes it valid. The file gets its name when it is complete. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "bundle/bundle.h"
#include "util/partial_file.h"

#define LEVEL 6 /* higher levels take much longer and hardly make traces smaller */

struct output {
	struct partial_file file;
	uint64_t at;
	ZSTD_CCtx *zstd;
	char *room;
	size_t room_bytes;
};

/* Compresses the bytes into one frame and writes the frame. *stored: its length. -1 with errno. */
static int frame_write(struct output *o, const void *bytes, size_t n, uint64_t *stored)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	size_t left;

	*stored = 0;
	ZSTD_CCtx_reset(o->zstd, ZSTD_reset_session_only);
	do {
		ZSTD_outBuffer out = { o->room, o->room_bytes, 0 };

		left = ZSTD_compressStream2(o->zstd, &out, &in, ZSTD_e_end);
		if (ZSTD_isError(left)) {
			errno = ENOMEM;
			return -1;
		}
		if (partial_file_write(&o->file, o->room, out.pos) < 0)
			return -1;
		*stored += out.pos;
	} while (left > 0);
	o->at += *stored;
	return 0;
}

static int file_write(struct output *o, struct bundle_entry *e, const char *root, const char *to,
		      struct error *err)
{
	char *path = xasprintf("%s/%s", root, e->path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result = -1;
	void *bytes = MAP_FAILED;
	struct stat st = { 0 };

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		error_set(err, "cannot read %s: %s", path, fd < 0 ? strerror(errno) : "not a file");
		goto out;
	}
	bytes = st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	if (bytes == MAP_FAILED) {
		error_set(err, "cannot read %s: %s", path, strerror(errno));
		goto out;
	}
	e->len_bytes = (uint64_t)st.st_size;
	e->mode = st.st_mode & 0777;
	e->mtime_s = st.st_mtime > 0 ? st.st_mtime : 0;
	sha256(bytes ? bytes : "", (size_t)st.st_size, e->hash);
	result = frame_write(o, bytes, (size_t)st.st_size, &e->stored_bytes);
	if (result < 0)
		error_set(err, "cannot write %s: %s", to, strerror(errno));
out:
	if (bytes != MAP_FAILED && bytes)
		munmap(bytes, (size_t)st.st_size);
	if (fd >= 0)
		close(fd);
	free(path);
	return result;
}

static void put_number(uint8_t *to, uint64_t n, size_t bytes)
{
	n = htole64(n);
	memcpy(to, &n, bytes);
}

static int index_write(struct output *o, const struct bundle *b, const char *to, struct error *err)
{
	const uint64_t at = o->at;
	char *text = bundle_index_text(b);
	uint8_t header[BUNDLE_HEADER_BYTES] = { 0 };
	void *map = MAP_FAILED;
	uint64_t stored;
	int result = -1;

	if (!text)
		return error_set(
			err, "cannot write %s: the name of a file, or an option, is not UTF-8", to);
	if (frame_write(o, text, strlen(text), &stored) < 0)
		goto out;
	map = mmap(NULL, (size_t)o->at, PROT_READ, MAP_SHARED, o->file.fd, 0);
	if (map == MAP_FAILED)
		goto out;
	memcpy(header, BUNDLE_MAGIC, 8);
	put_number(header + 8, BUNDLE_VERSION, 4);
	put_number(header + 16, at, 8);
	put_number(header + 24, stored, 8);
	put_number(header + 32, strlen(text), 8);
	sha256((const char *)map + at, (size_t)stored, header + 40);
	munmap(map, (size_t)o->at);
	if (pwrite(o->file.fd, header, sizeof header, 0) == (ssize_t)sizeof header &&
	    fsync(o->file.fd) == 0)
		result = 0;
out:
	if (result < 0)
		error_set(err, "cannot write %s: %s", to, strerror(errno));
	free(text);
	return result;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct bundle_entry *)a)->path,
		      ((const struct bundle_entry *)b)->path);
}

static int contents_write(struct output *o, struct bundle *b, const char *root, const char *file,
			  struct error *err)
{
	static const uint8_t header[BUNDLE_HEADER_BYTES];

	qsort(b->entries.at, b->entries.n, sizeof *b->entries.at, by_path);
	if (partial_file_write(&o->file, header, sizeof header) < 0)
		return error_set(err, "cannot write %s: %s", file, strerror(errno));
	o->at = sizeof header;
	for (size_t i = 0; i < b->entries.n; i++)
		if (b->entries.at[i].kind == BUNDLE_FILE &&
		    file_write(o, &b->entries.at[i], root, file, err) < 0)
			return -1;
	return index_write(o, b, file, err);
}

int bundle_write(struct bundle *b, const char *root, const char *file, struct error *err)
{
	struct output o = { .room_bytes = ZSTD_CStreamOutSize() };
	int result;

	if (partial_file_begin(&o.file, file, err) < 0)
		return -1;
	o.zstd = ZSTD_createCCtx();
	if (!o.zstd || ZSTD_isError(ZSTD_CCtx_setParameter(o.zstd, ZSTD_c_compressionLevel, LEVEL)))
		alloc_die();
	o.room = xmalloc(o.room_bytes);
	result = contents_write(&o, b, root, file, err);
	if (partial_file_end(&o.file, result == 0, err) < 0)
		result = -1;
	ZSTD_freeCCtx(o.zstd);
	free(o.room);
	return result;
}
