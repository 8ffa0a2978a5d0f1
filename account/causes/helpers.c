/* Makes a finding of a flush that covers less than it is given, if that explains stores that are
 * not flushed. What it was given is a guess (short_flushes.h). Only the trial counts: it supposes
 * that the lines that were left out are flushed, too, each time, and lists the findings that are
 * gone then. */
#include "account/causes/helpers.h"

#include <stdlib.h>
#include <string.h>

#include "report/causes.h"
#include "account/causes/short_flushes.h"
#include "account/causes/place.h"
#include "account/check_report.h"
#include "check/check.h"
#include "util/str.h"

struct words {
	const char *message, *advice;
};

static const struct words flush_words[] = {
	[HANDED_STUCK] = { "this flushes one line again and again, and not the lines after it, which "
			   "are never flushed",
			   "Advance the pointer by a cache line in each round of the loop." },
	[HANDED_STEPS] = { "this steps from the middle of a line, and leaves out the line in which the "
			   "range ends",
			   "Round the address down to the beginning of its cache line before the loop." },
	[HANDED_HELPER] = { "this does not flush all lines of the range that it is given: the end of "
			    "it is not flushed",
			    "Flush each cache line from that of the first byte to that of the last." },
	[HANDED_CALLS] = { "this is called for all that was stored, but flushes only the beginning of "
			   "it",
			   "Check that it flushes each line of the range, also if the range begins "
			   "in the middle of a line, and check the lengths that its callers pass." },
	[HANDED_CALL] = { "this flushes only the beginning of what was stored",
			  "Check the length that is passed here, and that the helper flushes each "
			  "line of the range, also if the range begins in the middle of a line." },
	[HANDED_SIZE] = { "this flushes as many bytes as its argument itself has, not what that points "
			  "to, and the rest is not flushed",
			  "Give it the size of the object, sizeof(*x), and not that of the pointer." },
};

static const struct words sync_words[] = {
	[HANDED_STUCK] = { "this syncs one page again and again, and not the pages after it, which are "
			   "never synced",
			   "Advance the pointer by a page in each round of the loop." },
	[HANDED_STEPS] = { "this steps from the middle of a page, and leaves out the page in which the "
			   "range ends",
			   "Round the address down to the beginning of its page before the loop." },
	[HANDED_HELPER] = { "this does not sync all pages of the range that it is given: the end of it "
			    "is not synced",
			    "Sync each page from that of the first byte to that of the last." },
	[HANDED_CALLS] = { "this is called for all that was stored, but syncs only the beginning of "
			   "it",
			   "Check that it syncs each page of the range, also if the range begins in "
			   "the middle of a page, and check the lengths that its callers pass." },
	[HANDED_CALL] = { "this syncs only the beginning of what was stored",
			  "Check the length that is passed here, and that whoever gets it syncs each "
			  "page of the range, also if the range begins in the middle of a page." },
	[HANDED_SIZE] = { "this syncs as many bytes as its argument itself has, not what that points "
			  "to, and the rest is not synced",
			  "Give it the size of the object, sizeof(*x), and not that of the pointer." },
};

typedef VEC(size_t) numbers;

struct helpers {
	struct report *report;
	const struct trace *trace;
	struct locator *locator;
	struct trials *trials;
};

/* Is finding i about a store that is not flushed? An oracle or recovery may have found it. */
static bool is_candidate(const struct report *r, size_t i)
{
	const struct bug *b = report_draft(r, i);

	if (report_cause(r, i) != i || b->severity != BUG_CORRECTNESS || !place_store(b))
		return false;
	return trials_is_by_recovery(b) ? place_lack(b) == LACKS_FLUSH
					: strncmp(b->kind, "missing-flush", 13) == 0 ||
						  bug_is_kind(b, "ack-before-durable");
}

bool helpers_are_wanted(const struct report *r)
{
	for (size_t i = 0; i < report_ndrafts(r); i++)
		if (is_candidate(r, i))
			return true;
	return false;
}

static bool is_elsewhere(uint32_t site, void *arg)
{
	return !handed_has_store(arg, site);
}

/* Did the flush leave out the finding's store, on some call path? */
static bool is_left_out(const struct report *r, size_t i, struct handed *h)
{
	return handed_has_store(h, place_store(report_draft(r, i))->site) ||
	       !report_each_site(r, i, is_elsewhere, h);
}

static size_t add_finding(struct report *r, const struct handed *h, struct locator *l)
{
	const struct words *words = h->lines.at[0].kind == PMT_MSYNC ? sync_words : flush_words;
	const struct finding f = { .kind = "short-flush",
				   .message = words[h->how].message,
				   .advice = words[h->how].advice,
				   .places = { { "flush", h->flush }, { "store", h->store } },
				   .nplaces = 2,
				   .first_seq = h->first_seq,
				   .count = h->count };
	struct report *alone = report_new();
	struct bug_location where[2];
	struct bug b;
	size_t i;

	check_report_add(alone, l, &f);
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

static void feed(struct check *c, const struct whatif *w, const struct trace *trace)
{
	struct trace *t = trace_cursor(trace);
	struct rewriter *rewriter = rewriter_new(w, t);
	enum whatif_mark mark;
	struct trace_event ev;

	while (rewriter_next(rewriter, &ev, &mark))
		check_event(c, &ev);
	rewriter_free(rewriter);
	trace_close(t);
}

/* Judges the events with the lines flushed. NULL: that is impossible. */
static struct check *check_with(const struct report *r, const struct handed *h,
				const struct trace *trace)
{
	const struct check_options o = {
		.platform = report_platform(r) ? platform_find(report_platform(r)) : NULL,
		.only = (const char *const[]){ "durability", "acknowledged", NULL }
	};
	struct whatif w = { 0 };
	struct error err;
	struct check *c = o.platform ? check_new(&o, &err) : NULL;

	if (!c)
		return NULL;
	for (size_t i = 0; i < h->lines.n; i++)
		*vec_add(&w.flushes) = h->lines.at[i];
	feed(c, &w, trace);
	check_finish(c);
	if (check_wants_again(c)) { /* what is missing is known only after the second pass */
		check_again(c);
		feed(c, &w, trace);
		check_finish_again(c);
	}
	whatif_release(&w);
	return c;
}

/* Are both places on the same source line, whoever called it? The finding is about all call
 * paths. */
static bool is_same_line(const struct bug_location *a, const struct bug_location *b)
{
	const struct bug_frame *x = a ? bug_location_frame(a) : NULL, *y = bug_location_frame(b);

	return x && y && x->line == y->line && str_same(x->file, y->file) &&
	       str_same(x->function, y->function);
}

/* Makes a report of what the oracles find in the changed events, by source line. */
static struct report *findings_of(const struct check *c, struct locator *l)
{
	struct report *after = report_new();

	for (size_t i = 0; i < check_nfindings(c); i++)
		check_report_add(after, l, check_finding(c, i));
	return after;
}

/* Is the store still not durable, whatever is said to be missing? */
static bool is_found(const struct report *after, const struct bug *b)
{
	for (size_t i = 0; i < report_ndrafts(after); i++)
		if (is_same_line(place_store(report_draft(after, i)), place_store(b)))
			return true;
	return false;
}

/* Is the finding gone, and everything that is listed under it? */
static bool is_gone(const struct report *r, size_t i, const struct report *after)
{
	for (size_t k = 0; k < report_ndrafts(r); k++)
		if (report_cause(r, k) == i &&
		    (!place_store(report_draft(r, k)) || is_found(after, report_draft(r, k))))
			return false;
	return true;
}

/* Finds the oracles' findings that are gone in the changed events. */
static void find_unseen(numbers *unseen, const struct helpers *in, const numbers *candidates,
			const struct handed *h)
{
	struct check *c = NULL;
	struct report *after = NULL;

	for (size_t i = 0; i < candidates->n; i++) {
		if (trials_is_by_recovery(report_draft(in->report, candidates->at[i])))
			continue;
		if (!c)
			c = check_with(in->report, h, in->trace);
		if (c && !after)
			after = findings_of(c, in->locator);
		if (after && is_gone(in->report, candidates->at[i], after))
			*vec_add(unseen) = candidates->at[i];
	}
	report_free(after);
	if (c)
		check_free(c);
}

static bool is_all_gone(const struct report *r, size_t i, const struct trial_question *asked,
			const enum trial_answer *answers, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (report_cause(r, asked[k].finding) == i && answers[k] != TRIAL_GONE)
			return false;
	return true;
}

/* Runs recovery again and finds which of the candidates, and of the findings listed under them,
 * crashes do not show any more. A line that is flushed in the end may be flushed too late. */
static void find_gone(numbers *gone, const struct helpers *in, const numbers *candidates,
		      const struct handed *h)
{
	const struct report *r = in->report;
	VEC(struct trial_question) asked = { 0 };
	enum trial_answer *answers;

	for (size_t i = 0; i < candidates->n; i++)
		for (size_t k = 0; k < report_ndrafts(r); k++)
			if (report_cause(r, k) == candidates->at[i] &&
			    trials_has_crash(report_draft(r, k)))
				*vec_add(&asked) = (struct trial_question){ .finding = k,
									    .is_by_crash = true };
	answers = xcalloc(asked.n + 1, sizeof *answers);
	trials_suppose_nothing(in->trials);
	trials_suppose_flushes(in->trials, h->lines.at, h->lines.n);
	if (asked.n > 0)
		trials_look(in->trials, asked.at, asked.n, answers);
	for (size_t i = 0; i < candidates->n; i++)
		if (is_all_gone(r, candidates->at[i], asked.at, answers, asked.n))
			*vec_add(gone) = candidates->at[i];
	free(answers);
	vec_release(&asked);
}

/* Tries one proposal. If nobody found anything about the lines that it left out, there is nothing
 * to try. */
static void explain_by(const struct helpers *in, struct handed *h)
{
	struct report *r = in->report;
	numbers candidates = { 0 }, unseen = { 0 }, gone = { 0 };

	for (size_t i = 0; i < report_ndrafts(r); i++)
		if (is_candidate(r, i) && is_left_out(r, i, h))
			*vec_add(&candidates) = i;
	find_unseen(&unseen, in, &candidates, h);
	for (size_t i = 0; i < candidates.n; i++)
		if (trials_is_by_recovery(report_draft(r, candidates.at[i])))
			*vec_add(&unseen) = candidates.at[i];
	find_gone(&gone, in, &unseen, h);
	if (gone.n > 0)
		list_under(r, add_finding(r, h, in->locator), &gone);
	vec_release(&candidates);
	vec_release(&unseen);
	vec_release(&gone);
}

void helpers_explain(struct report *r, const struct trace *t, const struct libraries *libraries,
		     struct trials *trials)
{
	struct helpers in = { r, t, locator_new(t, libraries), trials };
	handed_list list = { 0 };

	handed_find(&list, t, in.locator, r);
	for (size_t i = 0; i < list.n; i++)
		explain_by(&in, &list.at[i]);
	handed_release(&list);
	locator_free(in.locator);
}
