/* Says why an exploration is not complete: who ended it, what was left out, and what the user can
 * do about it. */
#include "crash/missing.h"

#include <stdlib.h>
#include <string.h>

bool missing_has_died(const struct crash_result *r)
{
	return r->bugs.n > 0 && r->bugs.at[0].is_clean;
}

/* Names who ended the exploration early. Without a budget it was pmend itself. */
static const char *who_ended(const struct crash_options *o, const struct crash_result *r)
{
	if (r->counters.is_late && o->limits.deadline_ns)
		return "the budget ended (--max-time)";
	return o->limits.max_runs ? "the budget ended (--max-runs)"
				  : "pmend stopped early for an unknown reason";
}

/* Says which operations were tested on behalf of which other operations. */
static char *what_is_represented(const struct crash_options *o, const struct crash_result *r)
{
	const struct representatives *reps = r->representatives;
	struct rep_account a;

	representatives_account(reps, &a);
	if (a.groups_tested < a.groups)
		return xasprintf(
			"%s after %llu of %llu groups of update behaviours; %llu of them had their first runs",
			who_ended(o, r), (unsigned long long)a.groups_tested,
			(unsigned long long)a.groups, (unsigned long long)a.groups_begun);
	/* each behaviour was tested; only failure points were chosen */
	if (a.tested == a.behaviours)
		return xasprintf(
			"each of %llu update behaviours was tested, at some failure points only",
			(unsigned long long)a.behaviours);
	return xasprintf(
		"%llu of %llu update behaviours were tested, one for each group; what only the others do was not seen",
		(unsigned long long)a.tested, (unsigned long long)a.behaviours);
}

/* Shortens a decimal number, which may have hundreds of digits. Takes the number; free() the
 * result. */
static char *readable(char *decimal)
{
	const size_t n = strlen(decimal);
	char *text = n > 15 ? xasprintf("about %c.%ce%zu", decimal[0], decimal[1], n - 1)
			    : xstrdup(decimal);

	free(decimal);
	return text;
}

/* Says what a strategy leaves out that tries one state per failure point. NULL if the failure
 * points have no other states. */
static char *what_is_lost(const struct crash_result *r, const struct strategy *s)
{
	char *seen = big_string(&r->states_seen), *all = big_string(&r->states_all), *text = NULL;

	if (strcmp(seen, all) != 0) {
		seen = readable(seen);
		all = readable(all);
		text = xasprintf(
			"--strategy %s tries only states in which nothing is lost: %s of %s crash states",
			s->name, seen, all);
	}
	free(seen);
	free(all);
	return text;
}

/* Adds to `end` how far the exploration came. */
static char *what_was_begun(const char *end, const struct crash_result *r)
{
	const struct crash_counters *c = &r->counters;
	char *states_left = c->begun == c->points
				    ? xstrdup("")
				    : xasprintf(", of which %llu have states left",
						(unsigned long long)(c->begun - c->points)),
	     *alike =
		     c->alike == 0
			     ? xstrdup("")
			     : xasprintf(
				       "; of the others, %llu were left for last, because recovery fails in the same way near them although nothing is lost",
				       (unsigned long long)c->alike),
	     *text = xasprintf("%s after %llu of %llu failure points%s%s", end,
			       (unsigned long long)c->begun, (unsigned long long)r->nshare,
			       states_left, alike);

	free(states_left);
	free(alike);
	return text;
}

/* Says why not all failure points were explored; NULL if all were. failure: why pmend itself could
 * not go on, or NULL. */
static char *what_ended(const struct crash_options *o, const struct crash_result *r,
			bool is_interrupted, const char *failure)
{
	const struct crash_counters *c = &r->counters;

	if (failure)
		return xasprintf("pmend failed after %llu of %llu failure points: %s",
				 (unsigned long long)c->begun, (unsigned long long)r->npoints,
				 failure);
	if (is_interrupted)
		return what_was_begun("interrupted", r);
	if (o->sum && !o->shard.of && r->ndone < r->nshare)
		return xasprintf(
			"not all parts are finished: %llu of %llu failure points are done; finish the others with --continue, and merge again",
			(unsigned long long)r->ndone, (unsigned long long)r->nshare);
	if (o->shard.of && r->ndone < r->nshare)
		return xasprintf(
			"%s after %llu of %llu failure points of part %u of %u; run the same command with --continue to finish it",
			who_ended(o, r), (unsigned long long)r->ndone,
			(unsigned long long)r->nshare, o->shard.index, o->shard.of);
	if (o->shard.of)
		return xasprintf("this is part %u of %u; 'pmend merge' combines all parts",
				 o->shard.index, o->shard.of);
	if (r->representatives)
		return what_is_represented(o, r);
	return c->points < r->nshare ? what_was_begun(who_ended(o, r), r) : NULL;
}

/* Says why or at how many failure points the dump was not compared; NULL if it always was.
 * Overlapping operations of several threads are reported elsewhere. */
static char *what_was_not_compared(const struct crash_result *r)
{
	const unsigned long long n = r->counters.uncompared - r->counters.overlapping,
				 all = r->npoints;

	if (r->why_no_dump)
		return xasprintf("the dump was not compared: %s", r->why_no_dump);
	if (n == 0)
		return NULL;
	return xasprintf(
		"the dump was not compared at %llu of %llu failure points, where %stoo many operations were in progress, or what they lead to could not be built%s",
		n, all,
		!r->needs_pool   ? ""
		: r->is_of_files ? "the first operation was in progress, or "
				 : "the pool was being created, or ",
		r->needs_pool && r->is_of_files
			? "; if there is no file, let the dump print what there is then and exit with 0"
		: r->needs_pool
			? "; if there is no pool, let the dump print the same as for an empty one and exit with 0"
			: "");
}

/* Appends the text, which now belongs to the list. NULL is ignored. */
static void add(crash_reasons *list, char *text)
{
	if (text)
		*vec_add(list) = text;
}

/* Counts the findings that were not tried; reads of undefined bytes do not count, because they are
 * warnings. */
static size_t count_untried(const struct crash_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->races.n; i++)
		n += r->races.at[i].state == RACE_UNTRIED &&
		     r->races.at[i].kind != RACE_UNINITIALISED;
	return n;
}

/* The path of a file beside the pool that decided the outcome of a run; NULL if there is none. */
static const char *undecided(const struct crash_result *r)
{
	for (size_t i = 0; i < r->bugs.n; i++)
		if (r->bugs.at[i].undecided_by)
			return r->bugs.at[i].undecided_by;
	return NULL;
}

/* Adds what was left out, whoever ended the exploration. */
static void add_gaps(crash_reasons *list, const struct plan *p, const struct crash_options *o,
		     const struct crash_result *r)
{
	const struct crash_counters *c = &r->counters;

	if (c->cut_points > 0)
		add(list,
		    xasprintf(
			    "%llu of %llu failure points have more states than --sample allowed runs",
			    (unsigned long long)c->cut_points, (unsigned long long)r->npoints));
	if (c->repeats > 0)
		add(list,
		    xasprintf(
			    "%llu sets of crash states were left out, because they can only repeat a bug that is known; fix that bug first, or run them with --repeats",
			    (unsigned long long)c->repeats));
	if (c->slow > 0)
		add(list,
		    xasprintf(
			    "%llu sets of crash states are undecided: recovery hangs elsewhere, and did not end there within a short time limit, and the budget ended before they got the usual one",
			    (unsigned long long)c->slow));
	if (!p->is_exact)
		add(list,
		    xstrdup("some lines were stored to so often that only some of their states were kept"));
	if (c->unstable > 0)
		add(list,
		    xasprintf(
			    "%llu failures could not be reproduced: recovery depends on more than the crash state",
			    (unsigned long long)c->unstable));
	add(list, what_was_not_compared(r));
	if (c->overlapping > 0)
		add(list,
		    xasprintf(
			    "the dump was not compared at %llu of %llu failure points, where operations of several threads or processes overlap; "
			    "where they begin and end can only be guessed from the output, so mark them with PMEND_OP_BEGIN and PMEND_OP_END",
			    (unsigned long long)c->overlapping, (unsigned long long)r->npoints));
	if (o->strategy->is_single)
		add(list, what_is_lost(r, o->strategy));
	if (c->unconfirmed > 0)
		add(list,
		    xstrdup("one recovery reached its time limit (--timeout), and --max-time left no time to repeat it"));
	if (count_untried(r) > 0)
		add(list, xasprintf("%zu reads of data that a crash may lose were not classified",
				    count_untried(r)));
	if (c->has_moved)
		add(list,
		    xstrdup("recovery mapped a PM file at another address, because something else was at its own; failures there were not counted"));
	if (undecided(r))
		add(list,
		    xasprintf(
			    "%s decides whether recovery fails, and crash states do not follow that file",
			    undecided(r)));
	if (c->impossible > 0)
		add(list, xasprintf("recovery could not be run on %llu states: %s",
				    (unsigned long long)c->impossible,
				    r->why_impossible ? r->why_impossible : "?"));
}

void missing_find(crash_reasons *list, const struct plan *p, const struct crash_options *o,
		  const struct crash_result *r, bool is_interrupted, const char *failure)
{
	const bool has_died = missing_has_died(r);

	/* of a process that was killed, the trace is complete */
	if (trace_damage(p->trace) && !trace_is_cut_off(p->trace))
		add(list, xstrdup(trace_damage(p->trace)));
	add(list,
	    has_died
		    ? xasprintf(
			      "recovery %s although nothing is lost, so no crash state was explored",
			      r->bugs.at[0].allocation.seq ? "fails" : "dies")
		    : what_ended(o, r, is_interrupted, failure));
	if (!has_died)
		add_gaps(list, p, o, r);
}

void missing_find_beside(crash_reasons *list, const struct crash_result *r)
{
	if (r->beside)
		add(list,
		    xasprintf(
			    "recovery uses %s, which the program writes and crash states do not follow: all states were run with that file as it is now",
			    r->beside));
}
