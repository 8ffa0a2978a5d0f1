/* Defines the rows of option tables about exploring crashes, for the commands that explore them. */
#ifndef CMD_CRASH_OPTIONS_H
#define CMD_CRASH_OPTIONS_H

#include "cmd/cmd.h"
#include "crash/setup/crash_setup.h"

/* pmend crash --replay, and the options that belong to it. */
struct crash_replay_options {
	const char *state, *keep;
	bool gdb, show_choices;
};

/* Rows of an option table. */
#define CRASH_OPTIONS(s) \
	{ "recover", \
	  0, \
	  "CMDLINE", \
	  "the recovery command; {} stands for the pool (crash: the recorded command is the default)", \
	  OPTION_STRING, \
	  &(s)->recover }, \
		{ "then", \
		  0, \
		  "CMDLINE", \
		  "run this after recovery to continue; {op} is the operation that the crash interrupted", \
		  OPTION_STRING, \
		  &(s)->then }, \
		{ "check",       0, \
		  "CMDLINE",     "run this after recovery; its exit status decides", \
		  OPTION_STRING, &(s)->check }, \
		{ "dump", \
		  0, \
		  "CMDLINE", \
		  "run this after recovery; it prints the logical state, which pmend compares", \
		  OPTION_STRING, \
		  &(s)->dump }, \
		{ "buffered", \
		  0, \
		  NULL, \
		  "--dump may lack what was acknowledged after the last operation named sync", \
		  OPTION_FLAG, \
		  &(s)->buffered }, \
		{ "recover-ready", \
		  0, \
		  "CMDLINE", \
		  "--recover is a server: repeat this until it succeeds, then --check and --dump", \
		  OPTION_STRING, \
		  &(s)->ready }, \
		{ "ok-status", \
		  0, \
		  "N", \
		  "another exit status of recovery that means success; may be repeated", \
		  OPTION_LIST, \
		  &(s)->ok_status }, \
		{ "strategy",    0, \
		  "NAME",        "lazy (default), representative, eager or prefix", \
		  OPTION_STRING, &(s)->strategy }, \
		{ "failure-points", 0, \
		  "WHERE",          "store: crash before every store, too", \
		  OPTION_STRING,    &(s)->failure_points }, \
		{ "platform", \
		  0, \
		  "P", \
		  "x86-adr (x86-intel, x86-amd), eadr, msync, arm64 or arm64-poc; for files, \",files\" or \",ext4\" behind it (default: the trace's, or x86-adr)", \
		  OPTION_STRING, \
		  &(s)->platform }, \
		{ "jobs",        'j',       "N", "worker processes (default: one per core)", \
		  OPTION_NUMBER, &(s)->jobs }, \
		{ "max-time",    0, "SECONDS", "stop exploring after this time", OPTION_NUMBER, \
		  &(s)->max_time }, \
		{ "max-runs",    0, "N", "stop exploring after N recovery runs", OPTION_NUMBER, \
		  &(s)->max_runs }, \
		{ "sample", \
		  0, \
		  "N", \
		  "at most N runs per failure point, chosen at random (default with lazy: 250); 0: all", \
		  OPTION_NUMBER, \
		  &(s)->sample }, \
		{ "seed", \
		  0, \
		  "N", \
		  "the random seed for --sample (default: a new one, which is printed)", \
		  OPTION_NUMBER, \
		  &(s)->seed }, \
		{ "repeats",   0, \
		  NULL,        "run all states, also those that can only repeat a known bug", \
		  OPTION_FLAG, &(s)->repeats }, \
		{ "window", \
		  0, \
		  "N", \
		  "N neighbouring failure points share their runs (default: 1, none do)", \
		  OPTION_NUMBER, \
		  &(s)->window }, \
		{ "timeout", \
		  0, \
		  "SECONDS", \
		  "time limit of one recovery (default: 10 times that on a clean image, at least 2)", \
		  OPTION_NUMBER, \
		  &(s)->timeout }, \
		{ "max-memory", \
		  0, \
		  "MIB", \
		  "memory limit of recovery, not counting the PM files (default: 2048)", \
		  OPTION_NUMBER, \
		  &(s)->max_memory }, \
		{ "max-file", \
		  0, \
		  "MIB", \
		  "size limit of a file that recovery writes (default: 1024, or twice the largest PM file)", \
		  OPTION_NUMBER, \
		  &(s)->max_file }, \
		{ "max-processes", \
		  0, \
		  "N", \
		  "processes and threads that recovery may have at a time (default: 1000)", \
		  OPTION_NUMBER, \
		  &(s)->max_processes }, \
		{ "stdin",       0, \
		  "FILE",        "standard input of recovery (default: /dev/null)", \
		  OPTION_STRING, &(s)->stdin_path }, \
		{ "failures",    0, \
		  "N",           "crash up to N times: again during recovery (default: 1)", \
		  OPTION_NUMBER, &(s)->failures }, \
		{ "pool-creation", \
		  0, \
		  NULL, \
		  "also crash inside pmemobj_create and similar functions", \
		  OPTION_FLAG, \
		  &(s)->pool_creation }, \
		{ "trace",       0,          "FILE.pmt", "keep the recording in FILE.pmt", \
		  OPTION_STRING, &(s)->trace }, \
	{ \
		"pm", 0, "GLOB", "only files that match GLOB are persistent memory", OPTION_LIST, \
			&(s)->recording.pm \
	}

#define CRASH_GROUP_OPTIONS(s) \
	{ "build", \
	  'p', \
	  "BUILD_DIR", \
	  "representative: the folder with compile_commands.json (default: near the program)", \
	  OPTION_STRING, \
	  &(s)->build_dir }, \
	{ \
		"explain-groups", 0, NULL, \
			"representative: after the report, print the groups with their source lines and sizes", \
			OPTION_FLAG, &(s)->explain_groups \
	}

#define CRASH_RACE_OPTIONS(s) \
	{ "races",     0, \
	  NULL,        "also report reads of recovery that depend on what a crash lost", \
	  OPTION_FLAG, &(s)->races }, \
		{ "strict", \
		  0, \
		  NULL, \
		  "with --races: also report reads of bytes that are the same in all possible contents", \
		  OPTION_FLAG, \
		  &(s)->strict }, \
		{ "commit-var", \
		  0, \
		  "PLACE", \
		  "with --races: stores at PLACE (FILE:LINE or a function) write a commit variable; may be repeated", \
		  OPTION_LIST, \
		  &(s)->commit_vars }, \
	{ \
		"no-trust", 0, NULL, \
			"analyse PMDK's libraries like other code; with --races: report PMDK's own reads, too", \
			OPTION_FLAG, &(s)->no_trust \
	}

/* The user's words for the part of the work to do. */
struct shard_options {
	const char *shard, *part;
};
#define SHARD_OPTIONS(o) \
	{ "shard",       0, \
	  "I/N",         "do only part I of N of the work; 'pmend merge' combines the parts", \
	  OPTION_STRING, &(o)->shard }, \
	{ \
		"continue", 0, "PART.json", \
			"save the part in PART.json; if it exists, continue where it ended", \
			OPTION_STRING, &(o)->part \
	}

#define CRASH_REPLAY_OPTIONS(r) \
	{ "replay",      0,          "STATE", "run recovery on this one state of a report", \
	  OPTION_STRING, &(r)->state }, \
		{ "keep",        0, \
		  "FOLDER",      "with --replay: keep the pool files of the state in FOLDER", \
		  OPTION_STRING, &(r)->keep }, \
		{ "gdb", 0, NULL, "with --replay: run recovery under gdb", OPTION_FLAG, &(r)->gdb }, \
	{ \
		"show-choices", 0, NULL, \
			"with --replay: list the reads that had several possible values", \
			OPTION_FLAG, &(r)->show_choices \
	}

/* Rows for how crashes are explored, without what happens to the report: a bundle and a report may
 * contain these options. Needs the header that has LIBRARY_OPTION. */
#define CRASH_PACKED_OPTIONS(s) \
	CRASH_OPTIONS(s), LIBRARY_OPTION(&(s)->library_globs), CRASH_GROUP_OPTIONS(s), \
		CRASH_RACE_OPTIONS(s)

/* Prepares the options. Dies if one is wrong: before a long run, not after it. */
void crash_options_begin(const struct command *c, struct crash_setup *s);

#endif
