/* Lets a long repair tell how far it is, and ask whether it is interrupted. */
#ifndef REPAIR_PLAN_WATCH_H
#define REPAIR_PLAN_WATCH_H

#include <stdbool.h>
#include <stddef.h>

struct repair_watch {
	/* all is 0: unknown */
	void (*tell)(const char *what, size_t done, size_t all, void *arg);
	bool (*is_interrupted)(void *arg);
	void *arg;
};

/* Tells how far the repair is: `done` of `all`. Does nothing if w is NULL: nobody watches. */
static inline void watch_tell(const struct repair_watch *w, const char *what, size_t done,
			      size_t all)
{
	if (w)
		w->tell(what, done, all, w->arg);
}

static inline bool watch_is_interrupted(const struct repair_watch *w)
{
	return w && w->is_interrupted(w->arg);
}

#endif
