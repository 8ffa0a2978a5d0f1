/* Writing traces from C, for `pmend import`, for what a recording turns out to lack, and for tests.
 * (The recorder has its own writer, in somebody else's process.)
 *
 *	struct writer *w;
 *	if (writer_open(&w, path, &err) < 0) …
 *	node = writer_node(w, 0, 0x401200, false);
 *	site = writer_site(w, node, 0x401136, PMT_STORE, 8);
 *	writer_event(w, &(struct writer_event){
 *		.site = site, .thread = 1, .addr = PMT_ADDR(1, 64), .data = &v });
 *	if (writer_close(w, &err) < 0) …
 *
 * A failure to write is kept and told by writer_close(). The file is not removed then: it reads up
 * to the failure. */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "trace/trace.h"

struct writer_event {
	uint32_t site;
	uint32_t thread;
	uint64_t addr; /* where the site's kind has one, as the arguments and the data */
	uint64_t arg[PMT_MAX_ARGS];
	const void *data;  /* the stored bytes (as many as the site's size) or the blob */
	uint32_t data_len; /* of the blob, at most WRITER_BLOB_MAX_BYTES */
};

#define WRITER_BLOB_MAX_BYTES (PMT_RECORD_MAX_BYTES - 256)

struct writer;

int writer_open(struct writer **w, const char *path, struct error *err);
/* Adds a process to a whole trace, behind all others; it is selected. */
int writer_append(struct writer **w, const char *path, struct error *err);
int writer_close(struct writer *w, struct error *err);

/* va, len_bytes, offset, build id and path are used. */
void writer_object(struct writer *w, const struct trace_object *object);
void writer_object_gone(struct writer *w, uint64_t va, uint64_t len_bytes);

/* Numbers from 1; the same question gives the same number. Parent or node 0: the outermost. */
uint32_t writer_node(struct writer *w, uint32_t parent, uint64_t pc, bool is_signal);
uint32_t writer_site(struct writer *w, uint32_t node, uint64_t pc, enum pmt_kind kind,
		     uint32_t size_bytes);

/* Gives the event's number. */
uint64_t writer_event(struct writer *w, const struct writer_event *ev);

/* From now on, everything is about this process; the first is 0. Nodes and sites belong to a
 * process. */
void writer_select(struct writer *w, uint32_t stream);
/* A FORK event; the child (a stream not used yet) has all nodes and sites of the selected
 * process. */
uint64_t writer_fork(struct writer *w, uint32_t site, uint32_t thread, uint32_t child);

/* How large chunks are from now on; for tests that want many. */
void writer_set_chunk_bytes(struct writer *w, uint32_t chunk_bytes);

#endif
