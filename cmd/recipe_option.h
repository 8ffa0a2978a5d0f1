/* Checks --client (what to run when the server is ready), --ready (how to know that) and --stop
 * (how to end the server), for the commands that record a server. */
#ifndef CMD_RECIPE_OPTION_H
#define CMD_RECIPE_OPTION_H

#include "record/recorder.h"

#define RECIPE_OPTIONS(r) \
	{ "client",      0, \
	  "CMDLINE",     "the program is a server: run this when it is ready, then end it", \
	  OPTION_STRING, &(r)->client }, \
		{ "ready", \
		  0, \
		  "TEXT|PORT", \
		  "the server is ready when it has printed TEXT, or listens on PORT (default: on any); may be repeated", \
		  OPTION_LIST, \
		  &(r)->ready }, \
	{ \
		"stop", 0, "SIGNAL|CMDLINE", \
			"how to end the server after the client (default: TERM)", OPTION_STRING, \
			&(r)->stop \
	}

/* For commands whose --timeout has no other meaning. */
#define RECIPE_TIMEOUT_OPTION(n) \
	{ \
		"timeout", 0, "SECONDS", \
			"how long a server may take to be ready, and to end (default: 60)", \
			OPTION_NUMBER, n \
	}

struct command;
/* Dies if the recipe cannot be followed. has_trace: nothing is recorded. target: the program's
 * command line. */
void recipe_option_begin(const struct command *c, struct recipe *r,
			 const struct optional_number *timeout, bool has_trace,
			 char *const *target);

#endif
