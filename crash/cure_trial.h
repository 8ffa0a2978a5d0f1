/* Tries on a trace whether a change of the program makes findings go away: recovery runs on the
 * crash states of the trace as it would be with the change.
 *
 * A finding is *gone* if no state fails any more because it loses its place. A state does so if
 * recovery copes with it when the place's stores return: another bug may make states fail that lose
 * the place, too. What failed although nothing was lost is gone if recovery does not end so any
 * more, with nothing lost, or if a crash before the window leaves the same. All failure points of
 * its windows are explored lazily, beginning with the states that lose the place and nothing else,
 * and that lose most; when half of the runs are used up, only these are tried. That the one state
 * which was reported has become impossible would prove nothing: another one may fail in its stead.
 *
 *	struct cure_trial t = { 0 };
 *	struct cure_trial_finding f = {
 *		.windows = …, .nwindows = 3, .places = …, .outcome = "exit status 1"
 *	};
 *
 *	if (cure_trial_init(&t, plan, &options, &err) == 0 &&
 *	    cure_trial_run(&t, &whatif, NULL, &f, 1, 60, &err) > 0 && !f.is_found)
 *		the change cures f
 *	cure_trial_release(&t);
 *
 * account/causes/trials.h, which tells whether two findings have one cause, makes the changes and
 * the windows of findings. */
#ifndef CRASH_CURE_TRIAL_H
#define CRASH_CURE_TRIAL_H

#include "crash/findings/exploration.h"
#include "crash/search/references.h"
#include "crash/search/verdict_cache.h"
#include "crash/states/logged.h"

#define CURE_TRIAL_WINDOWS 4u

struct cure_trial_window {
	uint64_t first_seq, last_seq; /* crashes before these events, and between them */
};

struct cure_trial_finding {
	struct cure_trial_window windows[CURE_TRIAL_WINDOWS];
	size_t nwindows;
	const uint32_t *classes; /* by site id: a number for its place */
	size_t nclasses;
	const uint32_t *places; /* of the store that is lost: numbers of classes */
	size_t nplaces;
	/* without places, it fails although nothing is lost: verdict_text(), or several of them in
	 * one text */
	const char *outcome;
	bool is_read;  /* no failure: what recovery reads of the place must be durable */
	bool is_any;   /* whatever fails with that outcome counts */
	bool is_found; /* the answer: it is not gone */
};

struct cure_trial {
	struct crash_counters counters; /* runs and diagnosis_runs: what it took so far */
	/* inside */
	const struct plan *plan;
	struct runner *runner;
	struct recovery recovery;
	struct references refs;
	struct explorer explorer;
	struct verdict_cache passed;
	unsigned stops;
	const struct allowed *allowed;
	struct cure_trial_finding *list; /* of the present walk */
	size_t n;
	const struct logged *logged;
	/* of the states that were there before a window; how many were looked at */
	uint64_t before_key, nbefore;
	uint64_t enough; /* runs: then failure points are only probed */
	/* at the present failure point; settled: recovery copes with nothing lost, which is all
	 * that matters there */
	bool is_failed, is_begun, is_possible, is_settled;
};

/* Borrows plan and options: those of the exploration that found what is tried. -1: recovery cannot
 * be run. */
int cure_trial_init(struct cure_trial *t, const struct plan *p, const struct crash_options *o,
		    struct error *err);
void cure_trial_release(struct cure_trial *t);
uint64_t cure_trial_nruns(const struct cure_trial *t);
/* One walk over the trace. supposed: the change. logged: ranges of which a failing state may have
 * either content; NULL: none. 1: each finding was looked for. 0: max_runs, or the time, ended
 * first; those with is_found are still there, the others are not decided. -1: recovery cannot be
 * run. */
int cure_trial_run(struct cure_trial *t, const struct whatif *supposed, const struct logged *logged,
		   struct cure_trial_finding *list, size_t n, uint64_t max_runs, struct error *err);

#endif
