/* Failure points with a known verdict. If a crash can leave the same states at two failure points,
 * and the same dumps are allowed, they have the same verdict. A tried change of a trace leaves most
 * failure points unchanged, so few need to be tested again. */
#ifndef CRASH_SEARCH_VERDICT_CACHE_H
#define CRASH_SEARCH_VERDICT_CACHE_H

#include "crash/states/states.h"
#include "crash/search/verdict.h"

struct verdict_cache {
	struct map verdicts;
};

/* A number for all that recovery could see after a crash, and what it may say. */
uint64_t verdict_cache_key(const struct state_set *s, const struct crash_image *im,
			   const struct allowed *allowed, uint64_t operation);
/* A verdict is 0: recovery does not cope; 1: it does, with every state; 2: with those that were
 * tried. */
int verdict_cache_get(const struct verdict_cache *c, uint64_t key); /* -1: not yet */
void verdict_cache_set(struct verdict_cache *c, uint64_t key, int verdict);
void verdict_cache_release(struct verdict_cache *c);

#endif
