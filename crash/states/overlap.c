/* Finds guessed operations that overlap. A guess takes all that lies between two outputs, of
 * whatever thread, for one operation. With several threads, that is wrong in two cases:
 *
 *   together   Two threads that run at the same time store between the two outputs. Each may be
 *              done without the other one.
 *   across     A thread has stored something that is not durable yet when another one prints. A
 *              crash may lose it, although the output came later: it acknowledges something else.
 *
 *	A: x = 1, persist                 print             A: y = 1          persist, print
 *	B:                y = 1, persist         print      B:          print
 *	   '------------- together ----------'                 '-- across --'--- across ---'
 *
 * Threads and processes that exist one after the other are like one thread. A store that never
 * becomes durable does not count as an operation that goes on: its flush was forgotten. */
#include "crash/states/overlap.h"

#include <string.h>

struct actor {
	uint32_t stream, thread;
	/* when the thread began and ended; UINT64_MAX: it is still running */
	uint64_t begin_seq, end_seq;
	bool has_stored; /* since the last output */
};

struct overlaps {
	const struct plan *plan;
	VEC(struct actor) actors;
	const struct actor *printing;
	bool is_across;
};

static struct actor *actor_of(struct overlaps *o, uint32_t stream, uint32_t thread, uint64_t seq)
{
	for (size_t i = 0; i < o->actors.n; i++)
		if (o->actors.at[i].stream == stream && o->actors.at[i].thread == thread &&
		    o->actors.at[i].end_seq == UINT64_MAX)
			return &o->actors.at[i];
	*vec_add(&o->actors) = (struct actor){ stream, thread, seq, UINT64_MAX, false };
	return &o->actors.at[o->actors.n - 1];
}

static void end_process(struct overlaps *o, const struct trace_event *ev)
{
	for (size_t i = 0; i < o->actors.n; i++)
		if (o->actors.at[i].stream == ev->stream && o->actors.at[i].end_seq == UINT64_MAX)
			o->actors.at[i].end_seq = ev->seq;
}

/* Did both actors (threads or processes) live at the same time? The order of their first stores
 * does not matter: a thread that has stored may not have printed yet. */
static bool are_concurrent(const struct actor *a, const struct actor *b)
{
	return a->end_seq > b->begin_seq && b->end_seq > a->begin_seq;
}

static bool are_together(const struct overlaps *o)
{
	for (size_t i = 0; i < o->actors.n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct actor *a = &o->actors.at[i], *b = &o->actors.at[k];

			if (a->has_stored && b->has_stored && are_concurrent(a, b))
				return true;
		}
	return false;
}

static void note_across(const struct model_store *s, void *arg)
{
	struct overlaps *o = arg;

	if (o->is_across || s->is_overwritten ||
	    (s->stream == o->printing->stream && s->thread == o->printing->thread))
		return;
	for (size_t i = 0; i < o->actors.n; i++) {
		const struct actor *a = &o->actors.at[i];

		if (a->stream == s->stream && a->thread == s->thread && a->begin_seq <= s->seq &&
		    a->end_seq == UINT64_MAX)
			o->is_across = !plan_is_never_persisted(o->plan, s->seq);
	}
}

/* Ends an interval at an output: what was stored since the last output belongs to the operation
 * that ends here. Forgets threads that have ended. */
static void end_interval(struct overlaps *o, overlap_list *out)
{
	size_t nliving = 0;

	out->at[out->n - 1] |= are_together(o);
	for (size_t i = 0; i < o->actors.n; i++) {
		o->actors.at[i].has_stored = false;
		if (o->actors.at[i].end_seq == UINT64_MAX)
			o->actors.at[nliving++] = o->actors.at[i];
	}
	o->actors.n = nliving;
}

static void note_output(struct overlaps *o, const struct model *m, const struct trace_event *ev,
			overlap_list *out)
{
	o->printing = actor_of(o, ev->stream, ev->thread, ev->seq);
	o->is_across = false;
	model_each(m, 0, UINT64_MAX, note_across, o);
	end_interval(o, out);
	out->at[out->n - 1] |= o->is_across;
	*vec_add(out) = o->is_across;
}

static void step(struct overlaps *o, const struct model *m, const struct trace_event *ev,
		 overlap_list *out)
{
	if (trace_is_store(ev->kind)) {
		actor_of(o, ev->stream, ev->thread, ev->seq)->has_stored = true;
	} else if (ev->kind == PMT_THREAD_BEGIN) {
		actor_of(o, ev->stream, (uint32_t)ev->arg[0], ev->seq);
	} else if (ev->kind == PMT_THREAD_END) {
		actor_of(o, ev->stream, ev->thread, ev->seq)->end_seq = ev->seq;
	} else if (ev->kind == PMT_PROCESS) {
		actor_of(o, ev->stream, ev->thread, ev->seq);
	} else if (ev->kind == PMT_EXIT || ev->kind == PMT_EXEC) {
		end_process(o, ev);
	} else if (ev->kind == PMT_OUTPUT) {
		note_output(o, m, ev, out);
	}
}

/* Does one thread store and print everything? */
static bool is_alone(const struct plan *p)
{
	struct trace *t = trace_cursor(p->trace);
	uint32_t stream = 0, thread = 0;
	struct trace_event ev;
	bool is_first = true, is_same = true;

	while (is_same && trace_next(t, &ev)) {
		if (!trace_is_store(ev.kind) && ev.kind != PMT_OUTPUT)
			continue;
		is_same = is_first || (ev.stream == stream && ev.thread == thread);
		stream = ev.stream;
		thread = ev.thread;
		is_first = false;
	}
	trace_close(t);
	return is_same;
}

void overlap_find(const struct plan *p, overlap_list *out)
{
	struct overlaps o = { .plan = p };
	struct trace_event ev;
	struct model *m;
	struct trace *t;

	if (p->has_annotated_operations || p->has_requests || p->operations.n == 0 || is_alone(p))
		return;
	m = plan_model(p, NULL);
	t = trace_cursor(p->trace);
	*vec_add(out) = false;
	while (trace_next(t, &ev)) {
		step(&o, m, &ev, out);
		model_step(m, &ev);
	}
	end_interval(&o, out);
	vec_release(&o.actors);
	trace_close(t);
	model_free(m);
}
