/* Describes the pool that a crash leaves while the program makes it, and finds where the program
 * does so. */
#ifndef ACCOUNT_MAKING_H
#define ACCOUNT_MAKING_H

#include "crash/search/explain.h"
#include "crash/states/plan.h"

struct making {
	char *state;                         /* "pool exists and is empty (0 bytes)" */
	struct crash_store created, resized; /* seq 0: not known */
};

/* False if the bug is about something else, or if the file was there before the program ran. stops:
 * of the exploration. */
bool making_find(struct making *m, const struct plan *p, unsigned stops, const struct crash_bug *b);
void making_release(struct making *m);

#endif
