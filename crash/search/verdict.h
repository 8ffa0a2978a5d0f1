/* Says whether recovery copes with a crash state: runs the commands in turn, and judges by how each
 * ended. */
#ifndef CRASH_SEARCH_VERDICT_H
#define CRASH_SEARCH_VERDICT_H

#include "crash/search/outputs.h"
#include "crash/states/image.h"
#include "crash/states/plan.h"
#include "crash/run/runner.h"

struct recovery {
	const struct runner_command *recover; /* NULL: the dump does recovery */
	/* continues the program's work; NULL: none */
	const struct runner_command *then;
	const struct runner_command *check; /* its exit status decides; NULL: none */
	/* set if recover is a server: polled until it succeeds; NULL: recover is not a server */
	const struct runner_command *ready;
	const struct runner_command *dump; /* prints the logical state; NULL: none */
	const struct outputs *outputs;     /* outputs that recovery may print; NULL: any */
	bool wants_changes;                /* verdict.changes is wanted */
	/* a command uses the number of the operation that the crash interrupted */
	bool has_operation;
	uint64_t operation; /* that number, the same for every crash; 0: the plan tells it */
	/* operations that were acknowledged since the last sync may be lost: --buffered */
	bool is_buffered;
	/* exit statuses that are fine, of recover or of the command that does its work */
	bool ok_status[256];
};

/* The commands of a run. */
enum recovery_part { PART_RECOVER, PART_THEN, PART_CHECK, PART_DUMP, PART_N };
/* Gives the command of a part, such as the dump; NULL: there is none. */
const struct runner_command *recovery_command(const struct recovery *c, enum recovery_part part);
/* Tells the commands which operation a crash before this event interrupts. To be called before the
 * runs at that failure point. */
void recovery_set_moment(const struct recovery *c, struct runner *r, const struct plan *p,
			 uint64_t seq);
/* Gives the number of the operation that a crash before event seq interrupts; 0: no command uses
 * it. */
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

/* The hashes of dumps that are allowed after a crash at some moment; an empty list allows
 * everything. */
struct allowed {
	VEC(uint64_t) hashes;
	/* not allowed, but only because an answer showed more than that (in_flight.h) */
	VEC(uint64_t) denied;
};
bool allowed_is_denied(const struct allowed *a, uint64_t hash);
void allowed_release(struct allowed *a);
void allowed_add(struct allowed *a, uint64_t hash); /* adds it unless it is there already */

struct verdict {
	enum verdict_kind kind;
	int code; /* the signal or exit status */
	/* of a signal: a number for the function in which it came; 0: unknown */
	uint64_t site;
	const struct runner_command *command; /* the command that failed */
	enum recovery_part part;              /* its part; without a failure, the last command's */
	struct run_result result;             /* of the failed command, or of the last one */
	const char *why_unsound;              /* NULL: the run counts */
	/* runner_changes() of recovery alone, before another command ran */
	uint64_t changes;
	uint64_t output_hash; /* of what recover printed */
	/* the same as text; valid until recover runs again */
	const char *output;
	size_t output_len;
	uint64_t dump_hash;
	/* a hash of all that is visible from outside: how commands ended and what they printed */
	uint64_t outcome;
	size_t ndecisions[PART_N]; /* number of decisions when each command had ended */
	/* number of decisions when PMEND_DONE() was reached; later ones are not judged */
	size_t ndone;
};

/* Runs all commands in the run that runner_begin() began. -1 if recovery cannot be run at all. */
int verdict_run(struct verdict *v, struct runner *r, const struct recovery *c,
		const struct allowed *allowed, struct error *err);
/* Judges whether the dump is allowed, in a run that reached its dump or needs none. */
void verdict_judge_dump(struct verdict *v, const struct recovery *c, const struct allowed *allowed);
bool verdict_is_slow(const struct verdict *v); /* did it reach its time limit? */
/* Is there no pool, and does recovery say so by its exit status? */
bool verdict_is_refusal(const struct verdict *v, const struct runner *r, bool has_pool);
/* Gives a hash, never 0, of how recovery ended and what it printed, including standard error. */
uint64_t verdict_printed(const struct verdict *v);
/* Do both verdicts have the same way to fail: same signal and function, or same exit status? All
 * wrong dumps count as the same, because each smaller loss prints another one. */
bool verdict_same(const struct verdict *a, const struct verdict *b);
/* Gives a hash of how recovery failed; different for different dumps. */
uint64_t verdict_outcome(const struct verdict *v);
/* Says how recovery ended, for example "signal 11 (Segmentation fault)"; free() it. */
char *verdict_text(const struct verdict *v);
/* Gives ": " and the last text that the command wrote to standard error, or else to standard
 * output, in one line; or ": " and that it printed nothing. free() it. */
char *verdict_said(const struct verdict *v);

#endif
