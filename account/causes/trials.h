/* Tells by trials which findings are left when others are mended.
 *
 * A *cure* is the least change that mends a finding: the call that is missing, for the lines of
 * that place only. A trial supposes the cures of some findings in the trace and looks whether
 * others are gone. For findings of a crash, recovery runs again (crash/cure_trial.h); for findings
 * of an oracle, the oracles judge the events as they would be.
 *
 *	cause_cure_of(&cure, trials, i)		what mends finding i
 *	trials_suppose(trials, &cure)		it is mended, and so is what was supposed before
 *	trials_look(trials, list, n, answers)   what is left of these findings? One walk over the
 *	                                        trace.
 *
 * What follows from one cause goes with its cure. What is left is another bug. */
#ifndef ACCOUNT_CAUSES_TRIALS_H
#define ACCOUNT_CAUSES_TRIALS_H

#include "crash/states/whatif.h"
#include "report/bug.h"
#include "account/causes/classes.h"
#include "account/causes/facts.h"
#include "crash/setup/crash_setup.h"

enum cause_cure_kind {
	CAUSE_CURE_NONE,   /* nothing that a trace can show */
	CAUSE_CURE_CALL,   /* makes lines durable */
	CAUSE_CURE_FENCE,  /* completes flushes of lines */
	CAUSE_CURE_ATOMIC, /* stores become durable all at once */
	CAUSE_CURE_LOG,    /* adds what is stored to the transaction */
	CAUSE_CURE_END,    /* ends the transaction; only oracles can be asked */
};

struct cause_cure {
	enum cause_cure_kind kind;
	/* classes: the places whose lines, stores or ranges it is about */
	uint32_t of[WHATIF_PLACES];
	size_t nof;
	/* classes: where the call comes; both 0: after the places themselves */
	uint32_t after, before;
	uint32_t first, last; /* classes: where an atomic change begins and ends */
};

enum trial_answer {
	TRIAL_GONE,
	TRIAL_LEFT,
	TRIAL_UNDECIDED, /* the budget ended first, or recovery cannot be run */
};

/* Is the finding left? is_any: a failure like it, whatever is lost, counts, too. is_by_crash: of
 * what an oracle found, and a crash confirmed, recovery is asked. */
struct trial_question {
	size_t finding;
	bool is_any, is_by_crash;
};

struct trials;

/* Borrows all. setup: after crashing_explore(), which leaves it the plan; NULL, or without a plan:
 * recovery is not run. */
struct trials *trials_new(const struct report *r, const struct trace *t, const struct facts *f,
			  struct locator *l, struct crash_setup *setup);
void trials_free(struct trials *t);
/* What is asked from now on decides whether a finding is counted, as at first; false: it does not,
 * so it is asked only with runs that the exploration left. */
void trials_decide(struct trials *t, bool is_deciding);
uint64_t trials_nruns(const struct trials *t); /* of recovery */
/* recovery showed it; what oracles found, and a crash confirmed, they found */
bool trials_is_by_recovery(const struct bug *b);
bool trials_has_crash(const struct bug *b); /* recovery showed it, or confirmed it */
uint32_t trials_class(const struct trials *t, uint32_t site);

void cause_cure_of(struct cause_cure *c, const struct trials *t, size_t i);
/* The first is for all places of the second. */
bool cause_cure_is_for(const struct cause_cure *a, const struct cause_cure *b);
void cause_cure_add(struct cause_cure *c, uint32_t place); /* 0 and what it has already: nothing */

void trials_suppose(struct trials *t, const struct cause_cure *c);
/* And these lines are flushed, too, in the order of their events. */
void trials_suppose_flushes(struct trials *t, const struct whatif_flush *list, size_t n);
void trials_suppose_nothing(struct trials *t);
void trials_look(struct trials *t, const struct trial_question *list, size_t n,
		 enum trial_answer *answers);

#endif
