/* Writes an exploration as words of a command line: the command that replays one state, and the
 * options that explore the same again. Options that the user did not give are left out; only a seed
 * that was chosen by chance is written. */
#include "crash/setup/crash_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/shell_word.h"

/* ---- the command that replays a state ---- */

/* Adds a word, quoted for a shell where that is needed. */
static void add_word(char **line, const char *word)
{
	char *quoted = shell_word(word),
	     *longer = xasprintf("%s%s%s", *line, **line ? " " : "", quoted);

	free(*line);
	free(quoted);
	*line = longer;
}

static void add_option(char **line, const char *option, const char *value)
{
	if (!value)
		return;
	add_word(line, option);
	add_word(line, value);
}

static void add_number(char **line, const char *option, const struct optional_number *n)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%" PRIu64, n->n);
	add_option(line, option, n->is_set ? digits : NULL);
}

char *crash_command_replay(const struct crash_setup *s, const char *state, const char *trace)
{
	char *line = xstrdup("pmend crash");

	add_option(&line, "--recover", s->recover);
	add_option(&line, "--then", s->then);
	add_option(&line, "--check", s->check);
	add_option(&line, "--recover-ready", s->ready);
	add_option(&line, "--dump", s->dump);
	if (s->buffered)
		add_word(&line, "--buffered");
	add_option(&line, "--failure-points", s->failure_points);
	if (s->pool_creation)
		add_word(&line, "--pool-creation");
	add_option(&line, "--platform", s->platform);
	add_option(&line, "--stdin", s->stdin_path);
	for (size_t i = 0; i < s->ok_status.n; i++)
		add_option(&line, "--ok-status", s->ok_status.item[i]);
	add_number(&line, "--timeout", &s->timeout);
	add_number(&line, "--max-memory", &s->max_memory);
	add_number(&line, "--max-file", &s->max_file);
	add_number(&line, "--max-processes", &s->max_processes);
	for (size_t i = 0; i < s->library_globs.n; i++)
		add_option(&line, "--library", s->library_globs.item[i]);
	add_option(&line, "--replay", state);
	add_word(&line, trace);
	return line;
}

/* ---- the options that explore again ---- */

static void add_text_option(struct report *r, const char *option, const char *value)
{
	if (!value)
		return;
	report_add_crash_option(r, option);
	report_add_crash_option(r, value);
}

static void tell_number(struct report *r, const char *option, bool is_set, uint64_t n)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%" PRIu64, n);
	add_text_option(r, option, is_set ? digits : NULL);
}

void crash_command_tell(const struct crash_setup *s, struct report *r)
{
	const struct {
		const char *option;
		bool is_set;
	} flags[] = { { "--races", s->races },       { "--strict", s->strict },
		      { "--no-trust", s->no_trust }, { "--pool-creation", s->pool_creation },
		      { "--buffered", s->buffered }, { "--repeats", s->repeats } };

	add_text_option(r, "--recover", s->recover);
	add_text_option(r, "--then", s->then);
	add_text_option(r, "--check", s->check);
	add_text_option(r, "--recover-ready", s->ready);
	add_text_option(r, "--dump", s->dump);
	for (size_t i = 0; i < s->ok_status.n; i++)
		add_text_option(r, "--ok-status", s->ok_status.item[i]);
	add_text_option(r, "--strategy", s->strategy);
	add_text_option(r, "--failure-points", s->failure_points);
	add_text_option(r, "--platform", s->platform);
	tell_number(r, "--jobs", s->jobs.is_set, s->jobs.n);
	tell_number(r, "--max-time", s->max_time.is_set, s->max_time.n);
	tell_number(r, "--max-runs", s->max_runs.is_set, s->max_runs.n);
	tell_number(r, "--sample", s->sample.is_set, s->sample.n);
	tell_number(r, "--window", s->window.is_set, s->window.n);
	tell_number(r, "--seed", s->options.limits.sample > 0, s->options.limits.seed);
	tell_number(r, "--timeout", s->timeout.is_set, s->timeout.n);
	tell_number(r, "--max-memory", s->max_memory.is_set, s->max_memory.n);
	tell_number(r, "--max-file", s->max_file.is_set, s->max_file.n);
	tell_number(r, "--max-processes", s->max_processes.is_set, s->max_processes.n);
	add_text_option(r, "--stdin", s->stdin_path);
	add_text_option(r, "--build", s->build_dir);
	tell_number(r, "--failures", s->failures.is_set, s->failures.n);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (flags[i].is_set)
			report_add_crash_option(r, flags[i].option);
	for (size_t i = 0; i < s->library_globs.n; i++)
		add_text_option(r, "--library", s->library_globs.item[i]);
	for (size_t i = 0; i < s->commit_vars.n; i++)
		add_text_option(r, "--commit-var", s->commit_vars.item[i]);
}
