/* Random traces made with trace/writer, with what a reader must find in them. */
#ifndef TESTS_UNIT_SAMPLE_H
#define TESTS_UNIT_SAMPLE_H

#include "trace/trace.h"
#include "util/vec.h"

/* An event as it was written; compare it with sample_difference(). */
struct sample_event {
	struct trace_event event; /* site and data are NULL */
	uint64_t pc, node_pc;	  /* node_pc is 0 if the site has no caller */
	bool is_signal;
	uint8_t data[64];
};

struct sample {
	int fd; /* a memfd with the trace */
	char path[64];
	uint8_t *bytes; /* the same trace in memory */
	size_t len_bytes;
	VEC(struct sample_event) events; /* by number - 1 */
};

struct sample_options {
	uint64_t seed;
	uint32_t nevents, nstreams, chunk_bytes;
	/* every stream after the first is forked from an earlier one; otherwise streams start
	 * empty */
	bool has_forks;
};

void sample_init(struct sample *s, const struct sample_options *o);
void sample_release(struct sample *s);

/* Makes a memfd with these bytes, and a path to it. */
int memory_file(const void *bytes, size_t len_bytes, char path[64]);

/* Gives what differs between `got` and what was written, or NULL. Compares the event's number only
 * if with_seq. */
const char *sample_difference(const struct sample_event *want, const struct trace_event *got, bool with_seq);

#endif
