/* What one recorded process has defined so far: nodes, sites, mapped objects, and the predictions
 * of pmtrace_encode.h for the next event. Only the files of trace/ use this header. */
#ifndef TRACE_TABLES_H
#define TRACE_TABLES_H

#include "pmtrace_encode.h"
#include "trace/trace.h"
#include "util/map.h"
#include "util/vec.h"
#include "util/wire.h"

/* A site, with what decoding an event needs in its first 48 bytes. */
struct site_slot {
	const struct trace_site *site;
	struct pmt_site_state state;
	uint32_t size_bytes;
	uint8_t kind, carries, nargs;
};
_Static_assert(sizeof(struct site_slot) == 48, "what is hot stays together");

struct object_range {
	uint64_t start, end;
	const struct trace_object *object;
};

struct tables {
	struct pmt_encoder encoder;
	VEC(struct site_slot) sites; /* [0] stands for the state before the first event */
	/* [0] is NULL, the missing caller of an outermost frame */
	VEC(const struct trace_node *) nodes;
	VEC(struct object_range) objects; /* sorted, disjoint */
};

/* Definitions of an open trace, shared by all streams and cursors. They never change and all
 * cursors meet them in the same order, so the first one to read a definition stores it. */
struct tables_store {
	struct arena arena;
	VEC(const struct trace_object *) objects;
	VEC(const struct trace_node *) nodes;
	VEC(const struct trace_site *) sites;
};
void tables_store_release(struct tables_store *s);

/* How many definitions a cursor has read. */
struct tables_met {
	uint32_t nobjects, nnodes, nsites;
};

void tables_init(struct tables *t);
void tables_copy(struct tables *to, const struct tables *from); /* `to` need not be initialised */
void tables_release(struct tables *t);

/* Reads the table record at p into t; all kinds but PMT_TABLE_SEQ. Gives its end, or NULL with a
 * reason in *problem. */
const uint8_t *tables_read(struct tables *t, struct tables_store *store, struct tables_met *met,
			   const uint8_t *p, const uint8_t *end, const char **problem);

/* ---- tables_wire.c ---- */

/* Gives each node of the store a number, from 1, by which it is sent. numbers: maps a node to its
 * number. */
void tables_number_nodes(const struct tables_store *s, struct map *numbers);
/* Passes the definitions of the store. A receiver keeps definitions that it has already. */
void tables_store_pass(struct tables_store *s, struct wire *w, const struct map *numbers);
/* Passes the tables of one process. When receiving, t is empty and need not be initialised. */
void tables_pass(struct tables *t, struct wire *w, const struct tables_store *store,
		 const struct map *numbers);

/* ---- inline ---- */

/* Reads a number of at most ten bytes. They may lie beyond the chunk's end (CHUNKS_SLACK_BYTES):
 * the caller compares *p with the end afterwards. */
static inline uint64_t get_number(const uint8_t **p)
{
	uint64_t n = *(*p)++;
	unsigned shift;

	if (__builtin_expect(n < 0x80, 1))
		return n;
	n &= 0x7f;
	for (shift = 7; shift < 70; shift += 7) {
		uint64_t byte = *(*p)++;

		n |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return n;
}

static inline int64_t get_signed(const uint8_t **p)
{
	return pmt_unzigzag(get_number(p));
}

/* Reads a length and gives its bytes; NULL if they reach beyond end. */
const uint8_t *get_blob(const uint8_t **p, const uint8_t *end, uint32_t *len_bytes);

#endif
