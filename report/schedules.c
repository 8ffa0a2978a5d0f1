/* Adds up the reports of one program that was recorded under several orders of threads (schedules).
 * Each bug lists the schedules that show it, and names the trace of one of them. */
#include "report/schedules.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/internal.h"

static void copy_head(struct report *all, const struct report *one)
{
	report_set_platform(all, report_platform(one));
	report_set_platform_chosen(all, report_is_platform_chosen(one));
	for (size_t i = 0; i < report_ncommand(one); i++)
		report_add_argument(all, report_argument(one, i));
	for (size_t i = 0; i < report_nrecipe(one); i++)
		report_add_recipe(all, report_recipe(one, i));
	for (size_t i = 0; i < report_nfiles_options(one); i++)
		report_add_files_option(all, report_files_option(one, i));
	for (size_t i = 0; i < report_ncrash_options(one); i++)
		report_add_crash_option(all, report_crash_option(one, i));
	for (size_t i = 0; i < report_nlibrary_globs(one); i++)
		report_add_library_glob(all, report_library_glob(one, i));
}

static bool has_analysis(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->analyses.n; i++)
		if (strcmp(r->analyses.at[i], name) == 0)
			return true;
	return false;
}

/* Keeps the analyses that ran to their end in all schedules. */
static void add_analyses(struct report *all, const struct report *one, bool is_first)
{
	size_t n = 0;

	for (size_t i = 0; i < one->analyses.n && is_first; i++)
		report_add_analysis(all, one->analyses.at[i]);
	for (size_t i = 0; i < all->analyses.n; i++)
		if (has_analysis(one, all->analyses.at[i]))
			all->analyses.at[n++] = all->analyses.at[i];
	all->analyses.n = n;
}

static void add_depth(struct report_depth *to, const struct report_depth *d)
{
	to->all += d->all;
	to->whole += d->whole;
	to->sampled += d->sampled;
	to->deeper += d->deeper;
	to->first_runs += d->first_runs;
	to->not_reached += d->not_reached;
}

/* Adds the notes that this schedule has and the first one has not. */
static const char *add_note(struct report *all, const struct report_coverage *c, uint32_t number)
{
	char *text;

	if (!c->note || (all->coverage.note && strstr(all->coverage.note, c->note)))
		return all->coverage.note;
	text = all->coverage.note
		       ? xasprintf("%s. Schedule %u: %s", all->coverage.note, number, c->note)
		       : xstrdup(c->note);
	all->coverage.note = arena_text(&all->arena, text);
	free(text);
	return all->coverage.note;
}

static void add_coverage(struct report *all, const struct report *one, uint32_t number)
{
	struct report_coverage *to = &all->coverage;
	const struct report_coverage *c = report_coverage(one);

	if (!all->has_coverage)
		to->is_complete = true;
	all->has_coverage = true;
	if (!c)
		return;
	to->events += c->events;
	to->failure_points += c->failure_points;
	to->runs += c->runs;
	to->shared_runs += c->shared_runs;
	to->explaining_runs += c->explaining_runs;
	to->diagnosis_runs += c->diagnosis_runs;
	to->attributed_without_run += c->attributed_without_run;
	to->faults += c->faults;
	to->lazy_runs += c->lazy_runs;
	to->whole_runs += c->whole_runs;
	to->is_told |= c->is_told;
	to->not_asked = arena_text(&all->arena, c->not_asked);
	add_depth(&to->depth, &c->depth);
	to->note = add_note(all, c, number);
	for (size_t i = 0; i < c->nreasons; i++)
		report_add_reason(all, c->reasons[i]);
	if (!c->is_complete && c->nreasons == 0)
		report_add_reason(all, "not all of a schedule is known");
}

void report_add_schedule(struct report *all, const struct report *one, uint32_t number,
			 const char *trace)
{
	const struct bug_schedules own = { &number, 1, trace };
	const struct report_ending *e = report_ending(one);
	const bool is_first = !report_has_head(all);

	if (is_first)
		copy_head(all, one);
	add_analyses(all, one, is_first);
	report_add_run_of(all, one, NULL, &own);
	for (size_t i = 0; i < report_nunflushed(one); i++)
		report_add_unflushed(all, report_unflushed(one, i));
	if (e && !report_ending(all))
		report_set_ending(all, e);
	add_coverage(all, one, number);
}

bool report_needs_schedule(const struct report *all, const struct report *one)
{
	for (size_t i = 0; i < report_nbugs(one); i++) {
		const struct bug *b = report_bug(one, i);
		const size_t known = report_find_draft(all, b);

		if (known == SIZE_MAX || (b->crash && !all->bugs.at[known]->bug.crash))
			return true;
	}
	return false;
}

/* Adds a sentence to the note of the coverage; frees it. */
static void note_add(struct report *r, char *sentence)
{
	char *text = r->coverage.note ? xasprintf("%s. %s", r->coverage.note, sentence)
				      : xstrdup(sentence);

	r->coverage.note = arena_text(&r->arena, text);
	free(text);
	free(sentence);
}

void report_set_schedules(struct report *r, const struct report_schedules *s, const char *departure,
			  bool has_processes)
{
	r->coverage.schedules = *s;
	r->has_coverage = true;
	note_add(r, xasprintf("%" PRIu64 " schedule%s recorded with seed %" PRIu64 ", %" PRIu64
			      " of them different",
			      s->recorded, s->recorded == 1 ? " was" : "s were", s->seed,
			      s->different));
	if (s->departed)
		note_add(r,
			 xasprintf("The order of %" PRIu64
				   " depends on more than the seed (%s), so the same seed may give "
				   "another one",
				   s->departed, departure ? departure : "unknown"));
	if (s->given_up)
		note_add(r, xasprintf("%" PRIu64 " %s given up, because threads only waited for "
				      "each other, or because of the time",
				      s->given_up, s->given_up == 1 ? "was" : "were"));
	if (s->pairs)
		note_add(r,
			 xasprintf(
				 "%" PRIu64
				 " pair%s of a store and another thread's load met in no schedule, "
				 "but may in another one before the store is durable",
				 s->pairs, s->pairs == 1 ? "" : "s"));
	if (has_processes)
		note_add(r,
			 xstrdup("Processes ran beside each other, and only the order of threads "
				 "within each was chosen"));
}
