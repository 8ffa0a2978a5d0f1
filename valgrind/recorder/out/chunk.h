/* The chunk in hand and what records are predicted from: for those who write events, emit.c in
 * general, and events.c the common ones in a shorter way. */
#ifndef REC_CHUNK_H
#define REC_CHUNK_H

#include "valgrind/recorder/out/out.h"

struct out {
	struct pmt_header *header;
	struct pmt_chunk *chunk;     /* its `used` says where the next record goes */
	struct pmt_site_state *prev; /* of the last event's site */
	/* the short way may be taken while `used` is not above it; -1: there is something to look
	 * at first */
	Int room;
	UInt thread; /* number of the running thread */
	/* NULL, or writes an event that comes before the next one; there is something to look at
	 * until it did */
	void (*before)(void);
	struct pmt_encoder enc;
};
extern struct out g_out;
extern ULong g_shared; /* nonzero: other processes may record too */

/* where an event may be written, which is counted: PMT_RECORD_MAX_BYTES are free there */
UChar *out_begin_event(void);
void out_end(const UChar *p); /* it ends at p */

/* The short way: nobody else records, the thread is the last event's, and there is room in the
 * chunk. */
static inline Bool out_is_easy(const struct pmt_chunk *chunk)
{
	return LIKELY((Int)chunk->used <= g_out.room);
}

static inline UChar *out_pos(struct pmt_chunk *chunk)
{
	return (UChar *)(chunk + 1) + chunk->used;
}

static inline void out_move(struct pmt_chunk *chunk, const UChar *p)
{
	/* the bytes first, then their count: a kill may come in between */
	__asm__ volatile("" ::: "memory");
	chunk->used = (UInt)(p - (UChar *)(chunk + 1));
}

#endif
