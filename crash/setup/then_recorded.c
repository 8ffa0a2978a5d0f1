/* Makes the command of --then recorded: the recorded command, whose input contains only the
 * operations that were not done before the crash. The input is the one argument that names a file
 * with one line per operation. A program with another kind of input needs its own command. */
#include "crash/setup/then_recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RECORDED "recorded"

static bool is_pool(const struct plan *p, const char *word)
{
	char *real = realpath(word, NULL);
	bool is = false;

	for (size_t i = 0; real && i < p->numbered.n; i++)
		is |= p->numbered.at[i] && strcmp(p->numbered.at[i], real) == 0;
	free(real);
	return is;
}

/* Counts the lines of a file. SIZE_MAX if it is not a file with lines. */
static size_t count_lines(const char *path)
{
	struct stat st;
	FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
	size_t n = 0;
	int last = '\n', c;

	if (!f)
		return SIZE_MAX;
	for (; (c = getc(f)) != EOF; last = c)
		n += c == '\n';
	fclose(f);
	return n + (last != '\n');
}

static size_t count_ended(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->operations.n; i++)
		n += p->operations.at[i].end_seq != UINT64_MAX;
	return n;
}

/* Gives the recorded command with {rest:FILE} in place of the input; NULL unless exactly one
 * argument is such an input. */
static struct runner_command *recorded_command(const struct plan *p)
{
	const size_t nended = count_ended(p);
	struct runner_command *c = NULL;
	VEC(char *) argv = { 0 };
	size_t ninputs = 0;
	const char *word;
	char key[32];

	for (unsigned i = 0;
	     snprintf(key, sizeof key, "argv.%u", i), (word = trace_meta(p->trace, key)); i++) {
		const bool is_input = i > 0 && !strchr(word, '}') && !is_pool(p, word) &&
				      count_lines(word) == nended;

		ninputs += is_input;
		*vec_add(&argv) = is_input ? xasprintf("{rest:%s}", word) : xstrdup(word);
	}
	*vec_add(&argv) = NULL;
	if (ninputs == 1 && nended > 0)
		c = runner_command_of(argv.at);
	for (size_t i = 0; i < argv.n; i++)
		free(argv.at[i]);
	vec_release(&argv);
	return c;
}

static int take_recorded(struct crash_setup *s, const struct plan *p, struct error *err)
{
	struct runner_command *c = recorded_command(p);

	if (!c)
		return error_set(
			err,
			"--then recorded: no argument of the recorded command is a file with one line for each of its %zu operations; "
			"give the command to continue with: --then 'CMD {} {op}'",
			count_ended(p));
	runner_command_free(s->commands[CRASH_THEN]);
	s->recovery.then = s->commands[CRASH_THEN] = c;
	s->recovery.has_operation = true;
	return 0;
}

int then_recorded_fit(struct crash_setup *s, const struct plan *p, struct error *err)
{
	const bool is_recorded = s->recovery.then &&
				 strcmp(s->recovery.then->argv[0], RECORDED) == 0 &&
				 !s->recovery.then->argv[1];

	if (s->recovery.operation || (!s->recovery.has_operation && !is_recorded))
		return 0;
	if (p->operations.n == 0)
		return error_set(
			err,
			"%s: {op}, {rest:FILE} and --then recorded need to know which operation a crash interrupts: %s",
			p->path, plan_why_no_operations(p));
	return is_recorded ? take_recorded(s, p, err) : 0;
}
