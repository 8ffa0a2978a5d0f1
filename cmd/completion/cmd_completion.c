/* pmend completion: writes the script with which a shell completes pmend's command line, from the
 * option tables. A command shows its table only when it parses, so each command is asked in a
 * separate process, which ends then. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/completion/completion.h"

static const struct completion_shell *const shells[] = { &completion_bash, &completion_zsh,
							 &completion_fish, NULL };

static const struct completion_shell *shell_find(const char *name)
{
	for (size_t i = 0; shells[i]; i++)
		if (strcmp(shells[i]->name, name) == 0)
			return shells[i];
	return NULL;
}

static void ask(const struct command *c, const struct completion_shell *shell)
{
	struct command asked = *c;
	char name[32], *argv[] = { name, NULL };
	int status;
	pid_t pid;

	asked.on_table = shell->command;
	snprintf(name, sizeof name, "%s", c->name);
	fflush(stdout); /* otherwise the child would print it again */
	pid = fork();
	if (pid == 0)
		exit(asked.run(&asked, 1, argv));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("cannot start another process: %s", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != CMD_CLEAN)
		die("cannot write the script");
}

static int completion_run(const struct command *c, int argc, char **argv)
{
	const struct option table[] = { { 0 } };
	const struct completion_shell *shell;

	if (options_parse(c, table, OPTIONS_ANYWHERE, argc, argv) != 1)
		die_usage(c, "exactly one shell is needed: bash, zsh or fish");
	shell = shell_find(argv[0]);
	if (!shell)
		die_usage(c, "the shell is bash, zsh or fish, not '%s'", argv[0]);
	shell->begin(c->all);
	for (size_t i = 0; c->all[i]; i++)
		ask(c->all[i], shell);
	shell->end(c->all);
	return fflush(stdout) ? CMD_FAILED : CMD_CLEAN;
}

const struct command cmd_completion = {
	.name = "completion",
	.help = "write a completion script for bash, zsh or fish",
	.operands = "(bash | zsh | fish)",
	.words = "bash zsh fish",
	.run = completion_run,
};
