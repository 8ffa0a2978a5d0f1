/* Runs several tests of a project file, one after the other, into one report. Each test runs in a
 * separate process, so one that fails does not stop the others. The process returns its report as
 * JSON in a file in memory. */
#include "cmd/tests.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/project_options.h"
#include "cmd/talk/nearest.h"
#include "report/tests.h"
#include "util/files.h"
#include "util/alloc.h"
#include "util/proc.h"
#include "util/shell_word.h"

struct tests {
	const struct command *command;
	const struct option *table;
	struct reporting *reporting;
	struct command_line *line;
	VEC(const char *) names;
	struct report *all;
	int status; /* the worst so far */
};

/* ---- which tests ---- */

static bool is_test(const struct project_file *p, const char *name)
{
	return project_file_section(p, "test", name) != NULL;
}

_Noreturn static void die_unknown(const struct tests *t, const char *name)
{
	const struct project_file *p = &t->command->project->file;
	struct nearest n;

	nearest_init(&n, name);
	for (size_t i = 0; i < p->sections.n; i++)
		if (p->sections.at[i].name)
			nearest_try(&n, p->sections.at[i].name);
	if (n.word)
		die_usage(t->command, "%s has no test '%s', did you mean '%s'?", p->path, name,
			  n.word);
	die_usage(t->command, "%s has no test '%s'", p->path, name);
}

static void name_add(struct tests *t, const char *name)
{
	if (!is_test(&t->command->project->file, name))
		die_unknown(t, name);
	for (size_t i = 0; i < t->names.n; i++)
		if (strcmp(t->names.at[i], name) == 0)
			return;
	*vec_add(&t->names) = name;
}

static void names_fill(struct tests *t)
{
	const struct project_file *p = &t->command->project->file;

	for (int i = 0; i < t->line->noperands; i++)
		name_add(t, t->line->operands[i]);
	for (size_t i = 0; t->line->noperands == 0 && i < p->sections.n; i++)
		if (p->sections.at[i].name)
			name_add(t, p->sections.at[i].name);
	if (t->names.n == 0)
		die_usage(t->command,
			  "%s has no test; add one, as [test NAME] with command = ./app {pool}",
			  p->path);
}

/* Are the operands a program or a trace? They are after "--", or if no test has the name and it is
 * a program. */
static bool is_target(const struct project_file *p, const struct command_line *line)
{
	char *program;

	if (line->noperands == 0 || (!line->has_dashes && is_test(p, line->operands[0])))
		return false;
	program = line->has_dashes || is_trace_name(line->operands[0])
			  ? xstrdup("")
			  : proc_find(line->operands[0]);
	free(program);
	return program != NULL;
}

/* ---- one test ---- */

/* Makes the command line ask for this test. */
static int become(const struct tests *t, const char *name, char ***argv)
{
	const struct project_section *s =
		project_file_section(&t->command->project->file, "test", name);
	size_t i = 0;

	project_apply(t->command, t->line, t->table, name);
	while (strcmp(s->items.at[i].key, "command") != 0)
		i++;
	*argv = shell_words_split(s->items.at[i].value); /* never freed */
	return (int)words_count(*argv);
}

/* ---- several tests ---- */

static volatile sig_atomic_t g_is_stopped;
static volatile pid_t g_child;

/* Passes a signal on to the child, because it is meant for the child, too; a terminal signals the
 * child itself. */
static void on_stop(int signal_number, siginfo_t *info, void *context)
{
	(void)context;
	g_is_stopped = 1;
	if (g_child > 0 && info->si_code <= 0)
		kill(g_child, signal_number);
}

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };
#define NSIGNALS (sizeof stop_signals / sizeof *stop_signals)

static void stops_take(struct sigaction before[NSIGNALS])
{
	const struct sigaction action = { .sa_sigaction = on_stop,
					  .sa_flags = SA_SIGINFO | SA_RESTART };

	for (size_t i = 0; i < NSIGNALS; i++)
		if (sigaction(stop_signals[i], &action, &before[i]) == 0 &&
		    before[i].sa_handler == SIG_IGN)
			signal(stop_signals[i], SIG_IGN); /* our parent wants it to be ignored */
}

static void stops_give(const struct sigaction before[NSIGNALS])
{
	for (size_t i = 0; i < NSIGNALS; i++)
		sigaction(stop_signals[i], &before[i], NULL);
}

/* Resets the values, as if no option had been given. */
static void values_clear(const struct option *o)
{
	for (; o->name; o++)
		switch (o->type) {
		case OPTION_FLAG: *(bool *)o->value = false; break;
		case OPTION_MAYBE:
		case OPTION_STRING: *(const char **)o->value = NULL; break;
		case OPTION_LIST: *(struct word_list *)o->value = (struct word_list){ 0 }; break;
		case OPTION_NUMBER:
			*(struct optional_number *)o->value = (struct optional_number){ 0 };
			break;
		}
}

/* Prepares the child process of a test. */
static int child_begin(const struct tests *t, const char *name, int fd, char ***argv)
{
	const bool is_lean = !reporting_shows_evidence(t->reporting);
	int n;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	values_clear(t->table);
	*t->reporting = (struct reporting){ .part_fd = fd, .is_part = true, .is_lean = is_lean };
	die_tell(reporting_fail, t->reporting);
	t->reporting->project = t->command->project;
	n = become(t, name, argv);
	t->reporting->output = NULL;
	t->reporting->format = "json";
	t->reporting->gen_suppressions = false;
	return n;
}

/* Reads a test's report from its file, which is only in memory; NULL: it is empty. free() it. */
static char *text_of(int fd)
{
	const off_t len = lseek(fd, 0, SEEK_END);
	char *text = len > 0 ? xcalloc(1, (size_t)len + 1) : NULL;
	ssize_t n;

	for (off_t at = 0; text && at < len; at += n) {
		n = pread(fd, text + at, (size_t)(len - at), at);
		if (n <= 0) {
			free(text);
			return NULL;
		}
	}
	return text;
}

/* Makes a report about a test that left none. */
static struct report *report_of_failure(const struct tests *t, const char *name, const char *why)
{
	struct report *r = report_new();

	report_set_project(r, &(struct report_project){ t->command->project->file.path, name });
	report_set_failure(r, "analysis", why);
	report_finish(r);
	return r;
}

static void take_over(struct tests *t, const char *name, int fd, int wait_status)
{
	const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : CMD_FAILED;
	char *text = text_of(fd);
	struct report *r = NULL;
	struct error err;

	if (text)
		r = report_parse(text, name, &err);
	if (!r)
		r = report_of_failure(t, name,
				      status == CMD_USAGE
					      ? "An option is wrong; the message says which"
					      : "pmend ended without a report");
	report_add_test(t->all, r);
	t->status = status > t->status ? status : t->status;
	free(text);
}

/* Runs test i. In its process, returns what tests_parse() returns; in this one, 0. */
static int run_test(struct tests *t, size_t i, const struct sigaction before[NSIGNALS],
		    char ***argv)
{
	const int fd = memfd_create("pmend-report", MFD_CLOEXEC);
	int status;

	warn("test %s (%zu of %zu) of %s", t->names.at[i], i + 1, t->names.n,
	     t->command->project->file.path);
	fflush(stdout);
	g_child = fd < 0 ? -1 : fork();
	if (g_child == 0) {
		stops_give(before);
		return child_begin(t, t->names.at[i], fd, argv);
	}
	if (g_child < 0)
		die("cannot start test %s: %s", t->names.at[i], strerror(errno));
	while (waitpid(g_child, &status, 0) < 0 && errno == EINTR)
		;
	g_child = 0;
	take_over(t, t->names.at[i], fd, status);
	close(fd);
	return 0;
}

static void leave_out(struct tests *t, size_t i)
{
	report_add_test(t->all, report_of_failure(t, t->names.at[i],
						  "It was not run: pmend was told to stop"));
	t->status = CMD_FAILED > t->status ? CMD_FAILED : t->status;
}

static int run_all(struct tests *t, char ***argv)
{
	struct sigaction before[NSIGNALS];
	int n;

	project_apply(t->command, t->line, t->table, NULL);
	reporting_begin(t->command, t->reporting);
	t->all = report_new();
	stops_take(before);
	for (size_t i = 0; i < t->names.n; i++) {
		if (g_is_stopped) {
			leave_out(t, i);
			continue;
		}
		n = run_test(t, i, before, argv);
		if (n > 0)
			return n;
	}
	stops_give(before);
	report_finish_tests(t->all);
	reporting_render(t->reporting, t->all);
	exit(t->status);
}

/* Dies if several tests would write the same trace. */
static void check_trace(const struct tests *t)
{
	const struct option *o = option_find(t->table, "trace");
	const struct project_section *s =
		project_file_section(&t->command->project->file, "test", NULL);

	for (size_t i = 0; i < t->line->given.n; i++)
		if (t->line->given.at[i].option == o)
			die_usage(t->command, "--trace is for one test, not for %zu", t->names.n);
	for (size_t i = 0; s && i < s->items.n; i++)
		if (strcmp(s->items.at[i].key, "trace") == 0)
			die_usage(t->command, "%s:%u: trace is for one test, not for %zu",
				  t->command->project->file.path, s->items.at[i].line, t->names.n);
}

int tests_parse(const struct command *c, const struct option *table, struct reporting *r, int argc,
		char ***argv)
{
	struct command_line line = options_scan(c, table, OPTIONS_FIRST, argc, *argv);
	struct tests t = { .command = c, .table = table, .reporting = r, .line = &line };

	if (!project_begin(c, table, &line)) {
		options_apply(c, &line);
		if (line.noperands == 0)
			die_usage(
				c,
				"a trace or a program is needed; or a project file with tests, which 'pmend init' writes");
		return line.noperands;
	}
	r->project = c->project;
	if (line.noperands == 1 && is_trace_name(line.operands[0])) {
		/* a trace is never the name of a test */
	} else if (!is_target(&c->project->file, &line)) {
		names_fill(&t);
	}
	if (t.names.n == 0) {
		project_apply(c, &line, table, NULL);
		if (c->project->is_used)
			warn("options of [test] in %s", c->project->file.path);
		return line.noperands;
	}
	project_leave(c, &line);
	if (t.names.n > 1) {
		check_trace(&t);
		return run_all(&t, argv);
	}
	warn("test %s of %s", t.names.at[0], c->project->file.path);
	return become(&t, t.names.at[0], argv);
}
