/* Finds words that one transaction changed together, and that were later stored outside of
 * transactions without a fence in between: a crash can keep one and lose the other. */
#ifndef CHECK_TORN_H
#define CHECK_TORN_H

#include "check/unflushed.h"
#include "check/word_table.h"

/* Words that were stored outside without a fence in between. */
struct torn_group {
	const struct trace_site *site; /* of the first store */
	uint64_t seq;
	uint32_t tx; /* transaction that changed several of them; 0: none */
	struct ranges words;
};

/* What a thread does outside of transactions. */
struct torn_thread {
	/* the stored words, since the last fence, that transactions change */
	struct torn_group epoch;
	uint64_t word;                  /* the first word of the last store, of all words of PM */
	uint32_t nwords;                /* number of words stored; 2 stands for more */
	VEC(struct torn_group) waiting; /* earlier epochs that nothing has made valid yet */
};

struct torn {
	struct words *modified;            /* changed in transactions */
	const struct unflushed *unflushed; /* stored outside */
	VEC(struct torn_group) suspects;
	VEC(uint32_t) txs; /* memory for temporary use */
};

void torn_release(struct torn *t);
void torn_clear(struct torn *t); /* removes the suspects */
void torn_thread_release(struct torn_thread *a);

/* Notes a store outside of transactions to the words with the numbers first to last. */
void torn_note_words(struct torn_thread *a, uint64_t first, uint64_t last);
/* Notes a store outside of transactions to words that transactions change. */
void torn_note_modified(struct torn_thread *a, const struct trace_event *ev, uint64_t first,
			uint64_t last);
/* Notes a store in the open transaction with this number. */
void torn_note_inside(struct torn *t, struct torn_thread *a, const struct trace_event *ev,
		      uint32_t tx);
/* ends an epoch at a fence, or when a transaction begins */
void torn_end_epoch(struct torn *t, struct torn_thread *a);
/* excuses the waiting epochs: something made the stored words valid as a whole */
void torn_excuse(struct torn *t, struct torn_thread *a);
/* makes the waiting epochs suspect: nothing made them valid */
void torn_accuse(struct torn *t, struct torn_thread *a);

#endif
