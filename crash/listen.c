/* Takes apart what a worker told its parent, and adds it to what others told. worker.c lists the messages. */
#include <stdlib.h>

#include "crash/findings.h"
#include "crash/worker.h"

typedef VEC(struct crash_bug) bug_list;

/* A new one, or one that was seen at an earlier failure point. */
static void get_bug(struct wire *m, bug_list *list)
{
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

static void get_counts(struct wire *m, struct crash_bug *list, size_t n)
{
	uint64_t count = wire_number(m, 0);

	for (uint64_t i = 0; i < count && i < n; i++) {
		struct crash_bug all = { 0 };

		list[i].count = wire_number(m, 0);
		bug_endings_pass(m, &all);
		bug_move_endings(&all, &list[i]);
		vec_release(&all.endings);
	}
}

static void get_sums(struct wire *m, struct crash_result *r)
{
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
}

static void get_output(struct wire *m, struct outputs *o)
{
	uint64_t n;

	outputs_add(o, wire_number(m, 0));
	n = wire_number(m, 0);
	for (uint64_t i = 0; i < n; i++)
		outputs_add_shape(o, wire_number(m, 0));
}

static void get_doubt(struct wire *m, struct outputs *o)
{
	uint64_t hash = wire_number(m, 0), point = wire_number(m, 0);
	char *state = wire_string(m, NULL);

	if (state && outputs_wants(o, hash, point))
		outputs_doubt(o, hash, point, state);
	else
		free(state);
}

/* Each is kept once. */
static void get_failed(struct wire *m, struct crash_result *r)
{
	const uint64_t variant = wire_number(m, 0);

	if (!r->representatives->variants.at[variant].has_failed)
		*vec_add(&r->variants_failed) = variant;
	representatives_failed(r->representatives, (uint32_t)variant);
}

int worker_listen(int fd, struct crash_result *r, struct error *err)
{
	bug_list list = { 0 };
	bool is_ended = false, is_error = false;
	struct first_crash first_crash;
	struct race race;
	struct wire m = { 0 };
	char *text;

	while (wire_receive(&m, fd) > 0) {
		switch (wire_number(&m, 0)) {
		case 'B': get_bug(&m, &list); break;
		case 'F':
			first_crash = (struct first_crash){ 0 };
			first_crash_pass(&m, &first_crash);
			first_crash_merge(r, &first_crash);
			break;
		case 'R':
			race = (struct race){ 0 };
			race_pass(&m, &race);
			race_merge(r, &race);
			break;
		case 'T': race_turn_pass(&m, race_turns_add(&r->race_turns, 0, 0, false)); break;
		case 'D': run_reads_pass(&m, &r->reads); break;
		case 'O': get_output(&m, &r->outputs); break;
		case 'Q': get_doubt(&m, &r->outputs); break;
		case 'P':
			representatives_begun(r->representatives,
					      *vec_add(&r->stops_begun) = wire_number(&m, 0));
			break;
		case 'S':
			representatives_done(r->representatives,
					     *vec_add(&r->stops_done) = wire_number(&m, 0));
			break;
		case 'V': get_failed(&m, r); break;
		case 'C': get_counts(&m, list.at, list.n); break;
		case 'E':
			get_sums(&m, r);
			is_ended = true;
			break;
		case 'X':
			text = wire_string(&m, NULL);
			error_set(err, "%s", text ? text : "?");
			free(text);
			is_error = true;
			break;
		}
	}
	if (!is_ended && !is_error)
		error_set(
			err,
			"a worker process ended unexpectedly: it was killed, or this is a bug in pmend");
	wire_release(&m);
	for (size_t i = 0; i < list.n; i++)
		bug_merge(r, &list.at[i]);
	vec_release(&list);
	return is_ended && !is_error ? 0 : -1;
}
