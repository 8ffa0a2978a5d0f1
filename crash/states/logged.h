/* What a transaction would have logged: the bytes of a range after it.
 *
 * Recovery either undoes a transaction, and then a logged range is as it was before, or it does
 * not, and then the range is as the transaction left it. Which of the two it is, is known to
 * recovery only. So a failing state is cured by the log if recovery handles it with exactly these
 * bytes as before the transaction, or as after it; everything else stays as it was. whatif.h
 * supposes the former; the latter is put into a state that fails. */
#ifndef CRASH_STATES_LOGGED_H
#define CRASH_STATES_LOGGED_H

#include "crash/states/plan.h"
#include "crash/states/states.h"

struct logged_range {
	/* of the transaction, of the first store to the range, and of its end; UINT64_MAX: it has
	 * none */
	uint64_t begin_seq, seq, end_seq;
	uint64_t addr;
	uint32_t len_bytes;
	uint8_t after[PMT_STORE_MAX_BYTES];
};

struct logged {
	VEC(struct logged_range) list; /* by seq */
};

/* What the stores of some places change in transactions. classes: a number for each site, by id;
 * is_wanted: by number. Reads the trace once. */
void logged_find(struct logged *l, const struct plan *p, const uint32_t *classes, size_t nclasses,
		 const bool *is_wanted);
void logged_release(struct logged *l);

/* A crash before event seq comes while ranges are logged. */
bool logged_is_open(const struct logged *l, uint64_t seq);
/* Puts the bytes of such ranges into the image and into all contents of the set. Call it again with
 * `undo`, which it filled, to have back what was there. */
struct logged_undo {
	VEC(uint8_t) image, contents;
};
void logged_apply(const struct logged *l, uint64_t seq, struct crash_image *im, struct state_set *s,
		  struct logged_undo *undo);
void logged_undo(const struct logged *l, uint64_t seq, struct crash_image *im, struct state_set *s,
		 struct logged_undo *undo);

#endif
