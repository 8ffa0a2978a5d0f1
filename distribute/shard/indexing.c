/* Makes the index of a trace. It reads the trace exactly as an exploration does, so that both have
 * the same failure points. */
#include "distribute/shard/indexing.h"

#include <stdlib.h>

#include "check/platform_choice.h"
#include "crash/setup/pool_making.h"
#include "pools/unseen/sums.h"

struct telling {
	const struct indexing *indexing;
	uint64_t nevents;
};

static void on_progress(uint64_t seq, void *arg)
{
	const struct telling *t = arg;

	if (t->indexing->told)
		t->indexing->told(seq, t->nevents, t->indexing->arg);
}

int indexing_make(const struct indexing *i, const char *trace, struct index_size *size,
		  uint64_t *share, struct error *err)
{
	struct telling telling = { .indexing = i };
	const struct platform *platform;
	struct trace *t;
	struct plan *p;
	char *path;
	int result;

	if (sums_settle(trace, err) < 0 || trace_open(&t, trace, err) < 0)
		return -1;
	platform = platform_choose(t, i->platform, NULL, err);
	if (!platform) {
		trace_close(t);
		return -1;
	}
	p = plan_of_trace(t, platform, i->is_distrusting);
	if (!i->has_pool_creation)
		pool_making_find(p);
	telling.nevents = p->nevents;
	path = xasprintf("%s" INDEX_ENDING, trace);
	result = index_make(p, WALK_POINTS | (i->has_stores ? WALK_STORES : 0), &i->limits, path,
			    on_progress, &telling, size, err);
	*share = size->bytes * 100 / trace_size_bytes(p->trace);
	free(path);
	plan_free(p);
	return result;
}
