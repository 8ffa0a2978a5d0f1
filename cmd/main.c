/* Runs pmend's command line: finds the subcommand and calls it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/project_options.h"
#include "cmd/talk/nearest.h"
#include "cmd/talk/wants.h"
#include "cmd/talk/wrap.h"
#include "util/proc.h"

static const struct command *const commands[] = {
	&cmd_record, &cmd_check,  &cmd_crash,      &cmd_explore, &cmd_test,   &cmd_init,
	&cmd_fix,    &cmd_show,   &cmd_pack,       &cmd_index,   &cmd_import, &cmd_merge,
	&cmd_submit, &cmd_doctor, &cmd_completion, NULL
};
#define NCOMMANDS (sizeof commands / sizeof commands[0] - 1)

static void usage_print(FILE *f)
{
	struct wrap w;

	fputs("Usage: pmend COMMAND [ARG]...\n"
	      "       pmend help COMMAND\n"
	      "       pmend --version\n\n"
	      "Finds crash-consistency bugs in programs that keep data in persistent memory.\n\n",
	      f);
	wants_print(f);
	fputs("\nCommands:\n", f);
	wrap_begin(&w, f, 14);
	for (size_t i = 0; i < NCOMMANDS; i++) {
		w.column = (unsigned)fprintf(f, "  %-10s", commands[i]->name);
		wrap_text(&w, commands[i]->help);
		wrap_end(&w);
	}
	fputc('\n', f);
	wrap_begin(&w, f, 0);
	wrap_text(
		&w,
		"Exit status: 0 no correctness bugs found, 1 some found, 2 wrong usage, 3 the program under test or pmend failed.");
	wrap_end(&w);
}

static const struct command *command_find(const char *name)
{
	size_t i;

	for (i = 0; i < NCOMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

/* Is the word a program? Then the user knows what to run, but not that pmend needs to know what to
 * do with it. */
static bool is_program(const char *name)
{
	char *path = strchr(name, '/') ? proc_find(name) : NULL;
	bool is_there = path != NULL;

	free(path);
	return is_there;
}

_Noreturn static void die_unknown(const char *name)
{
	struct nearest n;

	nearest_init(&n, name);
	for (size_t i = 0; i < NCOMMANDS; i++)
		nearest_try(&n, commands[i]->name);
	if (n.word)
		die_usage(NULL, "no such command '%s', did you mean '%s'?", name, n.word);
	if (is_program(name))
		die_usage(NULL, "no such command '%s'; to check a program: 'pmend check -- %s'",
			  name, name);
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
	struct project project = { 0 };
	struct command own;

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
	own = *c;
	own.all = commands;
	own.project = &project;
	own.place_of = project_place;
	return own.run(&own, argc - 1, argv + 1);
}
