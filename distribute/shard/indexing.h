/* Makes the index of a trace. With an index, a part of an exploration can begin in the middle of
 * the trace. */
#ifndef DISTRIBUTE_SHARD_INDEXING_H
#define DISTRIBUTE_SHARD_INDEXING_H

#include "crash/index/index.h"

/* What decides where failure points are, as given to `pmend crash`. */
struct indexing {
	const struct platform *platform; /* NULL: that of the trace */
	bool is_distrusting, has_stores, has_pool_creation;
	struct index_limits limits;
	/* progress; may be NULL */
	void (*told)(uint64_t seq, uint64_t nevents, void *arg);
	void *arg;
};

/* Writes the index beside the trace. *share is its size in per cent of the trace's. */
int indexing_make(const struct indexing *i, const char *trace, struct index_size *size,
		  uint64_t *share, struct error *err);

#endif
