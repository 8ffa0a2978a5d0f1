/* Runs recovery on the states that a crash at one failure point can leave, in the order that a
 * strategy chooses. */
#ifndef CRASH_SEARCH_EXPLORER_H
#define CRASH_SEARCH_EXPLORER_H

#include "crash/search/surroundings.h"
#include "crash/search/death.h"
#include "crash/search/known_losses.h"
#include "crash/search/run_reads.h"
#include "crash/search/seen.h"
#include "crash/states/sparse.h"
#include "crash/states/states.h"
#include "crash/search/verdict.h"
#include "crash/search/window.h"
#include "crash/states/walk.h"

struct explorer;
struct agenda;

struct strategy {
	const char *name;
	const char *help;
	bool is_single; /* one run per failure point */
	/* runs use whole images and do not tell what they read; all contents are listed
	 * beforehand */
	bool is_whole;
	/* explorer.tests says what to test; failure points without tests are not visited */
	bool is_representative;
	/* Called at each visit of a failure point, when its lines are known; NULL: nothing to
	 * prepare. */
	void (*prepare)(struct explorer *e);
	/* Called at the first visit: makes the first runs, and puts sets on the agenda. */
	int (*begin)(struct explorer *e, struct agenda *todo, struct error *err);
};

/* The order of a worker's tasks: first runs of all its failure points; then states that may fail in
 * a way that is not known yet; then both at failure points whose neighbours fail alike; then states
 * that can only repeat a known bug; then states whose run the short limit ended. */
enum search_stage { STAGE_FIRST_RUNS, STAGE_UNKNOWN, STAGE_ALIKE, STAGE_KNOWN, STAGES };

#define READ_WORDS 1024u /* words of 64 bits */

/* Counters that all workers share. They only grow, except `busy`. */
struct crash_counters {
	uint64_t next_window;  /* number of the next window that a worker will claim */
	uint64_t points, runs; /* finished failure points; runs */
	uint64_t busy[STAGES]; /* workers that are still in this stage */
	uint64_t begun;        /* failure points that had their first runs */
	/* failure points that wait behind all others, because recovery fails alike before and
	 * after them */
	uint64_t alike;
	/* of those begun, failure points that had more runs, and still had states left when the
	 * budget ended */
	uint64_t deeper;
	uint64_t diagnosis_runs, remembered, failures, bugs, fallbacks, cut_points, faults,
		unstable;
	/* runs that were not made, because another failure point had made the same; not in
	 * `runs` */
	uint64_t shared_runs;
	/* nasked of all failure points: runs to minimise and attribute, whoever made them */
	uint64_t explaining;
	uint64_t unreduced;  /* explanations that ended because of EXPLAIN_RUNS */
	uint64_t lazy_runs;  /* of all runs, those that decided lines by what they read */
	uint64_t whole_runs; /* runs on whole images because a lazy run did not count */
	uint64_t hangs;      /* runs that did not end with more time, either */
	/* failures that were confirmed to be hangs: from then on, runs may be brief */
	uint64_t confirmed_hangs;
	/* sets of states that wait, because the short limit ended their run */
	uint64_t slow;
	/* runs that reached the time limit and were not repeated, because --max-time was over */
	uint64_t unconfirmed;
	/* failure points at which nothing was run: recovery needs a pool, and there was none */
	uint64_t poolless;
	uint64_t uncompared; /* failure points whose dump was not compared with anything */
	/* of these, those inside guessed operations that overlap */
	uint64_t overlapping;
	/* sets of states that were left out because they can only repeat a known bug; and the
	 * failure points that left some out, without cut ones */
	uint64_t repeats, repeat_points;
	uint64_t impossible; /* states on which recovery could not be run at all */
	uint32_t is_stopped; /* the budget is used up, or the user interrupted */
	uint32_t is_interrupted;
	uint32_t has_opened;  /* recovery opened a PM file in some run */
	uint32_t has_missed;  /* recovery asked for a PM file that did not exist */
	uint32_t has_moved;   /* the address of a PM file was taken in some run */
	uint32_t has_sandbox; /* recovery's own seccomp filter was not installed in some run */
	uint32_t had_file;    /* there was a pool in some run */
	uint32_t is_late;     /* stopped because of the time, not the number of runs */
	/* bits, by hash of a word: a lazy run read it while it was undecided */
	uint64_t read_words[READ_WORDS];
};

/* Did a run read one of these bytes while they were undecided? The answer may be yes by mistake,
 * because words with the same hash share a bit. */
bool counters_have_read(const struct crash_counters *c, uint64_t addr, uint64_t len_bytes);

struct explorer_limits {
	uint64_t max_runs;    /* of all workers together; 0: no limit */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: no limit */
	/* time after the deadline to finish what a run began: minimising a failure, judging a
	 * race */
	uint64_t grace_ns;
	uint64_t sample; /* runs per failure point; 0: all */
	/* run all states that can only repeat a known bug; otherwise a failure point gets at most
	 * as many such runs as other runs, but always a few */
	bool wants_repeats;
	/* recovery refuses to start without a pool, so it is not run at such failure points */
	bool needs_pool;
	uint64_t seed;
};

/* A behaviour to test at the present failure point; states_of_stores.h says which states it has. */
struct explorer_test {
	const uint64_t *seqs; /* its stores, ascending */
	size_t nseqs;
	struct sparse_set set; /* its states */
};

struct explorer {
	const struct strategy *strategy;
	struct walk *walk;
	struct runner *runner;
	const struct recovery *recovery;
	struct explorer_limits limits;
	struct crash_counters *counters;
	/* Called with states on which recovery failed: the contents of each line for which the run
	 * stands. Returns 1 if the run proves nothing, because a limit or the end of the time cut
	 * it off. */
	int (*on_failure)(struct explorer *e, const uint64_t *left, const struct verdict *v,
			  void *arg, struct error *err);
	bool wants_reads; /* prefer lazy runs, whose decisions tell what recovery read */
	/* Called at each visit of a failure point, when its lines are known, before any run; NULL:
	 * not called. is_again: runs were made here before, and count. */
	void (*on_point)(struct explorer *e, bool is_again, void *arg);
	/* Called after each run while the runner still has its decisions; NULL: not called. */
	void (*on_run)(struct explorer *e, const uint64_t *before, const uint64_t *after,
		       const struct verdict *v, void *arg);
	/* Is the output needed of a run that another failure point made? Then the run must be made
	 * here again. NULL: not needed if recovery copes. */
	bool (*wants_text)(struct explorer *e, const uint64_t *left, const struct verdict *v,
			   void *arg);
	void *arg;
	/* the window of the present failure point, set before each visit; NULL: it shares no
	 * runs */
	struct window *window;

	/* about the present failure point */
	VEC(struct explorer_test) tests; /* set by the caller; the strategy fills their sets */
	struct state_set set;
	struct states_asked asked; /* bytes that runs read of lines with very many contents */
	/* a run read more bytes than were asked for: the failure point starts again */
	bool is_widened;
	struct big nstates; /* number of states of the set */
	/* the part of the trace that was read to explain failures */
	struct surroundings_read around;
	struct allowed allowed;
	uint64_t round; /* number of the round of visits, from 0 */
	uint64_t nruns; /* includes runs that other failure points had made */
	/* after the first visit: verdict_outcome() of the run with nothing lost if that run failed;
	 * 0: it passed */
	uint64_t first_end;
	uint64_t nshared;      /* of nruns, runs that other failure points had made */
	uint64_t nrepeats;     /* of nruns, those on states that can only repeat a known failure */
	uint64_t repeats_cost; /* of these, in runs that end by themselves */
	bool has_left_repeats; /* such states were left out */
	/* runs are ended by a short limit; how they end proves nothing if they hang */
	bool is_brief;
	bool was_brief; /* the short limit ended the last run */
	/* explorer_end_of(): states whose end was not known yet. Another failure point may have
	 * made the run, so this number does not depend on who explores what. */
	uint64_t nasked;
	uint64_t asked_max; /* of the present explanation */
	uint64_t pause_at;  /* end this visit after so many runs; 0: no limit */
	uint64_t random;
	bool is_cut; /* some states were not tried */
	/* also run states that can only repeat a known failure; otherwise they wait for another
	 * visit */
	bool wants_known;
	/* also run states whose run the short limit ended, with the usual limit */
	bool wants_slow;
	/* in this visit, an instruction of recovery read for the first time what a certain place of
	 * the program stored */
	bool is_new;
	struct agenda *todo;        /* sets of states that wait */
	struct known_losses losses; /* losses that are known to fail */
	struct seen seen_runs;      /* how runs ended, including diagnosis runs */
	struct big seen;            /* number of states for which the runs stand */
	/* runs do not count for the exploration, and failures are ignored */
	bool is_diagnosis;
	bool is_loaded; /* the runner has this failure point */
	bool is_shared; /* the last run was made by another failure point */
	/* decisions of the last run if the run belongs to a window; otherwise the runner has
	 * them */
	decision_list taken;
	bool has_taken;
	/* a run did not count because of the reads listed for the window: no more runs are
	 * shared */
	bool is_unwatched;
	/* over all failure points of this explorer */
	struct big states_seen, states_all;
	/* pairs of an instruction of recovery and a place of the program whose store it read while
	 * it might be lost */
	struct map decisions;
	struct run_reads reads;
	struct deaths deaths;     /* where signals came */
	char why_fallback[160];   /* the last reason for using whole images */
	char why_impossible[160]; /* the last reason why recovery could not be run on a state */
};

void explorer_release(struct explorer *e);
/* Adds a behaviour to test at the next failure point. */
void explorer_add_test(struct explorer *e, const uint64_t *seqs, size_t nseqs);
/* Explores the failure point where the walk stands. -1 if recovery cannot be run at all. */
int explorer_point(struct explorer *e, struct error *err);
/* Explores the failure point in several visits of `runs` runs each (0: no limit). *rest is NULL at
 * the first visit, and has the remaining work after each; NULL then means that all is done.
 * wants_known: see above. If the budget ends during a visit, *rest is set, too. Remove *rest before
 * the next failure point is visited. */
struct point_rest;
int explorer_visit(struct explorer *e, struct point_rest **rest, uint64_t runs, bool wants_known,
		   struct error *err);
void point_rest_put_away(struct point_rest *r, struct explorer *e);
/* are states left that may fail in a way that is not known yet? */
bool point_rest_has_unknown(const struct point_rest *r);
/* Did the last visit read something for the first time (explorer.is_new)? */
bool point_rest_is_new(const struct point_rest *r);
size_t point_rest_size(const struct point_rest *r); /* number of sets that wait */
/* Number of the waiting sets whose run the short limit ended. */
size_t point_rest_slow(const struct point_rest *r);
/* Ends the visits of a failure point; its runs count. */
void point_rest_free(struct point_rest *r, struct explorer *e);
/* Notes a failure of the present failure point that has been explained. state: the failing state.
 * Sets of states that can only repeat this failure wait until all other sets are done. survived:
 * the place whose store had to survive; 0: none. */
void explorer_know(struct explorer *e, const uint64_t *state, uint32_t survived);
/* Gives the decisions of the last run, without reads that are listed only for the window. */
size_t explorer_decisions(const struct explorer *e, const struct run_decision **list);
/* Loads the present failure point into the runner. Often done late, because it may not be
 * needed. */
void explorer_load(struct explorer *e);
/* Makes a run that does not count for the exploration. `state` has one content per line. */
int explorer_try(struct explorer *e, const uint64_t *state, struct verdict *v, struct error *err);
/* Says how recovery ends on a state: fills kind, code, site and why_unsound of the verdict. 1: an
 * earlier run showed it. 2: it took one more run, which does not count for the exploration. 0:
 * nobody ran the state, and because of is_late it was not run. */
int explorer_end_of(struct explorer *e, const uint64_t *state, bool is_late, struct verdict *v,
		    struct error *err);
/* Counts in e->nasked one run that explorer_end_of() did not make. (explorer_end_of() counts its
 * own runs.) */
void explorer_count_asked(struct explorer *e);
/* Makes a lazy run on a set of states of the failure point that the runner has loaded. The run does
 * not count for the exploration, and its decisions have no stacks. */
int explorer_ask(struct explorer *e, const uint64_t *set, struct verdict *v, struct error *err);
/* Makes more lazy runs at the present failure point; for on_run only. */
int explorer_again(struct explorer *e, uint64_t max_runs, struct error *err);
/* Gives the newest state of a set, which the run had in memory, or the oldest. free() it. */
uint64_t *explorer_state(const struct explorer *e, const uint64_t *left);
uint64_t *explorer_oldest(const struct explorer *e, const uint64_t *left);
bool explorer_may_run(struct explorer *e);
/* May the short limit end runs? Races are concluded from all states in order, and a server has
 * several commands that wait for each other. */
bool explorer_may_be_brief(const struct explorer *e);
/* Are the deadline and the time after it over? Then runs are not worth it that only explain known
 * failures further. */
bool explorer_is_late(const struct explorer *e);
bool explorer_is_interrupted(const struct explorer *e);
uint64_t clock_ns(void);

#endif
