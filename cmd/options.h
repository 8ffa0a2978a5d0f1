/* Handles the option table of a subcommand: parses argv by it, and prints the synopsis and -h. A
 * test compares the table with the man page. Long options take "--name value" or "--name=value",
 * short ones "-nvalue" or "-n value". */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "util/values.h"
#include "util/vec.h"

struct command;

enum option_type {
	OPTION_FLAG,   /* bool: set to true */
	OPTION_STRING, /* const char *: the last value counts */
	/* the same, but "" without an argument: if the next word is an option, or the only word
	 * that can be the operand */
	OPTION_MAYBE,
	OPTION_LIST,   /* struct word_list: may be repeated */
	OPTION_NUMBER, /* struct optional_number */
};

struct option {
	const char *name;
	char letter;     /* 0: none */
	const char *arg; /* name of its argument in -h; NULL: it takes none */
	const char *help;
	enum option_type type;
	void *value; /* address of the value */
};

enum option_order {
	OPTIONS_ANYWHERE, /* operands and options in any order; "--" ends the options */
	/* the first operand ends the options, because a command line follows; a trace or a bundle
	 * does not end them */
	OPTIONS_FIRST,
};

/* An option on a command line, before it has an effect. */
struct given {
	const struct option *option;
	const char *value; /* NULL: it takes none */
};
struct command_line {
	VEC(struct given) given; /* in order */
	char **operands;         /* end with NULL */
	int noperands;
	bool has_dashes; /* "--" was before the operands, or before some of them */
};
/* Does options_parse() in two steps: options_scan() collects the options, options_apply() sets
 * their values. */
struct command_line options_scan(const struct command *c, const struct option *table,
				 enum option_order order, int argc, char **argv);
void options_apply(const struct command *c, const struct command_line *line);

/* Finds an option by its long name; NULL: there is none. */
const struct option *option_find(const struct option *table, const char *name);
/* Is the argument of the option a file or a folder of the user? */
bool option_is_path(const struct option *o);

/* Parses argv. If c->on_table is set, passes the table to it and exits. Otherwise sets the values
 * and moves the operands to the front of argv; returns their number. The table ends with a row
 * without a name. Prints and exits for -h and for wrong usage. */
int options_parse(const struct command *c, const struct option *table, enum option_order order,
		  int argc, char **argv);

#endif
