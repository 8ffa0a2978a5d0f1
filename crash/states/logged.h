/* The bytes that a range has after a transaction: what recovery would see if the transaction had
 * logged the range.
 *
 * If recovery undoes a transaction, a logged range is as it was before. If it does not, the range
 * is as the transaction left it. Only recovery knows which of the two it does. So a failing state
 * is cured by a log if recovery copes with exactly these bytes as before or as after the
 * transaction, and all other bytes unchanged. whatif.h supposes the former; this module puts the
 * latter into a failing state. */
#ifndef CRASH_STATES_LOGGED_H
#define CRASH_STATES_LOGGED_H

#include "crash/states/plan.h"
#include "crash/states/states.h"

struct logged_range {
	/* begin of the transaction, first store to the range, end of the transaction (UINT64_MAX:
	 * it never ends) */
	uint64_t begin_seq, seq, end_seq;
	uint64_t addr;
	uint32_t len_bytes;
	uint8_t after[PMT_STORE_MAX_BYTES];
};

struct logged {
	VEC(struct logged_range) list; /* ascending seq */
};

/* Finds the ranges that stores of some places change in transactions. classes: site id → number of
 * its class; is_wanted: by class. Reads the trace once. */
void logged_find(struct logged *l, const struct plan *p, const uint32_t *classes, size_t nclasses,
		 const bool *is_wanted);
void logged_release(struct logged *l);

/* Does a crash before event seq come while a range is logged? */
bool logged_is_open(const struct logged *l, uint64_t seq);
bool logged_range_is_open(const struct logged_range *r, uint64_t seq);
/* Writes the bytes of the open ranges into the image and into all contents of the set, and what was
 * there into `undo`; logged_undo() restores that. */
struct logged_undo {
	VEC(uint8_t) image, contents;
};
void logged_apply(const struct logged *l, uint64_t seq, struct crash_image *im, struct state_set *s,
		  struct logged_undo *undo);
void logged_undo(const struct logged *l, uint64_t seq, struct crash_image *im, struct state_set *s,
		 struct logged_undo *undo);

#endif
