/* pmend's command line: finds the subcommand and hands over. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

static const struct command *const commands[] = { &cmd_record, &cmd_check, &cmd_crash, &cmd_explore, &cmd_test, &cmd_fix, &cmd_show, &cmd_import };
#define NCOMMANDS (sizeof commands / sizeof commands[0])

static void usage_print(FILE *f)
{
	size_t i;

	fprintf(f, "Usage: pmend COMMAND [ARG]...\n"
		   "       pmend help COMMAND\n"
		   "       pmend --version\n\n"
		   "Finds crash-consistency bugs in programs that keep data in persistent memory.\n\n"
		   "Commands:\n");
	for (i = 0; i < NCOMMANDS; i++)
		fprintf(f, "  %-8s  %s\n", commands[i]->name, commands[i]->help);
	fprintf(f, "\nExit status: 0 no correctness bugs found, 1 some found, 2 wrong usage, 3 the program under test or pmend failed.\n");
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* How many letters to insert, delete or change to get from a to b; UINT_MAX-like 99 for words too long to be ours. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned row[2][33], i, j, na = (unsigned)strlen(a), nb = (unsigned)strlen(b);

	if (na > 32 || nb > 32)
		return 99;
	for (j = 0; j <= nb; j++)
		row[0][j] = j;
	for (i = 1; i <= na; i++) {
		unsigned *now = row[i % 2], *before = row[(i - 1) % 2];

		now[0] = i;
		for (j = 1; j <= nb; j++)
			now[j] = min3(before[j] + 1, now[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
	}
	return row[na % 2][nb];
}

static const struct command *command_find(const char *name)
{
	size_t i;

	for (i = 0; i < NCOMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static const struct command *command_nearest(const char *name)
{
	const struct command *nearest = NULL;
	unsigned best = 3; /* more than two typos is another word */
	size_t i;

	for (i = 0; i < NCOMMANDS; i++) {
		unsigned d = edit_distance(name, commands[i]->name);

		if (d < best || (strlen(name) > 1 && best == 3 && strncmp(name, commands[i]->name, strlen(name)) == 0)) {
			best = d < best ? d : 2;
			nearest = commands[i];
		}
	}
	return nearest;
}

_Noreturn static void die_unknown(const char *name)
{
	const struct command *nearest = command_nearest(name);

	if (nearest)
		die_usage(NULL, "no such command '%s', did you mean '%s'?", name, nearest->name);
	die_usage(NULL, "no such command '%s'", name);
}

static int help_run(int argc, char **argv)
{
	char help[] = "--help", *sub_argv[] = { NULL, help, NULL };
	const struct command *c;

	if (argc < 2) {
		usage_print(stdout);
		return fflush(stdout) ? CMD_FAILED : CMD_CLEAN;
	}
	c = command_find(argv[1]);
	if (!c)
		die_unknown(argv[1]);
	sub_argv[0] = argv[1];
	return c->run(c, 2, sub_argv);
}

int main(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		usage_print(stderr);
		return CMD_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("pmend " PMEND_VERSION);
		return fflush(stdout) ? CMD_FAILED : CMD_CLEAN;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help_run(1, argv + 1);
	if (strcmp(argv[1], "help") == 0)
		return help_run(argc - 1, argv + 1);
	if (argv[1][0] == '-')
		die_usage(NULL, "unknown option %s", argv[1]);
	c = command_find(argv[1]);
	if (!c)
		die_unknown(argv[1]);
	return c->run(c, argc - 1, argv + 1);
}
