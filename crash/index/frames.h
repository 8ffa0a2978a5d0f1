/* The frames of an index: pieces of its file that are compressed separately. Only for
 * crash/index. */
#ifndef CRASH_INDEX_FRAMES_H
#define CRASH_INDEX_FRAMES_H

#include "util/partial_file.h"
#include "util/wire.h"

#define INDEX_MAGIC "PMENDIDX"
#define INDEX_VERSION 4u
#define INDEX_HEADER_BYTES 32u
#define FRAME_HEADER_BYTES 16u

struct frame {
	uint64_t at, len_bytes; /* position in the file and length, with its header */
};

struct frames_out {
	struct partial_file file;
	uint64_t at;
};

/* Compresses what the wire contains. free() it. */
uint8_t *frame_pack(const struct wire *w, uint64_t *len_bytes);
/* Appends a packed frame. -1 with errno. */
int frame_write(struct frames_out *o, const uint8_t *packed, uint64_t len_bytes,
		struct frame *where);
void frame_pass(struct wire *w, struct frame *f);

/* Decompresses a frame. -1: it is damaged. wire_release() the wire. */
int frame_read(const uint8_t *base, uint64_t size_bytes, const struct frame *f, struct wire *w);

#endif
