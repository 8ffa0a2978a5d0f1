/* Asks the oracles of transactions for each occurrence of their findings, and looks which other
 * findings follow from them. A store that is not logged stays when its transaction is undone. So
 * every crash until the transaction ends may leave half of it, whatever was stored last. A commit
 * does not write such a store back, either, so it may also be lost afterwards. */
#include "account/causes/transactions.h"

#include <stdlib.h>
#include <string.h>

#include "report/causes.h"
#include "report/bug.h"
#include "account/causes/place.h"
#include "account/check_report.h"
#include "util/alloc.h"
#include "check/check.h"

static const char *const asked[] = { "transactions", "tx-outside", NULL };

/* Which findings follow from a kind of finding. A window is from the finding's event to the end of
 * its transaction. */
static const struct rule {
	const char *kind;
	bool by_store; /* findings that lose, keep or read a store of the same place */
	/* failures after a crash in the window, whatever store of the transaction is lost */
	bool by_crash;
	bool by_time; /* findings about a store that the thread makes in the window */
	/* other findings of this kind, if they are at the same line of memory each time */
	bool by_range;
} rules[] = {
	{ "tx-missing-add", .by_store = true, .by_crash = true, .by_range = true },
	{ "tx-store-outside", .by_store = true },
	{ "tx-not-ended", .by_crash = true, .by_time = true },
};

struct window {
	uint32_t stream, thread;
	uint64_t begin_seq, seq, end_seq; /* begin_seq: of the transaction */
	uint64_t line;                    /* of memory; 0: unknown */
};

/* All occurrences of a finding at one place. */
struct tx_finding {
	const struct rule *rule;
	struct finding finding; /* the first occurrence */
	size_t draft;           /* in the report; SIZE_MAX: not there */
	bool is_added;          /* added to the report because of what follows from it */
	VEC(struct window) windows;
};

struct tx_findings {
	VEC(struct tx_finding) list;
};

static const struct rule *rule_of(const char *kind)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (strcmp(rules[i].kind, kind) == 0)
			return &rules[i];
	return NULL;
}

/* ---- collecting occurrences ---- */

static struct tx_finding *tx_finding_of(struct tx_findings *all, const struct rule *rule,
					const struct finding *f)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (all->list.at[i].rule == rule &&
		    all->list.at[i].finding.places[0].site == f->places[0].site)
			return &all->list.at[i];
	*vec_add(&all->list) =
		(struct tx_finding){ .rule = rule, .finding = *f, .draft = SIZE_MAX };
	all->list.at[all->list.n - 1].finding.count = 0;
	return &all->list.at[all->list.n - 1];
}

static void hear(const struct finding *f, void *arg)
{
	const struct rule *rule = rule_of(f->kind);
	struct tx_findings *all = arg;
	struct tx_finding *c;

	if (!rule || f->is_cut || !f->places[0].site)
		return;
	c = tx_finding_of(all, rule, f);
	c->finding.count++;
	*vec_add(&c->windows) =
		(struct window){ .seq = f->first_seq, .line = f->addr / PMT_LINE_BYTES };
}

void tx_findings_free(struct tx_findings *all)
{
	for (size_t i = 0; i < all->list.n; i++)
		vec_release(&all->list.at[i].windows);
	vec_release(&all->list);
	free(all);
}

static int compare_windows(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Fills the windows, in the order of the trace. The transaction tells which thread it was. */
static void set_windows(struct tx_findings *all, const struct facts *f)
{
	for (size_t i = 0; i < all->list.n; i++) {
		for (size_t k = 0; k < all->list.at[i].windows.n; k++) {
			struct window *w = &all->list.at[i].windows.at[k];
			const struct tx_span *s = facts_span(f, w->seq);

			if (s)
				*w = (struct window){ s->stream, s->thread,  s->begin_seq,
						      w->seq,    s->end_seq, w->line };
			else
				w->begin_seq = w->end_seq = w->seq;
		}
		qsort(all->list.at[i].windows.at, all->list.at[i].windows.n,
		      sizeof *all->list.at[i].windows.at, compare_windows);
	}
}

static bool has_transactions(const struct trace *trace)
{
	struct trace *t = trace_cursor(trace);
	struct trace_event ev;
	bool has = false;

	while (!has && trace_next(t, &ev))
		has = ev.kind == PMT_TX_BEGIN;
	trace_close(t);
	return has;
}

struct tx_findings *tx_findings_collect(const struct trace *t, struct facts *f)
{
	struct tx_findings *all = xcalloc(1, sizeof *all);

	if (has_transactions(t))
		check_listen(t, asked, hear, all);
	for (size_t i = 0; i < all->list.n; i++)
		facts_want(f, all->list.at[i].finding.places[0].site->id);
	return all;
}

/* ---- consequences ---- */

/* Did the crash come in a window? */
static bool is_crash_in(const struct tx_finding *c, const struct bug *b)
{
	const uint64_t seq = b->crash->seq;

	for (size_t i = 0; seq && i < c->windows.n; i++)
		if (c->windows.at[i].seq < seq && seq <= c->windows.at[i].end_seq)
			return true;
	return false;
}

/* Gives the begin of the last transaction before the crash in which this finding occurs; 0:
 * unknown. */
static uint64_t last_begin(const struct tx_finding *c, uint64_t crash_seq)
{
	uint64_t begin_seq = 0;

	for (size_t i = 0; i < c->windows.n; i++)
		if (c->windows.at[i].seq < crash_seq && c->windows.at[i].begin_seq > begin_seq)
			begin_seq = c->windows.at[i].begin_seq;
	return begin_seq;
}

/* Was another store lost that was made before the transaction? That is a bug of its own, whichever
 * stores survived. */
static bool has_own_fault(const struct tx_finding *c, const struct bug *b,
			  const struct bug_location *place)
{
	const uint64_t begin_seq = b->crash ? last_begin(c, b->crash->seq) : 0;

	for (size_t i = 0; i < b->nlocations; i++) {
		const struct bug_location *l = &b->locations[i];

		if (place_is(l, "lost") && l->seq && l->seq < begin_seq && !place_same(l, place))
			return true;
	}
	return false;
}

static bool is_stored_in(const struct tx_finding *c, const struct facts *f,
			 const struct bug_location *l)
{
	const touches *list = facts_of(f, l->site);

	for (size_t k = 0; l->seq && k < list->n; k++)
		for (size_t i = 0; list->at[k].seq == l->seq && i < c->windows.n; i++) {
			const struct window *w = &c->windows.at[i];

			if (w->stream == list->at[k].stream && w->thread == list->at[k].thread &&
			    w->seq < l->seq && l->seq <= w->end_seq)
				return true;
		}
	return false;
}

static bool has_store(const struct bug *b, const struct bug_location *place, uint32_t site)
{
	for (size_t i = 0; i < b->nlocations; i++) {
		const struct bug_location *l = &b->locations[i];

		if ((place_is(l, "store") || place_is(l, "lost") || place_is(l, "survived")) &&
		    ((site && l->site == site) || place_same(l, place)))
			return true;
	}
	return false;
}

/* Can the finding have a cause? It must be about correctness, from recovery or about durability. */
static bool is_symptom(const struct bug *b)
{
	static const char *const kinds[] = { "missing-flush", "missing-fence",
					     "missing-flush-fence", "overwrite-unpersisted" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(b->kind, kinds[i]) == 0)
			return true;
	return b->crash && b->severity == BUG_CORRECTNESS && !rule_of(b->kind);
}

static bool explains(const struct tx_finding *c, const struct facts *f, const struct bug *b,
		     const struct bug_location *place)
{
	const struct bug_location *store = place_store(b);

	if (has_own_fault(c, b, place))
		return false;
	if (c->rule->by_store && has_store(b, place, c->finding.places[0].site->id))
		return true;
	if (c->rule->by_crash && b->crash && strncmp(b->kind, "missing-", 8) != 0 &&
	    is_crash_in(c, b))
		return true;
	return c->rule->by_time && store && is_stored_in(c, f, store);
}

/* Makes a report of this finding alone, to get its place. */
static struct report *told_alone(const struct tx_finding *c, struct locator *l)
{
	struct report *r = report_new();

	check_report_add(r, l, &c->finding);
	return r;
}

/* Is the finding in the report itself, or for another of its call paths? */
static bool is_in_report(const struct tx_findings *all, const struct tx_finding *c)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (&all->list.at[i] != c && all->list.at[i].is_added &&
		    all->list.at[i].draft == c->draft)
			return false;
	return c->draft != SIZE_MAX;
}

/* Lists the findings that follow from c under it; adds c to the report if necessary. */
static void explain_by(struct report *r, const struct tx_findings *all, struct tx_finding *c,
		       const struct facts *f, struct locator *l, struct bonds *bonds)
{
	struct report *alone = told_alone(c, l);
	const struct bug_location *place = &report_draft(alone, 0)->locations[0];
	const size_t n = report_ndrafts(r);

	c->draft = report_find_draft(r, report_draft(alone, 0));
	for (size_t i = 0; i < n && !report_is_dropped(r, report_draft(alone, 0)); i++) {
		const struct bug *b = report_draft(r, i);

		if (!is_symptom(b) || !explains(c, f, b, place))
			continue;
		if (!c->is_added && !is_in_report(all, c)) {
			report_add(r, report_draft(alone, 0));
			c->is_added = true;
			c->draft = report_find_draft(r, report_draft(alone, 0));
		}
		report_lend_crash(r, c->draft, i);
		if (report_cause(r, i) == i && report_explain(r, i, c->draft))
			bonds_add(bonds, c->draft, i, BOND_CURE);
	}
	report_free(alone);
}

/* Does the finding occur for the line of memory of this window, in the window's transaction? */
static bool complains_in(const struct tx_finding *c, const struct window *tx)
{
	size_t low = 0, high = c->windows.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (c->windows.at[middle].seq < tx->begin_seq)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->windows.n && c->windows.at[low].seq <= tx->end_seq; low++) {
		const struct window *w = &c->windows.at[low];

		if (w->stream == tx->stream && w->thread == tx->thread &&
		    w->begin_seq == tx->begin_seq && w->line == tx->line)
			return true;
	}
	return false;
}

/* Does finding `draft` of the report, which is about a statement with any caller, occur for the
 * line of memory of this window, in the window's transaction? */
static bool finding_complains_in(const struct tx_findings *all, size_t draft,
				 const struct window *tx)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (all->list.at[i].draft == draft && complains_in(&all->list.at[i], tx))
			return true;
	return false;
}

/* Does finding `whole` occur wherever finding `part` does? For each line of memory that has `part`
 * in a transaction, `whole` must occur in that transaction, too. If `part` occurs alone somewhere,
 * it has a cause of its own. */
static bool is_part_of(const struct tx_findings *all, size_t part, size_t whole)
{
	for (size_t i = 0; i < all->list.n; i++) {
		const struct tx_finding *c = &all->list.at[i];

		for (size_t k = 0; c->draft == part && k < c->windows.n; k++)
			if (!finding_complains_in(all, whole, &c->windows.at[k]))
				return false;
	}
	return true;
}

static void unite(struct report *r, size_t part, size_t whole, const struct facts *f,
		  struct bonds *bonds)
{
	const struct bug_location *a = &report_draft(r, part)->locations[0],
				  *b = &report_draft(r, whole)->locations[0];

	if (facts_one_range(f, a->site, b->site) && report_explain(r, part, whole))
		bonds_add(bonds, whole, part, BOND_RANGE);
}

/* Joins findings about one range that is not logged and that several statements store to. */
static void unite_ranges(struct report *r, const struct tx_findings *all, const struct facts *f,
			 struct bonds *bonds)
{
	for (size_t i = 0; i < all->list.n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct tx_finding *a = &all->list.at[k], *b = &all->list.at[i];

			if (a->rule != b->rule || !a->rule->by_range || a->draft == SIZE_MAX ||
			    b->draft == SIZE_MAX || a->draft == b->draft)
				continue;
			if (report_cause(r, b->draft) == b->draft &&
			    is_part_of(all, b->draft, a->draft))
				unite(r, b->draft, a->draft, f, bonds);
			else if (report_cause(r, a->draft) == a->draft &&
				 is_part_of(all, a->draft, b->draft))
				unite(r, a->draft, b->draft, f, bonds);
		}
}

void tx_findings_explain(struct tx_findings *all, struct report *r, struct locator *l,
			 const struct facts *f, struct bonds *bonds)
{
	set_windows(all, f);
	for (size_t i = 0; i < all->list.n; i++)
		explain_by(r, all, &all->list.at[i], f, l, bonds);
	unite_ranges(r, all, f, bonds);
}
