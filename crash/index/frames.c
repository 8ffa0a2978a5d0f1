/* Compresses and decompresses a frame. The hash of a frame is that of its content, so any damage is
 * noticed. */
#include "crash/index/frames.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "pmtrace.h"
#include "util/alloc.h"
#include "util/hash.h"

#define LEVEL 1
#define CONTENT_MAX ((uint64_t)1 << 36)

#define HASHED_AT_ONCE ((size_t)1 << 30)

static uint64_t content_hash(const uint8_t *bytes, size_t n)
{
	uint64_t h = n;

	for (size_t at = 0; at < n; at += HASHED_AT_ONCE)
		h = hash_mix(h, pmt_hash_lanes(bytes + at, (uint32_t)(n - at < HASHED_AT_ONCE
									      ? n - at
									      : HASHED_AT_ONCE)));
	return h;
}

uint8_t *frame_pack(const struct wire *w, uint64_t *len_bytes)
{
	const size_t room = ZSTD_compressBound(w->n);
	uint8_t *packed = xmalloc(FRAME_HEADER_BYTES + room);
	const uint64_t header[2] = { htole64(w->n), htole64(content_hash(w->bytes, w->n)) };
	const size_t n = ZSTD_compress(packed + FRAME_HEADER_BYTES, room, w->bytes, w->n, LEVEL);

	_Static_assert(sizeof header == FRAME_HEADER_BYTES, "two numbers");
	if (ZSTD_isError(n))
		alloc_die();
	memcpy(packed, header, sizeof header);
	*len_bytes = FRAME_HEADER_BYTES + n;
	return packed;
}

int frame_write(struct frames_out *o, const uint8_t *packed, uint64_t len_bytes,
		struct frame *where)
{
	*where = (struct frame){ o->at, len_bytes };
	o->at += len_bytes;
	return partial_file_write(&o->file, packed, len_bytes);
}

void frame_pass(struct wire *w, struct frame *f)
{
	wire_pass(w, f->at);
	wire_pass(w, f->len_bytes);
}

int frame_read(const uint8_t *base, uint64_t size_bytes, const struct frame *f, struct wire *w)
{
	uint64_t header[2], n;
	size_t got;

	*w = (struct wire){ .is_received = true };
	if (f->len_bytes < FRAME_HEADER_BYTES || f->at > size_bytes ||
	    f->len_bytes > size_bytes - f->at)
		return -1;
	memcpy(header, base + f->at, sizeof header);
	n = le64toh(header[0]);
	/* a damaged length must not allocate all memory */
	if (n > CONTENT_MAX || ZSTD_getFrameContentSize(base + f->at + FRAME_HEADER_BYTES,
							f->len_bytes - FRAME_HEADER_BYTES) != n)
		return -1;
	w->bytes = xmalloc(n + 1);
	w->n = w->room = n;
	got = ZSTD_decompress(w->bytes, n, base + f->at + FRAME_HEADER_BYTES,
			      f->len_bytes - FRAME_HEADER_BYTES);
	if (!ZSTD_isError(got) && got == n && content_hash(w->bytes, n) == le64toh(header[1]))
		return 0;
	wire_release(w);
	return -1;
}
