/* Writes events into the trace. */
#ifndef REC_EMIT_H
#define REC_EMIT_H

#include "valgrind/recorder/place/code.h"

/* Finds the site of an event that the running thread makes now. Must be called before each
 * event. */
void emit_place(struct code *c);
void emit_store(struct code *c, ULong addr, const UChar *data); /* data has c->size_bytes */
/* Writes a store of another thread, whose site is known. */
void emit_store_by(struct code *c, UInt thread, ULong addr, const UChar *data);
void emit_addr(struct code *c, ULong addr); /* a flush or load */
/* Writes a fence, with its argument if it has one. */
void emit_plain(struct code *c);
/* Writes an event of a kind that has only arguments. */
void emit_args(struct code *c, const ULong *args);
/* Writes any other event, at the thread's present instruction, with as many arguments as the kind
 * has. */
void emit_event(ThreadId tid, enum pmt_kind kind, ULong addr, const ULong *args, const void *blob,
		UInt blob_len);

/* A place that an event may have later. */
struct emit_at {
	Addr pc;
	UInt node, thread;
};
struct emit_at emit_here(ThreadId tid);
/* Like emit_event(), at a place where a thread of this process was before. */
void emit_event_at(const struct emit_at *at, enum pmt_kind kind, ULong addr, const ULong *args,
		   const void *blob, UInt blob_len);

#endif
