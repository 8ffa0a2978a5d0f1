/* Tells by trials whether findings have one cause.
 *
 * A *cure* is the least change that mends a finding: the call that is missing, for the lines of that place only. A trial supposes the cure of one finding in the trace and looks whether
 * another one is gone. For findings of a crash, recovery runs again (crash/cure_trial.h); for findings of an oracle, the oracles judge the events as they would be.
 *
 *	cause_cure_of(&cure, trials, i)		what mends finding i
 *	trials_ask(trials, &cure, i, k)		is finding k gone with it, and do both go if k alone is mended?
 *	trials_ask_joint(trials, &cure, …)	one call that serves several findings: are all gone?
 *
 * A finding that has a cure of its own must go both ways; if it goes one way only, the two may have one cause, and both are counted. The same holds if the budget ends first, and if
 * recovery cannot be run. */
#ifndef SESSION_CAUSES_TRIALS_H
#define SESSION_CAUSES_TRIALS_H

#include "report/bug.h"
#include "session/causes/classes.h"
#include "session/causes/facts.h"
#include "session/crash_setup.h"

enum cause_cure_kind {
	CAUSE_CURE_NONE,   /* nothing that a trace can show */
	CAUSE_CURE_CALL,   /* makes lines durable */
	CAUSE_CURE_FENCE,  /* completes flushes of lines */
	CAUSE_CURE_ATOMIC, /* stores become durable all at once */
	CAUSE_CURE_LOG,	   /* adds what is stored to the transaction */
};

#define CAUSE_CURE_PLACES 16u

struct cause_cure {
	enum cause_cure_kind kind;
	uint32_t of[CAUSE_CURE_PLACES]; /* classes: the places whose lines, stores or ranges it is about */
	size_t nof;
	uint32_t after, before; /* classes: where the call comes; both 0: after the places themselves */
	uint32_t first, last;	/* classes: where an atomic change begins and ends */
};

enum trial_answer {
	TRIAL_OTHER, /* it is still there */
	TRIAL_SAME,  /* it is gone, and if it has a cure of its own, that mends both */
	TRIAL_MAY,   /* one way only, or not decided */
};

struct trials;

/* Borrows all. setup: after crashing_explore(), which leaves it the plan; NULL, or without a plan: recovery is not run. */
struct trials *trials_new(const struct report *r, const struct trace *t, const struct facts *f, struct locator *l, struct crash_setup *setup);
void trials_free(struct trials *t);
uint64_t trials_nruns(const struct trials *t); /* of recovery */
uint32_t trials_class(const struct trials *t, uint32_t site);

/* Findings that are to be compared: they are looked for in one walk. */
void trials_relate(struct trials *t, size_t i, size_t k);
void cause_cure_of(struct cause_cure *c, const struct trials *t, size_t i);
void cause_cure_add(struct cause_cure *c, uint32_t place); /* 0 and what it has already: nothing */
/* cause: a finding, or SIZE_MAX if it is none of the report yet. */
enum trial_answer trials_ask(struct trials *t, const struct cause_cure *c, size_t cause, size_t i);
enum trial_answer trials_ask_joint(struct trials *t, const struct cause_cure *c, const size_t *list, size_t n);

#endif
