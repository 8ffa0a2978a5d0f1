/* What all subcommands share: the table's row, the exit statuses, and the ways to say something to
 * the user. Adding a subcommand is adding a cmd_*.c with its struct command, and a row in
 * main.c. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "cmd/options.h"
#include "util/notes.h"

enum cmd_status {
	CMD_CLEAN = 0,  /* no correctness bug found, nor what --fail-on names */
	CMD_FOUND = 1,  /* some found */
	CMD_USAGE = 2,  /* wrong usage */
	CMD_FAILED = 3, /* the program under test or pmend failed */
};

struct command {
	const char *name;
	const char *help;     /* one line */
	const char *operands; /* the end of its synopsis */
	/* those that its operand can be, for completion; NULL: it is a file, or a program */
	const char *words;
	/* argv[0] is the subcommand; returns cmd_status */
	int (*run)(const struct command *c, int argc, char **argv);
	/* every command, with NULL at the end; main.c sets it for the one that it runs */
	const struct command *const *all;
	/* what a project file says, and where it said what a message is about. main.c sets them,
	 * too; NULL: nothing is read */
	struct project *project;
	char *(*place_of)(const struct command *c, const char *text);
	/* given the options instead of parsing by them; NULL: they are parsed */
	void (*on_table)(const struct command *c, const struct option *table);
};

extern const struct command cmd_record;
extern const struct command cmd_check;
extern const struct command cmd_crash;
extern const struct command cmd_explore;
extern const struct command cmd_test;
extern const struct command cmd_fix;
extern const struct command cmd_show;
extern const struct command cmd_pack;
extern const struct command cmd_index;
extern const struct command cmd_import;
extern const struct command cmd_doctor;
extern const struct command cmd_merge;
extern const struct command cmd_submit;
extern const struct command cmd_completion;
extern const struct command cmd_init;

/* One line "pmend: …" that says what to do next, then exit with CMD_FAILED or CMD_USAGE. */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die_usage(const struct command *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Is called with the message when die() ends pmend, once. NULL: nobody wants to know any more. */
void die_tell(void (*tell)(const char *text, void *arg), void *arg);

/* The same line, and go on. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* What a session has to say goes the same way. */
extern const struct notes user_notes;

#endif
