/* Lets the stores that a bug loses return in a failing state, to see whether the state fails
 * because of them. All stores of one place of the program return together. */
#ifndef CRASH_SEARCH_UNDO_H
#define CRASH_SEARCH_UNDO_H

#include "crash/search/explorer.h"

typedef VEC(struct crash_store) store_list;

/* The places that a run read. lost: their stores are lost in all states for which the run stands,
 * the oldest first. survived: their stores survive in all of them, sorted by place. Each place is
 * listed once, with its oldest store. */
struct read_places {
	store_list lost, survived;
};
void read_places_find(const struct explorer *e, const uint64_t *left, struct read_places *out);
void read_places_release(struct read_places *p);

/* Lets all stores of the place return. Each line that loses one of them gets another content: one
 * that has all stores of the place, and loses as many other stores as possible of those that were
 * lost before. returned: older stores of other places that must return, too, the oldest first. */
void undo_place(const struct explorer *e, uint32_t site, uint64_t *state, store_list *returned);
/* Is a store of this place lost? */
bool state_loses_place(const struct explorer *e, const uint64_t *state, uint32_t site);

#endif
