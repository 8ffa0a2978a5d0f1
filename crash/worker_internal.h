/* What the files of a worker share: worker.c explains what is found, rounds.c decides which failure point is next, telling.c sends messages. */
#ifndef CRASH_WORKER_INTERNAL_H
#define CRASH_WORKER_INTERNAL_H

#include "crash/exploration.h"
#include "crash/search/references.h"
#include "util/wire.h"
#include "crash/workers.h"

/* A bug that this worker knows, and the smallest loss that shows it at the present failure point. */
struct known_bug {
	struct crash_bug bug;
	struct verdict verdict;
	struct sparse_set state; /* from the newest */
	uint64_t state_point;	 /* where that was; 0: nowhere yet */
	uint64_t count_here;	 /* of the present failure point */
};

struct told_signature {
	uint64_t signature, point;
};

/* What else is known of such a bug at a failure point that will be visited again. */
struct known_here {
	size_t bug; /* index in known */
	enum verdict_kind kind; /* how it fails there */
	int code;
	struct sparse_set state;
	uint64_t count_here;
};

/* A failure point that will be visited again. */
struct pause {
	uint64_t point;
	const struct rep_stop *stop; /* as the worker's */
	struct point_rest *rest;
	uint32_t nvisits; /* that ended as they should */
	uint64_t round;	  /* of the last one */
	VEC(struct known_here) known;
	struct race_notes *races; /* NULL: not asked for */
};

struct worker {
	struct explorer explorer;
	const struct references *refs;
	VEC(struct known_bug) known;
	struct outputs outputs;	  /* that were told of */
	bool watches_output;
	VEC(struct told_signature) signatures; /* of recoveries that were told of */
	struct races *races;	  /* NULL: not asked for */
	struct race_table *table; /* the same */
	uint32_t number, jobs;
	const struct lot *lot; /* that there is to claim */
	const struct index *index; /* NULL: none */
	const struct representatives *reps; /* NULL: every failure point is visited */
	const struct rep_stop *stop;	    /* the present one of them */
	VEC(struct pause) pauses;	    /* by number of the failure point */
	enum search_stage stage;		    /* that it is in */
	size_t nwaiting;		    /* sets of states of all of them */
	bool is_whole; /* no budget ends the work: a failure point is done at the first visit, which spares further walks */
	bool wants_first_crashes;
	bool is_allowed_fixed; /* the same for every failure point */
	int fd;
};

/* telling.c. Releases the message. */
void worker_tell(struct worker *w, struct wire *m);
/* The present stop of representative testing had its first runs ('P'), or is done ('S'). */
void worker_tell_stop(struct worker *w, char what);

/* rounds.c: explores all failure points that this worker claims, in rounds. */
int rounds_explore(struct worker *w, struct error *err);
void rounds_release(struct worker *w);

#endif
