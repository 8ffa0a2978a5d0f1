/* Declares what all subcommands share: the row of the table, the exit statuses, and the ways to
 * tell the user something. A new subcommand is a cmd_*.c with its struct command, and a row in
 * main.c. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "cmd/options.h"
#include "util/notes.h"

enum cmd_status {
	CMD_CLEAN = 0,  /* no correctness bug was found, and nothing that --fail-on names */
	CMD_FOUND = 1,  /* something was found */
	CMD_USAGE = 2,  /* wrong usage */
	CMD_FAILED = 3, /* the program under test or pmend failed */
};

struct command {
	const char *name;
	const char *help;     /* one line */
	const char *operands; /* the end of its synopsis */
	/* the words that its operand can be, for completion; NULL: it is a file, or a program */
	const char *words;
	/* argv[0] is the subcommand; returns cmd_status */
	int (*run)(const struct command *c, int argc, char **argv);
	/* all commands, ended by NULL; main.c sets it for the one that it runs */
	const struct command *const *all;
	/* the project file's contents, and where it set an option that a message is about. main.c
	 * sets it, too; NULL: no file is read */
	struct project *project;
	char *(*place_of)(const struct command *c, const char *text);
	/* gets the options instead of parsing them; NULL: they are parsed */
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

/* Prints one line "pmend: …" that says what to do next, then exits with CMD_FAILED or CMD_USAGE. */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die_usage(const struct command *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Sets a function that is called once with the message when die() ends pmend. NULL: none. */
void die_tell(void (*tell)(const char *text, void *arg), void *arg);

/* Prints a line "pmend: …", like die(), and continues. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Messages of a session, printed in the same way. */
extern const struct notes user_notes;

#endif
