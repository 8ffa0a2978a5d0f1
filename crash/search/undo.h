/* Gives a failing state back what a bug loses, to see whether that is why it fails. Stores of one
 * place of the program go together. */
#ifndef CRASH_SEARCH_UNDO_H
#define CRASH_SEARCH_UNDO_H

#include "crash/search/explorer.h"

typedef VEC(struct crash_store) store_list;

/* Of the lines that a run read: places whose stores are lost in all states that it stands for, and
 * places whose stores survive in all of them. Each place once, with its oldest store; lost ones the
 * oldest first, surviving ones by place. */
struct read_places {
	store_list lost, survived;
};
void read_places_find(const struct explorer *e, const uint64_t *left, struct read_places *out);
void read_places_release(struct read_places *p);

/* Every line that loses a store of this place gets the content that loses most among those that
 * have all of them. returned: older stores of other places that return with them, the oldest
 * first. */
void undo_place(const struct explorer *e, uint32_t site, uint64_t *state, store_list *returned);
/* Some store of this place is lost. */
bool state_loses_place(const struct explorer *e, const uint64_t *state, uint32_t site);

#endif
