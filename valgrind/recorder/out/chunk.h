/* Declares the present chunk of the trace, and the values from which records are predicted. The
 * files that write events use it: emit.c in general, events.c for common events in a shorter
 * way. */
#ifndef REC_CHUNK_H
#define REC_CHUNK_H

#include "valgrind/recorder/out/out.h"

struct out {
	struct pmt_header *header;
	struct pmt_chunk *chunk;     /* its `used` is the position of the next record */
	struct pmt_site_state *prev; /* state of the last event's site */
	/* the short way is allowed while `used` is not above this; -1: something must be checked
	 * first */
	Int room;
	UInt thread; /* number of the running thread */
	/* NULL, or a function that writes an event before the next one; until it has, the short way
	 * is not allowed */
	void (*before)(void);
	struct pmt_encoder enc;
};
extern struct out g_out;
extern ULong g_shared; /* nonzero: other processes may record, too */

/* Counts an event and gives the place for its record; PMT_RECORD_MAX_BYTES are free there. */
UChar *out_begin_event(void);
void out_end(const UChar *p); /* ends a record; p is behind its last byte */

/* Asks whether the short way is allowed: no other process records, the thread is that of the last
 * event, and the chunk has room. */
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
	/* the bytes before their count: the process may be killed in between */
	__asm__ volatile("" ::: "memory");
	chunk->used = (UInt)(p - (UChar *)(chunk + 1));
}

#endif
