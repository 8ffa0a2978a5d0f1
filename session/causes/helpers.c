/* Makes a finding of a flush that covers less than it is given, where that explains stores that are
 * not flushed. What it was given is a guess (handed.h). Only the trial counts: the lines that it
 * left out are flushed, too, each time, and a finding that is gone then is listed under it. */
#include "session/causes/helpers.h"

#include <string.h>

#include "report/causes.h"
#include "session/causes/handed.h"
#include "session/causes/place.h"
#include "session/judge.h"
#include "check/check.h"

static const char *const messages[] = {
	[HANDED_STUCK] = "this flushes one line again and again, and not the lines after it, which "
			 "are never flushed",
	[HANDED_STEPS] =
		"this steps from the middle of a line, and leaves out the line in which the "
		"range ends",
	[HANDED_HELPER] = "this does not flush all lines of the range that it is given: the end of "
			  "it is not flushed",
	[HANDED_CALLS] = "calls of this flush only the begin of what was stored, and the rest is "
			 "not flushed",
	[HANDED_CALL] =
		"this flushes only the begin of what was stored, and the rest is not flushed",
	[HANDED_SIZE] =
		"this flushes as many bytes as its argument itself has, not what that points "
		"to, and the rest is not flushed",
};

static const char *const advices[] = {
	[HANDED_STUCK] = "Advance the pointer by a cache line in each round of the loop.",
	[HANDED_STEPS] = "Round the address down to the begin of its cache line before the loop.",
	[HANDED_HELPER] = "Flush each cache line from that of the first byte to that of the last.",
	[HANDED_CALLS] = "Check that it flushes up to the end of the range, and the lengths that "
			 "its callers pass.",
	[HANDED_CALL] = "Check the length that is passed here, and that the helper flushes up to "
			"its end.",
	[HANDED_SIZE] = "Give it the size of the object, sizeof(*x), and not that of the pointer.",
};

typedef VEC(size_t) numbers;

/* A store that an oracle found never flushed. What only recovery shows takes runs of recovery. */
static bool is_candidate(const struct report *r, size_t i)
{
	const struct bug *b = report_draft(r, i);

	return report_cause(r, i) == i && b->severity == BUG_CORRECTNESS &&
	       strncmp(b->kind, "missing-flush", 13) == 0 && place_store(b) &&
	       !place_find(b, "lost");
}

static bool is_elsewhere(uint32_t site, void *arg)
{
	return !handed_has_store(arg, site);
}

/* By some way that leads to the store. */
static bool is_left_out(const struct report *r, size_t i, struct handed *h)
{
	return handed_has_store(h, place_store(report_draft(r, i))->site) ||
	       !report_each_site(r, i, is_elsewhere, h);
}

static size_t add_finding(struct report *r, const struct handed *h, struct locator *l)
{
	const struct finding f = { .kind = "short-flush",
				   .message = messages[h->how],
				   .advice = advices[h->how],
				   .places = { { "flush", h->flush }, { "store", h->store } },
				   .nplaces = 2,
				   .first_seq = h->first_seq,
				   .count = h->count };
	struct report *alone = report_new();
	struct bug_location where[2];
	struct bug b;
	size_t i;

	judge_add(alone, l, &f);
	b = *report_draft(alone, 0);
	memcpy(where, b.locations, sizeof where);
	if (h->shown < where[0].nframes)
		where[0].shown = h->shown;
	b.locations = where;
	report_add(r, &b);
	i = report_find_draft(r, &b);
	report_free(alone);
	return i;
}

static void list_under(struct report *r, size_t cause, const numbers *gone)
{
	for (size_t i = 0; i < gone->n; i++) {
		report_lend_crash(r, cause, gone->at[i]);
		report_explain(r, gone->at[i], cause);
	}
}

/* ---- trials ---- */

/* Judges the events as they would be with the lines flushed. NULL: they cannot be judged. */
static struct check *check_with(const struct report *r, const struct handed *h,
				const struct trace *trace)
{
	const struct check_options o = { .platform = report_platform(r)
							     ? platform_find(report_platform(r))
							     : NULL,
					 .only = (const char *const[]){ "durability", NULL } };
	struct whatif w = { 0 };
	struct rewriter *rewriter;
	enum whatif_mark mark;
	struct trace_event ev;
	struct trace *t;
	struct error err;
	struct check *c = o.platform ? check_new(&o, &err) : NULL;

	if (!c)
		return NULL;
	for (size_t i = 0; h && i < h->lines.n; i++)
		*vec_add(&w.flushes) = h->lines.at[i];
	t = trace_cursor(trace);
	rewriter = rewriter_new(&w, t);
	while (rewriter_next(rewriter, &ev, &mark))
		check_event(c, &ev);
	check_finish(c);
	rewriter_free(rewriter);
	whatif_release(&w);
	trace_close(t);
	return c;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whoever called: the finding is of all call paths. */
static bool is_same_line(const struct bug_location *a, const struct bug_location *b)
{
	const struct bug_frame *x = a ? bug_location_frame(a) : NULL, *y = bug_location_frame(b);

	return x && y && x->line == y->line && same_text(x->file, y->file) &&
	       same_text(x->function, y->function);
}

/* What the oracles find there, by lines of the source. */
static struct report *findings_of(const struct check *c, struct locator *l)
{
	struct report *after = report_new();

	for (size_t i = 0; i < check_nfindings(c); i++)
		judge_add(after, l, check_finding(c, i));
	return after;
}

/* The store is not durable, whatever is said to be missing. */
static bool is_found(const struct report *after, const struct bug *b)
{
	for (size_t i = 0; i < report_ndrafts(after); i++)
		if (is_same_line(place_store(report_draft(after, i)), place_store(b)))
			return true;
	return false;
}

/* And all that is listed under it. */
static bool is_gone(const struct report *r, size_t i, const struct report *after)
{
	for (size_t k = 0; k < report_ndrafts(r); k++)
		if (report_cause(r, k) == i &&
		    (!place_store(report_draft(r, k)) || is_found(after, report_draft(r, k))))
			return false;
	return true;
}

static void find_gone(numbers *gone, const struct report *r, const numbers *candidates,
		      const struct handed *h, const struct trace *t, struct locator *l)
{
	struct check *c = check_with(r, h, t);
	struct report *after = c ? findings_of(c, l) : NULL;

	for (size_t i = 0; c && i < candidates->n; i++)
		if (is_gone(r, candidates->at[i], after))
			*vec_add(gone) = candidates->at[i];
	report_free(after);
	if (c)
		check_free(c);
}

/* A flush may seem to be short where nobody missed anything: then there is nothing to try. */
static void explain_by(struct report *r, struct handed *h, const struct trace *t, struct locator *l)
{
	numbers candidates = { 0 }, gone = { 0 };

	for (size_t i = 0; i < report_ndrafts(r); i++)
		if (is_candidate(r, i) && is_left_out(r, i, h))
			*vec_add(&candidates) = i;
	if (candidates.n > 0)
		find_gone(&gone, r, &candidates, h, t, l);
	if (gone.n > 0)
		list_under(r, add_finding(r, h, l), &gone);
	vec_release(&candidates);
	vec_release(&gone);
}

void helpers_explain(struct report *r, const struct trace *t, const struct libraries *libraries)
{
	handed_list list = { 0 };
	struct locator *l;
	bool is_wanted = false;

	for (size_t i = 0; i < report_ndrafts(r); i++)
		is_wanted |= is_candidate(r, i);
	if (!is_wanted)
		return;
	l = locator_new(t, libraries);
	handed_find(&list, t, l, r);
	for (size_t i = 0; i < list.n; i++)
		explain_by(r, &list.at[i], t, l);
	handed_release(&list);
	locator_free(l);
}
