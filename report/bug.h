/* The bug record: what every analysis reports and every rendering shows. docs/report.md fixes its
 * JSON form.
 *
 * report_add() for each finding, report_finish() once, then filters (filter.h), then a rendering
 * (format.h). */
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
	BUG_PORTING, /* right where it was recorded; on another architecture only if… */
	BUG_WARNING, /* odd, and for the user to judge */
	BUG_SEVERITIES
};

/* One frame, as far as it is known; strings are NULL and numbers 0 if not. */
struct bug_frame {
	const char *function, *file, *object;
	/* where it was compiled; file may be relative to it. Not kept in reports; NULL if
	 * unknown */
	const char *folder;
	/* the source line when the report was made, without blanks around it; NULL if it could not
	 * be read */
	const char *text;
	uint32_t line, column;
	/* where the function begins; keeps ids stable when the source cannot be read */
	uint32_t function_line;
	uint64_t offset; /* in object */
	bool is_inlined, is_signal;
};

/* The frame of a function at an address, without text; borrows its strings. */
struct symbol;
struct bug_frame bug_frame_of(const struct symbol *s);

struct bug_location {
	const char *role;               /* store | flush | fence | read | lost | survived | tx */
	const struct bug_frame *frames; /* innermost first */
	size_t nframes;
	size_t shown; /* index of the frame that the user should look at */
	/* how many frames just inside it are the user's, too: setters that store for their callers
	 * (source/setters.h) */
	size_t nsetters;
	/* the event, where a trace is at hand, and its site; 0: not known. No rendering shows them:
	 * causes are found by them */
	uint64_t seq;
	uint32_t site;
};

/* One place where dumps differ: the lines of each, joined by newlines, shortened; NULL: that dump
 * has none there, or is not known. */
struct bug_difference {
	uint32_t line; /* of the dump that was found, from 1 */
	const char *before, *after, *found;
};

/* What a dump was compared with. Its texts are shortened around the first difference. */
struct bug_comparison {
	uint64_t operation; /* in flight, from 1; 0: none was, or it is not known */
	const char *name;   /* of it, as annotated; NULL: it has none */
	/* operations are what lies between two outputs of the program; not: PMEND_OP_BEGIN and
	 * PMEND_OP_END */
	bool is_assumed;
	uint64_t nflying;  /* operations of several threads may be in flight at once */
	uint64_t nallowed; /* states that recovery may leave */
	/* those without and with the operation; NULL: not known, or the same as the other */
	const char *before, *after;
	const char *found;
	const struct bug_difference *list; /* the first ones */
	size_t n;
	uint64_t ndifferences; /* all of them */
};

/* What a read of recovery could have found. */
struct bug_value {
	const char *bytes;            /* hexadecimal */
	bool is_taken;                /* in this crash state */
	const struct bug_frame *lost; /* stores that a crash has to lose for it, some of them */
	size_t nlost;
};

/* A read of recovery of bytes that a crash can leave in several ways. */
struct bug_choice {
	struct bug_frame read; /* the line to look at */
	const char *by;        /* which command: "recover", "then", "check" or "dump" */
	const char *file;      /* of persistent memory */
	uint64_t offset;
	uint32_t size_bytes;
	const struct bug_value *values; /* the newest first */
	size_t nvalues;
	uint64_t nall; /* values that there are */
};

/* What a crash did, for bugs that exploring crashes found. */
struct bug_crash {
	/* 0: none; recovery ended so though the program had ended well and nothing was lost */
	uint64_t failure_point;
	const char *outcome; /* how recovery ended: "signal 11, SIGSEGV…" */
	const char *command; /* that ended so */
	const char *output;  /* its last lines, NULL if there were none */
	const char *replay;  /* command that rebuilds this very state */
	uint64_t runs;       /* of recovery, when it was found; 0: not known */
	/* that --replay takes; NULL if it is one of another trace. Not shown by itself */
	const char *state;
	/* the event before which the crash came, and whether nothing was lost by it; as in
	 * bug_location, not shown */
	uint64_t seq;
	bool is_whole;
	/* all ways in which recovery ended on states of this bug, separated by "; "; NULL: there is
	 * one, the outcome */
	const char *endings;
	/* a further run on the same state ended or printed otherwise: a replay may, too */
	bool varies;
	/* recovery fails from failure point first_window to last_window with nothing lost, too; 0:
	 * it was not asked */
	uint64_t first_window, last_window;
	/* "unaligned" or "long": the crash state has only a part of the first lost store, because it
	 * is not aligned, or longer than what is stored at once; NULL: it has none of it */
	const char *torn;
	bool is_flushed_late; /* the first lost store: not before the crash, but after it */
	const struct bug_frame *frames; /* where recovery died, innermost first */
	size_t nframes;
	const struct bug_comparison *comparison; /* NULL: it was not a dump that decided */
	const struct bug_choice *choices;        /* in the order of the reads, the first ones */
	size_t nchoices;
	uint64_t nchoices_all;
};

/* The input that shows it, for bugs that exploring inputs found. */
struct bug_input {
	const char *file;
	const char *command; /* that shows it again */
	uint64_t size;       /* of two, the smaller one is kept */
	const char *first;   /* the file of the input that showed it first; NULL: not known */
};

/* What recovery does with the bytes of a durability bug: in its run on the final state, where
 * nothing is lost; what it reads in other states counts, too. */
enum bug_use {
	BUG_USE_UNKNOWN,
	BUG_USE_READS,
	BUG_USE_OVERWRITES /* before it reads any of them */,
	BUG_USE_NONE
};

/* One of several call paths to a bug. */
struct bug_path {
	/* with the roles and lines of the bug's own, but for flushes and fences of a lost store:
	 * each path may have others, or none */
	const struct bug_location *locations;
	size_t nlocations;
	uint64_t count, executions, first_seq;
	const struct bug_crash *crash; /* NULL: none was found by this path */
};

struct bug {
	char id[17];      /* stable across runs and unrelated edits; filled by report_finish() */
	const char *kind; /* "missing-flush"… */
	enum bug_severity severity;
	const char *message; /* one sentence: what is wrong, here */
	const char *advice;  /* one sentence: what to do about it; NULL: that of the kind */
	enum bug_use use;    /* by recovery */
	uint64_t count;      /* times seen; 0 counts as 1 */
	uint64_t executions; /* of the flush or fence that it is about; 0: not counted */
	uint64_t first_seq;  /* event where it was seen first */
	const struct bug_location *locations; /* the first is where the bug is */
	size_t nlocations;
	/* those it was seen on, in the report's order; none: the report is about one */
	const char *const *platforms;
	size_t nplatforms;
	/* all of them, the bug's own first; none: there is only one. Filled by report_finish() */
	const struct bug_path *paths;
	size_t npaths;
	const struct bug_crash *crash; /* NULL: no crash was involved */
	const struct bug_input *input; /* NULL: there was only one */
	/* findings of the same cause, which go when this one is mended; sorted; they have none of
	 * their own */
	const struct bug *consequences;
	size_t nconsequences;
	/* report/evidence.h: what the trace shows around it; NULL: nothing */
	const struct evidence *evidence;
	/* that did it on its own ("libpmemobj"): none of the user's doing; NULL: it is the
	 * user's */
	const char *library;
	/* one sentence: why it is only a warning, though others of its kind are bugs; NULL: it is
	 * as severe as its kind */
	const char *reason;
	/* a file that crash states do not follow, and on which the verdict depends; NULL: none. The
	 * bug is a warning then */
	const char *undecided_by;
	/* of a consequence: gone when all bugs of the report are mended; that its cause
	 * alone suffices was not shown */
	bool takes_all;
	/* the id of a finding that may have the same cause; no trial decided it, so both are
	 * counted. "": none */
	char may_share_cause[17];
	/* of a report of several tests: whose finding it is; NULL: of the only one */
	const char *test;
};

static inline bool bug_is_kind(const struct bug *b, const char *kind)
{
	return strcmp(b->kind, kind) == 0;
}

/* Recovery fails in a window of failure points, also with nothing lost. */
static inline bool bug_has_window(const struct bug *b)
{
	return b->crash && b->crash->last_window;
}

/* The frame to look at, NULL if nothing is known. */
const struct bug_frame *bug_location_frame(const struct bug_location *l);
/* The user's frame in which it happens: in a setter, where the shown one only calls that. */
const struct bug_frame *bug_location_origin(const struct bug_location *l);
/* The function without lines that the shown line calls in its own object: a part of the program
 * that was compiled without -g, or a library that was linked in. NULL: there is none. Names that
 * begin with two underscores are a library's. inside: the frame that the shown one called. */
const char *bug_location_called(const struct bug_location *l);
const char *bug_frame_called(const struct bug_frame *inside, const struct bug_frame *shown);
const struct bug_frame *bug_frame(const struct bug *b); /* that of the first location */
/* false if one of them has no line */
bool bug_is_same_line(const struct bug_frame *a, const struct bug_frame *b);
/* How many consequences it has with takes_all as given, and the words before their number. */
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
const struct bug_kind *bug_kind_find(const char *name); /* NULL if it is a plug-in's */
const char *bug_severity_name(enum bug_severity s);
/* bug_crash.torn as a sentence, without a full stop */
const char *bug_torn_text(const char *torn);
/* "reads", "overwrites", "never-touches"; NULL if it is not known */
const char *bug_use_name(enum bug_use u);
const char *bug_use_text(enum bug_use u); /* the same as a part of a sentence */
/* this recovery was not seen to rely on what may be lost: one line each, and not in the total */
bool bug_is_last(const struct bug *b);
/* its own or that of its kind; NULL if there is none */
const char *bug_advice(const struct bug *b);

/* A group of update behaviours, of which one was tested on behalf of all. */
struct report_group {
	/* "struct entry"; "key, value, valid": what the representative updates */
	const char *type, *fields;
	const char *places; /* where: "insert (table.c:41), insert (table.c:42)" */
	uint64_t nbehaviours;
	bool is_tested, has_failed;
};

/* What representative testing looked at, and on behalf of what. */
struct report_groups {
	uint64_t by_source, by_dwarf, by_path; /* how many stores were typed by which means */
	/* the latter: they are in a group whose representative was tested */
	uint64_t behaviours, behaviours_tested, behaviours_represented;
	uint64_t followed_up; /* tested because their representative failed */
	uint64_t groups, groups_begun, groups_tested, groups_failed;
	const struct report_group *list; /* those that were not tested first */
	size_t n;                        /* maybe not all */
};

/* An input of an exploration that found something new. */
struct report_found {
	uint64_t number; /* from 1, in the order in which inputs were run */
	const char *file;
	uint64_t new_pm; /* instructions and calls that modified PM for the first time */
	/* seen for the first time; those that are listed under others count, too */
	uint64_t new_bugs;
};

/* How the recording ended, if not well. */
struct report_ending {
	/* "signal", "exit", "time", "process", "thread", "damage", "unknown" */
	const char *how;
	uint32_t code;    /* the signal or exit status */
	const char *text; /* one sentence, without its full stop */
};

/* How far failure points were explored. All of them: each is counted once. */
struct report_depth {
	uint64_t all;         /* 0: it was not told */
	uint64_t whole;       /* every state */
	uint64_t sampled;     /* as many runs as one may have */
	uint64_t deeper;      /* some states more than in the first runs */
	uint64_t first_runs;  /* only these */
	uint64_t not_reached; /* nothing, or the budget ended during the first runs */
};

#define REPORT_FOUND_MAX 500u

struct report_coverage {
	uint64_t events;
	uint64_t failure_points, runs; /* 0: not that kind of analysis */
	/* that the program was run on, by exploring them; 0: not that kind of analysis */
	uint64_t inputs;
	/* of these, those that found something new, in order: the first REPORT_FOUND_MAX */
	const struct report_found *found;
	size_t nfound;
	uint64_t nfound_all;
	/* that were not made: a run of another failure point read the same */
	uint64_t shared_runs;
	uint64_t shared_diagnosis_runs; /* the same of those below; for trials, not in JSON */
	/* besides those: to minimise what failed, to say which bug it is, to judge races */
	uint64_t diagnosis_runs;
	/* failing runs that were counted for a bug because one like them was */
	uint64_t attributed_without_run;
	/* of all runs: accesses that were looked at because of what is undecided or watched, or
	 * beside it */
	uint64_t faults;
	/* those that decided what they read; those on whole images because that was not possible */
	uint64_t lazy_runs, whole_runs;
	/* crash states that the runs stand for, and that there are: decimal; NULL: not counted */
	const char *states, *states_all;
	/* what else to know, such as states that were run as whole images; NULL */
	const char *note;
	const struct report_groups *groups; /* NULL: another strategy */
	struct report_depth depth;
	bool is_complete;
	bool is_told;               /* that it is not, loudly, while it ran */
	const char *why_incomplete; /* all the reasons; NULL if complete */
	const char *const *reasons; /* the same, one by one. n 0: why_incomplete is the only one */
	size_t nreasons;
	/* what was not looked for because nobody asked, as a sentence without its end; NULL */
	const char *not_asked;
};

/* The report is about a part of an analysis. */
struct report_shard {
	uint32_t index, of; /* from 1; of: 0, it is no part */
	/* of this part (of `check`: traces); of these, those that need not be looked at again */
	uint64_t failure_points, done;
	const char *command; /* whose part it is: "crash", "test" or "check"; NULL: "crash" */
	/* of `test`: how the execution is judged when all parts are together; words */
	const char *const *check_options;
	size_t ncheck_options;
	/* equal for parts that belong together: trace, options, programs, pmend's version */
	const char *fingerprint;
	const char *trace; /* of `check`: the first one */
	const char *data;  /* base64: what 'pmend merge' makes findings of */
};

/* Collects bugs, merging those that are one source situation; owns copies of everything given to
 * it. */
struct report;

struct report *report_new(void);
void report_free(struct report *r);

/* Merges what has the same kind and, for all locations, the same role and line: that of the shown
 * frame. Call paths to it (outwards to main, recursion left out) are kept inside. Counts add up,
 * first_seq is the smallest; the first one's text and stacks stay. */
void report_add(struct report *r, const struct bug *b);
/* The source line of a frame, without its newline and without NUL at the end; NULL if it cannot be
 * read. */
const char *report_source_line(struct report *r, const struct bug_frame *f, size_t *len);
/* its number in report/causes.h, whoever called; SIZE_MAX: not there */
size_t report_find_draft(const struct report *r, const struct bug *b);

/* Adds a crash to a bug that is there already, if there is one that report_add() would merge with
 * b; false if not. */
bool report_add_evidence(struct report *r, const struct bug *b);

/* Whether there is such a bug; and of each, what recovery does with its bytes. Before
 * report_finish(). */
bool report_has(const struct report *r, bool (*is_one)(const struct bug *b));
void report_each(const struct report *r, void (*each)(const struct bug *b, void *arg), void *arg);
/* called for each call path */
void report_rank(struct report *r,
		 enum bug_use (*use)(const struct bug *b, uint64_t first_seq, void *arg),
		 void *arg);
/* After report_rank(): whether some other run read what finding i is about while it could be lost;
 * is_complete: all states were run. Nothing if it is about something else. */
void report_rank_explored(struct report *r, size_t i, bool is_read, bool is_complete);

/* No bug: what a program that was killed had no chance to flush. Has no id, and is neither counted
 * nor filtered. */
void report_add_unflushed(struct report *r, const struct bug *b);
void report_set_ending(struct report *r, const struct report_ending *e);
/* NULL: it ended well, or nobody knows */
const struct report_ending *report_ending(const struct report *r);
size_t report_nunflushed(const struct report *r);
const struct bug *report_unflushed(const struct report *r, size_t i);

/* Facts of the head. */
void report_set_platform(struct report *r, const char *platform);
const char *report_platform(const struct report *r); /* NULL: it was not told */
void report_add_argument(struct report *r, const char *argument);
/* bug_advice(), unless following it would do harm on another platform. */
const char *report_advice(const struct report *r, const struct bug *b);

/* By what the program does: nobody asked for a platform. */
void report_set_platform_chosen(struct report *r, bool is_chosen);
bool report_is_platform_chosen(const struct report *r);

/* That platform was not judged, and why. Makes the coverage incomplete. */
void report_add_omitted(struct report *r, const char *platform, const char *why);
size_t report_ncommand(const struct report *r);
const char *report_argument(const struct report *r, size_t i); /* of the command */
/* How a server was recorded, for doing it again: option words (--client, --ready, --stop). */
void report_add_recipe(struct report *r, const char *word);
size_t report_nrecipe(const struct report *r);
const char *report_recipe(const struct report *r, size_t i);
/* How `pmend crash` was told to explore, for running it again: option words. */
void report_add_crash_option(struct report *r, const char *word);
size_t report_ncrash_options(const struct report *r);
const char *report_crash_option(const struct report *r, size_t i);
bool report_has_head(const struct report *r); /* platform or command were told */
/* The analysis is incomplete for this reason, too. One that is known already is not added. */
void report_add_reason(struct report *r, const char *why);
void report_set_coverage(struct report *r, const struct report_coverage *c);
const struct report_coverage *report_coverage(const struct report *r); /* NULL: it was not told */
/* What this sort of analysis does not look for, as a sentence without its end; NULL: recovery was
 * run on crash states. */
const char *report_not_covered(const struct report *r);
/* How far failure points were explored, as a sentence without its end; NULL: each was explored
 * whole, or none was. free() it. */
char *report_depth_text(const struct report *r);

void report_set_shard(struct report *r, const struct report_shard *s);
/* NULL: the report is about all of it */
const struct report_shard *report_shard(const struct report *r);

/* A folder that relative source paths may be meant from, such as a compilation folder or the one in
 * which the program was recorded. Asked in the order given, then the current one. Give all of them
 * before report_finish(). */
void report_add_folder(struct report *r, const char *folder);

/* Adds the bugs of another platform's report, which must not be finished either. From then on the
 * report is about several platforms and each bug says on which it was seen. Counts, also that of
 * events, are those of the platform that has most. */
void report_merge(struct report *r, const struct report *other);

/* Adds the bugs of another run's report, which is finished, with what is listed under them. input:
 * what the run was on; NULL: each bug says it itself. */
void report_add_run(struct report *r, const struct report *other, const struct bug_input *input);

/* Gives ids and sorts: the best evidence first (order.c), then by id. Nothing can be added
 * afterwards. */
void report_finish(struct report *r);

/* A JSON report that pmend wrote, finished. NULL if it cannot be read or is no such report. */
struct report *report_read(const char *path, struct error *err);
/* the same of a text; name: for the error */
struct report *report_parse(const char *text, const char *name, struct error *err);

/* Of a finished report: makes a bug of each call path, all with the id of the whole, and of what is
 * listed under a cause. */
void report_unfold(struct report *r);
/* Then: the number of the finding that bug i is a call path of, below report_norigins(); and of the
 * one that causes it, REPORT_NO_CAUSE if none does. */
#define REPORT_NO_CAUSE SIZE_MAX
size_t report_norigins(const struct report *r);
size_t report_origin(const struct report *r, size_t i);
size_t report_origin_cause(const struct report *r, size_t i);
/* the same functions call each other, at whatever lines */
bool bug_is_same_path(const struct bug *a, const struct bug *b);

/* What counted as a library besides the system's (--library), for running it again. */
void report_add_library_glob(struct report *r, const char *glob);
size_t report_nlibrary_globs(const struct report *r);
const char *report_library_glob(const struct report *r, size_t i);

/* What libraries did on their own and is not listed: for each library, a number. */
size_t report_nlibraries(const struct report *r);
const char *report_library(const struct report *r, size_t i, size_t *nbugs);

/* What is left after filtering, sorted. */
size_t report_nbugs(const struct report *r);
const struct bug *report_bug(const struct report *r, size_t i);
size_t report_count(const struct report *r, enum bug_severity s); /* bugs of this severity */
/* correctness findings that recovery was not seen to read: bug_is_last() */
size_t report_count_unread(const struct report *r);
/* The findings of one line are one entry of the text and the page, where the first of them stands.
 * Those of bug_is_last() stand alone. One spot per finding, in the order of the report; free()
 * them. */
struct report_spot {
	bool is_first;
	size_t next; /* the next finding of this line; SIZE_MAX: none */
};
struct report_spot *report_spots(const struct report *r);

#endif
