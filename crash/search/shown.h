/* Finds answers that show what another thread has stored: an operation loads it, and its answer
 * says the value. What was shown must be kept, although the operation that stored it may still be
 * in flight. */
#ifndef CRASH_SEARCH_SHOWN_H
#define CRASH_SEARCH_SHOWN_H

#include "trace/trace.h"
#include "util/vec.h"

/* A store of an operation. */
struct shown_store {
	size_t op; /* number of the operation, from 1; 0: it belongs to none */
	const uint8_t *bytes;
	uint32_t len_bytes;
};

/* An answer that shows what operation `by` stored. */
struct shown {
	size_t by;
	uint64_t read_seq, answer_seq;
};

struct shown_read {
	uint32_t stream, thread;
	uint64_t seq;
	size_t by;
	uint32_t len_bytes;
	uint8_t bytes[64];
};

struct shown_list {
	VEC(struct shown_read) reads; /* of threads that have not answered */
	VEC(struct shown) list;
};

void shown_release(struct shown_list *s);
/* Notes that the thread of the event loads what the operation of another thread has stored. */
void shown_load(struct shown_list *s, const struct trace_event *load,
		const struct shown_store *from);
/* Notes what an output shows. */
void shown_output(struct shown_list *s, const struct trace_event *output);
/* Forgets what this thread has loaded: it begins another operation. */
void shown_forget(struct shown_list *s, uint32_t stream, uint32_t thread);

#endif
