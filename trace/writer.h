/* Writes traces from C: for `pmend import`, for adding to a recording, and for tests. (The recorder
 * has its own writer, because it runs in the recorded process.)
 *
 *	struct writer *w;
 *	if (writer_open(&w, path, &err) < 0) …
 *	node = writer_node(w, 0, 0x401200, false);
 *	site = writer_site(w, node, 0x401136, PMT_STORE, 8);
 *	writer_event(w, &(struct writer_event){
 *		.site = site, .thread = 1, .addr = PMT_ADDR(1, 64), .data = &v });
 *	if (writer_close(w, &err) < 0) …
 *
 * If a write fails, later calls still work and writer_close() reports it. The file is then not
 * removed: it is readable up to the failure. */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "trace/trace.h"

struct writer_event {
	uint32_t site;
	uint32_t thread;
	uint64_t addr; /* used if the site's kind has one; so are arg and data */
	uint64_t arg[PMT_MAX_ARGS];
	const void *data;  /* the stored bytes, as many as the site's size, or the blob */
	uint32_t data_len; /* length of the blob, at most WRITER_BLOB_MAX_BYTES */
};

#define WRITER_BLOB_MAX_BYTES (PMT_RECORD_MAX_BYTES - 256)

struct writer;

int writer_open(struct writer **w, const char *path, struct error *err);
/* Opens a complete trace, adds a process after all others, and selects it. */
int writer_append(struct writer **w, const char *path, struct error *err);
int writer_close(struct writer *w, struct error *err);

/* Defines a mapped object from its va, len_bytes, offset, build id and path. */
void writer_object(struct writer *w, const struct trace_object *object);
void writer_object_gone(struct writer *w, uint64_t va, uint64_t len_bytes);

/* Defines a frame of a call stack, unless it is defined, and gives its number, from 1.
 * writer_site() does so for an instruction in a frame. Parent or node 0 is outside the outermost
 * frame. */
uint32_t writer_node(struct writer *w, uint32_t parent, uint64_t pc, bool is_signal);
uint32_t writer_site(struct writer *w, uint32_t node, uint64_t pc, enum pmt_kind kind,
		     uint32_t size_bytes);

/* Writes an event and gives its number. */
uint64_t writer_event(struct writer *w, const struct writer_event *ev);

/* Selects the process to which all that follows belongs; the first is 0. Each process has its own
 * nodes and sites. */
void writer_select(struct writer *w, uint32_t stream);
/* Writes a FORK event. The child, a stream that is not used yet, gets all nodes and sites of the
 * selected process. */
uint64_t writer_fork(struct writer *w, uint32_t site, uint32_t thread, uint32_t child);

/* Sets the size of chunks; for tests that want many. */
void writer_set_chunk_bytes(struct writer *w, uint32_t chunk_bytes);

#endif
