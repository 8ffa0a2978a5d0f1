/* Whether recovery handled a crash state: runs the commands in turn and decides by how each
 * ended. */
#ifndef CRASH_SEARCH_VERDICT_H
#define CRASH_SEARCH_VERDICT_H

#include "crash/search/outputs.h"
#include "crash/states/image.h"
#include "crash/states/plan.h"
#include "crash/run/runner.h"

struct recovery {
	const struct runner_command *recover; /* NULL: the dump recovers */
	/* goes on with what the program did; NULL: nobody does */
	const struct runner_command *then;
	const struct runner_command *check; /* its exit status decides; NULL: none */
	/* recover is a server: polled until it succeeds; NULL: it is none */
	const struct runner_command *ready;
	const struct runner_command *dump; /* prints the logical state; NULL: none */
	const struct outputs *outputs;     /* those that recovery may print, NULL: any */
	bool wants_changes;                /* verdict.changes is asked for */
	/* some command names the operation that the crash interrupted */
	bool has_operation;
	uint64_t operation; /* which it is at every crash; 0: the plan tells */
	/* exit statuses that are fine: of recover, or of what recovers in its place */
	bool ok_status[256];
};

/* The commands of a run. */
enum recovery_part { PART_RECOVER, PART_THEN, PART_CHECK, PART_DUMP, PART_N };
/* NULL: there is none */
const struct runner_command *recovery_command(const struct recovery *c, enum recovery_part part);
/* Before the runs on what a crash before this event leaves: commands get to know which operation it
 * interrupted. */
void recovery_set_moment(const struct recovery *c, struct runner *r, const struct plan *p,
			 uint64_t seq);
/* which that is; 0: nobody asks */
uint64_t recovery_operation(const struct recovery *c, const struct plan *p, uint64_t seq);

enum verdict_kind {
	VERDICT_OK,
	VERDICT_SIGNAL,
	VERDICT_HANG,
	VERDICT_STATUS,
	VERDICT_NOT_READY,
	VERDICT_DUMP,
	VERDICT_OUTPUT
};

/* What a dump may print after a crash at some moment: hashes; an empty list allows everything. */
struct allowed {
	VEC(uint64_t) hashes;
};
void allowed_add(struct allowed *a, uint64_t hash); /* once */

struct verdict {
	enum verdict_kind kind;
	int code; /* signal or exit status */
	/* of a signal: a number for the function that it came in; 0: not known */
	uint64_t site;
	const struct runner_command *command; /* that failed */
	enum recovery_part part;              /* which that is; also of the last one */
	struct run_result result;             /* of that command, or of the last one */
	const char *why_unsound;              /* NULL: it counts */
	/* runner_changes() of recovery alone, before anything else ran */
	uint64_t changes;
	uint64_t output_hash; /* of what recover printed */
	/* the same as text, as long as it does not run again */
	const char *output;
	size_t output_len;
	uint64_t dump_hash;
	/* a number for all that can be seen from outside: how commands ended, what they printed */
	uint64_t outcome;
	size_t ndecisions[PART_N]; /* that had been taken when a command had ended */
	/* the same when PMEND_DONE() was reached first: later ones are not to be judged */
	size_t ndone;
};

/* Runs recovery in the run that runner_begin() began. -1: it cannot be run at all. */
int verdict_run(struct verdict *v, struct runner *r, const struct recovery *c,
		const struct allowed *allowed, struct error *err);
/* Of a run that came to its dump, or needs none: whether this is allowed. */
void verdict_judge_dump(struct verdict *v, const struct recovery *c, const struct allowed *allowed);
bool verdict_is_slow(const struct verdict *v); /* it ran into its time limit */
/* there is no pool, and recovery says so by its exit status */
bool verdict_is_refusal(const struct verdict *v, const struct runner *r,
			const struct crash_image *im);
/* A number, not 0, for how it ended and what it printed, also to standard error. */
uint64_t verdict_printed(const struct verdict *v);
/* The same way to fail: signal and function, or exit status. Dumps count as one way, for each
 * smaller loss has another. */
bool verdict_same(const struct verdict *a, const struct verdict *b);
/* a number for how it failed; dumps that differ have different ones */
uint64_t verdict_outcome(const struct verdict *v);
char *verdict_text(const struct verdict *v); /* "signal 11 (Segmentation fault)"…; free() it */
/* ": " and the last that the command wrote to standard error, or else to standard output, in one
 * line; or that it printed nothing. free() it */
char *verdict_said(const struct verdict *v);

#endif
