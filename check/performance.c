/* Reports work that achieves nothing: redundant-flush (the line is pending already), flush-clean
 * (nothing to write back since the last persist), flush-volatile (no persistent memory there),
 * redundant-fence (no flush and no non-temporal store by this thread since its last fence; a flush
 * of a clean line counts here, so its fence is not a second finding). Of arm64, dsb is a fence; dmb
 * is never reported. Locked instructions and fences of system libraries are never reported.
 *
 * A *run* is a sequence of flushes by one line of the source with one call stack: one cache line
 * after the other, while the thread does nothing else to persistent memory. Usually this is one
 * call that flushes an object. Whether flushing is useless is decided per run, because some lines
 * of an object may not have changed:
 *
 *	persist(object, 256)    lines:  dirty clean dirty clean     half of them useful: no finding
 *	persist(object, 256)    lines:  clean clean clean clean     finding: flush-clean
 *
 * But if a line of the object is clean in every one of several runs, its flush is reported.
 *
 * A line may be clean only because of the order of threads: another thread has stored to it and
 * was sooner to flush it, as with whoever flushes what it has read (link-and-persist). So a flush
 * is no finding if another thread stores to the line, unless one of the two has created the other
 * one behind its own flush or store. A second pass over the events finds that out. */
#include "check/oracle.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/map.h"
#include "util/vec.h"

static const char KIND_REDUNDANT[] = "redundant-flush", KIND_CLEAN[] = FLUSH_CLEAN,
		  KIND_VOLATILE[] = "flush-volatile", KIND_FENCE[] = "redundant-fence";
static const char CLEAN[] = "nothing was stored to this line since it was last flushed and fenced",
		  MOST_CLEAN[] = "nothing was stored to most of these lines since they were last "
				 "flushed and fenced";

#define SERVED_MAX 4u   /* stores that are noted per flush */
#define RUNS_LEAST 4u   /* runs per place before a line counts as never changing */
#define LINES_MAX 64u   /* lines per run that are counted one by one */
#define HELD_MAX 65536u /* findings that wait for the second pass; others are reported at once */

/* Clean lines that one instruction flushed. A loop that the compiler unrolled has several such
 * instructions. */
struct cleaned {
	const struct trace_site *site;
	uint64_t n, first_seq;
	/* the first of them */
	struct range line;
	uint32_t stream, thread;
};

/* A finding about clean lines, until it is known whether other threads store to the first one. */
struct held {
	struct cleaned clean;
	const char *message;
	uint64_t since; /* when the thread began */
	uint32_t creator;
	bool is_shared;
	size_t next; /* number of another one about the same line, plus 1; 0: none */
};

/* The first lines of all runs of a place, or the second ones, and so on. */
struct nth_line {
	bool is_useful;       /* in at least one run */
	struct cleaned clean; /* not reported yet */
};

/* All runs that begin at one place. */
struct place {
	uint64_t nruns;
	VEC(struct nth_line) lines;
};

struct run {
	const struct trace_site *site; /* of the last flush; NULL: no run is open */
	/* the first and the last flushed line, which may be the same */
	struct range first, last;
	const struct trace_site *begin;
	uint64_t nuseful, nclean; /* numbers of lines */
	VEC(struct cleaned) clean;
	VEC(struct cleaned) lines; /* each line, up to LINES_MAX; n = 0: the line is not clean */
};

/* A thread that flushed or stored non-temporally since its last own fence. The program cannot rely
 * on a fence inside a system library, so its own fence after that is not redundant. */
struct waiting {
	uint32_t stream, thread;
	bool is_waiting;
	bool is_alive;
	uint64_t begin_seq;
	uint32_t creator; /* number of the thread; 0: none */
	struct run run;
};

struct state {
	VEC(struct waiting) threads;
	size_t nopen;             /* number of open runs */
	VEC(struct place) places; /* by site */
	/* by site of the flush: some stores that it wrote back are noted */
	VEC(bool) served;
	VEC(struct held) held;
	struct map held_at; /* by address of the line: number of the newest in held, plus 1 */
};

/* A fence may order volatile memory, for example a node that the next store shows to readers (RCU).
 * The trace does not contain stores to volatile memory. */
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

	for (size_t i = 0; i < s->threads.n; i++) {
		vec_release(&s->threads.at[i].run.clean);
		vec_release(&s->threads.at[i].run.lines);
	}
	for (size_t i = 0; i < s->places.n; i++)
		vec_release(&s->places.at[i].lines);
	vec_release(&s->threads);
	vec_release(&s->places);
	vec_release(&s->served);
	vec_release(&s->held);
	map_release(&s->held_at);
	free(s);
}

static struct waiting *thread_of(struct state *s, uint32_t stream, uint32_t thread)
{
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i].stream == stream && s->threads.at[i].thread == thread)
			return &s->threads.at[i];
	*vec_add(&s->threads) =
		(struct waiting){ .stream = stream, .thread = thread, .is_alive = true };
	return &s->threads.at[s->threads.n - 1];
}

static struct waiting *waiting_of(struct state *s, const struct trace_event *ev)
{
	return thread_of(s, ev->stream, ev->thread);
}

static void note_begin(struct state *s, const struct trace_event *ev)
{
	struct waiting *w = thread_of(s, ev->stream, (uint32_t)ev->arg[0]);

	w->is_alive = true;
	w->begin_seq = ev->seq;
	w->creator = ev->thread;
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

/* ---- runs ---- */

static void report_now(struct check *c, const struct cleaned *one, const char *message)
{
	const struct finding f = { .kind = KIND_CLEAN,
				   .message = message,
				   .first_seq = one->first_seq,
				   .nplaces = 1,
				   .places = { { "flush", one->site } } };

	for (uint64_t i = 0; i < one->n; i++)
		check_report(c, &f);
}

/* Finds the finding that says the same about the same line. */
static struct held *held_of(struct state *s, const struct cleaned *one, const char *message)
{
	size_t i = (uintptr_t)map_get(&s->held_at, one->line.from);

	for (; i > 0; i = s->held.at[i - 1].next) {
		struct held *h = &s->held.at[i - 1];

		if (h->clean.site == one->site && h->clean.stream == one->stream &&
		    h->clean.thread == one->thread && h->message == message)
			return h;
	}
	return NULL;
}

/* Reports the finding, at the end if there are other threads. */
static void report_cleaned(struct state *s, struct check *c, const struct cleaned *one,
			   const char *message)
{
	struct held *h;

	if (s->threads.n < 2 || s->held.n == HELD_MAX) {
		report_now(c, one, message);
		return;
	}
	h = held_of(s, one, message);
	if (h) {
		h->clean.n += one->n;
		return;
	}
	*vec_add(&s->held) = (struct held){
		.clean = *one,
		.message = message,
		.since = thread_of(s, one->stream, one->thread)->begin_seq,
		.creator = thread_of(s, one->stream, one->thread)->creator,
		.next = (uintptr_t)map_get(&s->held_at, one->line.from),
	};
	map_set(&s->held_at, one->line.from, (void *)(uintptr_t)s->held.n);
}

static struct place *place_of(struct state *s, const struct trace_site *site)
{
	while (s->places.n <= site->id)
		*vec_add(&s->places) = (struct place){ 0 };
	return &s->places.at[site->id];
}

/* Adds a run to its place. is_told: its clean lines are reported already. */
static void count_lines(struct place *p, const struct run *run, bool is_told)
{
	p->nruns++;
	while (p->lines.n < run->lines.n)
		*vec_add(&p->lines) = (struct nth_line){ 0 };
	for (size_t i = 0; i < run->lines.n; i++) {
		struct nth_line *l = &p->lines.at[i];

		l->is_useful |= run->lines.at[i].n == 0;
		if (run->lines.at[i].n == 0 || is_told)
			continue;
		if (l->clean.n == 0)
			l->clean = run->lines.at[i];
		else
			l->clean.n++;
	}
}

static void run_end(struct state *s, struct check *c, struct run *run)
{
	const bool is_told = run->nclean > run->nuseful;

	for (size_t i = 0; run->site && is_told && i < run->clean.n; i++)
		report_cleaned(s, c, &run->clean.at[i], run->nuseful ? MOST_CLEAN : CLEAN);
	if (run->site) {
		count_lines(place_of(s, run->begin), run, is_told);
		s->nopen--;
	}
	run->clean.n = run->lines.n = run->nuseful = run->nclean = 0;
	run->site = NULL;
}

static void note_line(struct run *run, const struct trace_event *ev, bool is_clean)
{
	if (run->lines.n < LINES_MAX)
		*vec_add(&run->lines) = (struct cleaned){ ev->site,  is_clean,   ev->seq,
							  run->last, ev->stream, ev->thread };
}

static void note_clean(struct run *run, const struct trace_event *ev)
{
	struct cleaned *last = run->clean.n ? &run->clean.at[run->clean.n - 1] : NULL;

	note_line(run, ev, true);
	run->nclean++;
	if (last && last->site == ev->site)
		last->n++;
	else
		*vec_add(&run->clean) =
			(struct cleaned){ ev->site, 1, ev->seq, run->last, ev->stream, ev->thread };
}

static bool is_same_line(const struct check *c, const struct trace_site *a,
			 const struct trace_site *b)
{
	return a == b ||
	       (a->node == b->node && a->object == b->object && check_is_same_line(c, a, b));
}

/* Is the line the next one in the direction of the run? The same line again is not: each time is
 * judged separately. */
static bool run_goes_on(const struct run *run, const struct check *c, const struct trace_event *ev,
			struct range line)
{
	const bool is_next = (line.from == run->last.to && run->last.from >= run->first.from) ||
			     (line.to == run->last.from && run->last.from <= run->first.from);

	return is_next && run->site && ev->site && is_same_line(c, run->site, ev->site);
}

static struct run *run_of(struct state *s, struct check *c, const struct trace_event *ev)
{
	struct run *run = &waiting_of(s, ev)->run;
	struct range line;
	uint64_t len_bytes;

	line.from = platform_flushed(ev, &len_bytes);
	line.to = line.from + len_bytes;
	if (!run_goes_on(run, c, ev, line)) {
		run_end(s, c, run);
		run->first = line;
		run->begin = ev->site;
		s->nopen += ev->site != NULL;
	}
	run->site = ev->site;
	run->last = line;
	return run;
}

/* Ends the thread's run: it did something else. */
static void end_other_runs(struct state *s, struct check *c, const struct trace_event *ev)
{
	for (size_t i = 0; s->nopen > 0 && i < s->threads.n; i++)
		if (s->threads.at[i].stream == ev->stream && s->threads.at[i].thread == ev->thread)
			run_end(s, c, &s->threads.at[i].run);
}

struct serving {
	struct check *check;
	const struct trace_site *flush, *last;
	unsigned n;
};

static void note_store(const struct model_store *store, void *arg)
{
	struct serving *to = arg;

	if (store->state != MODEL_DIRTY || store->site == to->last || to->n == SERVED_MAX)
		return;
	check_note_served(to->check, to->flush, store->site);
	to->last = store->site;
	to->n++;
}

/* Notes some stores that a flush writes back, when the flush is first executed. This shows which
 * functions flush for others. */
static void note_served(struct state *s, struct check *c, const struct trace_event *ev)
{
	struct serving to = { .check = c, .flush = ev->site };
	uint64_t len_bytes, from = platform_flushed(ev, &len_bytes);

	if (!ev->site)
		return;
	while (s->served.n <= ev->site->id)
		*vec_add(&s->served) = false;
	if (!s->served.at[ev->site->id])
		model_each(check_model(c), from, len_bytes, note_store, &to);
	s->served.at[ev->site->id] = true;
}

static void judge_flush(struct state *s, struct check *c, const struct trace_event *ev)
{
	struct run *run = run_of(s, c, ev);

	if (platform_flush(check_platform(c), ev->kind) == FLUSH_SHORT)
		return; /* durability.c reports it, because it achieves too little */
	switch (check_flush_use(c, ev)) {
	case MODEL_USEFUL:
		run->nuseful++;
		note_line(run, ev, false);
		note_served(s, c, ev);
		break;
	case MODEL_REDUNDANT:
		note_line(run, ev, false);
		report(c, ev, KIND_REDUNDANT, "flush",
		       "this line is already being flushed; nothing was stored to it since");
		break;
	case MODEL_NOTHING:
		if (run->site)
			note_clean(run, ev);
		else /* an unknown place begins no run */
			report_cleaned(s, c,
				       &(struct cleaned){ NULL, 1, ev->seq, run->last, ev->stream,
							  ev->thread },
				       CLEAN);
		break;
	}
}

/* Is the oracle asleep? It is while followed files are checked: what they may lose matters there,
 * not the cost. */
static bool performance_is_asleep(const void *state, const struct check *c)
{
	(void)state;
	return model_is_ported(check_model(c));
}

static void performance_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;

	if (ev->kind == PMT_STORE && s->nopen == 0)
		return; /* nearly all events are such */
	if (performance_is_asleep(s, c))
		return;
	if (s->nopen > 0 && !trace_is_flush(ev->kind))
		end_other_runs(s, c, ev);
	switch (ev->kind) {
	case PMT_CLFLUSH:
	case PMT_CLFLUSHOPT:
	case PMT_CLWB:
	case PMT_DC_CVAC:
	case PMT_DC_CIVAC:
	case PMT_DC_CVAP:
	case PMT_DC_CVADP:
		judge_flush(s, c, ev);
		waiting_of(s, ev)->is_waiting = true;
		break;
	case PMT_PROCESS:
		waiting_of(s, ev)->is_alive = true;
		waiting_of(s, ev)->begin_seq = ev->seq;
		break;
	case PMT_THREAD_BEGIN:
		waiting_of(s, ev)->is_alive = true; /* it may have done nothing else yet */
		note_begin(s, ev);
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
	case PMT_DMB: /* never redundant: it orders other memory, too */
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
	default: break; /* nothing that could be saved */
	}
}

static void performance_finish(void *arg, struct check *c)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->threads.n; i++)
		run_end(s, c, &s->threads.at[i].run);
	for (size_t i = 0; i < s->places.n; i++) {
		const struct place *p = &s->places.at[i];

		for (size_t k = 0; p->nruns >= RUNS_LEAST && k < p->lines.n; k++)
			if (!p->lines.at[k].is_useful && p->lines.at[k].clean.n >= RUNS_LEAST)
				report_cleaned(s, c, &p->lines.at[k].clean, CLEAN);
	}
}

/* ---- lines that threads share ---- */

static bool performance_wants_again(const void *arg)
{
	return ((const struct state *)arg)->held.n > 0;
}

/* Can this thread's store come before the flush of another thread in some order of threads? Not if
 * one of the two has created the other one behind its own flush or store. */
static bool may_precede(struct state *s, const struct held *h, const struct trace_event *ev)
{
	const struct waiting *by = waiting_of(s, ev);

	if (h->clean.stream != ev->stream)
		return ev->seq > h->since;
	if (h->clean.thread == ev->thread)
		return false;
	return !(h->creator == ev->thread && ev->seq < h->since) &&
	       !(by->creator == h->clean.thread && by->begin_seq > h->clean.first_seq);
}

static void note_sharing(struct state *s, const struct trace_event *ev)
{
	const uint64_t end = ev->addr + (ev->size_bytes ? ev->size_bytes : 1);

	for (uint64_t addr = ev->addr / PMT_LINE_BYTES * PMT_LINE_BYTES; addr < end;
	     addr += PMT_LINE_BYTES) {
		size_t i = (uintptr_t)map_get(&s->held_at, addr);

		for (; i > 0; i = s->held.at[i - 1].next)
			s->held.at[i - 1].is_shared = s->held.at[i - 1].is_shared ||
						      may_precede(s, &s->held.at[i - 1], ev);
	}
}

static void performance_step_again(void *arg, struct check *c, const struct trace_event *ev)
{
	(void)c;
	if (trace_is_store(ev->kind))
		note_sharing(arg, ev);
	else if (ev->kind == PMT_THREAD_BEGIN)
		note_begin(arg, ev);
}

static void performance_finish_again(void *arg, struct check *c)
{
	const struct state *s = arg;

	for (size_t i = 0; i < s->held.n; i++)
		if (!s->held.at[i].is_shared)
			report_now(c, &s->held.at[i].clean, s->held.at[i].message);
}

const struct oracle oracle_performance = {
	.name = "performance",
	.help = "flushes and fences that achieve nothing: redundant-flush, flush-clean, "
		"flush-volatile, redundant-fence",
	.classes = EVENT_STORE | EVENT_FLUSH | EVENT_FENCE,
	.is_asleep = performance_is_asleep,
	.begin = performance_begin,
	.step = performance_step,
	.finish = performance_finish,
	.end = performance_end,
	.wants_again = performance_wants_again,
	.step_again = performance_step_again,
	.finish_again = performance_finish_again,
};
