/* Work that achieves nothing: redundant-flush (the line is pending already), flush-clean (nothing to write back since the last
 * persist), redundant-fence (no flush and no non-temporal store by this thread since its last fence, so that the fence after a
 * flush of a clean line is not a second finding). Locked instructions and fences of system libraries are never reported. */
#include "check/check.h"

#include <stdlib.h>

#include "util/alloc.h"

static const char KIND_REDUNDANT[] = "redundant-flush", KIND_CLEAN[] = "flush-clean", KIND_FENCE[] = "redundant-fence";

static void *performance_begin(void)
{
	return xcalloc(1, 1);
}

static void report(struct check *c, const struct trace_event *ev, const char *kind, const char *role, const char *message)
{
	struct finding f = { .kind = kind, .message = message, .first_seq = ev->seq, .nplaces = 1 };

	f.places[0] = (struct finding_place){ role, ev->site };
	check_report(c, &f);
}

static void judge_flush(struct check *c, const struct trace_event *ev)
{
	switch (model_flush_use(check_model(c), ev->stream, ev->thread, ev->addr)) {
	case MODEL_USEFUL: break;
	case MODEL_REDUNDANT:
		report(c, ev, KIND_REDUNDANT, "flush", "this line is being written back already; nothing was stored to it since");
		break;
	case MODEL_NOTHING:
		report(c, ev, KIND_CLEAN, "flush", "nothing was stored to this line since it was last made durable");
		break;
	}
}

static void performance_step(void *state, struct check *c, const struct trace_event *ev)
{
	(void)state;
	switch (ev->kind) {
	case PMT_CLFLUSH:
	case PMT_CLFLUSHOPT:
	case PMT_CLWB: judge_flush(c, ev); break;
	case PMT_SFENCE:
	case PMT_MFENCE:
		if (model_fence_waits(check_model(c), ev->stream, ev->thread) == 0 && !check_is_runtime_code(ev->site))
			report(c, ev, KIND_FENCE, "fence",
			       "no flush and no non-temporal store of this thread since its last fence: nothing to wait for");
		break;
	default: break; /* costs nothing that could be saved */
	}
}

const struct oracle oracle_performance = {
	.name = "performance",
	.help = "flushes and fences that achieve nothing: redundant-flush, flush-clean, redundant-fence",
	.begin = performance_begin,
	.step = performance_step,
	.end = free,
};
