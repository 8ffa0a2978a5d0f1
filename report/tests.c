/* Makes a report of several tests. The tests' own reports stay unchanged: ids, causes and coverage
 * are computed per test. The list of all bugs is for readers that do not look at tests. */
#include "report/tests.h"

#include <string.h>

#include "report/internal.h"

void report_set_project(struct report *r, const struct report_project *p)
{
	r->project = (struct report_project){ arena_text(&r->arena, p->file),
					      arena_text(&r->arena, p->test) };
}

void report_add_option(struct report *r, const char *word)
{
	*vec_add(&r->options) = arena_text(&r->arena, word);
}

size_t report_ntests(const struct report *r)
{
	return r->tests.n;
}

/* Puts the test's name before a text: "insert: the budget ended"; free() it. */
static char *test_text(const struct report *test, const char *text)
{
	return xasprintf("%s: %s", test->project.test, text);
}

/* Adds a test's coverage: numbers are summed, reasons get the test's name. */
static void add_coverage(struct report *all, const struct report *test)
{
	struct report_coverage *sum = &all->coverage;
	const struct report_coverage *c = &test->coverage;

	if (all->tests.n == 1)
		sum->is_complete = true;
	sum->events += c->events;
	sum->failure_points += c->failure_points;
	sum->runs += c->runs;
	sum->shared_runs += c->shared_runs;
	sum->diagnosis_runs += c->diagnosis_runs;
	sum->is_complete &= test->has_coverage && c->is_complete;
	all->has_coverage = true;
	for (size_t i = 0; i < c->nreasons; i++) {
		char *why = test_text(test, c->reasons[i]);

		report_add_reason(all, why);
		free(why);
	}
}

static void add_analyses(struct report *all, const struct report *test)
{
	for (size_t i = 0; i < test->analyses.n; i++) {
		size_t k = 0;

		while (k < all->analyses.n &&
		       strcmp(all->analyses.at[k], test->analyses.at[i]) != 0)
			k++;
		if (k == all->analyses.n)
			report_add_analysis(all, test->analyses.at[i]);
	}
}

void report_add_test(struct report *all, struct report *test)
{
	char *why;

	*vec_add(&all->tests) = test;
	for (size_t i = 0; i < report_nbugs(test); i++) {
		struct bug b = *report_bug(test, i);

		b.test = test->project.test;
		report_append(all, &b);
	}
	add_coverage(all, test);
	add_analyses(all, test);
	if (test->platform && !all->platform)
		report_set_platform(all, test->platform);
	if (test->platform && strcmp(all->platform, test->platform) != 0)
		report_set_platform(all, "several");
	if (test->failure.what && !all->failure.what) {
		why = test_text(test, test->failure.text);
		report_set_failure(all, test->failure.what, why);
		free(why);
	}
}

void report_finish_tests(struct report *all)
{
	if (!all->platform)
		report_set_platform(all, "unknown");
	order_sort(all->bugs.at, all->bugs.n);
	all->is_finished = true;
}

/* ---- JSON ---- */

void project_json(json_t *top, const struct report *r)
{
	const struct {
		const char *key;
		size_t n;
	} numbers[] = { { "suppressed", r->nsuppressed },
			{ "baseline", r->nknown },
			{ "severity", r->nlesser } };
	json_t *project = json_object(), *options = json_array(), *hidden = json_object();

	json_set_text(project, "file", r->project.file);
	json_set_text(project, "test", r->project.test);
	for (size_t i = 0; i < r->options.n; i++)
		json_array_append_new(options, json_text(r->options.at[i]));
	json_object_set(project, "options", options);
	if (r->project.file)
		json_object_set(top, "project", project);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		json_set_number(hidden, numbers[i].key, numbers[i].n);
	if (json_object_size(hidden))
		json_object_set(top, "hidden", hidden);
	json_decref(project);
	json_decref(options);
	json_decref(hidden);
}

bool project_read(struct report *r, const json_t *top, const char **why)
{
	const json_t *project = json_object_get(top, "project"),
		     *options = json_object_get(project, "options"),
		     *hidden = json_object_get(top, "hidden");
	const struct report_project p = { json_get_text(project, "file"),
					  json_get_text(project, "test") };

	*why = project && (!p.file || !json_is_array(options)) ? "no \"file\" or no \"options\""
							       : NULL;
	if (*why)
		return false;
	report_set_project(r, &p);
	for (size_t i = 0; i < json_array_size(options); i++)
		if (json_is_string(json_array_get(options, i)))
			report_add_option(r, json_string_value(json_array_get(options, i)));
	r->nsuppressed = json_get_number(hidden, "suppressed");
	r->nknown = json_get_number(hidden, "baseline");
	r->nlesser = json_get_number(hidden, "severity");
	return true;
}
