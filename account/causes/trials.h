/* Finds out by trials which findings are left when others are fixed.
 *
 * A *cure* is the smallest change that fixes a finding: the missing call, for the lines of that
 * place only. A trial supposes the cures of some findings in the trace and looks whether others are
 * gone. For findings of a crash, recovery runs again (crash/cure_trial.h); for findings of an
 * oracle, the oracles judge the changed events.
 *
 *	cause_cure_of(&cure, trials, i)		the cure of finding i
 *	trials_suppose(trials, &cure)		supposes it, in addition to earlier ones
 *	trials_look(trials, list, n, answers)   which of these findings are left? One walk over the
 *	                                        trace.
 *
 * All consequences of one cause disappear with its cure. A finding that is left is another bug. */
#ifndef ACCOUNT_CAUSES_TRIALS_H
#define ACCOUNT_CAUSES_TRIALS_H

#include "crash/states/whatif.h"
#include "report/bug.h"
#include "account/causes/classes.h"
#include "account/causes/facts.h"
#include "crash/setup/crash_setup.h"

enum cause_cure_kind {
	CAUSE_CURE_NONE,   /* nothing that can be supposed in a trace */
	CAUSE_CURE_CALL,   /* makes lines durable */
	CAUSE_CURE_FENCE,  /* completes flushes of lines */
	CAUSE_CURE_ATOMIC, /* makes stores durable all at once */
	CAUSE_CURE_LOG,    /* adds what is stored to the transaction */
	CAUSE_CURE_END,    /* ends the transaction; only oracles can be asked */
};

struct cause_cure {
	enum cause_cure_kind kind;
	/* classes of places: whose lines, stores or ranges it is about */
	uint32_t of[WHATIF_PLACES];
	size_t nof;
	/* classes: where the call comes; both 0: after the places themselves */
	uint32_t after, before;
	uint32_t first, last; /* classes: where an atomic change begins and ends */
	/* The program adds the range after the store, so its log has the new value, and recovery
	 * brings that back, whatever is supposed of the range (cure_trial.c). */
	bool is_added_late;
};

enum trial_answer {
	TRIAL_GONE,
	TRIAL_LEFT,
	TRIAL_UNDECIDED, /* the budget ended first, or recovery cannot be run */
};

/* Is the finding left? is_any: any failure with the same outcome counts, whatever is lost.
 * is_by_crash: recovery is asked, for a finding of an oracle that a crash confirmed. */
struct trial_question {
	size_t finding;
	bool is_any, is_by_crash;
};

struct trials;

/* Prepares trials. Borrows everything. setup: after crashing_explore(), which leaves it the plan;
 * if it is NULL or has no plan, recovery is not run. */
struct trials *trials_new(const struct report *r, const struct trace *t, const struct facts *f,
			  struct locator *l, struct crash_setup *setup);
void trials_free(struct trials *t);
/* Do the following questions decide whether a finding is counted? At first they do. If they do not,
 * they get only runs that the exploration left. */
void trials_decide(struct trials *t, bool is_deciding);
uint64_t trials_nruns(const struct trials *t); /* of recovery */
/* Did recovery show the finding? False for findings of oracles, even if a crash confirmed them. */
bool trials_is_by_recovery(const struct bug *b);
bool trials_has_crash(const struct bug *b); /* recovery showed it, or confirmed it */
uint32_t trials_class(const struct trials *t, uint32_t site);

void cause_cure_of(struct cause_cure *c, const struct trials *t, size_t i);
/* Is cure a for all places that cure b is for? */
bool cause_cure_is_for(const struct cause_cure *a, const struct cause_cure *b);
/* Adds a place to a cure; ignores 0 and places that the cure has already. */
void cause_cure_add(struct cause_cure *c, uint32_t place);

void trials_suppose(struct trials *t, const struct cause_cure *c);
/* Supposes that these lines are flushed, too, in the order of their events. */
void trials_suppose_flushes(struct trials *t, const struct whatif_flush *list, size_t n);
void trials_suppose_nothing(struct trials *t);
void trials_look(struct trials *t, const struct trial_question *list, size_t n,
		 enum trial_answer *answers);

#endif
