/* Runs recovery, --then, checker and dump in turn on one state, and says how they ended. A server
 * is started, polled until it is ready, checked, and stopped. */
#include "crash/search/verdict.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "util/proc.h"

void allowed_add(struct allowed *a, uint64_t hash)
{
	for (size_t i = 0; i < a->hashes.n; i++)
		if (a->hashes.at[i] == hash)
			return;
	*vec_add(&a->hashes) = hash;
}

bool allowed_is_denied(const struct allowed *a, uint64_t hash)
{
	for (size_t i = 0; i < a->denied.n; i++)
		if (a->denied.at[i] == hash)
			return true;
	return false;
}

void allowed_release(struct allowed *a)
{
	vec_release(&a->hashes);
	vec_release(&a->denied);
}

#define SAID_BYTES 300

static void judge_end(struct verdict *v, const struct run_result *r, const struct runner_command *c,
		      const bool *ok_status)
{
	v->result = *r;
	v->command = c;
	v->code = r->code;
	if (r->why_unsound)
		v->why_unsound = r->why_unsound;
	if (r->is_done)
		return;
	if (r->end == RUN_SIGNALLED)
		v->kind = VERDICT_SIGNAL;
	else if (r->end == RUN_HUNG)
		v->kind = VERDICT_HANG;
	else if (ok_status ? !ok_status[r->code & 255] : r->code != 0)
		v->kind = VERDICT_STATUS;
}

static void add_outcome(struct verdict *v, const struct run_result *r)
{
	v->outcome = (v->outcome ^ r->output_hash) * 0xff51afd7ed558ccdu;
	v->outcome =
		(v->outcome ^ ((uint64_t)r->end << 32 | (uint32_t)r->code)) * 0xff51afd7ed558ccdu;
	v->outcome ^= v->outcome >> 32;
}

static void note_done(struct verdict *v, const struct runner *r, const struct run_result *result)
{
	const struct run_decision *list;

	if (result->is_done && v->ndone == SIZE_MAX)
		v->ndone = runner_decisions(r, &list);
}

static int run_one(struct verdict *v, struct runner *r, const struct runner_command *c,
		   enum recovery_part part, const bool *ok_status, struct error *err)
{
	struct run_result result;

	if (runner_command_run(r, c, &result, err) < 0)
		return -1;
	judge_end(v, &result, c, ok_status);
	v->part = part;
	note_done(v, r, &result);
	add_outcome(v, &result);
	return 0;
}

const struct runner_command *recovery_command(const struct recovery *c, enum recovery_part part)
{
	switch (part) {
	case PART_RECOVER: return c->recover;
	case PART_THEN: return c->then;
	case PART_CHECK: return c->check;
	case PART_DUMP: return c->dump;
	case PART_N: break;
	}
	return NULL;
}

uint64_t recovery_operation(const struct recovery *c, const struct plan *p, uint64_t seq)
{
	if (!c->has_operation)
		return 0;
	return c->operation ? c->operation : plan_operation(p, seq);
}

void recovery_set_moment(const struct recovery *c, struct runner *r, const struct plan *p,
			 uint64_t seq)
{
	if (c->has_operation)
		runner_set_operation(r, recovery_operation(c, p, seq));
}

/* Ends a part: decisions from here on belong to the next part. */
static void end_part(struct verdict *v, const struct runner *r, enum recovery_part part)
{
	const struct run_decision *list;

	for (int i = (int)part; i < PART_N; i++)
		v->ndecisions[i] = runner_decisions(r, &list);
}

static void judge_dump(struct verdict *v, const struct allowed *allowed)
{
	v->dump_hash = v->result.output_hash; /* the dump ran last */
	if (!allowed || allowed->hashes.n == 0)
		return;
	for (size_t i = 0; i < allowed->hashes.n; i++)
		if (allowed->hashes.at[i] == v->dump_hash)
			return;
	v->kind = VERDICT_DUMP;
}

/* Runs the dump: as the last command, or while a server is running. */
static int run_dump(struct verdict *v, struct runner *r, const struct recovery *c,
		    const struct allowed *allowed, struct error *err)
{
	if (!c->dump || v->kind != VERDICT_OK || v->why_unsound)
		return 0;
	if (run_one(v, r, c->dump, PART_DUMP, c->recover || c->check ? NULL : c->ok_status, err) <
	    0)
		return -1;
	end_part(v, r, PART_DUMP);
	if (v->kind == VERDICT_OK && !v->why_unsound)
		judge_dump(v, allowed);
	return 0;
}

/* Runs a server: waits until it is ready, runs checker and dump, and stops it. */
static int run_server(struct verdict *v, struct runner *r, const struct recovery *c,
		      const struct allowed *allowed, struct error *err)
{
	struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	struct verdict poll = { 0 };
	struct run_result end;
	const uint32_t limit_ms = runner_ready_timeout(r);
	uint32_t waited_ms = 0;
	bool is_ready = false, is_over;

	if (runner_background(r, c->recover, err) < 0)
		return -1;
	while (!is_ready && waited_ms < limit_ms && runner_background_runs(r)) {
		poll = (struct verdict){ 0 };
		if (run_one(&poll, r, c->ready, PART_RECOVER, NULL, err) < 0)
			return -1;
		is_ready = poll.kind == VERDICT_OK;
		if (!is_ready)
			nanosleep(&pause, NULL);
		waited_ms += 20 + (uint32_t)(poll.result.time_us / 1000);
	}
	if (is_ready && c->then && run_one(v, r, c->then, PART_THEN, NULL, err) < 0)
		return -1;
	if (is_ready && c->check && v->kind == VERDICT_OK &&
	    run_one(v, r, c->check, PART_CHECK, NULL, err) < 0)
		return -1;
	end_part(v, r, PART_RECOVER);
	if (is_ready && run_dump(v, r, c, allowed, err) < 0)
		return -1;
	if (is_ready && v->kind == VERDICT_OK && !runner_background_runs(r))
		is_ready = false; /* it died while it was polled */
	is_over = !runner_background_runs(r);
	runner_background_end(r, &end);
	if (end.why_unsound)
		v->why_unsound = end.why_unsound;
	if (is_over && end.end == RUN_EXITED && end.code != 0 && c->ok_status[end.code & 255]) {
		/* it refused the pool with a status that is fine, so there was no server to
		 * check */
		v->kind = VERDICT_OK;
		judge_end(v, &end, c->recover, c->ok_status);
		return 0;
	}
	if (is_ready)
		return 0;
	v->part = PART_RECOVER;
	if (is_over)
		judge_end(v, &end, c->recover, c->ok_status);
	else
		v->command = c->recover; /* how a server ends when it is stopped does not matter */
	if (v->kind == VERDICT_OK)
		v->kind = VERDICT_NOT_READY;
	return 0;
}

/* Judges the output of a successful recovery: did it print something that it never prints
 * otherwise? */
static void judge_output(struct verdict *v, const struct recovery *c,
			 const struct run_result *recovered)
{
	if (!c->outputs || v->kind != VERDICT_OK || v->why_unsound ||
	    outputs_has(c->outputs, v->output_hash))
		return;
	v->kind = VERDICT_OUTPUT;
	v->command = c->recover;
	v->part = PART_RECOVER;
	v->result = *recovered;
}

static int run_all(struct verdict *v, struct runner *r, const struct recovery *c,
		   const struct allowed *allowed, struct run_result *recovered, struct error *err)
{
	if (c->ready)
		return run_server(v, r, c, allowed, err);
	if (c->recover && run_one(v, r, c->recover, PART_RECOVER, c->ok_status, err) < 0)
		return -1;
	end_part(v, r, PART_RECOVER);
	*recovered = v->result;
	v->output_hash = v->result.output_hash;
	v->output = v->result.output;
	v->output_len = v->result.output_len;
	if (c->wants_changes)
		v->changes = runner_changes(r);
	if (c->then && v->kind == VERDICT_OK && !v->why_unsound &&
	    run_one(v, r, c->then, PART_THEN, NULL, err) < 0)
		return -1;
	end_part(v, r, PART_THEN);
	if (c->check && v->kind == VERDICT_OK && !v->why_unsound &&
	    run_one(v, r, c->check, PART_CHECK, c->recover ? NULL : c->ok_status, err) < 0)
		return -1;
	end_part(v, r, PART_CHECK);
	return run_dump(v, r, c, allowed, err);
}

int verdict_run(struct verdict *v, struct runner *r, const struct recovery *c,
		const struct allowed *allowed, struct error *err)
{
	struct run_result recovered = { 0 };
	int result;

	*v = (struct verdict){ .ndone = SIZE_MAX };
	result = run_all(v, r, c, allowed, &recovered, err);
	if (result == 0)
		judge_output(v, c, &recovered);
	/* pointers in the file may be wrong because of that */
	if (result == 0 && v->kind != VERDICT_OK && runner_is_moved(r))
		v->why_unsound =
			"recovery failed with a PM file mapped at another address, because something else was at its own";
	return result;
}

void verdict_judge_dump(struct verdict *v, const struct recovery *c, const struct allowed *allowed)
{
	v->kind = VERDICT_OK;
	if (c->dump)
		judge_dump(v, allowed);
}

bool verdict_is_slow(const struct verdict *v)
{
	return v->kind == VERDICT_HANG || v->kind == VERDICT_NOT_READY;
}

bool verdict_is_refusal(const struct verdict *v, const struct runner *r, bool has_pool)
{
	return v->kind == VERDICT_STATUS && !has_pool &&
	       (runner_has_missed(r) || runner_has_opened(r));
}

uint64_t verdict_printed(const struct verdict *v)
{
	uint64_t hash = v->outcome ^ (uint64_t)v->kind << 56;

	for (size_t i = 0; i < v->result.errors_len; i++)
		hash = (hash ^ (uint8_t)v->result.errors[i]) * 0x100000001b3u;
	return hash ? hash : 1;
}

bool verdict_same(const struct verdict *a, const struct verdict *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == VERDICT_DUMP || a->kind == VERDICT_OUTPUT || a->kind == VERDICT_HANG)
		return true;
	return a->code == b->code && (!a->site || !b->site || a->site == b->site);
}

uint64_t verdict_outcome(const struct verdict *v)
{
	const uint64_t found = v->kind == VERDICT_DUMP     ? v->dump_hash
			       : v->kind == VERDICT_OUTPUT ? v->output_hash
							   : v->site;
	const bool has_code = v->kind == VERDICT_SIGNAL || v->kind == VERDICT_STATUS;

	return (found ^ (uint64_t)v->kind << 32 ^ (has_code ? (uint32_t)v->code : 0)) *
	       0xff51afd7ed558ccdu;
}

char *verdict_text(const struct verdict *v)
{
	char name[64];

	switch (v->kind) {
	case VERDICT_OK: return xstrdup("recovered");
	case VERDICT_SIGNAL:
		return xasprintf("signal %d, %s", v->code,
				 proc_signal_name(v->code, name, sizeof name));
	case VERDICT_HANG: return xstrdup("did not end within the time limit (--timeout)");
	case VERDICT_STATUS: return xasprintf("exit status %d", v->code);
	case VERDICT_NOT_READY:
		return xstrdup("the server did not become ready within the time limit (--timeout)");
	case VERDICT_DUMP:
		return xstrdup(
			"the data matches neither the state before nor after the interrupted operation");
	case VERDICT_OUTPUT:
		return xstrdup("recovered, but printed what it never prints when nothing is lost");
	}
	return NULL;
}

/* Gives the last SAID_BYTES of the text without white space at the end, in one line; free() it. */
static char *last_said(const char *said, size_t len_bytes)
{
	char *text;

	while (len_bytes > 0 && isspace((unsigned char)said[len_bytes - 1]))
		len_bytes--;
	if (len_bytes > SAID_BYTES)
		text = xasprintf("...%.*s", SAID_BYTES, said + len_bytes - SAID_BYTES);
	else
		text = xasprintf("%.*s", (int)len_bytes, said);
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	return text;
}

char *verdict_said(const struct verdict *v)
{
	const struct run_result *r = &v->result;
	char *text = r->errors_len > 0 ? last_said(r->errors, r->errors_len)
				       : last_said(r->output, r->output_len),
	     *said;

	said = *text ? xasprintf(": %s", text) : xstrdup(" (it printed nothing)");
	free(text);
	return said;
}
