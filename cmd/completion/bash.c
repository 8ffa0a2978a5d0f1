/* Writes the script for bash. It needs only bash. With the package bash-completion, words after
 * "--" are completed as that program's own command line. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/completion/completion.h"

static void begin(const struct command *const *all)
{
	fputs("# bash completion for pmend; 'pmend completion bash' writes it.\n"
	      "_pmend_reply() {\n"
	      "\tmapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\")\n"
	      "}\n\n"
	      "_pmend() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} commands i\n"
	      "\tcommands='",
	      stdout);
	for (; *all; all++)
		printf("%s ", (*all)->name);
	fputs("help'\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\t_pmend_reply -W \"$commands --help --version\"\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\t[ \"${COMP_WORDS[i]}\" = -- ] || continue\n"
	      "\t\tif declare -F _command_offset >/dev/null; then\n"
	      "\t\t\t_command_offset $((i + 1))\n"
	      "\t\telse\n"
	      "\t\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\t\tif [ \"$((i + 1))\" -eq \"$COMP_CWORD\" ]; then _pmend_reply -c -f; else _pmend_reply -f; fi\n"
	      "\t\tfi\n"
	      "\t\treturn\n"
	      "\tdone\n"
	      "\t# --name=value arrives as three words\n"
	      "\tif [ \"$cur\" = = ]; then\n"
	      "\t\tcur=\n"
	      "\telif [ \"$prev\" = = ]; then\n"
	      "\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "\tfi\n"
	      "\tcase ${COMP_WORDS[1]} in\n"
	      "\thelp)\n"
	      "\t\t_pmend_reply -W \"$commands\"\n"
	      "\t\treturn ;;\n",
	      stdout);
}

static void option_case(const struct command *c, const struct option *o)
{
	static const char *const how[] = {
		[COMPLETES_FILES] = "compopt -o filenames 2>/dev/null; _pmend_reply -f",
		[COMPLETES_FOLDERS] = "compopt -o filenames 2>/dev/null; _pmend_reply -d",
		[COMPLETES_PROGRAMS] = "_pmend_reply -c -f"
	};
	struct completion what = completion_of(c, o);

	if (!o->arg || o->type == OPTION_MAYBE)
		return;
	fputs("\t\t", stdout);
	if (o->letter)
		printf("-%c | ", o->letter);
	printf("--%s) ", o->name);
	if (what.words)
		printf("_pmend_reply -W '%s'; ", what.words);
	else if (what.what != COMPLETES_NOTHING)
		printf("%s; ", how[what.what]);
	fputs("return ;;\n", stdout);
	free(what.words);
}

static void command(const struct command *c, const struct option *table)
{
	printf("\t%s)\n\t\tcase $prev in\n", c->name);
	for (const struct option *o = table; o->name; o++)
		option_case(c, o);
	fputs("\t\tesac\n\t\t[[ $cur == -* ]] && _pmend_reply -W '", stdout);
	for (const struct option *o = table; o->name; o++)
		printf("--%s ", o->name);
	fputs("--help'\n", stdout);
	if (c->words)
		printf("\t\t[[ $cur == -* ]] || { _pmend_reply -W '%s'; return; }\n", c->words);
	fputs("\t\t;;\n", stdout);
}

static void end(const struct command *const *all)
{
	(void)all;
	fputs("\tesac\n"
	      "\t[ ${#COMPREPLY[@]} -gt 0 ] && return\n"
	      "\t[[ $cur == -* ]] && return\n"
	      "\tcompopt -o filenames 2>/dev/null\n"
	      "\t_pmend_reply -f\n"
	      "}\n\n"
	      "complete -F _pmend pmend\n",
	      stdout);
}

const struct completion_shell completion_bash = { "bash", begin, command, end };
