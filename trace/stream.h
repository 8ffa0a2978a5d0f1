/* The inside of a struct trace, for trace/reader.c and trace/stream.c only. */
#ifndef TRACE_STREAM_H
#define TRACE_STREAM_H

#include "trace/chunks.h"
#include "trace/files.h"
#include "trace/tables.h"
#include "trace/trace.h"

struct stream {
	const uint8_t *p, *end; /* what is left of the chunk */
	/* the next event's number; at least, while table records are before it */
	uint64_t next_seq;
	struct tables tables;
	uint64_t nevents;        /* given out so far */
	uint64_t nevents_before; /* of them, before this chunk */
	/* in chunks.list: the next one, and one behind the stream's last */
	size_t chunk, last_chunk;
	struct pmt_chunk header; /* of this chunk */
	uint32_t number;
	uint32_t nchunks; /* begun so far */
	size_t nforked;   /* table entries copied from the parent */
	bool is_started, is_in_chunk, is_cut;
};

/* An open file, and what its table records define: one for all cursors. */
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
	/* of the event last read, when it is not in the file as such */
	uint8_t value[PMT_STORE_MAX_BYTES];
	struct chunks *chunks;
	struct trace_opened *opened;
	struct stream *streams;
	size_t nstreams;
	VEC(struct stream *) waiting;
	struct tables_met met;
	struct files files;
	struct arena names; /* of files */
	size_t nforked;     /* in all streams now */
	uint64_t nevents;
	char *damage;
	bool is_cut_off; /* a process was killed */
	bool is_worse;   /* there is other damage */
	bool is_at_end;
};

/* Says what is wrong, unless something was before: what follows is often its consequence. */
void set_damage(struct trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));
/* The same with the place in the stream. Returns false. */
bool stream_damage(struct trace *t, const struct stream *s, const char *problem)
	__attribute__((cold));

/* The content of the chunk, whose header the stream holds, has the hash that it should have. One
 * that is open or truncated has none. */
bool chunk_is_right(const struct trace *t, const struct stream *s, struct chunk_ref *ref);
/* Goes on to the next event, over table records and into new chunks. False: there is none. */
bool stream_advance(struct trace *t, struct stream *s);
void stream_end(struct trace *t, struct stream *s);

/* The streams that are not t->now, by their next event's number. Both keep t->limit. */
void waiting_add(struct trace *t, struct stream *s);
struct stream *waiting_take(struct trace *t); /* the first one; NULL if there is none */

#endif
