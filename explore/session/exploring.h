/* What the files of `pmend explore` share. */
#ifndef EXPLORE_SESSION_EXPLORING_H
#define EXPLORE_SESSION_EXPLORING_H

#include "cmd/check_options.h"
#include "explore/explore.h"
#include "explore/session/input.h"
#include "explore/session/pools.h"
#include "session/checking.h"
#include "session/crashing.h"

struct exploring {
	struct checking checking;
	struct crash_setup crash; /* where a recovery is given */
	bool wants_crashes;
	struct parts parts;
	struct pools pools;
	struct explore *explore;
	struct report *report; /* of all runs, not finished */
	char **target;
	char *out;	 /* the folder that is kept */
	char *folder;	 /* scratch */
	struct slot *slots;
	unsigned njobs; /* how many slots are used */
	char *valgrind, *libexec;
	unsigned timeout_ms, longest_ms; /* of a run: limit, and what it took so far */
	bool is_timeout_learned;
	int signal_fd; /* what wants us to stop */
	uint64_t nruns, nstarted, nevents; /* done in all, begun by this start, of both together */
	uint64_t nbugs, nbugs_kept; /* reports of such that are no matter of speed; and how many of them the report in the folder has */
	size_t nbad; /* runs whose path could not be read */
	bool has_pm;
};

struct slot;
/* explore_run.c: what was recorded in that slot. */
void exploring_judge(struct exploring *x, const struct slot *s);

/* explore_out.c: the folder. */
void exploring_open(struct exploring *x, const char *name); /* makes it, or goes on where an earlier start stopped */
char *exploring_input_file(const struct exploring *x, uint64_t run);
char *exploring_path_file(const struct exploring *x, uint64_t run);
void exploring_save(struct exploring *x, const struct explore_input *in); /* after the run */
char *exploring_trace_file(const struct exploring *x, uint64_t run);
bool exploring_note_pm(struct exploring *x, const char *object, uint64_t offset); /* true: it is new */

/* explore_report.c: what is told. */
void exploring_progress(const struct exploring *x, bool is_last);
struct report *exploring_report(const struct exploring *x); /* a new one */
void exploring_cover(struct exploring *x);		    /* says in it how far the exploration is */
void exploring_report_save(struct exploring *x);	    /* it is finished */
void exploring_report_keep(struct exploring *x);	    /* if it has a bug that the folder's has not */

/* explore_loop.c */
struct budget {
	struct exploring *x;
	double until_s; /* 0: no limit */
	uint64_t runs;
	bool is_first; /* a bug is enough */
};
void exploring_run(struct exploring *x, struct budget *budget);
bool exploring_is_stopped(void *x); /* a signal came */
double exploring_now_s(void);

/* cmd_explore.c */
_Noreturn void exploring_die(struct exploring *x, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* after putting all files back */

#endif
