/* The bug record: what every analysis reports and every rendering shows. docs/report.md documents
 * it as JSON. Use: report_add() for each finding, report_finish() once, then filters (filter.h),
 * then a rendering (format.h). */
#ifndef REPORT_BUG_H
#define REPORT_BUG_H

#include <string.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum bug_severity {
	BUG_CORRECTNESS,
	BUG_PERFORMANCE,
	BUG_PORTING, /* safe on the recorded architecture; a bug only on another one */
	BUG_WARNING, /* suspicious; the user has to judge it */
	BUG_SEVERITIES
};

/* One stack frame. What is unknown is NULL or 0. */
struct bug_frame {
	const char *function, *file, *object;
	/* the folder in which the file was compiled; `file` may be relative to it. Not kept in
	 * saved reports; NULL: unknown */
	const char *folder;
	/* the source line as it was when the report was made, without blanks around it; NULL if it
	 * could not be read */
	const char *text;
	uint32_t line, column;
	/* the line on which the function begins; ids use it when the source cannot be read */
	uint32_t function_line;
	uint64_t offset; /* byte offset in `object` */
	bool is_inlined, is_signal;
};

/* Makes the frame for an address from its symbol, without `text`. The frame borrows the symbol's
 * strings. */
struct symbol;
struct bug_frame bug_frame_of(const struct symbol *s);

struct bug_location {
	/* what happens here: store | flush | fence | read | lost | survived | tx */
	const char *role;
	const struct bug_frame *frames; /* innermost first */
	size_t nframes;
	size_t shown; /* index of the frame to show to the user */
	/* how many frames just inside the shown one are the user's, too: setters that store for
	 * their callers (source/setters.h) */
	size_t nsetters;
	/* the event in the trace and the site that did it; 0: unknown. Only the search for causes
	 * uses them, no rendering shows them */
	uint64_t seq;
	uint32_t site;
};

/* One place where dumps differ. Each string is that dump's lines, joined by newlines and shortened.
 * NULL: the dump has no line there, or the dump is not known. */
struct bug_difference {
	uint32_t line; /* line number in the dump of this crash state, from 1 */
	const char *before, *after, *found;
};

/* What the dump of a crash state was compared with. The texts are cut to the part around the first
 * difference. */
struct bug_comparison {
	/* number of the operation in flight, from 1; 0: none was in flight, or unknown */
	uint64_t operation;
	const char *name; /* the operation's name from its annotation; NULL: it has none */
	/* operations were taken to be what lies between two outputs of the program; false: the
	 * program marks them with PMEND_OP_BEGIN and PMEND_OP_END */
	bool is_assumed;
	/* or to be what lies between a request and its answer */
	bool is_request;
	/* how many operations may have been in flight at once (several threads) */
	uint64_t nflying;
	uint64_t nallowed; /* how many states recovery may leave */
	/* the dumps without and with the operation; NULL: unknown, or `after` equals `before` */
	const char *before, *after;
	const char *found;
	const struct bug_difference *list; /* the first differences */
	size_t n;
	uint64_t ndifferences; /* how many differences there are in all */
};

/* One value that a read of recovery could have returned. */
struct bug_value {
	const char *bytes; /* the value's bytes as hexadecimal digits */
	bool is_taken;     /* recovery read this value in this crash state */
	/* stores that a crash has to lose to leave this value; some of them */
	const struct bug_frame *lost;
	size_t nlost;
};

/* A read of recovery whose bytes a crash can leave in several ways. */
struct bug_choice {
	struct bug_frame read; /* where recovery reads */
	const char *by;        /* which command read: "recover", "then", "check" or "dump" */
	const char *file;      /* name of the persistent-memory file */
	uint64_t offset;
	uint32_t size_bytes;
	const struct bug_value *values; /* the values that could be read, newest first */
	size_t nvalues;
	uint64_t nall; /* how many values there are in all */
};

/* What happened in a crash state. Bugs found by exploring crashes have it. */
struct bug_crash {
	/* where the program crashed; 0: it did not crash: it ended well, nothing was lost, and
	 * recovery still ended like this */
	uint64_t failure_point;
	const char *outcome; /* how recovery ended: "signal 11, SIGSEGV…" */
	const char *command; /* the command that ended so */
	const char *output;  /* the last lines that it printed; NULL if none */
	const char *replay;  /* the command line that rebuilds this crash state */
	/* how many runs of recovery were made until this was found; 0: unknown */
	uint64_t runs;
	/* the argument of --replay; NULL if it belongs to another trace. Not shown by itself */
	const char *state;
	/* the crash came before event `seq`; `is_whole`: it lost nothing. Not shown */
	uint64_t seq;
	bool is_whole;
	/* all the ways in which recovery ended on states of this bug, joined by "; "; NULL: only as
	 * `outcome` says */
	const char *endings;
	/* a second run on the same state ended or printed otherwise, so a replay may do so, too */
	bool varies;
	/* recovery fails from failure point first_window to last_window even if nothing is lost; 0:
	 * not tried */
	uint64_t first_window, last_window;
	/* "unaligned" or "long": the crash state has only a part of the first lost store, because
	 * it is not aligned, or longer than what is stored at once; NULL: it has none of it */
	const char *torn;
	bool is_flushed_late; /* the first lost store is flushed, but only after the crash */
	const struct bug_frame *frames; /* where recovery died, innermost first */
	size_t nframes;
	const struct bug_comparison *comparison; /* NULL: recovery was not judged by a dump */
	/* the first reads that had a choice, in the order in which recovery made them */
	const struct bug_choice *choices;
	size_t nchoices;
	uint64_t nchoices_all;
};

/* The input that shows the bug. Bugs found by exploring inputs have it. */
struct bug_input {
	const char *file;
	const char *command; /* the command that shows the bug again */
	uint64_t size;       /* in bytes; of two inputs that show the bug, the smaller is kept */
	const char *first;   /* the file of the input that showed it first; NULL: not known */
};

/* The orders of threads (schedules) that show the bug. Bugs of a program that was recorded under
 * several of them have it. */
struct bug_schedules {
	const uint32_t *seen; /* their numbers, sorted */
	size_t n;
	const char *trace; /* the trace of one of them; a replay reads it */
};

/* What recovery does with the bytes that a durability bug is about. It is decided by the run of
 * recovery on the final state, where nothing is lost. A read in a run on another state counts,
 * too. */
enum bug_use {
	BUG_USE_UNKNOWN,
	BUG_USE_READS,
	BUG_USE_OVERWRITES /* writes them before it reads any of them */,
	BUG_USE_NONE
};

/* One of several call paths that lead to a bug. */
struct bug_path {
	/* as the bug's own locations, with the same roles and lines. Flushes and fences of a lost
	 * store are the exception: each path may have others, or none */
	const struct bug_location *locations;
	size_t nlocations;
	uint64_t count, executions, first_seq;
	const struct bug_crash *crash; /* NULL: no crash was found on this path */
};

struct bug {
	/* 16 hexadecimal digits and NUL; the same in every run and after unrelated edits. Set by
	 * report_finish() */
	char id[17];
	const char *kind; /* "missing-flush"… */
	enum bug_severity severity;
	const char *message; /* one sentence: what is wrong here */
	const char *advice;  /* one sentence: how to fix it; NULL: the advice of the kind */
	enum bug_use use;    /* what recovery does with the bytes */
	uint64_t count;      /* how often it was seen; 0 counts as 1 */
	uint64_t executions; /* how often the flush or fence was executed; 0: not counted */
	uint64_t first_seq;  /* the first event at which it was seen */
	const struct bug_location *locations; /* the first location is the place of the bug */
	size_t nlocations;
	/* platforms on which the bug was seen, in the report's order; none: the report is about one
	 * platform */
	const char *const *platforms;
	size_t nplatforms;
	/* of followed files: the profiles of file systems that were shown to have it */
	const char *const *profiles;
	size_t nprofiles;
	/* all call paths, the bug's own first; none: there is only one. Set by report_finish() */
	const struct bug_path *paths;
	size_t npaths;
	const struct bug_crash *crash;         /* NULL: no crash was involved */
	const struct bug_input *input;         /* NULL: inputs were not explored */
	const struct bug_schedules *schedules; /* NULL: there was only the recorded order */
	/* findings that have the same cause and vanish when this bug is fixed, sorted. A
	 * consequence has no consequences of its own */
	const struct bug *consequences;
	size_t nconsequences;
	/* what the trace shows around the bug (report/evidence.h); NULL: nothing */
	const struct evidence *evidence;
	/* the library that has the bug ("libpmemobj"), if the user's code is not involved; NULL: it
	 * is the user's */
	const char *library;
	/* one sentence: why this is only a warning although its kind is a bug; NULL: it is as
	 * severe as its kind */
	const char *reason;
	/* the verdict depends on this file, whose crash states are not explored, so the bug is only
	 * a warning; NULL: none */
	const char *undecided_by;
	/* for a consequence: it vanishes when all bugs of the report are fixed. Fixing its cause
	 * alone was not shown to be enough */
	bool takes_all;
	/* id of a finding that may have the same cause. No trial decided it, so both are counted.
	 * "": none */
	char may_share_cause[17];
	/* in a report of several tests: the name of the test that has the bug; NULL: the report is
	 * about one run */
	const char *test;
};

static inline bool bug_is_kind(const struct bug *b, const char *kind)
{
	return strcmp(b->kind, kind) == 0;
}

/* Does recovery fail at a range of failure points even if nothing is lost? */
static inline bool bug_has_window(const struct bug *b)
{
	return b->crash && b->crash->last_window;
}

/* Gives the frame to show for a location; NULL if the location has no frames. */
const struct bug_frame *bug_location_frame(const struct bug_location *l);
/* Gives the frame of the user's code that itself stores, flushes or fences. It differs from the
 * frame to show if that one only calls a setter; then it is the setter's. */
const struct bug_frame *bug_location_origin(const struct bug_location *l);
/* Gives the function without line information that the shown line calls in its own object: either a
 * part of the program that was compiled without -g, or a library that was linked in. Names that
 * begin with two underscores belong to a library. NULL: there is none. `inside` is the frame that
 * `shown` called. */
const char *bug_location_called(const struct bug_location *l);
const char *bug_frame_called(const struct bug_frame *inside, const struct bug_frame *shown);
/* Gives the frame to show for the bug's first location. */
const struct bug_frame *bug_frame(const struct bug *b);
/* Are the two frames on the same source line? False if a line is unknown. */
bool bug_is_same_line(const struct bug_frame *a, const struct bug_frame *b);
/* Counts the consequences that have this takes_all. bug_explains() gives the words that a report
 * puts before the number. */
size_t bug_nconsequences(const struct bug *b, bool takes_all);
const char *bug_explains(bool takes_all);

struct bug_kind {
	const char *name;
	enum bug_severity severity;
	const char *summary; /* one line: what it is */
	const char *advice;  /* what to do about it */
};

/* All kinds that pmend itself reports; ends with a row without name. */
extern const struct bug_kind bug_kinds[];
const struct bug_kind *bug_kind_find(const char *name); /* NULL: a plug-in's kind */
const char *bug_severity_name(enum bug_severity s);
/* Gives bug_crash.torn as a sentence, without a full stop. */
const char *bug_torn_text(const char *torn);
/* Gives the name of a use: "reads", "overwrites" or "never-touches"; NULL if unknown. */
const char *bug_use_name(enum bug_use u);
const char *bug_use_text(enum bug_use u); /* the same, as a part of a sentence */
/* Is the bug one of those on which recovery was not seen to rely? Renderings give such a bug one
 * line at the end and leave it out of the total. */
bool bug_is_last(const struct bug *b);
/* Gives the bug's own advice, or else that of its kind; NULL if there is none. */
const char *bug_advice(const struct bug *b);

/* A group of update behaviours. One of them, the representative, was tested on behalf of all. */
struct report_group {
	/* what the representative updates: "struct entry" and "key, value, valid" */
	const char *type, *fields;
	/* where the group's updates are: "insert (table.c:41), insert (table.c:42)" */
	const char *places;
	uint64_t nbehaviours;
	bool is_tested, has_failed;
};

/* What representative testing tested, and what that stands for. */
struct report_groups {
	/* number of stores whose type came from the source, from DWARF, or from the call path */
	uint64_t by_source, by_dwarf, by_path;
	/* behaviours_represented: those in a group whose representative was tested */
	uint64_t behaviours, behaviours_tested, behaviours_represented;
	uint64_t followed_up; /* tested later, since their representative failed */
	uint64_t groups, groups_begun, groups_tested, groups_failed;
	const struct report_group *list; /* groups whose representative was not tested */
	size_t n;                        /* length of `list`, which may be cut */
};

/* An input of an exploration that showed something new. */
struct report_found {
	uint64_t number; /* from 1, in the order in which the inputs were run */
	const char *file;
	uint64_t new_pm; /* how many instructions and calls modified PM for the first time */
	/* findings seen for the first time, also those listed as consequences of others */
	uint64_t new_bugs;
};

/* How the recording ended, if it did not end well. */
struct report_ending {
	/* "signal", "exit", "time", "process", "thread", "damage", "unknown" */
	const char *how;
	uint32_t code;    /* the signal or exit status */
	const char *text; /* the same as one sentence, without a full stop */
};

/* How many failure points were explored how far. Each is counted once. */
struct report_depth {
	uint64_t all;         /* number of failure points; 0: unknown */
	uint64_t whole;       /* every crash state was tried */
	uint64_t sampled;     /* the limit of runs per failure point was reached */
	uint64_t deeper;      /* some states were tried besides those of the first runs */
	uint64_t first_runs;  /* only the states of the first runs were tried */
	uint64_t not_reached; /* no state was tried, or the budget ended during the first runs */
};

/* How many orders of threads were recorded. */
struct report_schedules {
	uint64_t seed, recorded; /* recorded is 0: only the recorded order */
	uint64_t different;      /* these were judged; the others repeat one of them */
	/* in these, time or input decided, too, so that the same seed may give another order */
	uint64_t departed;
	/* those that were given up because the threads only waited for each other, or that took
	 * too long */
	uint64_t given_up;
	uint64_t pairs; /* pairs of a store and a load that could meet, and did in no schedule */
};

#define REPORT_FOUND_MAX 500u

struct report_coverage {
	uint64_t events;
	uint64_t failure_points, runs; /* 0: the analysis explores no crash states */
	/* number of inputs that the program was run on; 0: the analysis explores no inputs */
	uint64_t inputs;
	/* the inputs that showed something new, in order; at most REPORT_FOUND_MAX */
	const struct report_found *found;
	size_t nfound;
	uint64_t nfound_all;
	/* runs that were saved because a run at another failure point had read the same */
	uint64_t shared_runs;
	/* runs to minimise and attribute, whoever made them; for trials, not in JSON */
	uint64_t explaining_runs;
	/* runs besides `runs`: to minimise failures, to tell bugs apart, to judge races */
	uint64_t diagnosis_runs;
	/* failing runs that were counted for a known bug, since a similar run belonged to it */
	uint64_t attributed_without_run;
	/* in all runs: accesses that trapped because they touched undecided or watched bytes, or
	 * bytes in the same page */
	uint64_t faults;
	/* runs that decided bytes when recovery read them, and runs on complete images, where that
	 * was not possible */
	uint64_t lazy_runs, whole_runs;
	/* how many crash states the runs stand for, and how many there are; decimal digits. NULL:
	 * not counted */
	const char *states, *states_all;
	/* something else to know, such as that states were run as complete images; NULL: nothing */
	const char *note;
	const struct report_groups *groups; /* NULL: the strategy was not representative testing */
	struct report_depth depth;
	struct report_schedules schedules;
	bool is_complete;
	/* while pmend ran, the user was already warned that the analysis is incomplete */
	bool is_told;
	const char *why_incomplete; /* all reasons in one text; NULL if complete */
	/* the same reasons, one per string. None: why_incomplete is the only reason */
	const char *const *reasons;
	size_t nreasons;
	/* a sentence without its end: what was not looked for because nobody asked; NULL:
	 * nothing */
	const char *not_asked;
};

/* Says which part (shard) of an analysis the report is about. */
struct report_shard {
	/* part `index` (from 1) of `of` parts; of is 0: the report is no part */
	uint32_t index, of;
	/* failure points of this part (for `check`, traces), and how many of them are finished */
	uint64_t failure_points, done;
	const char *command; /* whose part it is: "crash", "test" or "check"; NULL: "crash" */
	/* for `test`: option words that say how the execution is judged once all parts are
	 * together */
	const char *const *check_options;
	size_t ncheck_options;
	/* equal for all parts that belong together; made from trace, options, programs and pmend's
	 * version */
	const char *fingerprint;
	const char *trace; /* for `check`: the first trace */
	const char *data;  /* base64: what `pmend merge` needs to compute the findings */
};

/* Collects bugs and merges those of one place in the source. It owns copies of all that it is
 * given. */
struct report;

struct report *report_new(void);
void report_free(struct report *r);

/* Adds a bug. It is merged with an earlier one of the same kind if all their locations agree in
 * role and in the line of the shown frame. Each call path from main is kept in the merged bug
 * (without recursion). Counts are added, first_seq is the smallest; text and stacks are those of
 * the first. */
void report_add(struct report *r, const struct bug *b);
/* Returns the source line of a frame, without newline and without NUL at its end; NULL if it cannot
 * be read. */
const char *report_source_line(struct report *r, const struct bug_frame *f, size_t *len);
/* Gives the number that report/causes.h uses for this bug, whatever its callers; SIZE_MAX: the bug
 * is not in the report. */
size_t report_find_draft(const struct report *r, const struct bug *b);

/* Adds the crash of b to the bug with which report_add() would merge b. False: there is no such
 * bug. */
bool report_add_evidence(struct report *r, const struct bug *b);

/* report_has() asks whether is_one() is true for some bug; report_each() calls each() for all bugs.
 * Both only before report_finish(). */
bool report_has(const struct report *r, bool (*is_one)(const struct bug *b));
void report_each(const struct report *r, void (*each)(const struct bug *b, void *arg), void *arg);
/* Sets what recovery does with the bytes of each bug. use() is called for each call path and each
 * instruction of it. */
void report_rank(struct report *r,
		 enum bug_use (*use)(const struct bug *b, uint64_t first_seq, void *arg),
		 void *arg);
/* Completes the message of finding i after report_rank(). is_read: another run of recovery read its
 * bytes while they could be lost. is_complete: all crash states were run. Does nothing unless
 * report_rank() said that recovery does not read them. */
void report_rank_explored(struct report *r, size_t i, bool is_read, bool is_complete);

/* Adds a store that a killed program had no chance to flush. It is no bug: it has no id, is not
 * counted and not filtered. */
void report_add_unflushed(struct report *r, const struct bug *b);
void report_set_ending(struct report *r, const struct report_ending *e);
/* Says how the recording ended; NULL: it ended well, or that is unknown. */
const struct report_ending *report_ending(const struct report *r);
size_t report_nunflushed(const struct report *r);
const struct bug *report_unflushed(const struct report *r, size_t i);

/* Facts for the head of the report. */
void report_set_platform(struct report *r, const char *platform);
const char *report_platform(const struct report *r); /* NULL: not set */
void report_add_argument(struct report *r, const char *argument);
/* Gives bug_advice(); NULL if the advice would do harm on another platform of the report. */
const char *report_advice(const struct report *r, const struct bug *b);

/* Notes whether pmend chose the platform by what the program does, since the user named none. */
void report_set_platform_chosen(struct report *r, bool is_chosen);
/* Files were followed, and judged by this profile. is_only: the program used no memory beside
 * them. */
void report_set_files(struct report *r, const char *profile, bool is_only);
/* The profile; NULL: no files were followed. *is_only as above. */
const char *report_files(const struct report *r, bool *is_only);
bool report_is_platform_chosen(const struct report *r);

/* Notes that a platform was not judged, and why. The coverage becomes incomplete. */
void report_add_omitted(struct report *r, const char *platform, const char *why);
size_t report_ncommand(const struct report *r);
const char *report_argument(const struct report *r, size_t i); /* word i of the command line */
/* Adds a word of the options with which a server was recorded (--client, --ready, --stop), so that
 * it can be recorded again. */
void report_add_recipe(struct report *r, const char *word);
size_t report_nrecipe(const struct report *r);
const char *report_recipe(const struct report *r, size_t i);
/* Adds a word of --files DIR or --files-except GLOB, with which files were followed. */
void report_add_files_option(struct report *r, const char *word);
size_t report_nfiles_options(const struct report *r);
const char *report_files_option(const struct report *r, size_t i);
/* Adds a word of the options with which `pmend crash` explored, so that it can explore again. */
void report_add_crash_option(struct report *r, const char *word);
size_t report_ncrash_options(const struct report *r);
const char *report_crash_option(const struct report *r, size_t i);
bool report_has_head(const struct report *r); /* the platform or the command is set */
/* Adds a reason why the analysis is incomplete, unless it is known already. */
void report_add_reason(struct report *r, const char *why);
void report_set_coverage(struct report *r, const struct report_coverage *c);
const struct report_coverage *report_coverage(const struct report *r); /* NULL: not set */
/* Says what this kind of analysis cannot find, as a sentence without its end; NULL: recovery was
 * run on crash states, so nothing is missing. */
const char *report_not_covered(const struct report *r);
/* Says how far failure points were explored, as a sentence without its end. NULL: each was explored
 * completely, or none was explored. free() it. */
char *report_depth_text(const struct report *r);

void report_set_shard(struct report *r, const struct report_shard *s);
/* Gives the part (shard) of the analysis that the report is about; NULL: it is about the whole
 * analysis. */
const struct report_shard *report_shard(const struct report *r);

/* Adds a folder in which relative source paths are looked up, such as the compilation folder or the
 * one in which the program was recorded. They are tried in the order given, then the current
 * folder. Add all of them before report_finish(). */
void report_add_folder(struct report *r, const char *folder);

/* Adds the bugs of another platform's report; neither report may be finished. From then on each bug
 * says on which platforms it was seen. Each count (also of events) is the largest one of any
 * platform. */
void report_merge(struct report *r, const struct report *other);

/* Adds the bugs of another run's finished report, and their consequences. input: what that run was
 * run on; NULL: each bug has its own input. */
void report_add_run(struct report *r, const struct report *other, const struct bug_input *input);

/* Gives ids and sorts: the best evidence first (order.c), then by id. Nothing can be added
 * afterwards. */
void report_finish(struct report *r);

/* Reads a JSON report that pmend wrote; it is finished. NULL if it cannot be read or is no such
 * report. */
struct report *report_read(const char *path, struct error *err);
/* Reads a JSON report from a text, like report_read(); `name` is for error messages. */
struct report *report_parse(const char *text, const char *name, struct error *err);

/* Makes a bug of its own of each call path and of each consequence. All call paths keep the id of
 * their bug. The report must be finished. */
void report_unfold(struct report *r);
/* After report_unfold(): the number of the finding to which bug i belonged, below
 * report_norigins(), and the number of the finding that causes it; REPORT_NO_CAUSE: none. */
#define REPORT_NO_CAUSE SIZE_MAX
size_t report_norigins(const struct report *r);
size_t report_origin(const struct report *r, size_t i);
size_t report_origin_cause(const struct report *r, size_t i);
/* Have both bugs the same call path? The same functions must call each other; lines do not
 * matter. */
bool bug_is_same_path(const struct bug *a, const struct bug *b);

/* Adds a glob that --library added to the system's libraries, so that the analysis can be
 * repeated. */
void report_add_library_glob(struct report *r, const char *glob);
size_t report_nlibrary_globs(const struct report *r);
const char *report_library_glob(const struct report *r, size_t i);

/* Counts the libraries that have findings which are not listed. report_library() gives a library's
 * name and the number of these findings. */
size_t report_nlibraries(const struct report *r);
const char *report_library(const struct report *r, size_t i, size_t *nbugs);

/* Counts the bugs that are left after filtering. report_bug() gives them, sorted. */
size_t report_nbugs(const struct report *r);
const struct bug *report_bug(const struct report *r, size_t i);
/* Counts the bugs of this severity. */
size_t report_count(const struct report *r, enum bug_severity s);
/* Counts the correctness bugs on which recovery was not seen to rely: bug_is_last(). */
size_t report_count_unread(const struct report *r);
/* Where each finding is printed. All findings of one source line share an entry, which stands where
 * the first of them does. Findings for which bug_is_last() holds stand alone. The array has one
 * spot per finding, in the order of the report; free() it. */
struct report_spot {
	bool is_first;
	size_t next; /* the next finding of the same line; SIZE_MAX: none */
};
struct report_spot *report_spots(const struct report *r);

#endif
