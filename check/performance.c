/* Work that achieves nothing: redundant-flush (the line is pending already), flush-clean (nothing
 * to write back since the last persist), flush-volatile (no persistent memory there),
 * redundant-fence (no flush and no non-temporal store by this thread since its last fence, so that
 * the fence after a flush of a clean line is not a second finding). Of arm64, dsb is a fence; dmb
 * is never reported. Locked instructions and fences of system libraries are never reported. */
#include "check/oracle.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/vec.h"

static const char KIND_REDUNDANT[] = "redundant-flush", KIND_CLEAN[] = "flush-clean",
		  KIND_VOLATILE[] = "flush-volatile", KIND_FENCE[] = "redundant-fence";

/* A thread that flushed or stored non-temporally since its last own fence: a fence inside a system
 * library is an accident that the program cannot rely on, so its own fence after that is not
 * redundant. */
struct waiting {
	uint32_t stream, thread;
	bool is_waiting;
	bool is_alive;
};

struct state {
	VEC(struct waiting) threads;
};

/* What a fence orders may be volatile, such as a node that the next store shows to readers (RCU).
 * The trace does not have stores to volatile memory. */
static const char SHARED[] =
	"other threads run in this process. The fence may order volatile memory "
	"for them, which pmend does not record";
static const char SHARED_ADVICE[] =
	"Remove the fence only if no other thread relies on the order of "
	"what this thread stores before and after it.";

static void *performance_begin(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void performance_end(void *arg)
{
	struct state *s = arg;

	vec_release(&s->threads);
	free(s);
}

static struct waiting *thread_of(struct state *s, uint32_t stream, uint32_t thread)
{
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i].stream == stream && s->threads.at[i].thread == thread)
			return &s->threads.at[i];
	*vec_add(&s->threads) = (struct waiting){ stream, thread, false, true };
	return &s->threads.at[s->threads.n - 1];
}

static struct waiting *waiting_of(struct state *s, const struct trace_event *ev)
{
	return thread_of(s, ev->stream, ev->thread);
}

static bool has_company(const struct state *s, const struct trace_event *ev)
{
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i].stream == ev->stream &&
		    s->threads.at[i].thread != ev->thread && s->threads.at[i].is_alive)
			return true;
	return false;
}

static void judge_fence(struct state *s, struct check *c, const struct trace_event *ev)
{
	struct finding f = {
		.kind = KIND_FENCE,
		.message = "this fence has nothing to complete: the thread has no flush and no "
			   "non-temporal store since its last fence",
		.first_seq = ev->seq,
		.nplaces = 1,
		.places = { { "fence", ev->site } },
	};

	if (has_company(s, ev)) {
		f.reason = SHARED;
		f.advice = SHARED_ADVICE;
	}
	check_report(c, &f);
}

static void report(struct check *c, const struct trace_event *ev, const char *kind,
		   const char *role, const char *message)
{
	struct finding f = { .kind = kind, .message = message, .first_seq = ev->seq, .nplaces = 1 };

	f.places[0] = (struct finding_place){ role, ev->site };
	check_report(c, &f);
}

static void judge_flush(struct check *c, const struct trace_event *ev)
{
	if (platform_flush(check_platform(c), ev->kind) == FLUSH_SHORT)
		return; /* it achieves too little: durability.c */
	switch (model_flush_use(check_model(c), ev)) {
	case MODEL_USEFUL: break;
	case MODEL_REDUNDANT:
		report(c, ev, KIND_REDUNDANT, "flush",
		       "this line is already being flushed; nothing was stored to it since");
		break;
	case MODEL_NOTHING:
		report(c, ev, KIND_CLEAN, "flush",
		       "nothing was stored to this line since it was last flushed and fenced");
		break;
	}
}

static void performance_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;

	if (model_is_ported(check_model(c)))
		return; /* the question is what is lost there, not what it costs */
	switch (ev->kind) {
	case PMT_CLFLUSH:
	case PMT_CLFLUSHOPT:
	case PMT_CLWB:
	case PMT_DC_CVAC:
	case PMT_DC_CIVAC:
	case PMT_DC_CVAP:
	case PMT_DC_CVADP:
		judge_flush(c, ev);
		waiting_of(s, ev)->is_waiting = true;
		break;
	case PMT_PROCESS: waiting_of(s, ev)->is_alive = true; break;
	case PMT_THREAD_BEGIN:
		waiting_of(s, ev)->is_alive = true; /* it may have done nothing else yet */
		thread_of(s, ev->stream, (uint32_t)ev->arg[0])->is_alive = true;
		break;
	case PMT_THREAD_END: waiting_of(s, ev)->is_alive = false; break;
	case PMT_FLUSH_VOLATILE:
		report(c, ev, KIND_VOLATILE, "flush",
		       "this flush is of memory that is not persistent");
		waiting_of(s, ev)->is_waiting = true;
		break;
	case PMT_STORE_NT: waiting_of(s, ev)->is_waiting = true; break;
	case PMT_STORE_RMW:
	case PMT_RMW_FENCE:
		if (!check_is_runtime_code(ev->site))
			waiting_of(s, ev)->is_waiting = false;
		break;
	case PMT_DMB: /* never too much: it orders other memory, too */
		if (model_completes(check_model(c), ev))
			waiting_of(s, ev)->is_waiting = false;
		break;
	case PMT_DSB:
		if (!model_completes(check_model(c), ev))
			break;
		/* fall through */
	case PMT_SFENCE:
	case PMT_MFENCE:
		if (check_is_runtime_code(ev->site))
			break;
		if (!waiting_of(s, ev)->is_waiting)
			judge_fence(s, c, ev);
		waiting_of(s, ev)->is_waiting = false;
		break;
	default: break; /* costs nothing that could be saved */
	}
}

const struct oracle oracle_performance = {
	.name = "performance",
	.help = "flushes and fences that achieve nothing: redundant-flush, flush-clean, "
		"flush-volatile, redundant-fence",
	.begin = performance_begin,
	.step = performance_step,
	.end = performance_end,
};
