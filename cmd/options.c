/* Parses argv by an option table. Options cannot be abbreviated: a script written today must mean
 * the same after options are added. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/talk/nearest.h"
#include "cmd/talk/wrap.h"
#include "util/files.h"
#include "util/alloc.h"

static void synopsis_print(const struct command *c, const struct option *table)
{
	const struct option *o;
	struct wrap w;
	char *word;

	wrap_begin(&w, stdout, (unsigned)printf("Usage: pmend %s ", c->name));
	w.column = w.indent;
	for (o = table; o->name; o++) {
		char letter[] = { o->letter, '\0' };

		word = xasprintf("[%s%s%s%s]%s", o->letter ? "-" : "--",
				 o->letter ? letter : o->name, o->arg ? " " : "",
				 o->arg ? o->arg : "", o->type == OPTION_LIST ? "..." : "");
		wrap_word(&w, word);
		free(word);
	}
	if (c->operands[0])
		wrap_word(&w, c->operands);
	wrap_end(&w);
}

enum { HELP_COLUMN = 30 };

static void option_print(char letter, const char *name, const char *arg, const char *help)
{
	struct wrap w;

	wrap_begin(&w, stdout, HELP_COLUMN);
	w.column = (unsigned)printf("  %c%c%s--%s%s%s", letter ? '-' : ' ', letter ? letter : ' ',
				    letter ? ", " : "  ", name, arg ? " " : "", arg ? arg : "");
	if (w.column + 2 > w.indent) { /* at least two spaces between the option and its help */
		fputs("\n", stdout);
		w.column = 0;
	}
	wrap_text(&w, help);
	wrap_end(&w);
}

_Noreturn static void help_print(const struct command *c, const struct option *table)
{
	char *what = xasprintf("%c%s.", toupper((unsigned char)c->help[0]), c->help + 1);
	struct wrap w;

	synopsis_print(c, table);
	putchar('\n');
	wrap_begin(&w, stdout, 0);
	wrap_text(&w, what);
	wrap_end(&w);
	free(what);
	puts("\nOptions:");
	for (; table->name; table++)
		option_print(table->letter, table->name, table->arg, table->help);
	option_print('h', "help", NULL, "print this text");
	printf("\nMore in the manual page pmend-%s(1).\n", c->name);
	exit(fflush(stdout) ? CMD_FAILED : CMD_CLEAN);
}

static struct optional_number number_parse(const struct command *c, const struct option *o,
					   const char *text)
{
	struct optional_number number = { .is_set = true };
	char *end;

	errno = 0;
	number.n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno)
		die_usage(c, "--%s needs a number, not '%s'", o->name, text);
	return number;
}

static void option_set(const struct command *c, const struct option *o, const char *value)
{
	switch (o->type) {
	case OPTION_FLAG: *(bool *)o->value = true; break;
	case OPTION_MAYBE:
	case OPTION_STRING: *(const char **)o->value = value; break;
	case OPTION_LIST: word_list_add(o->value, value); break;
	case OPTION_NUMBER: *(struct optional_number *)o->value = number_parse(c, o, value); break;
	}
}

static const struct option *find_long(const struct option *o, const char *name, size_t len)
{
	for (; o->name; o++)
		if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

static const struct option *find_short(const struct option *o, char letter)
{
	for (; o->name; o++)
		if (o->letter && o->letter == letter)
			return o;
	return NULL;
}

/* Dies about an unknown option. typed: the word up to "=". */
_Noreturn static void die_unknown(const struct command *c, const struct option *table,
				  const char *typed, size_t len)
{
	char *name = xasprintf("%.*s", (int)len, typed);
	struct nearest n;

	nearest_init(&n, name);
	for (; table->name; table++)
		nearest_try(&n, table->name);
	nearest_try(&n, "help");
	if (n.word)
		die_usage(c, "unknown option --%s, did you mean --%s?", name, n.word);
	die_usage(c, "unknown option --%s", name);
}

/* Is the word after i not the option's argument, which is optional? The last word is the operand if
 * there was none before. */
static bool is_without(const struct option *o, int i, int argc, char **argv, int noperands)
{
	return o->type == OPTION_MAYBE &&
	       (i + 1 == argc || argv[i + 1][0] == '-' || (i + 2 == argc && noperands == 0));
}

static void give(struct command_line *line, const struct option *o, const char *value)
{
	*vec_add(&line->given) = (struct given){ o, value };
}

/* Parses argv[i], which begins with "--"; returns the index of the last word used. */
static int parse_long(const struct command *c, const struct option *table, int i, int argc,
		      char **argv, struct command_line *line)
{
	const char *name = argv[i] + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct option *o = find_long(table, name, len);

	if (strcmp(name, "help") == 0)
		help_print(c, table);
	if (!o)
		die_unknown(c, table, name, len);
	if (!o->arg && equals)
		die_usage(c, "--%s takes no argument", o->name);
	if (!equals && is_without(o, i, argc, argv, line->noperands)) {
		give(line, o, "");
		return i;
	}
	if (o->arg && !equals && ++i == argc)
		die_usage(c, "--%s needs an argument: %s", o->name, o->arg);
	give(line, o, !o->arg ? NULL : equals ? equals + 1 : argv[i]);
	return i;
}

static int parse_short(const struct command *c, const struct option *table, int i, int argc,
		       char **argv, struct command_line *line)
{
	const char *p;

	for (p = argv[i] + 1; *p; p++) {
		const struct option *o = find_short(table, *p);

		if (*p == 'h')
			help_print(c, table);
		if (!o)
			die_usage(c, "unknown option -%c", *p);
		if (!o->arg) {
			give(line, o, NULL);
			continue;
		}
		if (!p[1] && ++i == argc)
			die_usage(c, "-%c needs an argument: %s", *p, o->arg);
		give(line, o, p[1] ? p + 1 : argv[i]);
		break;
	}
	return i;
}

struct command_line options_scan(const struct command *c, const struct option *table,
				 enum option_order order, int argc, char **argv)
{
	struct command_line line = { .operands = argv };
	int i;

	if (c->on_table) {
		c->on_table(c, table);
		exit(fflush(stdout) ? CMD_FAILED : CMD_CLEAN);
	}
	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			line.has_dashes = true;
			i++;
			break;
		}
		if (argv[i][0] == '-' && argv[i][1] == '-')
			i = parse_long(c, table, i, argc, argv, &line);
		else if (argv[i][0] == '-' && argv[i][1])
			i = parse_short(c, table, i, argc, argv, &line);
		else if (order == OPTIONS_FIRST && !is_trace_name(argv[i]) &&
			 !is_bundle_name(argv[i]))
			break;
		else
			argv[line.noperands++] = argv[i];
	}
	while (i < argc)
		argv[line.noperands++] = argv[i++];
	argv[line.noperands] = NULL;
	return line;
}

void options_apply(const struct command *c, const struct command_line *line)
{
	for (size_t i = 0; i < line->given.n; i++)
		option_set(c, line->given.at[i].option, line->given.at[i].value);
}

int options_parse(const struct command *c, const struct option *table, enum option_order order,
		  int argc, char **argv)
{
	struct command_line line = options_scan(c, table, order, argc, argv);

	options_apply(c, &line);
	vec_release(&line.given);
	return line.noperands;
}

const struct option *option_find(const struct option *table, const char *name)
{
	return find_long(table, name, strlen(name));
}

bool option_is_path(const struct option *o)
{
	return (o->type == OPTION_STRING || o->type == OPTION_LIST) && o->arg &&
	       (strstr(o->arg, "FILE") || strstr(o->arg, "FOLDER") || strstr(o->arg, "DIR") ||
		strstr(o->arg, ".json")) &&
	       !strchr(o->arg, ':');
}
