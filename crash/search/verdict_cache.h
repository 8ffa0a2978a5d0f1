/* Failure points that were judged before: two at which a crash can leave the same states, and the same is allowed of a dump, have the same verdict.
 * Supposing a change of a trace leaves most of its failure points as they were, so that few need to be judged again. */
#ifndef CRASH_SEARCH_VERDICT_CACHE_H
#define CRASH_SEARCH_VERDICT_CACHE_H

#include "crash/states/states.h"
#include "crash/search/verdict.h"

struct verdict_cache {
	struct map verdicts;
};

/* A number for all that recovery could see after a crash, and what it may say. */
uint64_t verdict_cache_key(const struct state_set *s, const struct crash_image *im, const struct allowed *allowed, uint64_t operation);
/* A verdict is 0: recovery does not cope; 1: it does, with every state; 2: with those that were tried. */
int verdict_cache_get(const struct verdict_cache *c, uint64_t key); /* -1: not yet */
void verdict_cache_set(struct verdict_cache *c, uint64_t key, int verdict);
void verdict_cache_release(struct verdict_cache *c);

#endif
