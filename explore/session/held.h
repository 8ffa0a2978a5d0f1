/* Reserves what two explorations must not use at the same time: a pool, a file of a certain name, a
 * port. */
#ifndef EXPLORE_SESSION_HELD_H
#define EXPLORE_SESSION_HELD_H

#include "util/error.h"
#include "util/vec.h"

struct held {
	VEC(int) fds;
};

/* Reserves it until this process ends. `what` is its name, also for messages: "the pool /a/b". -1
 * if another process of this machine has reserved it. */
int held_add(struct held *h, const char *what, struct error *err);
void held_release(struct held *h);

#endif
