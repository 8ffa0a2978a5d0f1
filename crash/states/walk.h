/* Walks a trace from failure point to failure point: at each stop, the image and the model are
 * those of a crash just before the event at hand (or after the last one). */
#ifndef CRASH_STATES_WALK_H
#define CRASH_STATES_WALK_H

#include "crash/states/image.h"
#include "crash/states/plan.h"
#include "crash/shadow/shadow.h"
#include "crash/states/whatif.h"

#define WALK_RECENT 32u

enum walk_stops {
	WALK_POINTS = 1, /* failure points */
	WALK_STORES = 2, /* before every store, too */
	/* where operations begin and end: for reference states, not for crashes */
	WALK_BOUNDARIES = 4,
	/* before what is stored after an acknowledgement to a line that still has stores from
	 * before it: for dumps */
	WALK_OVERTAKEN = 8,
};

struct walk {
	/* where it is: valid after walk_next() */
	uint64_t point; /* number of the failure point, from 1 */
	/* the crash comes before this event; that after the last one at the end */
	uint64_t seq;
	const struct trace_site *site; /* of that event, NULL at the end */
	bool is_boundary;              /* stopped for WALK_BOUNDARIES */
	/* not because stores become durable: a file changes, an annotation, the end */
	bool is_lasting;
	uint64_t nstores; /* so far */
	/* where WALK_RECENT failure points ago it was; 0: there were not so many */
	uint64_t recent_seq;
	struct crash_image image;
	struct model *model;
	struct shadow *shadow; /* NULL: walk_add_shadow() was not called */

	/* inside */
	const struct plan *plan;
	struct trace *trace;
	struct rewriter *rewriter; /* NULL: events are as recorded */
	struct trace_event ev;
	enum whatif_mark mark;
	unsigned stops;
	uint64_t seqs[WALK_RECENT]; /* of the last failure points */
	bool has_event, is_changed, is_created, is_over;
	uint64_t unlinked_seq;                  /* of the last UNLINK */
	const struct trace_site *unlinked_site; /* its call */
	bool is_changed_inside;                 /* where failure points are not skipped */
	int roi_depth;
	/* asks, and says, whether WALK_OVERTAKEN would stop anywhere */
	bool notes_overtaken, has_overtaken;
	/* the last acknowledgement, if there was no failure point since; 0: there was */
	uint64_t acknowledged_seq;
	size_t nlate;    /* of plan->late, so many are in the image */
	uint64_t copier; /* the thread for which the kernel stored in the last event; 0: in none */
	VEC(struct walk_skip {
		uint64_t thread;
		int failure_depth;
		int check_depth;
		int tx_depth;
		bool is_making;
	})
	skips;
};

void walk_init(struct walk *w, const struct plan *p, unsigned stops);
/* Before the first step: a shadow memory goes along. What is stored outside the region of interest
 * or where checks are skipped is trusted. */
void walk_add_shadow(struct walk *w);
/* From now on, before anything was read: the events as they would be. Borrows it. */
void walk_suppose(struct walk *w, const struct whatif *whatif);
void walk_release(struct walk *w);
/* before the first step: goes to where the region of interest begins, if there is one */
void walk_enter(struct walk *w);
bool walk_next(struct walk *w); /* false: there are no more */

/* ---- in the middle ---- */

/* Steps over the event that it stopped at. False: that cannot be without a stop, or there is
 * none. */
bool walk_go_past(struct walk *w);
/* After walk_go_past(), without shadow and what-if: all but the image. Received: by a walk of the
 * same plan. */
void walk_pass(struct walk *w, struct wire *m);
/* of the last event that it stepped over; 0: none */
uint64_t walk_passed_seq(const struct walk *w);

#endif
