/* The state of a running exploration, which the files below share. Each file uses only those before
 * it:
 *
 *	folder   what is kept on disk, and from which a later start continues
 *	sharing  what other explorations of the same folder do
 *	found    which input found something new
 *	report   what was found so far
 *	judge    turns one run into bugs
 *	slots    runs one input, beside those of other slots
 *	loop     runs inputs until nothing is left to try
 *
 * exploring_begin() and exploring_end() surround all of it. */
#ifndef EXPLORE_SESSION_EXPLORING_H
#define EXPLORE_SESSION_EXPLORING_H

#include "explore/explore.h"
#include "explore/session/reservations.h"
#include "explore/session/input.h"
#include "explore/session/pools.h"
#include "session/checking.h"
#include "session/crashing.h"
#include "session/schedules.h"
#include "util/tempdir.h"

struct exploring {
	/* set by the caller */
	struct checking checking;
	struct crash_setup crash; /* used if a recovery is given */
	bool wants_crashes;
	struct parts parts; /* must be complete before exploring_begin() */
	/* how many orders of threads an input is recorded under that does something new; 0: the
	 * threads compete */
	uint32_t nschedules;
	uint64_t schedule_seed;
	const struct notes *notes;
	void (*on_progress)(const struct exploring *x); /* called often; may be NULL */
	void *progress_arg;
	int signal_fd; /* receives signals that end the exploration; -1 after one came */
	/* of the exploration */
	struct pools pools;
	struct explore *explore;
	struct report *report; /* of all runs; not finished */
	char **target;         /* the command line with a scratch pool for {pool} */
	char *const *shown;    /* the command line as the user gave it */
	char *shared;          /* the folder on disk */
	const char *instance;  /* its name among those that share the folder; NULL if it has none */
	char *out;             /* where it writes: the folder, or instances/NAME in it */
	off_t state_bytes;     /* size of the file `state`; nobody else writes to it */
	struct sharing *sharing;
	struct tempdir folder;
	struct reservations reserved; /* files and ports that are reserved */
	struct slot *slots;
	unsigned njobs; /* number of slots in use */
	char *valgrind, *libexec;
	unsigned timeout_ms, longest_ms; /* of a run: its limit, and the longest so far */
	bool is_timeout_learned;
	/* runs that ended, runs begun by this start, events of all runs */
	uint64_t nruns, nstarted, nevents;
	uint64_t ntaken; /* runs of other explorations that are known here */
	/* of the run being judged: instructions and calls that modified PM for the first time */
	uint64_t new_pm;
	VEC(struct report_found) found; /* a row per known run; owns the file names */
	/* correctness bugs, and how many of them the report in the folder has */
	uint64_t nbugs, nbugs_kept;
	size_t nbad;     /* runs whose path could not be read */
	size_t nflooded; /* runs that were ended because they printed too much */
	/* queries that ran out of time, in other explorations and earlier starts */
	size_t nunknown;
	bool has_pm;
	bool is_over; /* the budget is used up: no other schedule begins */
	struct schedules_sum schedules;
	struct map pairs;  /* stores and loads of two threads that some input showed */
	size_t nshortened; /* inputs that lack schedules, because it was over */
};

struct slot;

/* folder.c: the folder on disk. All return -1 if it cannot be read or written. */
/* Creates the folder, or continues the exploration of an earlier start in it. */
int exploring_open(struct exploring *x, const char *name, struct error *err);
/* Appends lines to the file `state`. */
int exploring_state_add(struct exploring *x, const char *text, struct error *err);
/* Saves the input of the run that ended. */
int exploring_input_save(const struct exploring *x, const struct explore_input *in,
			 struct error *err);
/* Notes the run in `state`, after everything else of it was written: from now on the input counts
 * as run, and other explorations may read it. */
int exploring_save(struct exploring *x, const struct explore_input *in, struct error *err);
/* Notes an instruction that modified PM. 1: it is new. */
int exploring_note_pm(struct exploring *x, const char *object, uint64_t offset, struct error *err);
char *exploring_input_file(const struct exploring *x, uint64_t run);
/* schedule: its number; 0: the threads competed. */
char *exploring_trace_file(const struct exploring *x, uint64_t run, uint32_t schedule);
/* Files in the folder of any exploration. */
/* Gives the folder of the exploration with this name; "." is the exploration that has no name. */
char *exploring_instance_folder(const struct exploring *x, const char *name);
char *exploring_folder_input_file(const char *folder, uint64_t run);
char *exploring_path_file(const char *folder, uint64_t run);
/* Reads a run's input. False if the file is missing or has another length. */
bool exploring_input_read(const struct exploring *x, const char *folder, uint64_t run,
			  uint8_t *bytes);
char *exploring_head(const struct exploring *x);         /* the first line of `state` */
char *exploring_text_read(const char *name, off_t from); /* NULL if it cannot be read */

/* sharing.c: follows the other explorations of the folder. Does nothing while there are none. */
struct sharing *sharing_new(struct exploring *x);
void sharing_free(struct sharing *s);
/* Reads what other explorations have written: from time to time or, if is_now, at once. 1: there
 * was something new. */
int sharing_sync(struct sharing *s, bool is_now, struct error *err);
/* Waits for other explorations when nothing is left to try here. 0: the others have nothing left
 * either; 1: call this again in a moment. */
int sharing_wait(struct sharing *s, struct error *err);
/* Frees the claim of an input that will not be run. */
void sharing_give_back(struct sharing *s, uint64_t key);
/* Asks whether another exploration found bugs since this one began. */
bool sharing_has_bugs(const struct sharing *s);
void sharing_add_reports(struct sharing *s, struct report *r); /* adds what others found */
size_t sharing_nothers(const struct sharing *s);
uint64_t sharing_nruns(const struct sharing *s); /* runs of others */

/* found.c: which input found something new. */
/* Notes a run; number is that of explore.h + 1. Takes ownership of the file name. */
void exploring_found(struct exploring *x, uint64_t number, char *file, uint64_t new_pm);
/* Lists the runs that found something, by number. free() the list, not the names. */
size_t exploring_found_list(struct exploring *x, struct report_found **list);
void exploring_found_release(struct exploring *x);

/* report.c: makes an empty report, which then collects what was found */
struct report *exploring_report(const struct exploring *x); /* creates an empty one */
/* Writes into the report how far the exploration is. */
void exploring_cover(struct exploring *x);
int exploring_report_save(struct exploring *x, struct error *err); /* the report must be finished */
/* Writes the report to the folder if the report has a new bug. */
int exploring_report_keep(struct exploring *x, struct error *err);
/* Finishes the report of all explorations that share the folder; the caller frees it. */
struct report *exploring_report_end(struct exploring *x);

/* judge.c */
/* Does the trace modify PM with code that had not done so in any run that ended? */
bool exploring_is_new(struct exploring *x, const char *trace);
/* Judges what was recorded in the slot. */
int exploring_judge(struct exploring *x, const struct slot *s, struct error *err);

/* loop.c */
struct budget {
	struct exploring *x;
	double until_s; /* 0: no limit */
	uint64_t runs;
	bool is_first; /* stop after the first bug */
};
int exploring_run(struct exploring *x, struct budget *budget, struct error *err);
double exploring_now_s(void);

/* exploring.c */
struct exploring_options {
	char **target;
	const char *out;                  /* the folder on disk */
	const char *instance;             /* NULL if it has no name */
	const char *build_dir, *template; /* NULL if not given */
	struct word_list seeds;
	const struct search_strategy *strategy;
	uint64_t random; /* seeds the random numbers */
	unsigned njobs, timeout_ms, solver_timeout_ms;
	bool is_timeout_learned; /* the limit follows from the first run */
};
/* Prepares everything for exploring_run(). -1 if that is impossible; call exploring_end()
 * anyway. */
int exploring_begin(struct exploring *x, const struct exploring_options *o, struct error *err);
void exploring_end(struct exploring *x); /* stops runs and puts the user's files back */

#endif
