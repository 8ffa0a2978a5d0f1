/* Writes the script for zsh, an autoloaded function of its completion system. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/completion/completion.h"

static void begin(const struct command *const *all)
{
	(void)all;
	fputs("#compdef pmend\n"
	      "# zsh completion for pmend; 'pmend completion zsh' writes it.\n\n"
	      "# A trace or a report, or a program and its own arguments.\n"
	      "_pmend_operands() {\n"
	      "\tif (( CURRENT == 1 )); then\n"
	      "\t\t_alternative 'files:file:_files' 'programs:program:_command_names -e'\n"
	      "\telse\n"
	      "\t\t_normal\n"
	      "\tfi\n"
	      "}\n",
	      stdout);
}

static void option_spec(const struct command *c, const struct option *o)
{
	static const char *const how[] = { [COMPLETES_NOTHING] = " ",
					   [COMPLETES_FILES] = "_files",
					   [COMPLETES_FOLDERS] = "_files -/",
					   [COMPLETES_PROGRAMS] = "_cmdstring" };
	struct completion what = completion_of(c, o);
	const bool is_repeated = o->type == OPTION_LIST;

	fputs("\t\t", stdout);
	if (o->letter && is_repeated)
		printf("'*'{-%c,--%s}'", o->letter, o->name);
	else if (o->letter)
		printf("'(-%c --%s)'{-%c,--%s}'", o->letter, o->name, o->letter, o->name);
	else
		printf("'%s--%s", is_repeated ? "*" : "", o->name);
	putchar('[');
	completion_quote(o->help, "[]\\");
	putchar(']');
	if (o->arg) {
		fputs(o->type == OPTION_MAYBE ? "::" : ":", stdout);
		completion_quote(o->arg, ":\\");
		if (what.words)
			printf(":(%s)", what.words);
		else
			printf(":%s", how[what.what]);
	}
	fputs("' \\\n", stdout);
	free(what.words);
}

static void command(const struct command *c, const struct option *table)
{
	printf("\n_pmend_%s() {\n\t_arguments -s -S \\\n", c->name);
	for (const struct option *o = table; o->name; o++)
		option_spec(c, o);
	fputs("\t\t'(-h --help)'{-h,--help}'[print a short help text]' \\\n", stdout);
	if (c->words)
		printf("\t\t'1: :(%s)'\n}\n", c->words);
	else
		fputs("\t\t'*:: :_pmend_operands'\n}\n", stdout);
}

static void end(const struct command *const *all)
{
	fputs("\n_pmend() {\n"
	      "\tlocal -a commands=(\n",
	      stdout);
	for (; *all; all++) {
		printf("\t\t'%s:", (*all)->name);
		completion_quote((*all)->help, ":\\");
		fputs("'\n", stdout);
	}
	fputs("\t\t'help:explain a command'\n"
	      "\t)\n"
	      "\tif (( CURRENT == 2 )); then\n"
	      "\t\t_describe command commands\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tlocal command=$words[2]\n"
	      "\tshift words\n"
	      "\t(( CURRENT-- ))\n"
	      "\tif [[ $command == help ]]; then\n"
	      "\t\t_describe command commands\n"
	      "\telif (( $+functions[_pmend_$command] )); then\n"
	      "\t\t_pmend_$command\n"
	      "\tfi\n"
	      "}\n\n"
	      "_pmend \"$@\"\n",
	      stdout);
}

const struct completion_shell completion_zsh = { "zsh", begin, command, end };
