/* A running exploration: what its files share, bottom first.
 *
 *	folder   what is kept, and where a later start goes on
 *	report   what was found so far
 *	judge    one run becomes bugs
 *	slots    one input is run, beside those of other slots
 *	loop     inputs are run until nothing is left to try
 *	exploring_begin() and exploring_end() are around all of it. */
#ifndef EXPLORE_SESSION_EXPLORING_H
#define EXPLORE_SESSION_EXPLORING_H

#include "explore/explore.h"
#include "explore/session/input.h"
#include "explore/session/pools.h"
#include "session/checking.h"
#include "session/crashing.h"
#include "util/tempdir.h"

struct exploring {
	/* the caller's */
	struct checking checking;
	struct crash_setup crash; /* where a recovery is given */
	bool wants_crashes;
	struct parts parts; /* all are added before exploring_begin() */
	const struct notes *notes;
	void (*on_progress)(const struct exploring *x); /* often; NULL: nobody */
	void *progress_arg;
	int signal_fd; /* what wants us to stop; -1: it was said */
	/* of the exploration */
	struct pools pools;
	struct explore *explore;
	struct report *report; /* of all runs, not finished */
	char **target; /* with a scratch pool for {pool} */
	char *const *shown; /* without: as the user gave it */
	char *out;	 /* the folder that is kept */
	struct tempdir folder;
	struct slot *slots;
	unsigned njobs; /* how many slots are used */
	char *valgrind, *libexec;
	unsigned timeout_ms, longest_ms; /* of a run: limit, and what it took so far */
	bool is_timeout_learned;
	uint64_t nruns, nstarted, nevents; /* done in all, begun by this start, of both together */
	uint64_t nbugs, nbugs_kept; /* reports of such that are no matter of speed; and how many of them the report in the folder has */
	size_t nbad; /* runs whose path could not be read */
	size_t nflooded; /* runs that were ended because they printed too much */
	bool has_pm;
};

struct slot;

/* folder.c: the folder that is kept. All return -1 if it cannot be read or written. */
int exploring_open(struct exploring *x, const char *name, struct error *err); /* makes it, or goes on where an earlier start stopped */
int exploring_save(struct exploring *x, const struct explore_input *in, struct error *err); /* after the run */
int exploring_note_pm(struct exploring *x, const char *object, uint64_t offset, struct error *err); /* 1: it is new */
char *exploring_input_file(const struct exploring *x, uint64_t run);
char *exploring_path_file(const struct exploring *x, uint64_t run);
char *exploring_trace_file(const struct exploring *x, uint64_t run);

/* report.c: what was found. */
struct report *exploring_report(const struct exploring *x); /* a new one */
void exploring_cover(struct exploring *x);		    /* says in it how far the exploration is */
int exploring_report_save(struct exploring *x, struct error *err); /* it is finished */
int exploring_report_keep(struct exploring *x, struct error *err); /* if it has a bug that the folder's has not */

/* judge.c: what was recorded in that slot. */
int exploring_judge(struct exploring *x, const struct slot *s, struct error *err);

/* loop.c */
struct budget {
	struct exploring *x;
	double until_s; /* 0: no limit */
	uint64_t runs;
	bool is_first; /* a bug is enough */
};
int exploring_run(struct exploring *x, struct budget *budget, struct error *err);
double exploring_now_s(void);

/* exploring.c */
struct exploring_options {
	char **target;
	const char *out; /* the folder to keep */
	const char *build_dir, *template; /* NULL: none */
	struct word_list seeds;
	const struct search_strategy *strategy;
	uint64_t random; /* a seed of chance */
	unsigned njobs, timeout_ms, solver_timeout_ms;
	bool is_timeout_learned; /* from the first run */
};
/* -1 if it cannot begin; exploring_end() is to be called nevertheless. */
int exploring_begin(struct exploring *x, const struct exploring_options *o, struct error *err);
void exploring_end(struct exploring *x); /* stops what runs, and puts back what is the user's */

#endif
