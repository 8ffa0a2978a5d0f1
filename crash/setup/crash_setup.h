/* How crashes are explored: as the user said it, and what that comes to. */
#ifndef CRASH_SETUP_CRASH_SETUP_H
#define CRASH_SETUP_CRASH_SETUP_H

#include "crash/crash.h"
#include "report/bug.h"
#include "record/recording.h"
#include "trace/owner.h"

/* Who watches an exploration, which may take long. */
struct crash_watch {
	void (*begin)(void *arg);
	/* nothing is shown any more, and an interruption ends pmend again */
	void (*end)(void *arg);
	void (*progress)(const struct crash_counters *c, uint64_t npoints, void *arg);
	bool (*is_interrupted)(void *arg);
	void *arg;
};

/* Who has an exploration in parts: distribute/shard. */
struct crash_setup;
struct crash_parts {
	/* nothing is explored yet; -1: it must not be */
	int (*begin)(struct crash_setup *s, const struct plan *p, const char *kept, void *arg,
		     struct error *err);
	void (*tell)(struct report *r, void *arg); /* NULL: nothing */
	/* findings that are known besides; causes are folded, ids are not given yet. NULL: none */
	void (*add)(struct report *r, void *arg);
	void *arg;
};

struct crash_setup {
	/* as the user said it: NULL, or not set, is the default */
	const char *recover, *then, *check, *ready, *dump, *strategy, *failure_points, *platform,
		*stdin_path, *trace, *build_dir;
	struct word_list ok_status, commit_vars, library_globs;
	struct optional_number sample, window, seed, max_time, max_runs, jobs, timeout, failures,
		max_memory, max_file, max_processes;
	/* the trace was recorded with --files: crash states are those of the files; files_option_fit()
	 * has seen to it that nothing else was asked for */
	bool has_files;
	bool races, strict, no_trust, explain_groups, pool_creation, repeats;
	struct shard shard; /* of: 0, all */
	/* what is done elsewhere, or goes on elsewhere; NULL: all is done here */
	const struct crash_parts *parts;
	struct recording recording; /* its platform is the one that was asked for, or NULL */
	const char *kept_in;        /* the folder for traces that are kept; NULL: the current one */
	const struct notes *notes;
	const struct crash_watch *watch; /* NULL: nobody */
	/* what it comes to */
	bool is_platform_chosen; /* by what the program does (platform_choose()) */
	bool is_platform_told;   /* the user knows */
	struct libraries libraries;
	struct index *index; /* of the trace, for parts and for merging them; NULL: none */
	struct crash_options options;
	struct recovery recovery;
	struct runner_command *commands[5]; /* owned: recover, check, ready, dump, then */
	char *runtime, *libexec;
	/* crashes during recovery are explored: what the first crash interrupted; NULL: the program
	 * itself crashes */
	const struct plan *first_plan;
	uint64_t first_seq; /* where that was */
	/* of the trace that crashing_explore() explored last, for trials; owned. NULL: none */
	struct plan *plan;
	struct crash_options explored; /* how it did, with what runs on clean states told */
	char *groups; /* --explain-groups: what to print after the report; NULL: nothing */
};

/* Takes over a command line of recovery, of which there are five; NULL: there is none. -1 if it
 * cannot be read. */
enum crash_command { CRASH_RECOVER, CRASH_CHECK, CRASH_READY, CRASH_DUMP, CRASH_THEN };
int crash_setup_command(struct crash_setup *s, enum crash_command which, const char *line,
			struct error *err);

/* The strategy, the commands, the good statuses and the platform are set already. -1 if something
 * is not installed. */
int crash_setup_begin(struct crash_setup *s, struct error *err);
void crash_setup_end(struct crash_setup *s);
/* Findings that are known elsewhere, before report_finish(). */
void crash_setup_add(const struct crash_setup *s, struct report *r);

/* How the words of a `pmend crash` are understood, for those who find some in a report. cmd/, which
 * has the options, hands it down. */
struct crash_reader {
	/* argv[0] is "crash"; returns how many operands it moved to the front */
	int (*parse)(struct crash_setup *s, int argc, char **argv);
	void (*begin)(struct crash_setup *s);
};

/* How long a recording may take, by --max-time; 0: any time. */
uint32_t crash_setup_record_seconds(const struct crash_setup *s);
/* --max-time counts from now on, not from the start of the command: the recording had as much for
 * itself. */
void crash_setup_begin_time(struct crash_setup *s);
/* Opens the trace for the platform that was chosen; without --recover, takes the recorded command.
 * NULL with err if it cannot. */
struct plan *crash_setup_plan(struct crash_setup *s, const char *trace, struct error *err);

#endif
