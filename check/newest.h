/* Keeps the newest store to each word of PM (8 bytes, aligned), while it may not be durable yet:
 * who made it, and what it stored. A load asks here first, and then the model. */
#ifndef CHECK_NEWEST_H
#define CHECK_NEWEST_H

#include "model/model.h"

struct newest_store {
	uint64_t key;   /* address / 8 + 1; 0: the slot is free */
	uint64_t seq;   /* 0: it is durable */
	uint64_t value; /* of the word's bytes from..to; 0 if unknown */
	const struct trace_site *site;
	uint32_t who;     /* as the caller counts threads */
	uint8_t from, to; /* the bytes of the word that it stored */
	bool is_known;    /* the value */
};

struct newest {
	struct newest_store *slots;
	size_t n, room; /* room is a power of two, or 0 */
};

void newest_release(struct newest *n);
/* Notes a store. m: the model, which says what is durable, so that it can be forgotten when there
 * are many stores. */
void newest_note(struct newest *n, const struct model *m, const struct trace_event *ev,
		 uint32_t who);
/* Does an atomic store only clear bits of a word whose newest store is durable? Link-and-persist
 * clears its mark so. A plain store may do the same, with bits that a pointer does not need. Call
 * it before newest_note(). */
bool newest_is_cleared(const struct newest *n, const struct model *m, const struct trace_event *ev);
/* Makes the newest store to the word at addr count as durable from now on. */
void newest_settle(struct newest *n, uint64_t addr);
/* Finds the newest store to bytes of this word; NULL: there is none, or it is durable. */
struct newest_store *newest_find(const struct newest *n, uint64_t addr);
/* Gives the address of the first byte that the store wrote. */
static inline uint64_t newest_addr(const struct newest_store *s)
{
	return (s->key - 1) * 8 + s->from;
}
/* Asks the model whether the store is durable. If it is, newest_find() does not give it again. */
bool newest_is_durable(struct newest_store *s, const struct model *m);

#endif
