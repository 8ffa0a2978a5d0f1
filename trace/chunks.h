/* A trace file that is mapped into memory, and the list of its chunks. Only the files of trace/ use
 * this header. */
#ifndef TRACE_CHUNKS_H
#define TRACE_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "pmtrace.h"
#include "util/error.h"
#include "util/vec.h"

/* So many bytes beyond the end of the file can be read; they are zero. */
#define CHUNKS_SLACK_BYTES 4096u

struct chunk_ref {
	uint64_t offset; /* of the chunk's header, from the beginning of the file */
	uint32_t stream, number;
	bool is_right; /* its hash was compared and is right */
	/* the chunk that it was copied from is there, too: the recorder was killed while it
	 * copied */
	bool is_copy;
};

struct chunks {
	const uint8_t *base; /* the file, mapped, and CHUNKS_SLACK_BYTES more */
	uint64_t size_bytes;
	struct pmt_header header;
	VEC(struct chunk_ref) list; /* sorted by stream, then by number */
	char *damage;               /* why the list ends early; NULL if it is complete */
};

int chunks_open(struct chunks *c, const char *path, struct error *err);
void chunks_close(struct chunks *c);

#endif
