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
	[HANDED_STEPS] = "this steps from the middle of a line, and leaves out the line in which the "
			 "range ends",
	[HANDED_CALL] = "this flushes only the first of several lines that were stored, and the rest "
			"is not flushed",
	[HANDED_SIZE] = "this flushes as many bytes as its argument itself has, not what that points "
			"to, and the rest is not flushed",
};

static const char *const advices[] = {
	[HANDED_STUCK] = "Advance the pointer by a cache line in each round of the loop.",
	[HANDED_STEPS] = "Round the address down to the begin of its cache line before the loop.",
	[HANDED_CALL] = "Give it the length of all that was stored, or flush the rest, too.",
	[HANDED_SIZE] = "Give it the size of the object, sizeof(*x), and not that of the pointer.",
};

typedef VEC(size_t) numbers;

/* A store that an oracle found never flushed. What only recovery shows takes runs of recovery. */
static bool is_candidate(const struct report *r, size_t i)
{
	const struct bug *b = report_draft(r, i);

	return report_cause(r, i) == i && strncmp(b->kind, "missing-flush", 13) == 0 && place_store(b) &&
	       !place_find(b, "lost");
}

static bool has_candidates(const struct report *r)
{
	for (size_t i = 0; i < report_ndrafts(r); i++)
		if (is_candidate(r, i))
			return true;
	return false;
}

static bool is_left_out(const struct handed *h, const struct bug *b)
{
	return handed_has_store(h, place_store(b)->site);
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
		const struct bug *b = report_draft(r, gone->at[i]);

		if (b->crash)
			report_lend_crash(r, cause, b->crash);
		report_explain(r, gone->at[i], cause);
	}
}

/* ---- trials ---- */

/* Judges the events as they would be with the lines flushed. NULL: they cannot be judged. */
static struct check *check_with(const struct report *r, const struct handed *h, const struct trace *trace)
{
	const struct check_options o = { .platform = report_platform(r) ? platform_find(report_platform(r)) : NULL,
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

	return x && y && x->line == y->line && same_text(x->file, y->file) && same_text(x->function, y->function);
}

/* The store is not durable, whatever is said to be missing. */
static bool is_found(const struct check *c, const struct bug *b, struct locator *l)
{
	bool is_found = false;

	for (size_t i = 0; i < check_nfindings(c) && !is_found; i++) {
		struct report *alone = report_new();

		judge_add(alone, l, check_finding(c, i));
		if (report_ndrafts(alone) > 0) /* none: its thread was cut off */
			is_found = is_same_line(place_store(report_draft(alone, 0)), place_store(b));
		report_free(alone);
	}
	return is_found;
}

static void explain_by(struct report *r, const struct handed *h, const struct trace *t, struct locator *l)
{
	struct check *c = NULL;
	numbers gone = { 0 };

	for (size_t i = 0; i < report_ndrafts(r); i++) {
		if (!is_candidate(r, i) || !is_left_out(h, report_draft(r, i)))
			continue;
		c = c ? c : check_with(r, h, t);
		if (c && !is_found(c, report_draft(r, i), l))
			*vec_add(&gone) = i;
	}
	if (gone.n > 0)
		list_under(r, add_finding(r, h, l), &gone);
	vec_release(&gone);
	check_free(c);
}

void helpers_explain(struct report *r, const struct trace *t, struct locator *l)
{
	handed_list list = { 0 };

	if (!has_candidates(r))
		return;
	handed_find(&list, t, l, r);
	for (size_t i = 0; i < list.n; i++)
		explain_by(r, &list.at[i], t, l);
	handed_release(&list);
}
