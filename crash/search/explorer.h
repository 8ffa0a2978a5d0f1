/* Runs recovery on the states that a crash at one failure point can leave, as a strategy chooses
 * them. */
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
	bool is_single; /* one run a failure point */
	/* runs on whole images do not tell what is read: all contents are wanted beforehand */
	bool is_whole;
	/* explorer.tests says what to test; not every failure point is visited */
	bool is_representative;
	/* At each visit of a failure point, when its lines are known; NULL: there is nothing to
	 * prepare. */
	void (*prepare)(struct explorer *e);
	/* At the first visit: the first runs, and what is to be done then. */
	int (*begin)(struct explorer *e, struct agenda *todo, struct error *err);
};

/* What a worker does first: the first runs of failure points; then what may fail in a way that is
 * not known yet; then all of that at failure points whose neighbours fail alike. */
enum search_stage { STAGE_FIRST_RUNS, STAGE_UNKNOWN, STAGE_ALIKE, STAGES };

#define READ_WORDS 1024u /* 64 bits each */

/* Shared by all workers; counters only grow, but for `busy`. */
struct crash_counters {
	uint64_t next_window;  /* claimed by whoever comes first */
	uint64_t points, runs; /* done */
	uint64_t busy[STAGES]; /* workers that have not left this stage yet */
	uint64_t begun;        /* failure points that had their first runs */
	/* that wait behind all others, because recovery fails alike before and after them */
	uint64_t alike;
	/* of these, those that had more, and have states left when no more may be run */
	uint64_t deeper;
	uint64_t diagnosis_runs, remembered, failures, bugs, fallbacks, cut_points, faults,
		unstable;
	uint64_t shared_runs; /* besides `runs`: that some other failure point had made already */
	/* the same, besides diagnosis_runs */
	uint64_t shared_diagnosis_runs;
	uint64_t lazy_runs;  /* of all runs, those that decided what they read */
	uint64_t whole_runs; /* on whole images, because a lazy one did not count */
	uint64_t hangs;      /* that more time did not help */
	/* runs into the time limit that the end of the time kept from being tried again */
	uint64_t unconfirmed;
	uint64_t uncompared; /* failure points at which a dump was compared with nothing */
	/* of these, those in the middle of guessed operations that overlap */
	uint64_t overlapping;
	/* sets of states that can only repeat a known bug and were left out, and at how many
	 * failure points, without cut ones */
	uint64_t repeats, repeat_points;
	uint64_t impossible; /* states on which recovery could not even be run as whole images */
	uint32_t is_stopped; /* out of budget, or interrupted */
	uint32_t is_interrupted;
	uint32_t has_opened;  /* recovery has opened a PM file, in some run */
	uint32_t has_missed;  /* it has asked for one that was not there */
	uint32_t has_moved;   /* a PM file's address was taken, in some run */
	uint32_t has_sandbox; /* a seccomp filter of recovery was not installed, in some run */
	uint32_t had_file;    /* there was one, in some run */
	uint32_t is_late;     /* stopped for the time, not for the number of runs */
	/* bits, by hash: words that some lazy run read while they were undecided */
	uint64_t read_words[READ_WORDS];
};

/* Some run read one of these bytes while they were undecided, or may have: hashes of other words
 * count as well. */
bool counters_have_read(const struct crash_counters *c, uint64_t addr, uint64_t len_bytes);

struct explorer_limits {
	uint64_t max_runs;    /* of all workers, 0: none */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC, 0: none */
	/* after the deadline, for what a run began: to minimise a failure, to judge a race */
	uint64_t grace_ns;
	uint64_t sample; /* runs at one failure point, 0: all */
	/* states that can only repeat a known bug: all of them, or at each failure point at most as
	 * many runs as all else had there, or a few */
	bool wants_repeats;
	/* recovery refuses to start where there is no PM file at all: nothing is run there */
	bool needs_pool;
	uint64_t seed;
};

/* A behaviour to test at the present failure point: see states_of_stores.h. */
struct explorer_test {
	const uint64_t *seqs; /* its stores, sorted */
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
	/* States that recovery did not cope with: the contents of each line that the run stands
	 * for. 1: the run says nothing, for a limit or the end of the time cut it. */
	int (*on_failure)(struct explorer *e, const uint64_t *left, const struct verdict *v,
			  void *arg, struct error *err);
	bool wants_reads; /* prefer lazy runs, whose decisions tell what was read */
	/* At each visit of a failure point, when its lines are known, before anything is run; NULL:
	 * none. is_again: what was run here counts. */
	void (*on_point)(struct explorer *e, bool is_again, void *arg);
	/* After each run, with the decisions of it still in the runner; NULL: none. */
	void (*on_run)(struct explorer *e, const uint64_t *before, const uint64_t *after,
		       const struct verdict *v, void *arg);
	/* What a run printed that some other failure point had made is needed here, so that it must
	 * be made again; NULL: it is not, if recovery copes. */
	bool (*wants_text)(struct explorer *e, const uint64_t *left, const struct verdict *v,
			   void *arg);
	void *arg;
	/* of the present failure point, set before each visit; NULL: it shares no runs */
	struct window *window;

	/* at the present failure point */
	VEC(struct explorer_test) tests; /* that were asked for; the strategy makes their sets */
	struct state_set set;
	struct states_asked asked; /* what runs read of lines with very many contents */
	bool is_widened;    /* a run read more than was asked for: the failure point begins anew */
	struct big nstates; /* of the set */
	struct surroundings_read around; /* what was read of the trace to explain failures */
	struct allowed allowed;
	uint64_t round; /* of visits, from 0 */
	uint64_t nruns; /* those that others had made count, too */
	/* after the first visit, how the run failed where nothing is lost: verdict_outcome(); 0: it
	 * did not */
	uint64_t first_end;
	uint64_t nshared;  /* of these, those that others had made */
	uint64_t nrepeats; /* of nruns, on states that can only repeat what is known to fail */
	uint64_t pause_at; /* no more runs than that at this visit, 0: all */
	uint64_t random;
	bool is_cut; /* not all states were looked at */
	/* also states that can only repeat what is known to fail here; else they wait for another
	 * visit */
	bool wants_known;
	/* at this visit, a place of recovery read for the first time what some place of the program
	 * stored */
	bool is_new;
	struct agenda *todo;        /* sets of states that wait */
	struct known_losses losses; /* that are known to fail */
	struct seen seen_runs;      /* how the runs ended, those of the diagnosis, too */
	struct big seen;            /* states that the runs stand for */
	/* runs do not belong to the exploration, and failures are not of interest */
	bool is_diagnosis;
	bool is_loaded; /* the runner has this failure point */
	bool is_shared; /* the last run was made by another failure point */
	/* decisions of the last run, if it was one of a window; else the runner has them */
	decision_list taken;
	bool has_taken;
	/* some run did not count because of what is listed for windows: there are none any more */
	bool is_unwatched;
	/* over all of this explorer's points */
	struct big states_seen, states_all;
	/* by place of recovery and of the program: somebody read what may be lost */
	struct map decisions;
	struct run_reads reads;
	struct deaths deaths;     /* where signals came */
	char why_fallback[160];   /* the last reason for whole images */
	char why_impossible[160]; /* and for states on which recovery could not be run */
};

void explorer_release(struct explorer *e);
/* A behaviour to test at the next failure point. */
void explorer_add_test(struct explorer *e, const uint64_t *seqs, size_t nseqs);
/* At the failure point where the walk is: all that there is to run. -1: recovery cannot be run at
 * all. */
int explorer_point(struct explorer *e, struct error *err);
/* The same in several visits, of `runs` runs each (0: as many as there are to do). *rest: NULL at
 * the first visit; after each, what is left to do, NULL: nothing. Known: see wants_known. A visit
 * in the middle of which the budget ends leaves a rest, too. Before the next failure point, a rest
 * is to be put away. */
struct point_rest;
int explorer_visit(struct explorer *e, struct point_rest **rest, uint64_t runs, bool wants_known,
		   struct error *err);
void point_rest_put_away(struct point_rest *r, struct explorer *e);
/* states that may fail in a way that is not known yet */
bool point_rest_has_unknown(const struct point_rest *r);
/* struct explorer's is_new, of the last visit */
bool point_rest_is_new(const struct point_rest *r);
size_t point_rest_size(const struct point_rest *r); /* sets of states that wait */
/* It will not be visited again: what was run there counts. */
void point_rest_free(struct point_rest *r, struct explorer *e);
/* A failing state of the present failure point was explained: what else loses that can only repeat
 * it. survived: the place whose store had to survive, 0: none. */
void explorer_know(struct explorer *e, const uint64_t *state, uint32_t survived);
/* The decisions of the last run, without reads that are only listed for the window. */
size_t explorer_decisions(const struct explorer *e, const struct run_decision **list);
/* The runner has the present failure point from now on; it may be late. */
void explorer_load(struct explorer *e);
/* One run that does not belong to the exploration itself; `state` has one content for each line. */
int explorer_try(struct explorer *e, const uint64_t *state, struct verdict *v, struct error *err);
/* How recovery ends on a state, as a run here showed, or as one more shows that does not belong to
 * the exploration: kind, code, site and why_unsound of the verdict. 1: it was known; 2: it took a
 * run; 0: nobody ran the state, and is_late, so that nobody does. */
int explorer_end_of(struct explorer *e, const uint64_t *state, bool is_late, struct verdict *v,
		    struct error *err);
/* The same, lazily: on a set of states of whatever the runner has loaded. Decisions have no
 * stacks. */
int explorer_ask(struct explorer *e, const uint64_t *set, struct verdict *v, struct error *err);
/* More lazy runs at the present failure point, for on_run only. */
int explorer_again(struct explorer *e, uint64_t max_runs, struct error *err);
/* The states of a set that memory held, the newest content of each line, or that lose all they can.
 * free() it. */
uint64_t *explorer_state(const struct explorer *e, const uint64_t *left);
uint64_t *explorer_oldest(const struct explorer *e, const uint64_t *left);
bool explorer_may_run(struct explorer *e);
/* The deadline and the grace after it are over: runs that only say more of what is known are not
 * worth it any more. */
bool explorer_is_late(const struct explorer *e);
bool explorer_is_interrupted(const struct explorer *e);
uint64_t clock_ns(void);

#endif
