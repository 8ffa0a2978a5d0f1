/* Guesses operations from requests and answers, per thread. All that a thread stores belongs to the
 * request that it read last, or, after its answer, to the next one.
 *
 *	input  input     store ...  output               store           input ...  output
 *	'------- one operation -------'  '----------------- the next one ---------------'
 *
 * A request may be several lines, and a thread may read several requests before it answers. Nobody
 * knows which, so the operation goes on until there were as many answers as lines, or until the
 * next request comes. So nothing is acknowledged too early.
 *
 * There is no guess if one thread reads requests that another one answers, or if a thread without
 * requests stores in between: then threads hand work to each other. But who writes to a descriptor
 * that another thread has read, and then reads from it itself, greets a new client: the trace does
 * not say that a descriptor was closed and is used again. What was stored before the first request
 * is an operation of its own, which makes the pool.
 */
#include "crash/states/requests.h"

#include <stdlib.h>

struct connection {
	uint32_t stream;
	uint64_t fd;
	size_t reader;    /* the actor that read from it last */
	uint32_t nlines;  /* lines that were read and not answered */
	bool is_answered; /* since the last line */
	/* the actor that wrote to it although another one had read last, plus 1; 0: none */
	size_t greeter;
};

struct actor {
	uint32_t stream, thread;
	bool is_server;               /* it has read a request */
	bool is_open;                 /* in an operation, which began at begin_seq */
	uint64_t begin_seq, last_seq; /* last_seq: the end of its last operation */
};

struct requests {
	VEC(struct actor) actors;
	VEC(struct connection) connections;
	VEC(struct operation) found;
	uint64_t first_seq, last_answer_seq; /* of all threads */
	uint64_t foreign_seq;                /* the first store by a thread without requests */
	bool has_setup, is_handed;
	struct operation setup;
};

static size_t actor_of(struct requests *r, uint32_t stream, uint32_t thread)
{
	for (size_t i = r->actors.n; i-- > 0;)
		if (r->actors.at[i].stream == stream && r->actors.at[i].thread == thread)
			return i;
	*vec_add(&r->actors) = (struct actor){ .stream = stream, .thread = thread };
	return r->actors.n - 1;
}

static struct connection *connection_of(struct requests *r, uint32_t stream, uint64_t fd)
{
	for (size_t i = 0; i < r->connections.n; i++)
		if (r->connections.at[i].stream == stream && r->connections.at[i].fd == fd)
			return &r->connections.at[i];
	return NULL;
}

static void open_operation(struct actor *a, uint64_t seq)
{
	if (!a->is_open)
		a->begin_seq = seq;
	a->is_open = true;
}

static void close_operation(struct requests *r, struct actor *a, uint64_t seq)
{
	if (a->is_open)
		*vec_add(&r->found) = (struct operation){ .begin_seq = a->begin_seq,
							  .end_seq = seq,
							  .stream = a->stream,
							  .thread = a->thread,
							  .name = "" };
	a->is_open = false;
	a->last_seq = seq;
}

/* Has this thread answered all lines that it has read? */
static bool is_idle(const struct requests *r, size_t who)
{
	for (size_t i = 0; i < r->connections.n; i++)
		if (r->connections.at[i].reader == who && r->connections.at[i].nlines > 0)
			return false;
	return true;
}

static void note_input(struct requests *r, const struct trace_event *ev)
{
	const size_t who = actor_of(r, ev->stream, ev->thread);
	struct connection *c = connection_of(r, ev->stream, ev->arg[0]);

	if (!c) {
		c = vec_add(&r->connections);
		*c = (struct connection){ .stream = ev->stream, .fd = ev->arg[0], .reader = who };
	}
	if (c->greeter) /* it was a greeting if the same thread reads now */
		r->is_handed |= c->greeter != who + 1;
	c->greeter = 0;
	if (c->reader != who || c->is_answered)
		c->nlines = 0;
	c->reader = who;
	c->is_answered = false;
	if (is_idle(r, who))
		close_operation(r, &r->actors.at[who], ev->seq);
	c->nlines++;
	r->actors.at[who].is_server = true;
	r->first_seq = r->first_seq ? r->first_seq : ev->seq;
	open_operation(&r->actors.at[who], ev->seq);
}

/* Standard output answers what came by standard input. */
static struct connection *answered(struct requests *r, const struct trace_event *ev)
{
	struct connection *c = connection_of(r, ev->stream, ev->arg[0]);

	return c || ev->arg[0] != 1 ? c : connection_of(r, ev->stream, 0);
}

static void note_output(struct requests *r, const struct trace_event *ev)
{
	const size_t who = actor_of(r, ev->stream, ev->thread);
	struct connection *c = answered(r, ev);

	if (!c)
		return;
	if (c->reader != who) {
		/* with nothing to answer, it is a greeting, else what comes next tells */
		r->is_handed |= c->greeter && c->greeter != who + 1;
		if (c->nlines > 0)
			c->greeter = who + 1;
		return;
	}
	c->is_answered = true;
	c->nlines -= c->nlines > 0;
	r->last_answer_seq = ev->seq;
	if (is_idle(r, who))
		close_operation(r, &r->actors.at[who], ev->seq);
}

static void note_store(struct requests *r, const struct trace_event *ev)
{
	const size_t who = actor_of(r, ev->stream, ev->thread); /* may move the array */
	struct actor *a = &r->actors.at[who];

	if (a->is_server)
		open_operation(a, a->last_seq);
	else if (r->first_seq && !r->foreign_seq)
		r->foreign_seq = ev->seq;
	else if (!r->first_seq && !r->has_setup) {
		r->setup = (struct operation){ .stream = ev->stream,
					       .thread = ev->thread,
					       .name = "" };
		r->has_setup = true;
	}
}

/* The number of a thread that has ended may be used again. */
static void note_thread(struct requests *r, uint32_t stream, uint32_t thread)
{
	const size_t who = actor_of(r, stream, thread);

	close_operation(r, &r->actors.at[who], UINT64_MAX);
	*vec_add(&r->actors) = (struct actor){ .stream = stream, .thread = thread };
}

/* What a thread has not answered when it ends, nobody answers any more. thread: 0: all threads. */
static void end_threads(struct requests *r, uint32_t stream, uint32_t thread, uint64_t seq)
{
	for (size_t i = 0; i < r->actors.n; i++)
		if (r->actors.at[i].stream == stream &&
		    (!thread || r->actors.at[i].thread == thread))
			close_operation(r, &r->actors.at[i], seq);
}

static void step(struct requests *r, const struct trace_event *ev)
{
	if (trace_is_store(ev->kind))
		note_store(r, ev);
	else if (ev->kind == PMT_INPUT)
		note_input(r, ev);
	else if (ev->kind == PMT_OUTPUT)
		note_output(r, ev);
	else if (ev->kind == PMT_THREAD_BEGIN)
		note_thread(r, ev->stream, (uint32_t)ev->arg[0]);
	else if (ev->kind == PMT_THREAD_END)
		end_threads(r, ev->stream, ev->thread, ev->seq);
	else if (ev->kind == PMT_EXIT)
		end_threads(r, ev->stream, 0, ev->seq);
}

static int compare_operations(const void *a, const void *b)
{
	const struct operation *x = a, *y = b;

	return x->begin_seq != y->begin_seq
		       ? (x->begin_seq > y->begin_seq) - (x->begin_seq < y->begin_seq)
		       : (x->end_seq > y->end_seq) - (x->end_seq < y->end_seq);
}

/* Do several threads have requests? */
static bool has_several(const struct requests *r)
{
	for (size_t i = 1; i < r->found.n; i++)
		if (r->found.at[i].stream != r->found.at[0].stream ||
		    r->found.at[i].thread != r->found.at[0].thread)
			return true;
	return false;
}

bool requests_find(struct plan *p)
{
	struct requests r = { 0 };
	struct trace *t = trace_cursor(p->trace);
	struct trace_event ev;
	bool is_found;

	while (trace_next(t, &ev))
		step(&r, &ev);
	trace_close(t);
	for (size_t i = 0; i < r.actors.n; i++)
		close_operation(&r, &r.actors.at[i], UINT64_MAX);
	for (size_t i = 0; i < r.connections.n; i++)
		r.is_handed |= r.connections.at[i].greeter != 0;
	if (r.found.n > 0)
		qsort(r.found.at, r.found.n, sizeof *r.found.at, compare_operations);
	is_found = !r.is_handed && (!r.foreign_seq || r.foreign_seq > r.last_answer_seq) &&
		   has_several(&r);
	if (is_found && r.has_setup) {
		r.setup.end_seq = r.first_seq;
		*vec_add(&p->operations) = r.setup;
	}
	for (size_t i = 0; is_found && i < r.found.n; i++)
		*vec_add(&p->operations) = r.found.at[i];
	vec_release(&r.actors);
	vec_release(&r.connections);
	vec_release(&r.found);
	return is_found;
}
