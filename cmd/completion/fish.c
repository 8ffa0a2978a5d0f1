/* Writes the script for fish. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/completion/completion.h"

static void begin(const struct command *const *all)
{
	fputs("# fish completion for pmend; 'pmend completion fish' writes it.\n"
	      "complete -c pmend -n __fish_use_subcommand -f\n"
	      "complete -c pmend -n __fish_use_subcommand -l version -d 'print the version'\n"
	      "complete -c pmend -n __fish_use_subcommand -s h -l help -d 'print a short help text'\n"
	      "complete -c pmend -n __fish_use_subcommand -a help -d 'explain a command'\n"
	      "complete -c pmend -n '__fish_seen_subcommand_from help' -f -a '",
	      stdout);
	for (const struct command *const *c = all; *c; c++)
		printf("%s%s", c == all ? "" : " ", (*c)->name);
	fputs("'\n", stdout);
}

/* Quotes a text. In fish, a single quote inside quotes is escaped by a backslash. */
static void quote(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
}

static void option_line(const struct command *c, const struct option *o)
{
	static const char *const how[] = { [COMPLETES_NOTHING] = " -x",
					   [COMPLETES_FILES] = " -r -F",
					   [COMPLETES_FOLDERS] =
						   " -x -a '(__fish_complete_directories)'",
					   [COMPLETES_PROGRAMS] =
						   " -x -a '(__fish_complete_command)'" };
	struct completion what = completion_of(c, o);

	printf("complete -c pmend -n '__fish_seen_subcommand_from %s'", c->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	printf(" -l %s", o->name);
	if (what.words)
		printf(" -x -a '%s'", what.words);
	else if (o->arg && o->type != OPTION_MAYBE)
		fputs(how[what.what], stdout);
	fputs(" -d '", stdout);
	quote(o->help);
	fputs("'\n", stdout);
	free(what.words);
}

static void command(const struct command *c, const struct option *table)
{
	printf("\ncomplete -c pmend -n __fish_use_subcommand -a %s -d '", c->name);
	quote(c->help);
	fputs("'\n", stdout);
	for (const struct option *o = table; o->name; o++)
		option_line(c, o);
	printf("complete -c pmend -n '__fish_seen_subcommand_from %s' -s h -l help -d 'print a short help text'\n",
	       c->name);
	if (c->words)
		printf("complete -c pmend -n '__fish_seen_subcommand_from %s' -f -a '%s'\n",
		       c->name, c->words);
}

static void end(const struct command *const *all)
{
	(void)all;
}

const struct completion_shell completion_fish = { "fish", begin, command, end };
