/* Finds out whether a location is a commit variable: recovery is run with the location's old and
 * new value, and the reads are compared. */
#ifndef CRASH_RACES_INFER_H
#define CRASH_RACES_INFER_H

#include "crash/races/history.h"
#include "crash/search/explorer.h"

enum inference {
	INFER_ERROR = -1,
	INFER_NOTHING, /* recovery reads the same with either value */
	INFER_COMMIT,  /* the value decides whether something else is read */
	/* no commit variable, but its value does not matter: recovery reaches the same state with
	 * either */
	INFER_HARMLESS,
	/* no commit variable, but one store replaced it, and recovery finds the state before or
	 * after it */
	INFER_ATOMIC,
	INFER_REFUTED, /* it cannot be a commit variable */
	/* the earlier result stays: nothing that recovery could read refutes it */
	INFER_UNASKED,
};

struct infer_read {
	uint64_t line, mask; /* mask: bytes of a cache line */
};

/* Data for all suspects of one failure point: the watched lines, and what recovery does if nothing
 * is lost. Zero-initialised is empty, except for the sites. */
struct infer_common {
	/* race_options: PMDK stores at these sites for itself, which leads recovery nowhere */
	const bool *library_sites;
	size_t nlibrary_sites;
	/* race_options: events that are no commit writes, whatever recovery reads */
	const uint64_t *unlogged;
	size_t nunlogged;
	bool is_run;
	struct state_set *set; /* the set that is loaded: `own`, or that of the exploration */
	struct state_set own;
	struct histories histories; /* of the suspects that are asked about next */
	VEC(struct infer_read) reads;
	uint64_t outcome, content;
	bool is_sound;
	bool is_accepted; /* known after any run in which nothing was lost */
};
void infer_common_release(struct infer_common *c);
/* Makes the runner list first reads of everything stored so far, in the lines that were stored to
 * last. Call states_sort() afterwards. */
void infer_watch(struct state_set *set, const struct walk *w);
/* Notes a lazy run in which nothing was lost, made after infer_watch(), so that no other run with
 * nothing lost is needed. */
void infer_note_newest(struct infer_common *c, const struct explorer *e, struct state_set *set,
		       const struct verdict *v);

/* Takes the histories of several suspects in one pass over the trace. To be called before each
 * infer_commit(). */
void infer_prepare(const struct explorer *e, struct infer_common *c, const struct suspect *list,
		   size_t n);
/* Asks about a suspect at the walk's failure point, after its exploration. Changes what the runner
 * has loaded, which must stay loaded between two calls with the same `common`. parts: all words of
 * its race. harmless: other words that are known to be harmless. before: an earlier result for the
 * same race; INFER_NOTHING if it was no excuse. */
enum inference infer_commit(struct explorer *e, struct infer_common *c, const struct suspect *s,
			    const struct suspects *parts, const struct suspects *harmless,
			    enum inference before, struct error *err);

#endif
