/* Finds out how a word of PM is used, by the stores to it: as a counter, as a lock, or otherwise.
 * Only watched words are followed. */
#ifndef CHECK_USAGE_H
#define CHECK_USAGE_H

#include "check/oracle.h"
#include "util/map.h"

extern const char usage_mark[]; /* the reason of a finding about a cleared mark */

struct usage {
	struct map by_addr; /* address of a word → struct usage_word */
	VEC(struct usage_word *) all;
};

void usage_release(struct usage *u);
/* Watches a word of at most 8 bytes; to be called before the first step. */
void usage_watch(struct usage *u, uint64_t addr, uint32_t size_bytes);
void usage_step(struct usage *u, const struct trace_event *ev);
/* Adds the word's use to the message and advice of a finding, at the end. is_alone: only the last
 * store to the word may be lost. */
void usage_tell(const struct usage *u, uint64_t addr, bool is_alone, struct finding *f);

#endif
