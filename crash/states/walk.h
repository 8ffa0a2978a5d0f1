/* Walks a trace from failure point to failure point. At each stop, the image and the model are
 * those of a crash right before the present event, or after the last event. */
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
	/* before a store to a line that still has stores from before the last acknowledgement: for
	 * dumps */
	WALK_OVERTAKEN = 8,
};

struct walk {
	/* where the walk stands; valid after walk_next() */
	uint64_t point; /* number of the failure point, from 1 */
	/* the crash comes before this event; at the end, a number behind the last event */
	uint64_t seq;
	const struct trace_site *site; /* the site of that event; NULL at the end */
	bool is_boundary;              /* the walk stopped for WALK_BOUNDARIES */
	/* the reason is not that stores become durable, but a change of a file, an annotation, or
	 * the end */
	bool is_lasting;
	uint64_t nstores; /* stores so far */
	/* the last acknowledgement since the failure point before; 0: there was none */
	uint64_t last_acknowledged_seq;
	/* `seq` of WALK_RECENT failure points ago; 0: there were not so many */
	uint64_t recent_seq;
	struct crash_image image;
	struct model *model;
	struct shadow *shadow; /* NULL if walk_add_shadow() was not called */

	/* private */
	const struct plan *plan;
	struct trace *trace;
	struct rewriter *rewriter; /* NULL: events are as recorded */
	struct trace_event ev;
	enum whatif_mark mark;
	unsigned stops;
	uint64_t seqs[WALK_RECENT]; /* the last failure points */
	bool has_event, is_changed, is_created, is_over;
	uint64_t unlinked_seq;                  /* the last UNLINK */
	const struct trace_site *unlinked_site; /* its call */
	/* something changed where failure points are not skipped */
	bool is_changed_inside;
	int roi_depth;
	/* set notes_overtaken to ask whether WALK_OVERTAKEN would stop anywhere; has_overtaken is
	 * the answer */
	bool notes_overtaken, has_overtaken;
	/* the same while the walk goes on to the next failure point */
	uint64_t acknowledged_seq;
	size_t nlate;       /* number of entries of plan->late that are in the image */
	uint32_t ntogether; /* RENAME events that belong to the last one: a folder was renamed */
	bool is_together;   /* the first of them has happened */
	bool has_lost_pool; /* a file had the name of a pool, and has it no more */
	uint64_t copier;    /* the thread for which the kernel stored in the last event; 0: none */
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
/* Adds a shadow memory, before the first step. It trusts stores outside the region of interest, and
 * where checks are skipped. */
void walk_add_shadow(struct walk *w);
/* Gives the walk the events of the changed program. To be called before anything was read. Borrows
 * whatif. */
void walk_suppose(struct walk *w, const struct whatif *whatif);
void walk_release(struct walk *w);
/* Goes to the beginning of the region of interest, if there is one. To be called before the first
 * step. */
void walk_enter(struct walk *w);
/* Is there a pool here that recovery can find, or was there one before? */
bool walk_has_pool(const struct walk *w);
bool walk_next(struct walk *w); /* false: there are no more failure points */

/* ---- saving a walk in the middle ---- */

/* Steps over the event at which the walk stopped. False if the step would need another stop, or if
 * there is no event. */
bool walk_go_past(struct walk *w);
/* Sends everything of the walk but its image; a walk of the same plan receives it. To be called
 * after walk_go_past(), and not for walks with a shadow or a whatif. */
void walk_pass(struct walk *w, struct wire *m);
/* Gives the last event that the walk stepped over; 0: none. */
uint64_t walk_passed_seq(const struct walk *w);

#endif
