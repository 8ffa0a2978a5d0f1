/* Sends messages of a worker to its parent, and adds the messages of all workers to the result. A
 * bug waits until the worker's last message, because the worker may correct it. */
#include "crash/workers/messages.h"

#include <stdlib.h>
#include <unistd.h>

typedef VEC(struct crash_bug) bug_list;

/* What was read from one worker so far. */
struct reading {
	struct crash_result *result;
	bug_list bugs; /* by the worker's number */
	bool is_ended, is_error;
	struct error *err;
};

struct wire worker_message_begin(enum worker_message kind)
{
	struct wire m = { 0 };

	wire_number(&m, kind);
	return m;
}

void worker_message_send(int fd, struct wire *m)
{
	if (wire_send(m, fd) < 0)
		_exit(1); /* the parent is gone; the runner's guardian cleans up */
	wire_release(m);
}

/* Reads a new bug, or a known one that was seen at an earlier failure point. */
static void read_bug(struct wire *m, struct reading *p)
{
	bug_list *list = &p->bugs;
	uint64_t number = wire_number(m, 0);

	if (number < list->n)
		crash_bug_release(&list->at[number]);
	else
		*vec_add(list) = (struct crash_bug){ 0 };
	number = number < list->n ? number : list->n - 1;
	list->at[number] = (struct crash_bug){ 0 };
	bug_pass(m, &list->at[number]);
	list->at[number].count = 1;
}

static void read_counts(struct wire *m, struct reading *p)
{
	const uint64_t count = wire_number(m, 0);

	for (uint64_t i = 0; i < count && i < p->bugs.n; i++) {
		struct crash_bug *b = &p->bugs.at[i];
		struct crash_bug all = { 0 };

		b->count = wire_number(m, 0);
		b->last_point = wire_number(m, 0);
		bug_endings_pass(m, &all);
		bug_move_endings(&all, b);
		vec_release(&all.endings);
	}
}

static void read_end(struct wire *m, struct reading *p)
{
	struct crash_result *r = p->result;
	char *seen = wire_string(m, NULL), *all = wire_string(m, NULL), *why = wire_string(m, NULL),
	     *why_impossible = wire_string(m, NULL);
	struct big n = { 0 };

	if (seen && big_parse(&n, seen) == 0)
		big_add(&r->states_seen, &n);
	if (all && big_parse(&n, all) == 0)
		big_add(&r->states_all, &n);
	if (why) {
		free(r->why_fallback);
		r->why_fallback = why;
	}
	if (why_impossible) {
		free(r->why_impossible);
		r->why_impossible = why_impossible;
	}
	big_release(&n);
	free(seen);
	free(all);
	p->is_ended = true;
}

static void read_output(struct wire *m, struct reading *p)
{
	struct outputs *o = &p->result->outputs;
	uint64_t n;

	outputs_add(o, wire_number(m, 0));
	n = wire_number(m, 0);
	for (uint64_t i = 0; i < n; i++)
		outputs_add_shape(o, wire_number(m, 0));
}

static void read_doubt(struct wire *m, struct reading *p)
{
	struct outputs *o = &p->result->outputs;
	uint64_t hash = wire_number(m, 0), point = wire_number(m, 0);
	char *state = wire_string(m, NULL);

	if (state && outputs_wants(o, hash, point))
		outputs_doubt(o, hash, point, state);
	else
		free(state);
}

/* Adds a failed variant unless it is listed already. */
static void read_failed(struct wire *m, struct reading *p)
{
	struct crash_result *r = p->result;
	const uint64_t variant = wire_number(m, 0);

	if (!r->representatives->variants.at[variant].has_failed)
		*vec_add(&r->variants_failed) = variant;
	representatives_failed(r->representatives, (uint32_t)variant);
}

static void read_first_crash(struct wire *m, struct reading *p)
{
	struct first_crash f = { 0 };

	first_crash_pass(m, &f);
	first_crash_merge(p->result, &f);
}

static void read_race(struct wire *m, struct reading *p)
{
	struct race race = { 0 };

	race_pass(m, &race);
	race_merge(p->result, &race);
}

static void read_race_turn(struct wire *m, struct reading *p)
{
	race_turn_pass(m, race_turns_add(&p->result->race_turns, 0, 0, false));
}

static void read_reads(struct wire *m, struct reading *p)
{
	run_reads_pass(m, &p->result->reads);
}

static void read_stop_begun(struct wire *m, struct reading *p)
{
	representatives_begun(p->result->representatives,
			      *vec_add(&p->result->stops_begun) = wire_number(m, 0));
}

static void read_stop_done(struct wire *m, struct reading *p)
{
	representatives_done(p->result->representatives,
			     *vec_add(&p->result->stops_done) = wire_number(m, 0));
}

static void read_error(struct wire *m, struct reading *p)
{
	char *text = wire_string(m, NULL);

	error_set(p->err, "%s", text ? text : "?");
	free(text);
	p->is_error = true;
}

static void (*const readers[MESSAGES])(struct wire *m, struct reading *p) = {
	[MESSAGE_BUG] = read_bug,
	[MESSAGE_COUNTS] = read_counts,
	[MESSAGE_FIRST_CRASH] = read_first_crash,
	[MESSAGE_RACE] = read_race,
	[MESSAGE_RACE_TURN] = read_race_turn,
	[MESSAGE_READS] = read_reads,
	[MESSAGE_CLEAN_OUTPUT] = read_output,
	[MESSAGE_OUTPUT_DOUBT] = read_doubt,
	[MESSAGE_STOP_BEGUN] = read_stop_begun,
	[MESSAGE_STOP_DONE] = read_stop_done,
	[MESSAGE_VARIANT_FAILED] = read_failed,
	[MESSAGE_END] = read_end,
	[MESSAGE_ERROR] = read_error,
};

void worker_messages_peek(int fd, uint64_t *at, void (*found)(const struct crash_bug *b, void *arg),
			  void *arg)
{
	struct wire m = { 0 };

	while (wire_peek(&m, fd, at) > 0) {
		struct crash_bug b = { 0 };

		if (wire_number(&m, 0) != MESSAGE_BUG)
			continue;
		wire_number(&m, 0);
		bug_pass(&m, &b);
		if (!m.is_bad)
			found(&b, arg);
		crash_bug_release(&b);
	}
	wire_release(&m);
}

int worker_messages_read(int fd, struct crash_result *r, struct error *err)
{
	struct reading p = { .result = r, .err = err };
	struct wire m = { 0 };

	while (wire_receive(&m, fd) > 0) {
		const uint64_t kind = wire_number(&m, 0);

		if (kind < MESSAGES && readers[kind])
			readers[kind](&m, &p);
	}
	if (!p.is_ended && !p.is_error)
		error_set(
			err,
			"a worker process ended unexpectedly: it was killed, or this is a bug in pmend");
	wire_release(&m);
	for (size_t i = 0; i < p.bugs.n; i++)
		bug_merge(r, &p.bugs.at[i]);
	vec_release(&p.bugs);
	return p.is_ended && !p.is_error ? 0 : -1;
}
