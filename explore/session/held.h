/* What two explorations must not use at the same time: a pool, a file of a certain name, a port. */
#ifndef EXPLORE_SESSION_HELD_H
#define EXPLORE_SESSION_HELD_H

#include "util/error.h"
#include "util/vec.h"

struct held {
	VEC(int) fds;
};

/* -1: another process of this machine holds it. Whoever dies holds nothing. what: "the pool /a/b",
 * for people, too. */
int held_add(struct held *h, const char *what, struct error *err);
void held_release(struct held *h);

#endif
