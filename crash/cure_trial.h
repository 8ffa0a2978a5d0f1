/* Tries on a trace whether a change of the program cures findings: recovery runs on the crash
 * states that the trace has with the change.
 *
 * A finding is *gone* if no state fails any more because it loses the finding's place. A state
 * fails because of the place if recovery copes once the place's stores return: a state may also
 * lose the place and fail because of another bug. If the finding failed although nothing was lost,
 * it is gone if recovery ends in another way with nothing lost, or if the states are those from
 * before the window. It would prove nothing that the reported state became impossible, because
 * another state may fail instead.
 *
 * All failure points of the finding's windows are explored lazily, in two walks. In the first, each
 * gets a few runs, and then the state that loses only the place and the state that loses most; when
 * half of the runs are used up, only these two are tried. The second walk finishes the failure
 * points of which states are left.
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
 * account/causes/trials.h makes the changes and the windows of findings; it tells whether two
 * findings have one cause. */
#ifndef CRASH_CURE_TRIAL_H
#define CRASH_CURE_TRIAL_H

#include "crash/findings/exploration.h"
#include "crash/search/references.h"
#include "crash/search/verdict_cache.h"
#include "crash/states/logged.h"

#define CURE_TRIAL_WINDOWS 4u

struct cure_trial_window {
	uint64_t first_seq, last_seq; /* crashes right before these events, and between them */
};

struct cure_trial_finding {
	struct cure_trial_window windows[CURE_TRIAL_WINDOWS];
	size_t nwindows;
	const uint32_t *classes; /* site id → number of its place */
	size_t nclasses;
	const uint32_t *places; /* numbers of the places whose store is lost */
	size_t nplaces;
	/* without places, the finding fails although nothing is lost; this is its verdict_text(),
	 * or several of them in one text */
	const char *outcome;
	bool is_read;  /* not a failure: recovery must not read the place while it may be lost */
	bool is_any;   /* any failure with that outcome counts */
	bool is_found; /* the answer: the finding is not gone */
	bool is_cut;   /* without is_found: states are left that were not tried */
};

struct cure_trial {
	struct crash_counters counters; /* runs and diagnosis_runs: those used so far */
	/* the program writes the log of a range after its store, so the log has the wrong bytes */
	bool is_logged_late;
	/* private */
	const struct plan *plan;
	struct runner *runner;
	struct recovery recovery;
	struct references refs;
	struct explorer explorer;
	struct verdict_cache passed;
	unsigned stops;
	const struct allowed *allowed;
	void (*diagnosing)(uint64_t nruns, void *arg);
	void *diagnosing_arg;
	struct cure_trial_finding *list; /* the findings of the present walk */
	size_t n;
	const struct logged *logged;
	/* the states before a window, as a hash, and how many failure points were looked at */
	uint64_t before_key, nbefore;
	uint64_t enough;   /* number of runs after which failure points are only probed */
	uint64_t sample;   /* runs that the exploration gives a failure point; 0: all */
	VEC(uint64_t) cut; /* failure points of which states are left that were not tried */
	bool is_second;    /* the walk that goes on where the first one ended early */
	/* about the present failure point; settled: recovery copes with nothing lost, and no other
	 * state matters */
	bool is_failed, is_begun, is_possible, is_settled;
};

/* Borrows plan and options, which are those of the exploration that made the findings. -1 if
 * recovery cannot be run. */
int cure_trial_init(struct cure_trial *t, const struct plan *p, const struct crash_options *o,
		    struct error *err);
void cure_trial_release(struct cure_trial *t);
uint64_t cure_trial_nruns(const struct cure_trial *t);
/* Walks over the trace and searches each finding. supposed: the change. logged: ranges that a
 * failing state may have with either content, or NULL. 1: each finding was searched, but for
 * those with is_cut. 0: max_runs or the time ended first; findings with is_found are still there,
 * the others are undecided. -1: recovery cannot be run. */
int cure_trial_run(struct cure_trial *t, const struct whatif *supposed, const struct logged *logged,
		   struct cure_trial_finding *list, size_t n, uint64_t max_runs, struct error *err);

#endif
