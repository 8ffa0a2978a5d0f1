/* A running exploration: what its files share, bottom first.
 *
 *	folder   what is kept, and where a later start goes on
 *	sharing  what other explorations of the same folder do
 *	found    which input found something new
 *	report   what was found so far
 *	judge    one run becomes bugs
 *	slots    one input is run, beside those of other slots
 *	loop     inputs are run until nothing is left to try
 *	exploring_begin() and exploring_end() are around all of it. */
#ifndef EXPLORE_SESSION_EXPLORING_H
#define EXPLORE_SESSION_EXPLORING_H

#include "explore/explore.h"
#include "explore/session/held.h"
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
	char **target;         /* with a scratch pool for {pool} */
	char *const *shown;    /* without: as the user gave it */
	char *shared;          /* the folder that is kept */
	const char *instance;  /* its name among those that share the folder; NULL: none */
	char *out;             /* where it writes: the same, or instances/NAME there */
	off_t state_bytes;     /* of the file `state`, which nobody else writes to */
	struct sharing *sharing;
	struct tempdir folder;
	struct held held; /* files and ports of the input */
	struct slot *slots;
	unsigned njobs; /* how many slots are used */
	char *valgrind, *libexec;
	unsigned timeout_ms, longest_ms; /* of a run: limit, and what it took so far */
	bool is_timeout_learned;
	uint64_t nruns, nstarted, nevents; /* done in all, begun by this start, of both together */
	uint64_t ntaken;                   /* runs of others that are known here */
	/* of the run that is judged: instructions and calls that modified PM for the first time */
	uint64_t new_pm;
	VEC(struct report_found) found; /* a row for each run that is known here; files are owned */
	/* reports of such that are no matter of speed; and how many of them the report in the
	 * folder has */
	uint64_t nbugs, nbugs_kept;
	size_t nbad;     /* runs whose path could not be read */
	size_t nflooded; /* runs that were ended because they printed too much */
	/* questions that the solver had no time for, of others and of an earlier start */
	size_t nunknown;
	bool has_pm;
};

struct slot;

/* folder.c: the folder that is kept. All return -1 if it cannot be read or written. */
/* makes it, or goes on where an earlier start stopped */
int exploring_open(struct exploring *x, const char *name, struct error *err);
/* lines of `state` */
int exploring_state_add(struct exploring *x, const char *text, struct error *err);
/* after the run */
int exploring_input_save(const struct exploring *x, const struct explore_input *in,
			 struct error *err);
/* the last thing: now it counts as run, and others may read it */
int exploring_save(struct exploring *x, const struct explore_input *in, struct error *err);
/* 1: it is new */
int exploring_note_pm(struct exploring *x, const char *object, uint64_t offset, struct error *err);
char *exploring_input_file(const struct exploring *x, uint64_t run);
char *exploring_trace_file(const struct exploring *x, uint64_t run);
/* Likewise of another exploration's folder. */
/* ".": that of the one without a name */
char *exploring_instance_folder(const struct exploring *x, const char *name);
char *exploring_folder_input_file(const char *folder, uint64_t run);
char *exploring_path_file(const char *folder, uint64_t run);
/* false: it is not there, or has another length */
bool exploring_input_read(const struct exploring *x, const char *folder, uint64_t run,
			  uint8_t *bytes);
char *exploring_head(const struct exploring *x);         /* the first line of `state` */
char *exploring_text_read(const char *name, off_t from); /* NULL: it cannot be read */

/* sharing.c: the others. Nothing happens as long as there are none. */
struct sharing *sharing_new(struct exploring *x);
void sharing_free(struct sharing *s);
/* takes over what is new, now and then. 1: something was */
int sharing_sync(struct sharing *s, bool is_now, struct error *err);
/* nothing is left to try. 0: nor is anything in others' hands; 1: try again in a moment */
int sharing_wait(struct sharing *s, struct error *err);
/* it was claimed, and is not going to be run */
void sharing_give_back(struct sharing *s, uint64_t key);
bool sharing_has_bugs(const struct sharing *s); /* another one found some since this one began */
void sharing_add_reports(struct sharing *s, struct report *r); /* what others found */
size_t sharing_nothers(const struct sharing *s);
uint64_t sharing_nruns(const struct sharing *s); /* of them */

/* found.c: which input found something new. */
/* a run, by its number in explore.h + 1; takes the file's name */
void exploring_found(struct exploring *x, uint64_t number, char *file, uint64_t new_pm);
/* those that did, by number, as the present report has it; free() it, not the names */
size_t exploring_found_list(struct exploring *x, struct report_found **list);
void exploring_found_release(struct exploring *x);

/* report.c: what was found. */
struct report *exploring_report(const struct exploring *x); /* a new one */
/* says in it how far the exploration is */
void exploring_cover(struct exploring *x);
int exploring_report_save(struct exploring *x, struct error *err); /* it is finished */
/* if it has a bug that the folder's has not */
int exploring_report_keep(struct exploring *x, struct error *err);
/* of all that share the folder, finished; the caller's */
struct report *exploring_report_end(struct exploring *x);

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
	const char *out;                  /* the folder to keep */
	const char *instance;             /* NULL: it has no name */
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
