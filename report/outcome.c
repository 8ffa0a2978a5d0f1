/* Computes what a report means for the exit status, and writes and reads the JSON keys that keep
 * it. A bug that counts outweighs a failed analysis: the bug is there, whatever the analysis
 * missed. */
#include "report/outcome.h"

#include <string.h>

#include "report/filter.h"
#include "report/internal.h"

/* The words that --fail-on takes; correctness bugs always count. */
static const char *const fail_words[] = { "correctness", "performance", "porting", "warning",
					  "libraries",   "incomplete",  NULL };

/* Gives the flag that a word of --fail-on sets; NULL: there is no such word. */
static bool *place_of(struct report_fail_on *f, const char *word)
{
	for (enum bug_severity s = BUG_CORRECTNESS; s < BUG_SEVERITIES; s++)
		if (strcmp(bug_severity_name(s), word) == 0)
			return &f->severity[s];
	return strcmp(word, "libraries") == 0    ? &f->libraries
	       : strcmp(word, "incomplete") == 0 ? &f->incomplete
						 : NULL;
}

bool report_fail_on_add(struct report_fail_on *f, const char *word)
{
	bool *place = place_of(f, word);

	if (place)
		*place = true;
	return place != NULL;
}

void report_set_fail_on(struct report *r, const struct report_fail_on *f)
{
	r->fail_on = *f;
	for (size_t i = 0; i < r->tests.n; i++)
		report_set_fail_on(r->tests.at[i], f);
}

void report_add_analysis(struct report *r, const char *name)
{
	*vec_add(&r->analyses) = arena_text(&r->arena, name);
}

void report_set_failure(struct report *r, const char *what, const char *text)
{
	r->failure =
		(struct report_failure){ arena_text(&r->arena, what), arena_text(&r->arena, text) };
}

const struct report_failure *report_failure(const struct report *r)
{
	return r->failure.what ? &r->failure : NULL;
}

bool report_counts(const struct report *r, const struct bug *b)
{
	if (b->library)
		return r->fail_on.libraries;
	return b->severity == BUG_CORRECTNESS || r->fail_on.severity[b->severity];
}

static enum report_outcome worst_outcome(const struct report *r)
{
	enum report_outcome worst = REPORT_CLEAN, one;

	for (size_t i = 0; i < r->tests.n; i++) {
		one = report_outcome(r->tests.at[i]);
		worst = one > worst ? one : worst;
	}
	return worst;
}

enum report_outcome report_outcome(const struct report *r)
{
	size_t n = r->fail_on.libraries ? report_nfolded(r) : 0;

	if (r->tests.n)
		return worst_outcome(r);
	for (size_t i = 0; i < report_nbugs(r); i++)
		n += report_counts(r, report_bug(r, i));
	if (n > 0)
		return REPORT_FOUND;
	if (r->failure.what && strcmp(r->failure.what, "program") != 0)
		return REPORT_FAILED;
	if (r->has_coverage && !r->coverage.is_complete && r->fail_on.incomplete)
		return REPORT_FOUND;
	return r->failure.what ? REPORT_FAILED : REPORT_CLEAN;
}

/* ---- JSON ---- */

void outcome_json(json_t *top, const struct report *r)
{
	json_t *analyses = json_array(), *words = json_array(), *failure = json_object();
	struct report_fail_on on = r->fail_on;

	for (size_t i = 0; i < r->analyses.n; i++)
		json_array_append_new(analyses, json_text(r->analyses.at[i]));
	if (r->analyses.n)
		json_object_set(top, "analyses", analyses);
	for (size_t i = 0; fail_words[i]; i++)
		if (*place_of(&on, fail_words[i]))
			json_array_append_new(words, json_text(fail_words[i]));
	if (json_array_size(words))
		json_object_set(top, "fail_on", words);
	json_set_text(failure, "what", r->failure.what);
	json_set_text(failure, "text", r->failure.text);
	if (r->failure.what)
		json_object_set(top, "failure", failure);
	json_decref(analyses);
	json_decref(words);
	json_decref(failure);
}

bool outcome_read(struct report *r, const json_t *top, const char **why)
{
	const json_t *analyses = json_object_get(top, "analyses"),
		     *words = json_object_get(top, "fail_on"),
		     *failure = json_object_get(top, "failure");
	const char *what = json_get_text(failure, "what"), *text = json_get_text(failure, "text");

	*why = analyses && !json_is_array(analyses) ? "\"analyses\" is no array"
	       : words && !json_is_array(words)     ? "\"fail_on\" is no array"
	       : failure && (!what || !text)        ? "no \"what\" or no \"text\""
						    : NULL;
	if (*why)
		return false;
	for (size_t i = 0; i < json_array_size(analyses); i++)
		if (json_is_string(json_array_get(analyses, i)))
			report_add_analysis(r, json_string_value(json_array_get(analyses, i)));
	/* a newer pmend may have more words; they are skipped */
	for (size_t i = 0; i < json_array_size(words); i++)
		if (json_is_string(json_array_get(words, i)))
			report_fail_on_add(&r->fail_on,
					   json_string_value(json_array_get(words, i)));
	if (failure)
		report_set_failure(r, what, text);
	return true;
}
