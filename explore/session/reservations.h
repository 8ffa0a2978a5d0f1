/* Reserves what two explorations must not use at the same time: a pool, a file of a certain name, a
 * port. */
#ifndef EXPLORE_SESSION_RESERVATIONS_H
#define EXPLORE_SESSION_RESERVATIONS_H

#include "util/error.h"
#include "util/vec.h"

struct reservations {
	VEC(int) fds;
};

/* Reserves a thing until this process ends. `what` names it, also for messages: "the pool /a/b". -1
 * if another process of this machine has reserved it. */
int reservations_add(struct reservations *h, const char *what, struct error *err);
void reservations_release(struct reservations *h);

#endif
