/* Sets of numbers as ascending lists. Zero-initialised is empty. */
#ifndef SOURCE_ALIAS_SET_H
#define SOURCE_ALIAS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct set {
	uint32_t *at;
	size_t n, room;
};

bool set_add(struct set *s, uint32_t value); /* false if it was there */
/* Adds all of `from`; what is new also goes to `fresh`. Gives whether there was anything new. */
bool set_join(struct set *s, const struct set *from, struct set *fresh);
/* Adds without a look; set_settle() makes a set of it again. */
void set_append(struct set *s, uint32_t value);
void set_settle(struct set *s);
void set_release(struct set *s);

#endif
