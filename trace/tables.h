/* What one recorded process has defined so far: nodes, sites, mapped objects, and the predictions
 * that pmtrace_encode.h makes from them. For trace/ only. */
#ifndef TRACE_TABLES_H
#define TRACE_TABLES_H

#include "pmtrace_encode.h"
#include "trace/trace.h"
#include "util/map.h"
#include "util/vec.h"
#include "util/wire.h"

/* The first 48 bytes are all that decoding a store needs. */
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
	VEC(struct site_slot) sites;          /* [0] stands for what was before the first event */
	VEC(const struct trace_node *) nodes; /* [0] is NULL: no caller */
	VEC(struct object_range) objects;     /* sorted, disjoint */
};

/* What all streams and cursors of an open trace share: definitions never change, so they are stored
 * once and pointed to. Each cursor meets them in the same order: whoever comes first stores
 * them. */
struct tables_store {
	struct arena arena;
	VEC(const struct trace_object *) objects;
	VEC(const struct trace_node *) nodes;
	VEC(const struct trace_site *) sites;
};
void tables_store_release(struct tables_store *s);

/* How many of them a cursor has met. */
struct tables_met {
	uint32_t nobjects, nnodes, nsites;
};

void tables_init(struct tables *t);
void tables_copy(struct tables *to, const struct tables *from); /* to: not initialised */
void tables_release(struct tables *t);

/* Reads the table record at p, but for PMT_TABLE_SEQ, into t. Gives its end, or NULL with a reason
 * in *problem. */
const uint8_t *tables_read(struct tables *t, struct tables_store *store, struct tables_met *met,
			   const uint8_t *p, const uint8_t *end, const char **problem);

/* ---- tables_wire.c ---- */

/* Nodes have no number of their own: what sends them finds it here. */
void tables_number_nodes(const struct tables_store *s, struct map *numbers);
/* What is there already stays when it is received. */
void tables_store_pass(struct tables_store *s, struct wire *w, const struct map *numbers);
/* Received: t is empty, not initialised. */
void tables_pass(struct tables *t, struct wire *w, const struct tables_store *store,
		 const struct map *numbers);

/* ---- inline ---- */

/* A number of at most ten bytes. The caller knows that they may be read (CHUNKS_SLACK_BYTES) and
 * checks *p afterwards. */
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

/* Length and bytes; NULL if they are not all before end. */
const uint8_t *get_blob(const uint8_t **p, const uint8_t *end, uint32_t *len_bytes);

#endif
