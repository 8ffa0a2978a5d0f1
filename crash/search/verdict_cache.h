/* Remembers the verdicts of failure points. If a crash can leave the same states at two failure
 * points, and the same dumps are allowed, their verdicts are the same. A supposed change of a trace
 * leaves most failure points unchanged, so few need new runs. */
#ifndef CRASH_SEARCH_VERDICT_CACHE_H
#define CRASH_SEARCH_VERDICT_CACHE_H

#include "crash/states/states.h"
#include "crash/search/verdict.h"

struct verdict_cache {
	struct map verdicts;
};

/* Hashes everything that recovery could see after a crash, and the dumps that are allowed. */
uint64_t verdict_cache_key(const struct state_set *s, const struct crash_image *im,
			   const struct allowed *allowed, uint64_t operation);
/* Verdicts: 0: recovery fails on a state; 1: it copes with every state; 2: it copes with those that
 * were tried. */
int verdict_cache_get(const struct verdict_cache *c, uint64_t key); /* -1: unknown */
void verdict_cache_set(struct verdict_cache *c, uint64_t key, int verdict);
void verdict_cache_release(struct verdict_cache *c);

#endif
