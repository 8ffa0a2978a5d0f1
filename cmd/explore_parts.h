/* Reads the options that say which input of a program is symbolic: files, arguments, standard input
 * and the like. */
#ifndef CMD_EXPLORE_PARTS_H
#define CMD_EXPLORE_PARTS_H

#include "cmd/cmd.h"
#include "explore/session/input.h"

struct part_options { /* the command line's options */
	struct word_list files, args, envs;
	const char *stdin_len, *socket, *memory_len;
};

/* Rows of an option table. */
#define PART_OPTIONS(o) \
	{ "sym-file",   0, \
	  "PATH[:LEN]", "make this file's content symbolic; may be repeated", \
	  OPTION_LIST,  &(o)->files }, \
		{ "sym-stdin",   0, \
		  "LEN",         "make LEN bytes of standard input symbolic", \
		  OPTION_STRING, &(o)->stdin_len }, \
		{ "sym-arg",   0, \
		  "N[:LEN]",   "make the N-th argument symbolic; may be repeated", \
		  OPTION_LIST, &(o)->args }, \
		{ "sym-env",    0, \
		  "NAME[:LEN]", "make this environment variable symbolic; may be repeated", \
		  OPTION_LIST,  &(o)->envs }, \
		{ "sym-socket",  0, \
		  "PORT[:LEN]",  "make what a client sends to this TCP port symbolic", \
		  OPTION_STRING, &(o)->socket }, \
	{ \
		"sym-memory", 0, "LEN", "make LEN bytes symbolic that PMEND_SYMBOLIC() names", \
			OPTION_STRING, &(o)->memory_len \
	}

/* Adds the parts to p. Dies if an option makes no sense. target is the program's command line.
 * is_parallel: several runs at the same time. */
void explore_parts_read(struct parts *p, const struct command *c, const struct part_options *o,
			char **target, bool is_parallel);
void part_options_release(struct part_options *o);

#endif
