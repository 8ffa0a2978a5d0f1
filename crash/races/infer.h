/* Is a location a commit variable? Runs recovery with its old and with its new value, and compares
 * what it reads. */
#ifndef CRASH_RACES_INFER_H
#define CRASH_RACES_INFER_H

#include "crash/races/history.h"
#include "crash/search/explorer.h"

enum inference {
	INFER_ERROR = -1,
	INFER_NOTHING, /* recovery reads the same with either value */
	INFER_COMMIT,  /* the value decides whether something is read */
	/* none, but its value does not matter: recovery comes to the same state with either */
	INFER_HARMLESS,
	/* none, but it was replaced at once, and recovery finds the state of before or that of
	 * after */
	INFER_ATOMIC,
	INFER_REFUTED, /* it cannot be one */
	/* what was found before stays: nothing that could be read tells against it */
	INFER_UNASKED,
};

struct infer_read {
	uint64_t line, mask; /* bytes of a cache line */
};

/* What all suspects of one failure point share: the lines that are watched, and what recovery does
 * if nothing is lost. Zero-initialised is empty, but for the sites. */
struct infer_common {
	/* race_options: what PMDK stores for itself leads recovery nowhere */
	const bool *library_sites;
	size_t nlibrary_sites;
	/* race_options: these are no commit writes, whatever recovery reads */
	const uint64_t *unlogged;
	size_t nunlogged;
	bool is_run;
	struct state_set *set; /* that is loaded: own, or that of the exploration */
	struct state_set own;
	struct histories histories; /* of the suspects that are asked about next */
	VEC(struct infer_read) reads;
	uint64_t outcome, content;
	bool is_sound;
	bool is_accepted; /* known after any run in which nothing was lost */
};
void infer_common_release(struct infer_common *c);
/* First reads of what was stored so far are to be listed, in the lines that were stored to last.
 * Call states_sort() after it. */
void infer_watch(struct state_set *set, const struct walk *w);
/* After a lazy run in which nothing was lost, and with infer_watch(): there is no need for
 * another. */
void infer_note_newest(struct infer_common *c, const struct explorer *e, struct state_set *set,
		       const struct verdict *v);

/* Before suspects are asked about, one after the other: one pass over the trace for several of
 * them. */
void infer_prepare(const struct explorer *e, struct infer_common *c, const struct suspect *list,
		   size_t n);
/* At the failure point of the walk, after its exploration: changes what the runner has loaded,
 * which must stay so between two with the same common. parts: all words of its race. harmless:
 * others, of which it is known. before: what was found out about others like it; INFER_NOTHING if
 * it did not excuse them. */
enum inference infer_commit(struct explorer *e, struct infer_common *c, const struct suspect *s,
			    const struct suspects *parts, const struct suspects *harmless,
			    enum inference before, struct error *err);

#endif
