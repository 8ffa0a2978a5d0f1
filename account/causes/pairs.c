/* Finds, for each pair of unpersisted-read, the finding of `crash` that proves it. Lines are not
 * enough, because one thread alone may lose and keep stores of the same two lines. So the trace
 * must show the pair in the very stores of the crash state:
 *
 *	thread A: the store that the state loses
 *	thread B:    a load of these bytes, at the pair's load    what survives, or the answer
 *
 * A state that has to lose stores of several places is no proof of one pair. */
#include "account/causes/pairs.h"

#include <string.h>

#include "account/causes/place.h"
#include "report/causes.h"
#include "util/str.h"
#include "util/vec.h"

static const char KIND[] = "unpersisted-read";
static const char HARMLESS[] =
	"recovery was run on all crash states, and fails on none because this store is lost";
static const char TOLD[] =
	"recovery was run on all crash states; where it fails because this store is lost, another finding tells, which does not need the reader";

/* A finding of `crash` beside a pair with the same places, and what the trace says about its
 * stores. */
struct match {
	size_t pair, crash; /* numbers of the findings */
	uint64_t lost_seq, end_seq;
	uint64_t addr, len_bytes;
	uint32_t stream, thread; /* of the lost store */
	/* of the load that was seen last */
	uint32_t load_stream, load_thread;
	bool has_store, has_load, has_answer, is_shown;
};

typedef VEC(struct match) matches;

struct pairs {
	struct report *report;
	struct locator *locator;
	matches list;
};

/* Does the finding lose stores of one place only? */
static bool is_single_loss(const struct bug *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->nlocations; i++)
		n += place_is(&b->locations[i], "lost");
	return n == 1;
}

static bool same_places(const struct bug *pair, const struct bug *b)
{
	const struct bug_location *store = place_find(pair, "store"),
				  *persisted = place_find(pair, "persisted"),
				  *answer = place_find(pair, "acknowledged"),
				  *lost = place_find(b, "lost"),
				  *survived = place_find(b, "survived"),
				  *acknowledged = place_find(b, "acknowledged");

	if (!store || !lost || !lost->seq || !is_single_loss(b) || !place_same(store, lost))
		return false;
	if (persisted)
		return survived && survived->seq && place_same(persisted, survived);
	/* PMEND_OP_END acknowledges if the program marks its operations; the answer comes before
	 * it */
	return answer && acknowledged && acknowledged->seq;
}

static void find_matches(struct pairs *p)
{
	const struct report *r = p->report;

	for (size_t i = 0; i < report_ndrafts(r); i++)
		for (size_t k = 0; k < report_ndrafts(r); k++) {
			const struct bug *pair = report_draft(r, i), *b = report_draft(r, k);
			const struct bug_location *end = place_end(b);

			if (bug_is_kind(pair, KIND) && b->crash && b->crash->replay && end &&
			    same_places(pair, b))
				*vec_add(&p->list) =
					(struct match){ .pair = i,
							.crash = k,
							.lost_seq = place_find(b, "lost")->seq,
							.end_seq = end->seq };
		}
}

/* Is the site on the line of this place? */
static bool is_at(struct pairs *p, const struct trace_site *site, const struct bug_location *place)
{
	const struct frame *list;
	const size_t n = site ? locate_stack(p->locator, site, &list) : 0;
	struct bug_frame shown;

	if (site && site->id == place->site)
		return true;
	if (n == 0 || place->shown >= place->nframes)
		return false;
	shown = bug_frame_of(list[locate_place(p->locator, list, n)].symbol);
	return shown.line && shown.line == place->frames[place->shown].line &&
	       str_same(shown.function, place->frames[place->shown].function) &&
	       str_same(shown.file, place->frames[place->shown].file);
}

static void step(struct pairs *p, struct match *m, const struct trace_event *ev)
{
	const struct bug *pair = report_draft(p->report, m->pair);
	const struct bug_location *load = place_find(pair, "load"),
				  *answer = place_find(pair, "acknowledged");

	if (ev->seq == m->lost_seq) {
		m->addr = ev->addr;
		m->len_bytes = ev->size_bytes;
		m->stream = ev->stream;
		m->thread = ev->thread;
		m->has_store = true;
	}
	if (!m->has_store || ev->seq > m->end_seq ||
	    (ev->stream == m->stream && ev->thread == m->thread))
		return;
	if (ev->kind == PMT_LOAD && load && ev->addr < m->addr + m->len_bytes &&
	    m->addr < ev->addr + ev->size_bytes && is_at(p, ev->site, load)) {
		m->has_load = true;
		m->load_stream = ev->stream;
		m->load_thread = ev->thread;
	}
	if (!m->has_load || ev->stream != m->load_stream || ev->thread != m->load_thread)
		return;
	m->has_answer |= ev->kind == PMT_OUTPUT && answer && is_at(p, ev->site, answer);
	if (ev->seq == m->end_seq)
		m->is_shown = !answer || m->has_answer;
}

static void look(struct pairs *p, const struct trace *trace)
{
	struct trace *t = trace_cursor(trace);
	struct trace_event ev;
	uint64_t last = 0;

	for (size_t i = 0; i < p->list.n; i++)
		last = p->list.at[i].end_seq > last ? p->list.at[i].end_seq : last;
	while (trace_next(t, &ev) && ev.seq <= last)
		for (size_t i = 0; i < p->list.n; i++)
			step(p, &p->list.at[i], &ev);
	trace_close(t);
}

/* Makes one finding of the pair and its proof. A proof that is listed under another finding stays
 * there, and the pair is listed there, too. */
static void confirm(struct report *r, const struct match *m)
{
	const size_t cause = report_cause(r, m->crash), pair = report_cause(r, m->pair);

	report_lend_crash(r, m->pair, m->crash);
	report_restore(r, m->pair);
	if (cause == m->crash)
		report_explain(r, m->crash, pair);
	else if (cause != pair)
		report_explain(r, pair, cause);
}

/* Was recovery run on all crash states? */
static bool is_exhaustive(const struct report *r)
{
	const struct report_coverage *c = report_coverage(r);

	return c && c->runs > 0 && c->is_complete && c->depth.all > 0 &&
	       c->depth.whole == c->depth.all;
}

/* Does a finding of `crash` lose the pair's store? */
static bool is_lost(const struct report *r, const struct bug *pair)
{
	const struct bug_location *store = place_find(pair, "store");

	for (size_t i = 0; store && i < report_ndrafts(r); i++) {
		const struct bug *b = report_draft(r, i);

		for (size_t k = 0; b->crash && k < b->nlocations; k++)
			if (place_is(&b->locations[k], "lost") &&
			    place_same(store, &b->locations[k]))
				return true;
	}
	return false;
}

/* Makes pairs that no crash state confirms warnings. */
static void demote(struct report *r)
{
	for (size_t i = 0; i < report_ndrafts(r); i++) {
		const struct bug *pair = report_draft(r, i);

		if (bug_is_kind(pair, KIND) && !pair->crash)
			report_demote(r, i, is_lost(r, pair) ? TOLD : HARMLESS, NULL);
	}
}

bool pairs_are_there(const struct report *r)
{
	for (size_t i = 0; i < report_ndrafts(r); i++)
		if (bug_is_kind(report_draft(r, i), KIND))
			return true;
	return false;
}

void pairs_confirm(struct report *r, const struct trace *t, struct locator *l, bool has_crashes)
{
	struct pairs p = { .report = r, .locator = l };

	find_matches(&p);
	if (p.list.n > 0)
		look(&p, t);
	for (size_t i = 0; i < p.list.n; i++)
		if (p.list.at[i].is_shown)
			confirm(r, &p.list.at[i]);
	vec_release(&p.list);
	if (has_crashes && is_exhaustive(r))
		demote(r);
}
