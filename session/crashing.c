/* Explores the crashes of a recording and adds everything to a report: bugs, races, groups,
 * coverage. Bugs that were found before an exploration failed are reported, too. */
#include "session/crashing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash/files/files_explore.h"
#include "crash/search/strategies.h"
#include "report/causes.h"
#include "session/crash_again.h"
#include "crash/setup/crash_command.h"
#include "account/check_report.h"
#include "account/crash_report.h"
#include "account/found.h"
#include "account/recorded.h"
#include "account/group_report.h"
#include "account/race_report.h"
#include "account/ranking.h"
#include "trace/trace.h"

/* Adds a sentence to a note. */
static void note_add(char **note, char *sentence)
{
	char *longer = *note ? xasprintf("%s. %s", *note, sentence) : xstrdup(sentence);

	free(*note);
	free(sentence);
	*note = longer;
}

/* Did each failure point need only one lazy run, because recovery read nothing that a crash could
 * lose? */
static bool has_read_nothing(const struct crash_result *c, const struct strategy *strategy)
{
	char *all = big_string(&c->states_all);
	const bool has_choice = strtoull(all, NULL, 10) > c->counters.points;

	free(all);
	return strategy == &strategy_lazy && has_choice &&
	       c->counters.runs + c->counters.shared_runs == c->counters.points &&
	       c->counters.fallbacks == 0 && c->is_complete && c->bugs.n == 0;
}

/* Names a file that the program writes and that is not in the trace; NULL: there is none. Recovery
 * finds it as the program left it, if at all. */
static char *beside_note(const struct trace *t)
{
	const char *path, *name;
	size_t i = 0;

	while ((path = trace_meta_older(t, "beside", i)) && trace_has_file(t, path))
		i++;
	if (!path)
		return NULL;
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	return xasprintf(
		"The program also writes %s, which it does not map, so crash states do not follow it: recovery finds it as it is now. A failure that depends on it is a warning",
		name);
}

static bool fails_at_creation(const struct crash_result *c)
{
	bool fails = c->creation.end > 0;

	for (size_t i = 0; i < c->bugs.n; i++)
		fails |= strcmp(c->bugs.at[i].kind, "recovery-failure") == 0;
	return fails;
}

static char *needs_pool_note(const struct crash_result *c)
{
	const uint64_t n = c->counters.poolless;
	char *where =
		n == 0 ? xstrdup("crashes")
		       : xasprintf("crashes at %" PRIu64 " failure point%s", n, n == 1 ? "" : "s");
	char *note = xasprintf(
		"Recovery needs a pool, so %s before there was one under its name were not explored%s",
		where,
		fails_at_creation(c)
			? ". As soon as the pool has its name, a crash can leave it empty or half made, and recovery must cope with that"
			: "");

	free(where);
	return note;
}

static char *note_of(const struct plan *p, const struct crash_result *c,
		     const struct crash_setup *s, const struct crash_again *again)
{
	char *note = NULL, *races = race_report_note(c, p, &s->libraries), *beside,
	     *uncompared = recorded_uncompared(p->trace),
	     *old = recorded_old_bytes(p->trace, p->nold_bytes);

	if (old)
		note_add(&note, old);
	if (races)
		note_add(&note, races);
	if (c->representatives)
		note_add(&note, group_report_note(c));
	if (c->needs_pool && c->is_of_files)
		note_add(
			&note,
			xstrdup("Recovery refuses a folder without files, so it was not run on one before something was acknowledged"));
	else if (c->needs_pool)
		note_add(&note, needs_pool_note(c));
	if (c->unread)
		note_add(
			&note,
			xasprintf(
				"Recovery does not read %s, so it says nothing about what is stored there: name the file with {2}, {3} and so on in its command, or choose one with --pm",
				c->unread));
	if (c->why_slower)
		note_add(&note, xstrdup(c->why_slower));
	if (c->counters.fallbacks > 0 && c->why_fallback)
		note_add(&note,
			 xasprintf("%" PRIu64 " sets of states were run as whole images (%s)",
				   c->counters.fallbacks, c->why_fallback));
	if (has_read_nothing(c, s->options.strategy))
		note_add(
			&note,
			xstrdup("Recovery read nothing that a crash could have lost. Make sure that it reads the data, or add a --check that "
				"does"));
	if (c->counters.unreduced)
		note_add(
			&note,
			xasprintf(
				"Of %" PRIu64
				" failing state%s, too many lines matter to find the smallest loss and the fewest survivors; findings may name stores that do not matter",
				c->counters.unreduced, c->counters.unreduced == 1 ? "" : "s"));
	if ((beside = beside_note(p->trace)))
		note_add(&note, beside);
	if (uncompared)
		note_add(&note, uncompared);
	if (trace_meta(p->trace, "sandbox"))
		note_add(&note, xstrdup(recorded_sandbox));
	if (c->counters.has_sandbox)
		note_add(
			&note,
			xstrdup("Recovery ran without its seccomp filter, which would block pmend's own system calls"));
	if (p->ntrusted)
		note_add(&note, xstrdup(recorded_trusted));
	if (c->counters.cut_points > 0 && s->options.limits.sample && c->is_of_files)
		note_add(&note, xasprintf("At most %" PRIu64
					  " runs per failure point, those that lose little first",
					  s->options.limits.sample));
	else if (c->counters.cut_points > 0 && s->options.limits.sample)
		note_add(&note, xasprintf("At most %" PRIu64
					  " runs per failure point, chosen with --seed %" PRIu64,
					  s->options.limits.sample, s->options.limits.seed));
	if (s->failures.n > 1)
		note_add(&note,
			 xasprintf("Crashes during recovery: from %" PRIu64
				   " first crash%s, %" PRIu64 " runs at %" PRIu64 " failure points",
				   again->first_crashes, again->first_crashes == 1 ? "" : "es",
				   again->runs, again->failure_points));
	if (again->left_out)
		note_add(&note,
			 xasprintf("%" PRIu64 " more first crash%s left out", again->left_out,
				   again->left_out == 1 ? " was" : "es were"));
	return note;
}

/* Says why not all crashes during recovery were explored; NULL: all were. */
static const char *again_incomplete(const struct crash_again *again)
{
	if (again->is_complete)
		return NULL;
	return again->is_late
		       ? "the budget ended (--max-time) before all crashes during recovery were explored"
		       : "not all crashes during recovery were explored";
}

/* Names the budget that ended, as the user gave it; free() it. */
static char *budget_of(const struct crash_setup *s, const struct crash_result *c)
{
	return c->counters.is_late ? xasprintf("--max-time %" PRIu64, s->max_time.n)
				   : xasprintf("--max-runs %" PRIu64, s->max_runs.n);
}

/* Fails if the budget ended before any failure point had its first runs, because then nothing is
 * known. */
static int check_explored(const struct crash_setup *s, const struct crash_result *c,
			  struct error *err)
{
	char *budget;

	if ((!c->counters.is_stopped && !c->counters.is_late) || c->counters.begun > 0 ||
	    c->bugs.n > 0 || race_report_has_bugs(c))
		return 0;
	budget = budget_of(s, c);
	error_set(
		err,
		"nothing could be explored: %s ended before the first of %" PRIu64
		" failure points had its first runs, after %" PRIu64
		" recovery runs; give more%s, or let --sample N take fewer runs per failure point",
		budget, c->npoints, c->counters.runs,
		c->counters.is_late ? " time (the runs on clean states count, too)" : "");
	free(budget);
	return -1;
}

/* Did the budget end before all was explored? "No bugs" in a small part is easily misread. */
static bool is_budget_over(const struct crash_result *c)
{
	return c->counters.is_stopped && c->why_incomplete.n > 0 && c->counters.points < c->nshare;
}

/* Says how much was left out; free() it. */
static char *left_text(const struct crash_result *c)
{
	const uint64_t nleft = c->counters.begun - c->counters.points;

	if (nleft == 0)
		return xstrdup("the others were not explored");
	return xasprintf("%" PRIu64 " of these have states that were not run%s", nleft,
			 c->counters.begun < c->nshare ? ", and the others were not explored" : "");
}

static void tell_budget(const struct crash_setup *s, const struct crash_result *c)
{
	char *budget, *left;

	if (!is_budget_over(c))
		return;
	budget = budget_of(s, c);
	left = left_text(c);
	notes_say(s->notes,
		  "NOT ALL WAS EXPLORED: %s ended after %" PRIu64 " of %" PRIu64
		  " failure points; %s",
		  budget, c->counters.begun, c->nshare, left);
	free(left);
	free(budget);
	if (c->counters.unconfirmed > 0)
		notes_say(
			s->notes,
			"one recovery reached its time limit (--timeout) when --max-time ended. It may hang; give more time to find out");
}

/* Counts the failure points by how far each was explored: completely, in part, or not at all. */
static struct report_depth depth_of(const struct crash_result *c)
{
	const struct crash_counters *n = &c->counters;
	const uint64_t all = c->representatives ? c->representatives->nstops : c->nshare;

	return (struct report_depth){ .all = all,
				      .whole = n->points - n->cut_points - n->repeat_points,
				      .sampled = n->cut_points,
				      .deeper = n->deeper + n->repeat_points,
				      .first_runs = n->begun - n->points - n->deeper,
				      .not_reached = all > n->begun ? all - n->begun : 0 };
}

static void describe(struct report *r, const struct plan *p, const struct crash_result *c,
		     const struct crash_setup *s, const struct crash_again *again, bool is_told)
{
	char *seen = big_string(&c->states_seen), *all = big_string(&c->states_all),
	     *note = note_of(p, c, s, again), *cut_short = recorded_cut_short(p->trace);
	bool has_head = report_has_head(r);
	struct group_report groups = { 0 };

	if (!has_head)
		recorded_add_command(r, p->trace);
	crash_command_tell(s, r);
	recorded_add_ending(r, p->trace, p->cut, p->last_site);
	report_set_platform(r, p->platform->name);
	report_set_platform_chosen(r, s->is_platform_chosen);
	if (s->has_files)
		recorded_set_files(r, p->trace, s->options.profile);
	if (c->representatives)
		group_report_init(&groups, p, c, &s->libraries);
	report_set_coverage(
		r, &(struct report_coverage){
			   .events = p->nevents,
			   .failure_points = c->counters.begun,
			   .depth = depth_of(c),
			   .runs = c->counters.runs,
			   .shared_runs = c->counters.shared_runs,
			   .explaining_runs = c->counters.explaining,
			   .diagnosis_runs = c->counters.diagnosis_runs,
			   .attributed_without_run = c->counters.remembered,
			   .faults = c->counters.faults,
			   .lazy_runs = c->counters.lazy_runs,
			   .whole_runs = c->counters.whole_runs,
			   .states = seen,
			   .states_all = c->representatives || c->counters.points == 0
						 ? NULL
						 : all, /* not all failure points are visited */
			   .note = note,
			   .groups = c->representatives ? &groups.groups : NULL,
			   .is_complete =
				   c->is_complete && again->is_complete && !trace_unseen(p->trace),
			   .is_told = is_told,
		   });
	for (size_t i = 0; i < c->why_incomplete.n; i++)
		report_add_reason(r, c->why_incomplete.at[i]);
	if (again_incomplete(again))
		report_add_reason(r, again_incomplete(again));
	if (trace_unseen(p->trace))
		report_add_reason(r, trace_unseen(p->trace));
	if (cut_short)
		report_add_reason(r, cut_short);
	free(cut_short);
	free(seen);
	free(all);
	free(note);
	group_report_release(&groups);
}

/* What is needed to tell findings while an exploration runs. */
struct telling {
	const struct crash_watch *watch;
	struct found *found;
};

static void tell_found(const struct crash_bug *b, void *arg)
{
	const struct telling *t = arg;
	char *text = found_text(t->found, b);

	if (text)
		t->watch->found(text, t->watch->arg);
	free(text);
}

/* Explores once. is_stopped: the user has interrupted. */
static int explore(struct crash_setup *s, const struct plan *p, struct crash_result *result,
		   bool *is_stopped, struct error *err)
{
	const struct crash_watch *w = s->watch;
	struct telling telling = { w, w ? found_new(p, s) : NULL };
	int explored;

	if (w) {
		s->options.progress = w->progress;
		s->options.is_interrupted = w->is_interrupted;
		s->options.diagnosing = w->diagnosing;
		s->options.arg = w->arg;
		s->options.wants_found = w->wants_found;
		s->options.found = w->found ? tell_found : NULL;
		s->options.found_arg = &telling;
		w->begin(w->arg);
	}
	explored = (s->has_files ? files_explore : crash_explore)(p, &s->options, result, err);
	s->options.found = NULL;
	if (w) {
		w->end(w->arg);
		found_free(telling.found);
	}
	*is_stopped = w && w->is_interrupted(w->arg);
	return explored;
}

/* Marks the findings with numbers from `from` on as undecided if the trace lacks a store: a crash
 * state may then be one that never existed. */
static void demote_undecided(struct report *r, size_t from, const struct trace *t)
{
	const char *file = trace_meta(t, "changed_unseen");
	char *why =
		file ? xasprintf(
			       "something that pmend did not see changed %s, so the crash state may be one that cannot happen",
			       file)
		     : NULL;

	for (size_t i = from; file && i < report_ndrafts(r); i++)
		if (report_draft(r, i)->crash)
			report_demote(r, i, why, file);
	free(why);
}

int crashing_explore(struct crash_setup *s, const char *trace, const char *kept,
		     struct report *report, bool *is_whole, struct error *err)
{
	struct crash_again again = { .is_complete = true };
	struct crash_result result;
	struct plan *p = crash_setup_plan(s, trace, err);
	const size_t before = report_ndrafts(report);
	bool is_stopped;
	int explored, status = -1;

	if (!p)
		return -1;
	if (s->parts && s->parts->begin(s, p, kept, s->parts->arg, err) < 0) {
		plan_free(p);
		return -1;
	}
	err->msg[0] = 0;
	if (s->recovery.dump && !s->options.allowed && !s->options.sum && plan_why_no_operations(p))
		notes_say(s->notes, "THE DUMP WILL NOT BE COMPARED: %s", plan_why_no_operations(p));
	explored = explore(s, p, &result, &is_stopped, err);
	if (explored < 0 && result.bugs.n == 0)
		goto out;
	if (explored < 0)
		notes_say(s->notes, "%s", err->msg);
	else if (!is_stopped && check_explored(s, &result, err) < 0)
		goto out;
	else if (!is_stopped)
		tell_budget(s, &result);
	if (!s->has_files)
		ranking_settle(s, &result, report);
	crash_report_add(report, p, &result, s, kept);
	if (!s->has_files)
		ranking_demote_rebuilt(s, p, &result, report);
	if (!s->has_files && ranking_excuse(s, p, &result, report, err) < 0)
		notes_say(s->notes, "pmend does not know whether findings have an excuse: %s",
			  err->msg);
	if (s->failures.n > 1 && explored == 0 && !is_stopped && !s->shard.of &&
	    crash_again(s, p, &result, report, s->failures.n - 1, &again, err) < 0)
		goto out;
	demote_undecided(report, before, p->trace);
	if (s->parts && s->parts->tell)
		s->parts->tell(report, s->parts->arg);
	describe(report, p, &result, s, &again,
		 explored == 0 && !is_stopped && is_budget_over(&result));
	if (s->explain_groups && result.representatives)
		s->groups = group_report_explain(p, &result, &s->libraries);
	*is_whole = !result.is_broken_off && explored == 0;
	status = result.bugs.n > 0 || race_report_has_bugs(&result);
out:
	plan_free(s->plan);
	s->plan = p;
	s->explored = s->options;
	s->explored.runner.timeout_ms =
		result.timeout_ms ? result.timeout_ms : s->options.runner.timeout_ms;
	s->explored.limits.needs_pool = result.needs_pool;
	s->explored.runner.has_roi |= result.has_roi;
	crash_result_release(&result);
	return status;
}

void crashing_add_pairs(const struct crash_setup *s, struct report *report)
{
	static const char *const only[] = { "unpersisted-read", NULL }, *const none[] = { NULL };
	const struct check_options o = { .platform = s->options.platform,
					 .only = only,
					 .with = none,
					 .is_distrusting = s->no_trust };
	struct trace *t = trace_cursor(s->plan->trace);
	struct trace_event ev;
	struct locator *l;
	struct error err;
	struct check *c = trace_meta(s->plan->trace, "threads") ? check_new(&o, &err) : NULL;

	while (c && trace_next(t, &ev))
		check_event(c, &ev);
	if (c) {
		l = locator_new(t, &s->libraries);
		check_finish(c);
		for (size_t i = 0; i < check_nfindings(c); i++)
			check_report_add(report, l, check_finding(c, i));
		locator_free(l);
		check_free(c);
	}
	trace_close(t);
}
