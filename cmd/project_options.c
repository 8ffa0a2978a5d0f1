/* Merges the options of a project file with the command line. For a list, all words count; for any
 * other option, the command line's value counts, then that of [test NAME], then that of the
 * command. */
#include "cmd/project_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bundle/bundle.h"
#include "cmd/talk/nearest.h"
#include "report/tests.h"
#include "util/files.h"
#include "util/alloc.h"
#include "util/shell_word.h"

/* If one of these options is given, no project file is read: a state, a part and a proof belong to
 * another run, with other options. */
static const char *const never_with[] = { "no-project", "replay", "shard",
					  "continue",   "verify", NULL };
/* A project file cannot have these, because they are about one run. */
static const char *const command_line_only[] = { "no-project", "replay",       "shard",
						 "continue",   "verify",       "keep",
						 "gdb",        "show-choices", "apply",
						 "help",       "interactive",  NULL };
/* Options about the one report of all tests. */
static const char *const of_all_tests[] = { "format",           "output",   "quiet", "verbose",
					    "gen-suppressions", "progress", NULL };
/* A trace has been recorded already. */
static const char *const of_recording[] = { "pm",        "files",         "files-except",
					    "fresh",     "old-bytes",     "trace",
					    "client",    "ready",         "stop",
					    "threads",   "lock-call",     "unlock-call",
					    "schedules", "schedule-seed", NULL };

static bool is_one_of(const char *const *words, const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

/* ---- checking the file ---- */

struct looking {
	const struct command *command;
	const struct option *table;
	const struct project_file *file;
};

_Noreturn static void die_unknown(const struct looking *l, const struct project_item *item)
{
	struct nearest n;

	nearest_init(&n, item->key);
	for (const struct option *o = l->table; o->name; o++)
		nearest_try(&n, o->name);
	if (n.word)
		die_usage(l->command, "%s:%u: 'pmend %s' has no option '%s', did you mean '%s'?",
			  l->file->path, item->line, l->command->name, item->key, n.word);
	die_usage(l->command, "%s:%u: 'pmend %s' has no option '%s'", l->file->path, item->line,
		  l->command->name, item->key);
}

static void check_value(const struct looking *l, const struct option *o,
			const struct project_item *item)
{
	const char *v = item->value;

	if (o->type == OPTION_FLAG && strcmp(v, "yes") != 0 && strcmp(v, "no") != 0)
		die_usage(l->command, "%s:%u: %s is yes or no, not '%s'", l->file->path, item->line,
			  item->key, v);
	if (o->type == OPTION_NUMBER && (strspn(v, "0123456789") != strlen(v) || strlen(v) > 19))
		die_usage(l->command, "%s:%u: %s needs a number, not '%s'", l->file->path,
			  item->line, item->key, v);
}

static void check_command(const struct looking *l, const struct project_item *item)
{
	char **words = shell_words_split(item->value);

	if (!words)
		die_usage(l->command,
			  "%s:%u: in command, a quote is not closed, or a backslash ends the line",
			  l->file->path, item->line);
	words_free(words);
}

static void check_item(const struct looking *l, const struct project_section *s, size_t i)
{
	const struct project_item *item = &s->items.at[i];
	const struct option *o = option_find(l->table, item->key);
	const bool is_command = s->name && strcmp(item->key, "command") == 0;

	if (!is_command && !o)
		die_unknown(l, item);
	if (is_one_of(command_line_only, item->key))
		die_usage(l->command, "%s:%u: %s can only be given on the command line",
			  l->file->path, item->line, item->key);
	if (s->name && is_one_of(of_all_tests, item->key))
		die_usage(l->command,
			  "%s:%u: %s is about the report of all tests: it belongs into [test]",
			  l->file->path, item->line, item->key);
	for (size_t k = 0; k < i && (is_command || o->type != OPTION_LIST); k++)
		if (strcmp(s->items.at[k].key, item->key) == 0)
			die_usage(l->command, "%s:%u: %s stands in line %u, too", l->file->path,
				  item->line, item->key, s->items.at[k].line);
	if (is_command)
		check_command(l, item);
	else
		check_value(l, o, item);
}

static const struct project_item *item_find(const struct project_section *s, const char *key)
{
	for (size_t i = 0; s && i < s->items.n; i++)
		if (strcmp(s->items.at[i].key, key) == 0)
			return &s->items.at[i];
	return NULL;
}

/* Checks the sections of one command. */
static void check_sections(const struct looking *l)
{
	for (size_t i = 0; i < l->file->sections.n; i++) {
		const struct project_section *s = &l->file->sections.at[i];

		if (strcmp(s->command, l->command->name) != 0)
			continue;
		for (size_t k = 0; k < s->items.n; k++)
			check_item(l, s, k);
		if (s->name && !item_find(s, "command"))
			die_usage(l->command,
				  "%s:%u: test %s has no command, such as command = ./app {pool}",
				  l->file->path, s->line, s->name);
	}
}

/* Another command, which is asked for its table in a separate process. */
struct asked {
	struct command command; /* first, because on_table() gets a pointer to it */
	const struct project_file *file;
};

static void on_table(const struct command *c, const struct option *table)
{
	check_sections(&(struct looking){ c, table, ((const struct asked *)c)->file });
}

static void check_other(const struct command *c, const struct project_file *file)
{
	struct asked asked = { .command = *c, .file = file };
	char *argv[] = { xstrdup(c->name), NULL };
	int status;
	pid_t pid;

	asked.command.on_table = on_table;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		exit(asked.command.run(&asked.command, 1, argv));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("cannot start another process: %s", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != CMD_CLEAN)
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : CMD_FAILED);
	free(argv[0]);
}

static bool has_section(const struct project_file *p, const char *command)
{
	for (size_t i = 0; i < p->sections.n; i++)
		if (strcmp(p->sections.at[i].command, command) == 0)
			return true;
	return false;
}

bool project_begin(const struct command *c, const struct option *table,
		   const struct command_line *line)
{
	struct project *p = c->project;
	struct error err;

	if (!p || (line->noperands > 0 && is_bundle_name(line->operands[0])))
		return false;
	for (size_t i = 0; i < line->given.n; i++)
		if (is_one_of(never_with, line->given.at[i].option->name))
			return false;
	if (project_file_find(&p->file, &err) < 0)
		die_usage(c, "%s", err.msg);
	if (!p->file.path)
		return false;
	check_sections(&(struct looking){ c, table, &p->file });
	for (size_t i = 0; c->all[i]; i++)
		if (strcmp(c->all[i]->name, c->name) != 0 && has_section(&p->file, c->all[i]->name))
			check_other(c->all[i], &p->file);
	return true;
}

/* ---- options in force ---- */

static bool is_given(const struct command_line *line, const struct option *o)
{
	for (size_t i = 0; i < line->given.n; i++)
		if (line->given.at[i].option == o)
			return true;
	return false;
}

/* Makes a path of the file absolute; it is relative to the file's folder. */
static const char *value_of(const struct project *p, const struct option *o, const char *value)
{
	if (!option_is_path(o) || value[0] == '/')
		return value;
	return xasprintf("%s%s%s", p->file.folder, p->file.folder[1] ? "/" : "", value);
}

/* Takes the options of a section. over: a section whose values have precedence; NULL: none. */
static void take_section(const struct command *c, const struct option *table,
			 const struct command_line *line, const struct project_section *s,
			 const struct project_section *over)
{
	const bool has_trace = line->noperands > 0 && is_trace_name(line->operands[0]);
	struct project *p = c->project;

	for (size_t i = 0; s && i < s->items.n; i++) {
		const struct project_item *item = &s->items.at[i];
		const struct option *o = option_find(table, item->key);

		if (!o || (has_trace && is_one_of(of_recording, item->key)))
			continue;
		if (o->type != OPTION_LIST && (is_given(line, o) || item_find(over, item->key)))
			continue;
		if (o->type == OPTION_FLAG && strcmp(item->value, "no") == 0)
			continue;
		*vec_add(&p->in_force) = (struct in_force){
			o, o->type == OPTION_FLAG ? NULL : value_of(p, o, item->value), item->line
		};
		p->is_used = true;
	}
}

static void set_values(const struct command *c)
{
	const struct project *p = c->project;
	struct command_line all = { 0 };

	for (size_t i = 0; i < p->in_force.n; i++)
		*vec_add(&all.given) =
			(struct given){ p->in_force.at[i].option, p->in_force.at[i].value };
	options_apply(c, &all);
	vec_release(&all.given);
}

void project_apply(const struct command *c, const struct command_line *line,
		   const struct option *table, const char *test)
{
	struct project *p = c->project;
	const struct project_section *own =
		test ? project_file_section(&p->file, c->name, test) : NULL;

	p->in_force.n = 0;
	p->test = test;
	p->is_used = test != NULL;
	take_section(c, table, line, project_file_section(&p->file, c->name, NULL), own);
	take_section(c, table, line, own, NULL);
	for (size_t i = 0; i < line->given.n; i++)
		*vec_add(&p->in_force) =
			(struct in_force){ line->given.at[i].option, line->given.at[i].value, 0 };
	set_values(c);
}

int project_parse(const struct command *c, const struct option *table, enum option_order order,
		  int argc, char **argv)
{
	struct command_line line = options_scan(c, table, order, argc, argv);

	if (project_begin(c, table, &line)) {
		project_apply(c, &line, table, NULL);
		if (c->project->is_used)
			warn("options of [%s] in %s", c->name, c->project->file.path);
	} else {
		options_apply(c, &line);
	}
	vec_release(&line.given);
	return line.noperands;
}

void project_leave(const struct command *c, struct command_line *line)
{
	char *cwd = getcwd(NULL, 0);

	for (size_t i = 0; cwd && i < line->given.n; i++) {
		struct given *g = &line->given.at[i];

		if (option_is_path(g->option) && g->value[0] != '/')
			g->value = xasprintf("%s/%s", cwd, g->value); /* never freed */
	}
	free(cwd);
	if (chdir(c->project->file.folder) < 0)
		die("cannot go to %s: %s", c->project->file.folder, strerror(errno));
}

char *project_place(const struct command *c, const char *text)
{
	const struct project *p = c->project;

	for (size_t i = 0; p && strncmp(text, "--", 2) == 0 && i < p->in_force.n; i++) {
		const struct in_force *f = &p->in_force.at[i];
		const size_t len = strlen(f->option->name);

		if (f->line && strncmp(text + 2, f->option->name, len) == 0 &&
		    !isalnum((unsigned char)text[2 + len]) && text[2 + len] != '-')
			return xasprintf("%s:%u", p->file.path, f->line);
	}
	return NULL;
}

void project_tell(const struct project *p, struct report *r)
{
	if (!p || !p->is_used)
		return;
	report_set_project(r, &(struct report_project){ p->file.path, p->test });
	for (size_t i = 0; i < p->in_force.n; i++) {
		char *word = xasprintf("--%s", p->in_force.at[i].option->name);

		report_add_option(r, word);
		if (p->in_force.at[i].value)
			report_add_option(r, p->in_force.at[i].value);
		free(word);
	}
}
