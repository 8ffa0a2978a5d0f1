/* Turns a failing state into something that a person can act on: which stores were lost, which
 * survived, and what kind of bug that is. */
#ifndef CRASH_SEARCH_EXPLAIN_H
#define CRASH_SEARCH_EXPLAIN_H

#include "crash/search/choices.h"
#include "crash/search/minimise.h"

struct crash_place {
	const char *role; /* in the report */
	struct crash_store at;
};

/* Does the crash state have only a part of the first lost store? */
enum crash_torn {
	CRASH_NOT_TORN,
	CRASH_TORN_UNALIGNED, /* aligned to its size, it would not be torn */
	CRASH_TORN_LONG,      /* it is longer than what a machine stores at once */
};

/* A bug: how recovery fails, and on which state. It owns all strings, except kind, message,
 * advice and roles. */
struct crash_bug {
	/* ordering, atomicity, missing-flush, recovery-failure, porting, … */
	const char *kind;
	VEC(struct crash_store) lost; /* the oldest first */
	VEC(struct crash_store) survived;
	/* of files: the places to name, instead of all of these, and what is wrong */
	VEC(struct crash_place) places;
	const char *message, *advice;
	unsigned profiles; /* of files: a bit for each profile that has the bug */
	/* the surviving store was durable before this failure point, as others were; an earlier
	 * failure point shows which of them matters */
	bool is_survivor_guessed;
	/* nothing is lost, and the program had ended: recovery dies at each start */
	bool is_clean;
	/* if is_clean: recovery fails because this allocation is not zero (--old-bytes); seq 0:
	 * that is not the reason */
	struct crash_store allocation;
	/* the lost and the surviving store are in one line, and nothing orders them (arm64) */
	bool is_in_line;
	enum crash_torn torn;
	/* the event that acknowledged the lost store; seq 0: none */
	struct crash_store acknowledged;
	uint32_t at_site; /* site of the event before which the crash came; 0: the end */
	uint64_t point, seq, count;
	uint64_t last_point;     /* the last failure point with a state of this bug */
	uint64_t runs;           /* runs of all workers when the bug was found */
	char *outcome;           /* verdict_text() */
	char *command;           /* the command that failed */
	enum recovery_part part; /* which of the commands that is */
	char *output;            /* its last lines */
	/* what a dump printed that is not allowed; NULL: no dump decided */
	char *found;
	/* hashes of the allowed dumps: the first is from before the operation in flight, the last
	 * from after it */
	VEC(uint64_t) allowed;
	uint64_t printed; /* verdict_printed() of the run that outcome and output come from */
	/* all ways in which recovery ended on states of this bug; sorted */
	VEC(char *) endings;
	bool varies; /* another run on this state ended differently or printed something else */
	/* path of a file beside the pool that decides whether recovery fails; NULL: none does */
	char *undecided_by;
	char *why_undecided; /* one sentence about that file */
	char *state;         /* for --replay: POINT:FILE+OFFSET=CONTENT,… */
	int signal;
	VEC(uint64_t) stack; /* where the signal came: addresses in the recovery program */
	/* the first reads of recovery that could have returned another value */
	crash_choices choices;
	uint64_t nchoices; /* number of all such reads */
};

void crash_bug_release(struct crash_bug *b);
/* Adds a way in which recovery ended. Takes the text. */
void crash_bug_ends(struct crash_bug *b, char *text);
/* Describes how recovery ended. Copies all strings, because the next run overwrites those of v. */
void crash_bug_describe(struct crash_bug *b, const struct verdict *v);

/* Begins a bug of the present failure point, which fails with v. To be called before anything else
 * is run. */
void explain_begin(const struct explorer *e, const struct verdict *v, struct crash_bug *b);
/* Fills the rest of the bug from the states that fail this way; minimises the state that loses
 * most. *oldest: the oldest store that the minimised state loses; seq 0: none. */
enum minimise_end explain(struct explorer *e, const uint64_t *left, const struct verdict *v,
			  struct crash_bug *b, struct crash_store *oldest, struct error *err);
/* Repeats the failure: is it neither chance nor a limit of pmend? Then b describes the repeated
 * run, with its reads. b: what explain() has filled. */
enum minimise_end explain_confirm(struct explorer *e, const uint64_t *left, const struct verdict *v,
				  struct crash_bug *b, struct error *err);

#endif
