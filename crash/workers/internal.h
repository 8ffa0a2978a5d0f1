/* Declares what the files of a worker share. worker.c is the process, rounds.c chooses the next
 * failure point, attribution.c decides to which bug a failure belongs. */
#ifndef CRASH_WORKERS_INTERNAL_H
#define CRASH_WORKERS_INTERNAL_H

#include "crash/findings/exploration.h"
#include "crash/search/references.h"
#include "crash/states/beside.h"
#include "crash/workers/workers.h"

/* A bug that this worker knows. `here` is about one failure point: a bug counts as known there only
 * if it was explained there, so that it does not matter who explored what before. */
struct known_bug {
	struct crash_bug bug;
	struct known_here {
		uint64_t point; /* the failure point; 0: none yet */
		uint64_t count;
		bool has_place; /* false: recovery fails though nothing is lost */
		/* the place of the oldest store of the smallest loss; if it returns, recovery
		 * copes */
		uint32_t place;
		enum verdict_kind kind; /* how the first run failed */
		int code;
		uint64_t site;
	} here;
};

/* Which bugs the states of a failure point belong to, by everything that their run read (lost
 * places, surviving places, outcome). A key is listed several times if its states belong to several
 * bugs. */
struct attributions {
	VEC(struct attribution {
		uint64_t key;
		size_t bug; /* index in known */
	})
	list;
	uint64_t nruns; /* runs that attribution has used */
};

struct told_signature {
	uint64_t signature, point;
};

/* A bug that is known at a failure point that will be visited again. */
struct known_paused {
	size_t bug; /* index in known */
	struct known_here here;
};

/* A failure point that will be visited again. */
struct pause {
	uint64_t point;
	const struct rep_stop *stop; /* as in struct worker */
	struct point_rest *rest;
	bool is_alike;    /* it was not visited: its neighbours fail alike */
	uint32_t nvisits; /* visits that were not interrupted */
	uint64_t round;   /* round of the last visit */
	VEC(struct known_paused) known;
	struct attributions attributions;
	struct race_notes *races; /* NULL: races are not searched */
};

/* Neighbouring failure points at which recovery fails in one way although nothing is lost. */
struct stretch {
	/* first_end of struct explorer, the same at all of them; 0: recovery passes at the last
	 * failure point that was visited */
	uint64_t end;
	uint64_t n;    /* failure points so far, including those that wait */
	uint64_t last; /* number of the failure point that was visited last */
};

struct worker {
	struct explorer explorer;
	const struct references *refs;
	VEC(struct known_bug) known;
	struct attributions attributions; /* of the present failure point */
	/* files beside the pool, which crash states do not include */
	struct beside beside;
	struct outputs outputs; /* outputs that were reported */
	bool watches_output;
	VEC(struct told_signature) signatures; /* signatures that were reported */
	struct races *races;                   /* NULL: races are not searched */
	struct race_table *table;              /* NULL: races are not searched */
	uint32_t number, jobs;
	const struct lot *lot;              /* the failure points that workers can claim */
	const struct index *index;          /* NULL: none */
	const struct representatives *reps; /* NULL: every failure point is visited */
	const struct rep_stop *stop;        /* the present stop */
	VEC(struct pause) pauses;           /* by number of the failure point */
	struct stretch stretch;             /* the present one, in the first round */
	enum search_stage stage;            /* the present stage */
	size_t nwaiting;                    /* sets of states of all pauses */
	/* failure points that share their runs; 1: no sharing */
	uint64_t window;
	const crash_events *window_ends; /* by window: the event of its last failure point */
	/* windows of the pauses and of the present failure point, in order */
	VEC(struct window *) windows;
	struct window_ahead ahead;
	uint64_t claimed, claimed_end; /* the part of the lot that this worker has claimed */
	/* no budget ends the work, so a failure point is finished at the first visit, which saves
	 * walks */
	bool is_whole;
	bool wants_first_crashes;
	bool is_allowed_fixed; /* `allowed` is the same for every failure point */
	int fd;
};

/* attribution.c: attributes a failing state to known bugs, or makes a new bug. */
int known_on_failure(struct explorer *e, const uint64_t *left, const struct verdict *v,
		     void *worker, struct error *err);
/* Drops what was counted at the present failure point, because it starts again. */
void known_begin_point(struct worker *w);
void known_take_up(struct worker *w, struct pause *p);
void known_put_away(struct worker *w, struct pause *p);
void known_pause_release(struct pause *p);
void known_release(struct worker *w);

/* rounds.c: explores all failure points that this worker claims, in rounds. */
int rounds_explore(struct worker *w, struct error *err);
void rounds_release(struct worker *w);

#endif
