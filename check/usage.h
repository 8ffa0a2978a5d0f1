/* How a word of PM is used, judging by the stores to it: as a counter, as a lock, or otherwise.
 * Only watched words are looked at. */
#ifndef CHECK_USAGE_H
#define CHECK_USAGE_H

#include "check/oracle.h"
#include "util/map.h"

extern const char usage_mark[]; /* the reason of a finding about a mark that was cleared */

struct usage {
	struct map by_addr; /* where a word begins -> struct usage_word */
	VEC(struct usage_word *) all;
};

void usage_release(struct usage *u);
/* before the first step; at most 8 bytes */
void usage_watch(struct usage *u, uint64_t addr, uint32_t size_bytes);
void usage_step(struct usage *u, const struct trace_event *ev);
/* At the end: what it is used for becomes part of the finding's message and advice. is_alone: only
 * the last store to it may be lost. */
void usage_tell(const struct usage *u, uint64_t addr, bool is_alone, struct finding *f);

#endif
