/* Sends or receives a result over a wire, and adds results up. Findings stay as the workers
 * reported them: which of them are the same is decided when all parts are together, as without
 * shards. */
#include "crash/part.h"

#include <stdlib.h>
#include <string.h>

#include "crash/findings/findings.h"

/* ---- counters ---- */

/* The counters that are added, and the flags that stay set. */
#define COUNTS(X) \
	X(points) \
	X(runs) \
	X(shared_runs) \
	X(explaining) \
	X(unreduced) \
	X(begun) \
	X(deeper) \
	X(diagnosis_runs) \
	X(remembered) \
	X(repeats) \
	X(repeat_points) \
	X(failures) \
	X(bugs) \
	X(fallbacks) \
	X(cut_points) \
	X(faults) \
	X(unstable) \
	X(lazy_runs) \
	X(whole_runs) \
	X(hangs) \
	X(confirmed_hangs) \
	X(slow) X(unconfirmed) X(uncompared) X(overlapping) X(impossible) X(poolless)
#define FLAGS(X) \
	X(is_stopped) X(is_late) X(has_opened) X(has_missed) X(has_moved) X(has_sandbox) X(had_file)

static void counters_pass(struct wire *m, struct crash_counters *c)
{
#define PASS(field) wire_pass(m, c->field);
	COUNTS(PASS)
	FLAGS(PASS)
#undef PASS
}

static void counters_add(struct crash_counters *c, const struct crash_counters *more)
{
#define ADD(field) c->field += more->field;
#define OR(field) c->field |= more->field;
	COUNTS(ADD)
	FLAGS(OR)
#undef ADD
#undef OR
}

/* ---- the wire ---- */

static void big_pass(struct wire *m, struct big *b)
{
	char *text = m->is_received ? NULL : big_string(b), *passed = wire_string(m, text);

	if (m->is_received && (!passed || big_parse(b, passed) < 0))
		m->is_bad = true;
	free(passed);
}

static void object_pass(struct wire *m, struct trace_object *o)
{
	wire_pass(m, o->va);
	wire_pass(m, o->len_bytes);
	wire_pass(m, o->offset);
	wire_pass(m, o->build_id_len);
	if (o->build_id_len > sizeof o->build_id)
		o->build_id_len = 0;
	for (uint32_t i = 0; i < o->build_id_len; i++)
		wire_pass(m, o->build_id[i]);
	wire_pass(m, o->id);
	o->path = wire_string(m, o->path);
}

static void doubt_pass(struct wire *m, struct output_doubt *d)
{
	wire_pass(m, d->hash);
	wire_pass(m, d->point);
	d->state = wire_string(m, d->state);
	m->is_bad |= !d->state;
}

static void failing_pass(struct wire *m, struct failing_state *f)
{
	wire_pass(m, f->point);
	wire_pass(m, f->number);
	for (int p = 0; p < FILES_PROFILES; p++)
		f->states[p] = wire_string(m, f->states[p]);
	wire_pass(m, f->kind);
	wire_pass(m, f->code);
	wire_pass(m, f->site);
}

/* Sends the text that was printed for a hash, if it is known; receives it likewise. */
static void text_pass(struct wire *m, struct dump_texts *texts, uint64_t hash)
{
	char *text = m->is_received ? NULL : dump_texts_find(texts, hash);

	wire_pass(m, hash);
	text = wire_string(m, text);
	if (m->is_received && text)
		dump_texts_add(texts, hash, text, strlen(text));
	free(text);
}

/* Sends the texts that a report may show: the allowed outputs where something failed, or may fail
 * after a second crash. */
static void texts_pass(struct wire *m, struct crash_result *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->bugs.n; i++)
		n += r->bugs.at[i].allowed.n;
	for (size_t i = 0; i < r->first_crashes.n; i++)
		n += r->first_crashes.at[i].allowed.n;
	n = wire_number(m, n);
	for (uint64_t i = 0; m->is_received && i < n && !m->is_bad; i++)
		text_pass(m, &r->texts, 0);
	for (size_t i = 0; !m->is_received && i < r->bugs.n; i++)
		for (size_t k = 0; k < r->bugs.at[i].allowed.n; k++)
			text_pass(m, &r->texts, r->bugs.at[i].allowed.at[k]);
	for (size_t i = 0; !m->is_received && i < r->first_crashes.n; i++)
		for (size_t k = 0; k < r->first_crashes.at[i].allowed.n; k++)
			text_pass(m, &r->texts, r->first_crashes.at[i].allowed.at[k]);
}

void part_pass(struct wire *m, struct crash_result *r)
{
	counters_pass(m, &r->counters);
	wire_pass(m, r->npoints);
	wire_pass(m, r->nshare);
	wire_pass(m, r->ndone);
	wire_pass(m, r->needs_pool);
	wire_pass(m, r->has_roi);
	wire_pass(m, r->timeout_ms);
	big_pass(m, &r->states_seen);
	big_pass(m, &r->states_all);
	r->why_fallback = wire_string(m, r->why_fallback);
	r->unread = wire_string(m, r->unread);
	r->why_impossible = wire_string(m, r->why_impossible);
	wire_pass_vec(m, &r->bugs, bug_pass);
	wire_pass_vec(m, &r->races, race_pass);
	wire_pass_vec(m, &r->race_turns, race_turn_pass);
	wire_pass_vec(m, &r->first_crashes, first_crash_pass);
	wire_pass_vec(m, &r->outputs.doubts, doubt_pass);
	wire_pass_set(m, &r->outputs.clean);
	wire_pass_set(m, &r->outputs.shapes);
	run_reads_pass(m, &r->reads);
	texts_pass(m, r);
	wire_pass_vec(m, &r->stops_begun, wire_pass_number);
	wire_pass_vec(m, &r->stops_done, wire_pass_number);
	wire_pass_vec(m, &r->variants_failed, wire_pass_number);
	for (int part = 0; part < PART_N; part++)
		wire_pass_vec(m, &r->objects[part], object_pass);
	wire_pass_vec(m, &r->failing, failing_pass);
	wire_pass(m, r->has_partial_lines);
}

/* ---- sums ---- */

static void add_numbers(struct crash_result *r, struct crash_result *part)
{
	counters_add(&r->counters, &part->counters);
	r->npoints = part->npoints;
	r->nshare += part->nshare;
	r->ndone += part->ndone;
	r->needs_pool |= part->needs_pool;
	r->has_roi |= part->has_roi;
	if (part->timeout_ms > r->timeout_ms)
		r->timeout_ms = part->timeout_ms;
	big_add(&r->states_seen, &part->states_seen);
	big_add(&r->states_all, &part->states_all);
	for (size_t i = 0; i < part->stops_begun.n; i++)
		*vec_add(&r->stops_begun) = part->stops_begun.at[i];
	for (size_t i = 0; i < part->stops_done.n; i++)
		*vec_add(&r->stops_done) = part->stops_done.at[i];
	for (size_t i = 0; i < part->variants_failed.n; i++)
		*vec_add(&r->variants_failed) = part->variants_failed.at[i];
	for (size_t i = 0; i < part->race_turns.n; i++)
		*vec_add(&r->race_turns) = part->race_turns.at[i];
}

static void add_outputs(struct outputs *o, struct outputs *more)
{
	for (size_t i = 0; i < more->clean.room; i++)
		if (more->clean.slots[i].value)
			outputs_add(o, more->clean.slots[i].key);
	for (size_t i = 0; i < more->shapes.room; i++)
		if (more->shapes.slots[i].value)
			outputs_add_shape(o, more->shapes.slots[i].key);
	for (size_t i = 0; i < more->doubts.n; i++)
		if (outputs_wants(o, more->doubts.at[i].hash, more->doubts.at[i].point))
			outputs_doubt(o, more->doubts.at[i].hash, more->doubts.at[i].point,
				      more->doubts.at[i].state);
		else
			free(more->doubts.at[i].state);
	more->doubts.n = 0;
}

/* Is b the bug that recovery dies where nothing is lost, and does the result have that bug already?
 * Every shard finds it. */
static bool is_known_death(const struct crash_result *r, const struct crash_bug *b)
{
	return b->is_clean && r->bugs.n > 0 && r->bugs.at[0].is_clean;
}

void part_add(struct crash_result *r, struct crash_result *part)
{
	add_numbers(r, part);
	for (size_t i = 0; i < part->bugs.n; i++)
		if (is_known_death(r, &part->bugs.at[i]))
			crash_bug_release(&part->bugs.at[i]);
		else
			bug_merge(r, &part->bugs.at[i]);
	for (size_t i = 0; i < part->races.n; i++)
		race_merge(r, &part->races.at[i]);
	for (size_t i = 0; i < part->first_crashes.n; i++)
		first_crash_merge(r, &part->first_crashes.at[i]);
	for (size_t i = 0; i < part->failing.n; i++)
		*vec_add(&r->failing) = part->failing.at[i];
	part->failing.n = 0;
	r->has_partial_lines |= part->has_partial_lines;
	part->race_turns.n = part->bugs.n = part->races.n = part->first_crashes.n = 0;
	add_outputs(&r->outputs, &part->outputs);
	run_reads_add(&r->reads, &part->reads);
	for (size_t i = 0; i < part->texts.list.n; i++) {
		char *text = dump_texts_find(&part->texts, part->texts.list.at[i].hash);

		dump_texts_add(&r->texts, part->texts.list.at[i].hash, text, strlen(text));
		free(text);
	}
	if (!r->unread) {
		r->unread = part->unread;
		part->unread = NULL;
	}
	if (!r->why_fallback) {
		r->why_fallback = part->why_fallback;
		part->why_fallback = NULL;
	}
	if (!r->why_impossible) {
		r->why_impossible = part->why_impossible;
		part->why_impossible = NULL;
	}
	for (int i = 0; i < PART_N; i++)
		while (r->objects[i].n < part->objects[i].n) {
			struct trace_object *o = &part->objects[i].at[r->objects[i].n];

			*vec_add(&r->objects[i]) = *o;
			o->path = NULL;
		}
	crash_result_release(part);
}
