/* A trace file in memory, and where its chunks are. For trace/ only. */
#ifndef TRACE_CHUNKS_H
#define TRACE_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "pmtrace.h"
#include "util/error.h"
#include "util/vec.h"

/* So many bytes behind the file's end may be read; they are zero. */
#define CHUNKS_SLACK_BYTES 4096u

struct chunk_ref {
	uint64_t offset; /* of the chunk's header in the file */
	uint32_t stream, number;
	bool is_right; /* its hash was checked */
	/* what it was copied from is there, too: the recorder was killed just then */
	bool is_copy;
};

struct chunks {
	const uint8_t *base; /* the file, mapped, and CHUNKS_SLACK_BYTES more */
	uint64_t size_bytes;
	struct pmt_header header;
	VEC(struct chunk_ref) list; /* sorted by stream and number */
	char *damage;               /* why the list ends early, NULL if it does not */
};

int chunks_open(struct chunks *c, const char *path, struct error *err);
void chunks_close(struct chunks *c);

#endif
