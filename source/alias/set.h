/* Sets of numbers as ascending arrays. A struct that is all zeros is an empty set. */
#ifndef SOURCE_ALIAS_SET_H
#define SOURCE_ALIAS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct set {
	uint32_t *at;
	size_t n, room;
};

bool set_add(struct set *s, uint32_t value); /* false if it was in the set */
/* Adds all of `from`; new elements also go to `fresh` if that is not NULL. False if nothing was
 * new. */
bool set_join(struct set *s, const struct set *from, struct set *fresh);
/* Appends without sorting; call set_settle() before the set is used. */
void set_append(struct set *s, uint32_t value);
void set_settle(struct set *s);
void set_release(struct set *s);

#endif
