/* Random traces, made with trace/writer, together with what a reader must find in them. */
#ifndef TESTS_UNIT_SAMPLE_H
#define TESTS_UNIT_SAMPLE_H

#include "trace/trace.h"
#include "util/vec.h"

/* One event as it was written; compare with sample_expect(). */
struct sample_event {
	struct trace_event event; /* site and data are NULL */
	uint64_t pc, node_pc;	  /* node_pc: 0 when the site has no caller */
	bool is_signal;
	uint8_t data[64];
};

struct sample {
	int fd; /* a memfd with the trace */
	char path[64];
	uint8_t *bytes; /* the trace again */
	size_t len_bytes;
	VEC(struct sample_event) events; /* by number - 1 */
};

struct sample_options {
	uint64_t seed;
	uint32_t nevents, nstreams, chunk_bytes;
	bool has_forks; /* every stream after the first is forked from one before, otherwise starts empty */
};

void sample_init(struct sample *s, const struct sample_options *o);
void sample_release(struct sample *s);

/* A memfd with these bytes and a path to it. */
int memory_file(const void *bytes, size_t len_bytes, char path[64]);

/* NULL when got is what was written, otherwise what differs. The event's number is compared only when with_seq. */
const char *sample_difference(const struct sample_event *want, const struct trace_event *got, bool with_seq);

#endif
