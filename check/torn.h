/* Words that a transaction changed together and that were then stored outside without a fence
 * between: a crash can keep one and lose the other.
 *
 * What a thread stores outside between two fences is an epoch. An epoch that changes such words
 * together waits: it is excused when the thread next does something that makes the words valid as a
 * whole, and suspect when a transaction or the end comes first. */
#ifndef CHECK_TORN_H
#define CHECK_TORN_H

#include "check/unflushed.h"
#include "check/word_table.h"

/* Words that were stored outside without a fence between. */
struct torn_group {
	const struct trace_site *site; /* of the first store */
	uint64_t seq;
	uint32_t tx; /* that changed several of them; 0: none did */
	struct ranges words;
};

/* What one thread does outside of transactions. */
struct torn_thread {
	struct torn_group epoch;        /* since the last fence: words that transactions change */
	uint64_t word;                  /* and all words of PM: the first of the last store */
	uint32_t nwords;                /* at most 2, which stands for more */
	VEC(struct torn_group) waiting; /* earlier epochs that nothing has made valid yet */
};

struct torn {
	struct words *modified;            /* in transactions */
	const struct unflushed *unflushed; /* outside */
	VEC(struct torn_group) suspects;
	VEC(uint32_t) txs; /* scratch */
};

void torn_release(struct torn *t);
void torn_clear(struct torn *t); /* the suspects */
void torn_thread_release(struct torn_thread *a);

/* A store outside to the words with the numbers from first to last. */
void torn_note_words(struct torn_thread *a, uint64_t first, uint64_t last);
/* They are such that transactions change. */
void torn_note_modified(struct torn_thread *a, const struct trace_event *ev, uint64_t first,
			uint64_t last);
/* A store in the open transaction with this number. */
void torn_note_inside(struct torn *t, struct torn_thread *a, const struct trace_event *ev,
		      uint32_t tx);
/* a fence came, or a transaction begins */
void torn_end_epoch(struct torn *t, struct torn_thread *a);
/* something made what was stored before valid as a whole */
void torn_excuse(struct torn *t, struct torn_thread *a);
void torn_accuse(struct torn *t, struct torn_thread *a); /* nothing did */

#endif
