/* Failure points that were judged before: two at which a crash can leave the same states, and the same is allowed of a dump, have the same verdict.
 * Supposing a change of a trace leaves most of its failure points as they were, so that few need to be judged again. */
#ifndef CRASH_SEARCH_VERDICT_CACHE_H
#define CRASH_SEARCH_VERDICT_CACHE_H

#include "crash/states/states.h"
#include "crash/search/verdict.h"

struct known {
	struct map verdicts;
	uint64_t nfound; /* how often it was of use */
};

/* A number for all that recovery could see after a crash, and what it may say. */
uint64_t known_key(const struct state_set *s, const struct crash_image *im, const struct allowed *allowed);
int known_get(struct known *k, uint64_t key); /* -1: not yet */
void known_set(struct known *k, uint64_t key, bool holds);
void known_release(struct known *k);

#endif
