/* Makes the index of a trace, for the parts of an exploration. */
#ifndef DISTRIBUTE_SHARD_INDEXING_H
#define DISTRIBUTE_SHARD_INDEXING_H

#include "crash/index/index.h"

/* What decides where failure points are, as the user says it to `pmend crash`. */
struct indexing {
	const struct platform *platform; /* NULL: the trace's */
	bool is_distrusting, has_stores, has_pool_creation;
	struct index_limits limits;
	/* NULL: nobody asks. */
	void (*told)(uint64_t seq, uint64_t nevents, void *arg);
	void *arg;
};

/* Beside the trace. *share: its bytes in per cent of the trace's. */
int indexing_make(const struct indexing *i, const char *trace, struct index_size *size,
		  uint64_t *share, struct error *err);

#endif
