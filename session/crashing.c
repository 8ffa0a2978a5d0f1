/* See crashing.h. */
#include "session/crashing.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/crash_again.h"
#include "session/crash_report.h"
#include "session/group_report.h"
#include "session/race_report.h"

static volatile sig_atomic_t g_interrupts;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	if (++g_interrupts > 1)
		_exit(CMD_FAILED); /* the second time: at once; workers die with us, and their guardians clean up */
}

static bool is_interrupted(void *arg)
{
	(void)arg;
	return g_interrupts > 0;
}

struct show {
	uint64_t start_ns, last_ns;
	bool is_shown;
};

/* One line that is written over, on a terminal only. */
static void progress(const struct crash_counters *c, uint64_t npoints, void *arg)
{
	struct show *s = arg;
	uint64_t now = clock_ns();
	double seconds = (double)(now - s->start_ns) / 1e9, rate;

	if (!isatty(STDERR_FILENO) || seconds < 1 || now - s->last_ns < 400000000u)
		return;
	s->last_ns = now;
	s->is_shown = true;
	rate = (double)(c->runs + c->diagnosis_runs) / seconds;
	fprintf(stderr, "\r\33[Kfailure points %" PRIu64 "/%" PRIu64 ", %.0f runs/s, %" PRIu64 " bugs", c->points, npoints, rate, c->bugs);
	if (c->points > 0)
		fprintf(stderr, ", about %.0f s left", seconds / (double)c->points * (double)(npoints - c->points));
}

static void progress_end(const struct show *s)
{
	if (s->is_shown)
		fputs("\r\33[K", stderr);
}

/* Adds a sentence to what there is. */
static void note_add(char **note, char *sentence)
{
	char *longer = *note ? xasprintf("%s. %s", *note, sentence) : xstrdup(sentence);

	free(*note);
	free(sentence);
	*note = longer;
}

static char *note_of(const struct plan *p, const struct crash_result *c, const struct crash_setup *s, const struct crash_again *again)
{
	char *note = NULL, *races = race_report_note(c, p);

	if (races)
		note_add(&note, races);
	if (c->representatives)
		note_add(&note, group_report_note(c));
	if (c->why_fallback)
		note_add(&note, xasprintf("%" PRIu64 " sets of states were run as whole images (%s)", c->counters.fallbacks, c->why_fallback));
	if (c->why_no_dump)
		note_add(&note, xasprintf("The dump was not compared: %s", c->why_no_dump));
	if (c->counters.cut_points > 0)
		note_add(&note, xasprintf("At most %" PRIu64 " runs a failure point, chosen with --seed %" PRIu64, s->options.limits.sample,
					  s->options.limits.seed));
	if (s->failures.n > 1)
		note_add(&note, xasprintf("Crashes during recovery: from %" PRIu64 " first crashes, %" PRIu64 " runs at %" PRIu64
					  " failure points", again->first_crashes, again->runs, again->failure_points));
	if (again->left_out)
		note_add(&note, xasprintf("%" PRIu64 " more first crashes were left out", again->left_out));
	return note;
}

static void describe(struct report *r, const struct plan *p, const struct crash_result *c, const struct crash_setup *s,
		     const struct crash_again *again)
{
	char *seen = big_string(&c->states_seen), *all = big_string(&c->states_all), *note = note_of(p, c, s, again);
	bool has_head = report_has_head(r);
	struct group_report groups = { 0 };
	char key[32];

	for (unsigned i = 0; !has_head && (snprintf(key, sizeof key, "argv.%u", i), trace_meta(p->trace, key)); i++)
		report_add_argument(r, trace_meta(p->trace, key));
	if (trace_meta(p->trace, "cwd") && !has_head)
		report_add_folder(r, trace_meta(p->trace, "cwd"));
	crash_setup_tell(s, r);
	report_set_platform(r, p->platform->name);
	if (c->representatives)
		group_report_init(&groups, p, c);
	report_set_coverage(r, &(struct report_coverage){ .events = p->nevents,
							   .failure_points = c->counters.points,
							   .runs = c->counters.runs,
							   .diagnosis_runs = c->counters.diagnosis_runs,
							   .faults = c->counters.faults,
							   .states = seen,
							   .states_all = c->representatives ? NULL : all, /* not all failure points were visited */
							   .note = note,
							   .groups = c->representatives ? &groups.groups : NULL,
							   .is_complete = c->is_complete,
							   .why_incomplete = c->why_incomplete });
	free(seen);
	free(all);
	free(note);
	group_report_release(&groups);
}

bool crashing_explore(struct crash_setup *s, const char *trace, const char *kept, struct report *report, bool *is_whole)
{
	struct sigaction action = { .sa_handler = on_interrupt }, old;
	struct show show = { .start_ns = clock_ns() };
	struct crash_result result;
	struct plan *p = crash_setup_plan(s, trace);
	struct error err = { "" };
	struct crash_again again = { .is_complete = true };
	bool has_bugs;
	int explored;

	s->options.progress = progress;
	s->options.is_interrupted = is_interrupted;
	s->options.arg = &show;
	sigaction(SIGINT, &action, &old);
	explored = crash_explore(p, &s->options, &result, &err);
	sigaction(SIGINT, &old, NULL);
	progress_end(&show);
	if (explored < 0 && result.bugs.n == 0)
		die("%s", err.msg);
	if (explored < 0)
		warn("%s", err.msg);
	crash_report_add(report, p, &result, s, kept);
	if (s->failures.n > 1 && explored == 0 && !g_interrupts)
		crash_again(s, p, &result, report, s->failures.n - 1, &again);
	describe(report, p, &result, s, &again);
	if (s->explain_groups && result.representatives)
		s->groups = group_report_explain(p, &result);
	*is_whole = !result.is_broken_off && explored == 0;
	has_bugs = result.bugs.n > 0 || race_report_has_bugs(&result);
	crash_result_release(&result);
	plan_free(p);
	return has_bugs;
}
