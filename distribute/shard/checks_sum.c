/* Adds up the reports of several traces, in the order of the traces. A process reads even its own
 * reports from JSON, so the result does not depend on which process checked what. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distribute/shard/checks.h"
#include "util/alloc.h"

/* What is collected from all reports. */
struct summing {
	const struct checks *checks;
	struct report *all;
	struct report_coverage coverage;
	char *why_incomplete, *note;
	const struct report *first; /* its platform and command go into the sum; owned */
	const char *first_name;
	bool has_other_command;
};

/* Appends a text, with the trace's name before it if there are several traces. NULL adds
 * nothing. */
static void text_add(const struct summing *s, char **to, const char *separator, const char *name,
		     const char *text)
{
	char *longer;

	if (!text)
		return;
	longer = s->checks->list.n == 1 ? xstrdup(text)
					: xasprintf("%s%s%s: %s", *to ? *to : "",
						    *to ? separator : "", name, text);
	free(*to);
	*to = longer;
}

static bool is_same_command(const struct report *a, const struct report *b)
{
	if (report_ncommand(a) != report_ncommand(b))
		return false;
	for (size_t i = 0; i < report_ncommand(a); i++)
		if (strcmp(report_argument(a, i), report_argument(b, i)) != 0)
			return false;
	return true;
}

static void add_ending(struct summing *s, const struct report *r, const char *name)
{
	const struct report_ending *e = report_ending(r);
	struct report_ending own;
	char *text = NULL;

	for (size_t i = 0; i < report_nunflushed(r); i++)
		report_add_unflushed(s->all, report_unflushed(r, i));
	if (!e || report_ending(s->all))
		return;
	text_add(s, &text, "", name, e->text);
	own = *e;
	own.text = text;
	report_set_ending(s->all, &own);
	free(text);
}

static int add_one(struct summing *s, const struct report *r, const char *name, struct error *err)
{
	const struct report_coverage *c = report_coverage(r);
	const char *platform = report_platform(r),
		   *first = s->first ? report_platform(s->first) : platform;

	if (!platform || !c)
		return error_set(
			err, "what was found in %s is damaged: it has no platform or no coverage",
			name);
	if (strcmp(platform, first) != 0)
		return error_set(
			err,
			"%s was recorded for %s and %s for %s; choose one platform with --platform",
			s->first_name, first, name, platform);
	if (s->first)
		s->has_other_command |= !is_same_command(s->first, r);
	report_add_run(s->all, r, NULL);
	add_ending(s, r, name);
	s->coverage.events += c->events;
	s->coverage.is_complete &= c->is_complete;
	text_add(s, &s->why_incomplete, "; ", name,
		 c->is_complete      ? NULL
		 : c->why_incomplete ? c->why_incomplete
				     : "not all of it is known");
	text_add(s, &s->note, ". ", name, c->note);
	return 0;
}

static void set_head(struct summing *s)
{
	if (!s->first && s->checks->platform)
		report_set_platform(s->all, s->checks->platform);
	if (!s->first)
		report_set_platform_chosen(s->all, s->checks->is_platform_chosen);
	if (!s->first)
		return;
	report_set_platform(s->all, report_platform(s->first));
	report_set_platform_chosen(s->all, report_is_platform_chosen(s->first));
	for (size_t i = 0; i < report_ncommand(s->first) && !s->has_other_command; i++)
		report_add_argument(s->all, report_argument(s->first, i));
	for (size_t i = 0; i < report_nrecipe(s->first) && !s->has_other_command; i++)
		report_add_recipe(s->all, report_recipe(s->first, i));
	for (size_t i = 0; i < report_nfiles_options(s->first) && !s->has_other_command; i++)
		report_add_files_option(s->all, report_files_option(s->first, i));
	for (size_t i = 0; i < report_nlibrary_globs(s->first); i++)
		report_add_library_glob(s->all, report_library_glob(s->first, i));
}

/* Counts the traces that have no report here: those that are not checked yet, and those of other
 * parts. */
static void add_missing(struct summing *s, bool *is_whole)
{
	const struct checks *k = s->checks;
	size_t nmissing = 0;
	char *longer;

	for (size_t i = 0; i < k->list.n; i++)
		nmissing += !k->list.at[i].report;
	if (nmissing == 0)
		return;
	longer = xasprintf("%s%s%zu of %zu traces were not checked here",
			   s->why_incomplete ? s->why_incomplete : "",
			   s->why_incomplete ? "; " : "", nmissing, k->list.n);
	free(s->why_incomplete);
	s->why_incomplete = longer;
	s->coverage.is_complete = false;
	*is_whole &= k->shard.of > 0; /* a part is complete without the others */
}

struct report *checks_sum(const struct checks *k, bool *is_whole, struct error *err)
{
	struct summing s = { .checks = k,
			     .all = report_new(),
			     .coverage = { .is_complete = true } };
	int result = 0;

	*is_whole = true;
	for (size_t i = 0; i < k->list.n && result == 0; i++) {
		const struct checked_trace *t = &k->list.at[i];
		struct report *r = t->report ? report_parse(t->report, t->name, err) : NULL;

		if (!t->report)
			continue;
		result = r ? add_one(&s, r, t->name, err) : -1;
		*is_whole &= t->is_whole;
		if (result == 0 && !s.first) {
			s.first = r;
			s.first_name = t->name;
		} else {
			report_free(r);
		}
	}
	set_head(&s);
	add_missing(&s, is_whole);
	s.coverage.why_incomplete = s.why_incomplete;
	s.coverage.note = s.note;
	report_set_coverage(s.all, &s.coverage);
	report_free((struct report *)s.first);
	free(s.why_incomplete);
	free(s.note);
	if (result == 0)
		return s.all;
	report_free(s.all);
	return NULL;
}
