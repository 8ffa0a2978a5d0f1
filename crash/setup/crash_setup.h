/* Declares the settings of an exploration of crashes: the user's words, and what they are
 * translated to. */
#ifndef CRASH_SETUP_CRASH_SETUP_H
#define CRASH_SETUP_CRASH_SETUP_H

#include "crash/crash.h"
#include "report/bug.h"
#include "record/recording.h"
#include "trace/owner.h"

/* Callbacks that show the progress of an exploration and can interrupt it. */
struct crash_watch {
	void (*begin)(void *arg);
	/* stops showing progress; after that, an interrupt ends pmend as usual */
	void (*end)(void *arg);
	void (*progress)(const struct crash_counters *c, uint64_t npoints, void *arg);
	bool (*is_interrupted)(void *arg);
	/* after end(): shows how far diagnosis is, and removes that again */
	void (*diagnosing)(uint64_t nruns, void *arg);
	void (*diagnosed)(void *arg);
	/* Asked before anything is spent on naming a finding; then it is told, in one line. */
	bool (*wants_found)(void *arg);
	void (*found)(const char *text, void *arg);
	void *arg;
};

/* Callbacks of an exploration in parts; distribute/shard implements them. */
struct crash_setup;
struct crash_parts {
	/* called before anything is explored; -1: exploring is not allowed */
	int (*begin)(struct crash_setup *s, const struct plan *p, const char *kept, void *arg,
		     struct error *err);
	void (*tell)(struct report *r, void *arg); /* NULL: nothing to add */
	/* adds findings from elsewhere; called after causes are folded and before ids are given.
	 * NULL: none */
	void (*add)(struct report *r, void *arg);
	void *arg;
};

struct crash_setup {
	/* the user's words; NULL or 0 is the default */
	const char *recover, *then, *check, *ready, *dump, *strategy, *failure_points, *platform,
		*stdin_path, *trace, *build_dir;
	struct word_list ok_status, commit_vars, library_globs;
	struct optional_number sample, window, seed, max_time, max_runs, jobs, timeout, failures,
		max_memory, max_file, max_processes;
	/* the trace was recorded with --files: crash states are those of the files;
	 * files_option_fit() has seen to it that nothing else was asked for */
	bool has_files;
	/* the profile of files that the user named; FILES_PROFILES: none */
	enum files_profile profile;
	bool races, strict, no_trust, explain_groups, pool_creation, repeats, buffered;
	struct shard shard; /* shard.of is 0 if all failure points are explored here */
	/* set if parts are explored elsewhere or continue there; NULL: everything is explored
	 * here */
	const struct crash_parts *parts;
	struct recording recording; /* its platform is that of --platform, or NULL */
	/* the folder for traces that are kept; NULL: the current folder */
	const char *kept_in;
	const struct notes *notes;
	const struct crash_watch *watch; /* NULL: no progress */
	/* computed from these words */
	/* the platform was chosen by what the program does (platform_choose()) */
	bool is_platform_chosen;
	bool is_platform_told; /* the user has been told the platform */
	struct libraries libraries;
	struct index *index; /* the trace's index, for parts and for merging them; NULL: none */
	struct crash_options options;
	struct recovery recovery;
	struct runner_command *commands[5]; /* owned: recover, check, ready, dump, then */
	char *runtime, *libexec;
	/* while crashes during recovery are explored, the plan of the first crash; NULL: the
	 * program itself crashes */
	const struct plan *first_plan;
	uint64_t first_seq; /* the event before which the first crash came */
	/* the plan of the trace that crashing_explore() explored last, for trials; owned. NULL:
	 * none */
	struct plan *plan;
	/* the options of that exploration, with what its clean runs found */
	struct crash_options explored;
	char *groups; /* --explain-groups: the text to print after the report; NULL: nothing */
};

/* Parses one of the five command lines and stores it; NULL: there is none. -1 if it cannot be
 * parsed. */
enum crash_command { CRASH_RECOVER, CRASH_CHECK, CRASH_READY, CRASH_DUMP, CRASH_THEN };
int crash_setup_command(struct crash_setup *s, enum crash_command which, const char *line,
			struct error *err);

/* Prepares the exploration after strategy, commands, good statuses and platform are set. -1 if
 * something is not installed. */
int crash_setup_begin(struct crash_setup *s, struct error *err);
void crash_setup_end(struct crash_setup *s);
/* Adds findings that are known elsewhere to the report; to be called before report_finish(). */
void crash_setup_add(const struct crash_setup *s, struct report *r);

/* How the words of a `pmend crash` command are parsed, for code that finds such words in a report.
 * cmd/, which has the options, passes this down. */
struct crash_reader {
	/* argv[0] is "crash"; returns the number of operands, which it moved to the front */
	int (*parse)(struct crash_setup *s, int argc, char **argv);
	void (*begin)(struct crash_setup *s);
};

/* Gives the time limit of a recording in seconds, from --max-time; 0: none. */
uint32_t crash_setup_record_seconds(const struct crash_setup *s);
/* Starts the time of --max-time. It is called after the recording, which has the same limit for
 * itself. */
void crash_setup_begin_time(struct crash_setup *s);
/* Makes the plan of the trace for the chosen platform; without --recover it takes the recorded
 * command. NULL with err if that fails. */
struct plan *crash_setup_plan(struct crash_setup *s, const char *trace, struct error *err);

#endif
