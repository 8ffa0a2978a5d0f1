/* The chunk in hand and what records are predicted from: for those who write events, emit.c in general, and events.c the common ones in a
 * shorter way. */
#ifndef REC_CHUNK_H
#define REC_CHUNK_H

#include "valgrind/recorder/out/out.h"

/* What a site is to the encoder. In a cache line of its own: an event that is predicted well changes nothing else but the chunk. */
struct site {
	struct pmt_site_state state;
	UInt number;
	UInt size_bytes;
	ULong number_bytes; /* the number as it is written */
	UInt number_len;
	Bool has_addr;
} __attribute__((aligned(64)));

struct out {
	struct pmt_header *header;
	struct pmt_chunk *chunk;     /* its `used` says where the next record goes */
	struct site *prev; /* of the last event */
	Int room; /* the short way may be taken while `used` is not above it; -1: there is something to look at first */
	UInt thread; /* number of the running thread */
	struct pmt_encoder enc; /* prev_addr and prev_bytes are behind while prev has an address: out_catch_up() */
};
extern struct out g_out;
extern ULong g_shared; /* nonzero: other processes may record too */

UChar *out_begin(void);	      /* where a record may be written: PMT_RECORD_MAX_BYTES are free there */
UChar *out_begin_event(void); /* the same, for an event, which is counted */
void out_end(const UChar *p); /* it ends at p */

/* The short way: nobody else records, the thread is the last event's, and there is room in the chunk. */
static inline Bool out_is_easy(const struct pmt_chunk *chunk)
{
	return LIKELY((Int)chunk->used <= g_out.room);
}

/* What the last address was. Only who needs that looks: most addresses are predicted from their own site. */
static inline void out_catch_up(void)
{
	const struct site *prev = g_out.prev;

	if (prev->has_addr) {
		g_out.enc.prev_addr = prev->state.last_addr;
		g_out.enc.prev_bytes = prev->size_bytes;
	}
}

/* The number of the last event. While nobody else records, the chunk counts, and the header is told now and then. */
static inline ULong out_seq(void)
{
	return g_shared ? g_out.header->seq : g_out.chunk->first_seq + g_out.chunk->nevents - 1;
}

static inline UChar *out_pos(struct pmt_chunk *chunk)
{
	return (UChar *)(chunk + 1) + chunk->used;
}

static inline void out_move(struct pmt_chunk *chunk, const UChar *p)
{
	__asm__ volatile("" ::: "memory"); /* the bytes first, then their count: a kill may come in between */
	chunk->used = (UInt)(p - (UChar *)(chunk + 1));
}

#endif
