/* What the files of a worker share: worker.c is the process, rounds.c decides which failure point
 * is next, attribution.c which bug a failure belongs to. */
#ifndef CRASH_WORKERS_INTERNAL_H
#define CRASH_WORKERS_INTERNAL_H

#include "crash/findings/exploration.h"
#include "crash/search/references.h"
#include "crash/states/beside.h"
#include "crash/workers/workers.h"

/* A bug that this worker knows. `here` is about one failure point, where the bug is known only if
 * it was explained there: so it does not matter who explored what before. */
struct known_bug {
	struct crash_bug bug;
	struct known_here {
		uint64_t point; /* where that is; 0: nowhere yet */
		uint64_t count;
		bool has_place; /* false: recovery fails though nothing is lost */
		/* of the oldest store of the smallest loss: with it, recovery copes */
		uint32_t place;
		enum verdict_kind kind; /* how it failed first */
		int code;
		uint64_t site;
	} here;
};

/* What is known of a failure point besides: the bug that states belong to, by all that their run
 * read (lost places, surviving places, outcome). Several bugs have one key if the states belong to
 * all of them. */
struct attributions {
	VEC(struct attribution {
		uint64_t key;
		size_t bug; /* index in known */
	})
	list;
	uint64_t nruns; /* that it took */
};

struct told_signature {
	uint64_t signature, point;
};

/* A bug that is known at a failure point which will be visited again. */
struct known_paused {
	size_t bug; /* index in known */
	struct known_here here;
};

/* A failure point that will be visited again. */
struct pause {
	uint64_t point;
	const struct rep_stop *stop; /* as the worker's */
	struct point_rest *rest;
	bool is_alike;    /* it was not visited: its neighbours fail alike */
	uint32_t nvisits; /* that ended as they should */
	uint64_t round;   /* of the last one */
	VEC(struct known_paused) known;
	struct attributions attributions;
	struct race_notes *races; /* NULL: not asked for */
};

/* Neighbouring failure points at which recovery fails in one way although nothing is lost. */
struct stretch {
	uint64_t end; /* struct explorer's first_end; 0: the last one that was visited is of none */
	uint64_t n;   /* so far, those that wait, too */
	uint64_t last; /* that was visited */
};

struct worker {
	struct explorer explorer;
	const struct references *refs;
	VEC(struct known_bug) known;
	struct attributions attributions; /* of the present failure point */
	struct beside beside;             /* files that crash states do not follow */
	struct outputs outputs;           /* that were told of */
	bool watches_output;
	VEC(struct told_signature) signatures; /* of recoveries that were told of */
	struct races *races;                   /* NULL: not asked for */
	struct race_table *table;              /* the same */
	uint32_t number, jobs;
	const struct lot *lot;              /* that there is to claim */
	const struct index *index;          /* NULL: none */
	const struct representatives *reps; /* NULL: every failure point is visited */
	const struct rep_stop *stop;        /* the present one of them */
	VEC(struct pause) pauses;           /* by number of the failure point */
	struct stretch stretch;             /* in the first round */
	enum search_stage stage;            /* that it is in */
	size_t nwaiting;                    /* sets of states of all of them */
	uint64_t window;                    /* failure points that share their runs; 1: none do */
	const crash_events *window_ends;    /* by window: the event of its last failure point */
	VEC(struct window *) windows;       /* of the pauses and the present one, in order */
	struct window_ahead ahead;
	uint64_t claimed, claimed_end; /* places in the lot that are this worker's */
	/* no budget ends the work: a failure point is done at the first visit, which spares further
	 * walks */
	bool is_whole;
	bool wants_first_crashes;
	bool is_allowed_fixed; /* the same for every failure point */
	int fd;
};

/* attribution.c: bugs that are known, and which of them a failing state belongs to. */
int known_on_failure(struct explorer *e, const uint64_t *left, const struct verdict *v,
		     void *worker, struct error *err);
/* what was counted at the present failure point does not count: it begins anew */
void known_begin_point(struct worker *w);
void known_take_up(struct worker *w, struct pause *p);
void known_put_away(struct worker *w, struct pause *p);
void known_pause_release(struct pause *p);
void known_release(struct worker *w);

/* rounds.c: explores all failure points that this worker claims, in rounds. */
int rounds_explore(struct worker *w, struct error *err);
void rounds_release(struct worker *w);

#endif
