/* Finds candidates: a store and a load of two threads that did not meet in the recorded run, but
 * can. In another interleaving the load falls between the store and its fence. A pair is a
 * candidate if the threads hold no common lock (the storing thread until the store is durable), and
 * nothing orders the fence before the load: starting and joining threads, semaphores, condition
 * variables, barriers, or a later store of the same thread that the other one has read without a
 * lock. */
#ifndef CHECK_CANDIDATES_H
#define CHECK_CANDIDATES_H

#include "check/activity.h"
#include "model/model.h"

#define CANDIDATE_LOCKS 2u

struct candidate_store; /* the last store to a word, until all threads come after its fence */

struct candidate {
	const struct trace_site *store, *load;
	uint64_t addr;
};

/* What is known of a thread's time: how far it has come, and what it comes after. */
struct candidate_clock {
	VEC(uint32_t) seen; /* by thread: what it comes after; its own: how far it has come */
	VEC(uint64_t) open; /* words that it stored to, and that may not be durable yet */
	bool has_ended;
};

struct candidates {
	struct candidate_store *slots;
	uint64_t *keys; /* of the slots, once more: what a load looks at */
	size_t n, room;
	VEC(struct candidate_clock) threads;
	struct map objects; /* what threads release and acquire: index of its clock + 1 */
	VEC(struct candidate_clock) object_clocks;
	struct map known; /* pairs of sites */
	VEC(struct candidate) list;
};

void candidates_release(struct candidates *c);
void candidates_store(struct candidates *c, const struct activities *a, uint32_t who,
		      const struct trace_event *ev);
/* Notes what a load reads: a candidate, and what the thread comes after from now on. */
void candidates_load(struct candidates *c, const struct activities *a, uint32_t who,
		     const struct trace_event *ev);
/* Notes which stores of the thread are durable now; to be called after an event that may make them
 * durable. */
void candidates_settle(struct candidates *c, const struct model *m, uint32_t who);
/* Follows an event that orders threads. To be called for such events, and, before
 * activities_step(), for an UNLOCK that gives back a lock of activity_lock(). */
void candidates_step(struct candidates *c, struct activities *a, uint32_t who,
		     const struct trace_event *ev);

#endif
