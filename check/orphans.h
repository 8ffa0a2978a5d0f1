/* Keeps orphans: stores that were not durable when they lost their mapping, and that no msync or
 * fsync has reached since. */
#ifndef CHECK_ORPHANS_H
#define CHECK_ORPHANS_H

#include "check/oracle.h"
#include "util/map.h"
#include "util/vec.h"

struct orphan {
	struct finding finding; /* filled by the caller's function */
	uint64_t addr, len_bytes, seq;
	uint32_t stream, thread;
	uint32_t next; /* index + 1 of the next orphan that begins on the same page; 0: none */
	bool is_gone;  /* it was written back later */
};

struct orphans {
	uint32_t line_bytes; /* of the platform; set by the caller */
	VEC(struct orphan) list;
	struct map known;  /* by store: all orphans, including those that are gone */
	struct map pages;  /* page → index + 1 of the first orphan that begins there */
	struct map stored; /* file → struct stored_lines */
	VEC(struct stored_lines *) all_stored;
	struct stored_lines *last_stored; /* of the file that was last stored to */
	uint32_t last_file;
};

/* Fills the finding for a store. False: the store is not worth one. */
typedef bool orphans_judge(const struct model_store *s, struct finding *f, void *arg);

void orphans_note_store(struct orphans *o, const struct model *m, const struct trace_event *ev);
/* Makes orphans of the stores in a range of a file that loses its mapping, if they are not durable
 * and judge() finds them worth a finding. */
void orphans_unmap(struct orphans *o, const struct model *m, uint64_t addr, uint64_t len_bytes,
		   orphans_judge *judge, void *arg);
/* Drops orphans in these bytes, because they were written back. */
void orphans_forget(struct orphans *o, struct range synced);
/* Removes from the list all orphans with is_gone: those that were written back. */
void orphans_forget_gone(struct orphans *o);
void orphans_release(struct orphans *o);

#endif
