/* The inside of struct trace: one cursor and its streams (one stream per recorded process). Only
 * the files of trace/ use this header. */
#ifndef TRACE_STREAM_H
#define TRACE_STREAM_H

#include "trace/chunks.h"
#include "trace/files.h"
#include "trace/tables.h"
#include "trace/trace.h"

struct stream {
	const uint8_t *p, *end; /* the part of the chunk that is still to be read */
	/* number of the next event, or a lower one if table records come before that event */
	uint64_t next_seq;
	struct tables tables;
	uint64_t nevents;        /* events returned so far */
	uint64_t nevents_before; /* events returned before this chunk */
	/* indices in chunks.list: the next chunk, and one past the stream's last */
	size_t chunk, last_chunk;
	struct pmt_chunk header; /* of the current chunk */
	uint32_t number;
	uint32_t nchunks; /* chunks begun so far */
	size_t nforked;   /* table entries that were copied from the parent */
	bool is_started, is_in_chunk, is_cut;
};

/* An open file and what its table records define. All cursors share it. */
struct trace_opened {
	char *path;
	struct chunks chunks;
	struct tables_store store;
	size_t ncursors;
};

/* A cursor. */
struct trace {
	struct stream *now;
	uint64_t limit, last_seq;
	/* the stored bytes of the last event, if they are not in the file as such */
	uint8_t value[PMT_STORE_MAX_BYTES];
	struct chunks *chunks;
	struct trace_opened *opened;
	struct stream *streams;
	size_t nstreams;
	VEC(struct stream *) waiting;
	struct tables_met met;
	struct files files;
	struct arena names; /* strings of files */
	size_t nforked;     /* table entries copied in all streams together */
	uint64_t nevents;
	char *damage;
	bool is_cut_off; /* a process was killed */
	bool is_worse;   /* there is other damage */
	bool is_at_end;
};

/* Notes the text as the damage of the trace, unless the trace has one already: later damage is
 * often a consequence of the first. */
void set_damage(struct trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));
/* Notes the problem and its place in the stream as the damage of the trace. Returns false. */
bool stream_damage(struct trace *t, const struct stream *s, const char *problem)
	__attribute__((cold));

/* Does the chunk whose header s holds have the right hash? An open or truncated chunk has none, and
 * counts as right. */
bool chunk_is_right(const struct trace *t, const struct stream *s, struct chunk_ref *ref);
/* Moves to the next event, over table records and into new chunks. False if there is none. */
bool stream_advance(struct trace *t, struct stream *s);
void stream_end(struct trace *t, struct stream *s);

/* Puts a stream into the heap of waiting streams: all streams that have events, except t->now.
 * Updates t->limit. */
void waiting_add(struct trace *t, struct stream *s);
/* Takes the stream with the lowest number from that heap and updates t->limit. NULL if none
 * waits. */
struct stream *waiting_take(struct trace *t);

#endif
