/* From a minimised failing state to what a person can act on: which stores were lost, which
 * survived, and what kind of bug that is. */
#ifndef CRASH_SEARCH_EXPLAIN_H
#define CRASH_SEARCH_EXPLAIN_H

#include "crash/search/choices.h"
#include "crash/search/minimise.h"

struct crash_place {
	const char *role; /* in the report */
	struct crash_store at;
};

/* One failing situation. All strings are owned, but for kind, message and roles. */
struct crash_bug {
	/* ordering | atomicity | missing-flush… | recovery-failure | porting */
	const char *kind;
	VEC(struct crash_store) lost; /* the oldest first */
	VEC(struct crash_store) survived;
	/* of files: the places to name, instead of all of these, and what is wrong */
	VEC(struct crash_place) places;
	const char *message;
	/* it was durable before this failure point, as others were: an earlier one tells which of
	 * them matters */
	bool is_survivor_guessed;
	/* nothing is lost, and the program had ended: recovery dies whenever it is started */
	bool is_clean;
	/* is_clean: recovery fails because what was handed out here is not zero (--old-bytes); seq
	 * 0: not so */
	struct crash_store allocation;
	/* what survived and what is lost are in one line, whose stores nothing orders (arm64) */
	bool is_in_line;
	/* the event by which the program said that what is lost was done; seq 0: none */
	struct crash_store acknowledged;
	uint32_t at_site; /* of the event before which the crash came, 0: the end */
	uint64_t point, seq, count;
	uint64_t runs;           /* of all workers, when it was found */
	char *outcome;           /* verdict_text() */
	char *command;           /* that failed */
	enum recovery_part part; /* which that is */
	char *output;            /* its last lines */
	/* what a dump printed that is not allowed; NULL: it was not a dump that decided */
	char *found;
	/* hashes of what it may print: the first is that before the operation in flight, the last
	 * that after it */
	VEC(uint64_t) allowed;
	uint64_t printed; /* verdict_printed() of the run that outcome and output are of */
	/* all ways in which recovery ended on states that belong to it; sorted */
	VEC(char *) endings;
	bool varies; /* a further run on this state ended or printed otherwise */
	/* a file beside the pool that decides whether recovery fails; NULL: none does */
	char *undecided_by;
	char *why_undecided; /* one sentence about that */
	char *state;         /* for --replay: POINT:FILE+OFFSET=CONTENT,… */
	int signal;
	VEC(uint64_t) stack; /* of the signal: addresses in the recovery program */
	/* what recovery read that could have been otherwise, the first reads */
	crash_choices choices;
	uint64_t nchoices; /* all of them */
};

void crash_bug_release(struct crash_bug *b);
/* Takes the text. */
void crash_bug_ends(struct crash_bug *b, char *text);
/* How it ended, with copies of all strings: those of a run last until the next. */
void crash_bug_describe(struct crash_bug *b, const struct verdict *v);

/* A bug of the present failure point that fails with v: before anything else is run. */
void explain_begin(const struct explorer *e, const struct verdict *v, struct crash_bug *b);
/* Fills the rest from the states that fail so, minimising the one that loses most. *oldest: the
 * oldest store that it loses then; seq 0: none. */
enum minimise_end explain(struct explorer *e, const uint64_t *left, const struct verdict *v,
			  struct crash_bug *b, struct crash_store *oldest, struct error *err);

#endif
