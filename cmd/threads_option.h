/* Checks --threads (record loads and locks, too) and the options that name functions which lock and
 * unlock, for the commands that record a program. */
#ifndef CMD_THREADS_OPTION_H
#define CMD_THREADS_OPTION_H

#include "cmd/cmd.h"
#include "record/recorder.h"

/* Rows of an option table. */
#define THREADS_OPTIONS(recording) \
	{ "threads", \
	  0, \
	  NULL, \
	  "what threads read of each other before it is durable: record loads and locks, too", \
	  OPTION_FLAG, \
	  &(recording)->threads }, \
		{ "lock-call", \
		  0, \
		  "FUNCTION", \
		  "with --threads: FUNCTION takes the lock at its first argument; may be repeated", \
		  OPTION_LIST, \
		  &(recording)->lock_calls }, \
	{ \
		"unlock-call", 0, "FUNCTION", \
			"with --threads: FUNCTION gives that lock back; may be repeated", \
			OPTION_LIST, &(recording)->unlock_calls \
	}

/* Dies if one of these options is wrong, or if a trace lacks what it needs. words: the ntraces
 * traces, or the program if that is 0. */
void threads_option_check(const struct command *c, const struct recording *r, char *const *words,
			  size_t ntraces);

#endif
