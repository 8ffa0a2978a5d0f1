/* Asks the oracles of transactions for each time that they complain, and looks which findings follow from it. A store that is not logged stays when its
 * transaction is undone, so every crash until the transaction ends may find half of it, whatever was stored last; and a commit does not write it back, so it
 * may be lost afterwards. */
#include "session/causes/transactions.h"

#include <stdlib.h>
#include <string.h>

#include "report/causes.h"
#include "report/bug.h"
#include "session/causes/place.h"
#include "session/judge.h"
#include "util/alloc.h"

static const char *const asked[] = { "transactions", "tx-outside", NULL };

/* What follows from a complaint. A window is from its event to the end of its transaction. */
static const struct rule {
	const char *kind;
	bool by_store; /* what loses, keeps or reads a store of that place */
	bool by_crash; /* what fails after a crash in the window, whatever is lost that the transaction stored */
	bool by_time;  /* what is about a store that the thread makes in the window */
	bool by_range; /* another one of its kind, at the same line of memory, each time */
} rules[] = {
	{ "tx-missing-add", .by_store = true, .by_crash = true, .by_range = true },
	{ "tx-store-outside", .by_store = true },
	{ "tx-not-ended", .by_crash = true, .by_time = true },
};

struct window {
	uint32_t stream, thread;
	uint64_t begin_seq, seq, end_seq; /* begin_seq: of the transaction */
	uint64_t line;			  /* of memory, 0: not known */
};

/* All times that one place gave reason to complain. */
struct complaint {
	const struct rule *rule;
	struct finding finding; /* the first one */
	size_t draft;		/* in the report; SIZE_MAX: not there */
	bool is_added;		/* to the report, by what follows from it */
	VEC(struct window) windows;
};

struct complaints {
	VEC(struct complaint) list;
};

static const struct rule *rule_of(const char *kind)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (strcmp(rules[i].kind, kind) == 0)
			return &rules[i];
	return NULL;
}

/* ---- hearing them ---- */

static struct complaint *complaint_of(struct complaints *all, const struct rule *rule, const struct finding *f)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (all->list.at[i].rule == rule && all->list.at[i].finding.places[0].site == f->places[0].site)
			return &all->list.at[i];
	*vec_add(&all->list) = (struct complaint){ .rule = rule, .finding = *f, .draft = SIZE_MAX };
	all->list.at[all->list.n - 1].finding.count = 0;
	return &all->list.at[all->list.n - 1];
}

static void hear(const struct finding *f, void *arg)
{
	const struct rule *rule = rule_of(f->kind);
	struct complaints *all = arg;
	struct complaint *c;

	if (!rule || f->is_cut || !f->places[0].site)
		return;
	c = complaint_of(all, rule, f);
	c->finding.count++;
	*vec_add(&c->windows) = (struct window){ .seq = f->first_seq, .line = f->addr / PMT_LINE_BYTES };
}

void complaints_free(struct complaints *all)
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

/* In the order of the trace. Which thread it was, the transactions tell: it is in one of them, if it is in any. */
static void set_windows(struct complaints *all, const struct facts *f)
{
	for (size_t i = 0; i < all->list.n; i++) {
		for (size_t k = 0; k < all->list.at[i].windows.n; k++) {
			struct window *w = &all->list.at[i].windows.at[k];
			const struct tx_span *s = facts_span(f, w->seq);

			if (s)
				*w = (struct window){ s->stream, s->thread, s->begin_seq, w->seq, s->end_seq, w->line };
			else
				w->begin_seq = w->end_seq = w->seq;
		}
		qsort(all->list.at[i].windows.at, all->list.at[i].windows.n, sizeof *all->list.at[i].windows.at, compare_windows);
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

struct complaints *complaints_hear(const struct trace *t, struct facts *f)
{
	struct complaints *all = xcalloc(1, sizeof *all);

	if (has_transactions(t))
		judge_listen(t, asked, hear, all);
	for (size_t i = 0; i < all->list.n; i++)
		facts_want(f, all->list.at[i].finding.places[0].site->id);
	return all;
}

/* ---- what follows ---- */

/* The crash was in a window. */
static bool is_crash_in(const struct complaint *c, const struct bug *b)
{
	const uint64_t seq = b->crash->seq;

	for (size_t i = 0; seq && i < c->windows.n; i++)
		if (c->windows.at[i].seq < seq && seq <= c->windows.at[i].end_seq)
			return true;
	return false;
}

/* When the last transaction that gave reason to complain before the crash began; 0: not known. */
static uint64_t last_begin(const struct complaint *c, uint64_t crash_seq)
{
	uint64_t begin_seq = 0;

	for (size_t i = 0; i < c->windows.n; i++)
		if (c->windows.at[i].seq < crash_seq && c->windows.at[i].begin_seq > begin_seq)
			begin_seq = c->windows.at[i].begin_seq;
	return begin_seq;
}

/* Another store was lost, which was made before the transaction: that is a fault of its own, whichever stores survived. */
static bool has_own_fault(const struct complaint *c, const struct bug *b, const struct bug_location *place)
{
	const uint64_t begin_seq = b->crash ? last_begin(c, b->crash->seq) : 0;

	for (size_t i = 0; i < b->nlocations; i++) {
		const struct bug_location *l = &b->locations[i];

		if (place_is(l, "lost") && l->seq && l->seq < begin_seq && !place_same(l, place))
			return true;
	}
	return false;
}

static bool is_stored_in(const struct complaint *c, const struct facts *f, const struct bug_location *l)
{
	const touches *list = facts_of(f, l->site);

	for (size_t k = 0; l->seq && k < list->n; k++)
		for (size_t i = 0; list->at[k].seq == l->seq && i < c->windows.n; i++) {
			const struct window *w = &c->windows.at[i];

			if (w->stream == list->at[k].stream && w->thread == list->at[k].thread && w->seq < l->seq && l->seq <= w->end_seq)
				return true;
		}
	return false;
}

static bool has_store(const struct bug *b, const struct bug_location *place, uint32_t site)
{
	for (size_t i = 0; i < b->nlocations; i++) {
		const struct bug_location *l = &b->locations[i];

		if ((place_is(l, "store") || place_is(l, "lost") || place_is(l, "survived")) && ((site && l->site == site) || place_same(l, place)))
			return true;
	}
	return false;
}

/* A finding that may have a cause: of correctness, by recovery or about durability. */
static bool is_symptom(const struct bug *b)
{
	static const char *const kinds[] = { "missing-flush", "missing-fence", "missing-flush-fence", "overwrite-unpersisted" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(b->kind, kinds[i]) == 0)
			return true;
	return b->crash && b->severity == BUG_CORRECTNESS && !rule_of(b->kind);
}

static bool explains(const struct complaint *c, const struct facts *f, const struct bug *b, const struct bug_location *place)
{
	const struct bug_location *store = place_store(b);

	if (has_own_fault(c, b, place))
		return false;
	if (c->rule->by_store && has_store(b, place, c->finding.places[0].site->id))
		return true;
	if (c->rule->by_crash && b->crash && strncmp(b->kind, "missing-", 8) != 0 && is_crash_in(c, b))
		return true;
	return c->rule->by_time && store && is_stored_in(c, f, store);
}

/* Its own report, which names its place. */
static struct report *told_alone(const struct complaint *c, struct locator *l)
{
	struct report *r = report_new();

	judge_add(r, l, &c->finding);
	return r;
}

/* In the report itself, or there for another call path of it. */
static bool is_in_report(const struct complaints *all, const struct complaint *c)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (&all->list.at[i] != c && all->list.at[i].is_added && all->list.at[i].draft == c->draft)
			return false;
	return c->draft != SIZE_MAX;
}

/* The same statement, whoever called it. */
static bool is_same_statement(struct locator *l, const struct complaint *a, const struct complaint *b)
{
	const struct frame *frame = a->rule == b->rule ? locate(l, a->finding.places[0].site) : NULL;
	const struct symbol *x = frame ? frame->symbol : NULL, *y;

	if (a == b || !x || !x->line)
		return a == b;
	frame = locate(l, b->finding.places[0].site);
	y = frame ? frame->symbol : NULL;
	return y && x->line == y->line && x->file && y->file && strcmp(x->file, y->file) == 0;
}

/* tx-missing-add: the range is added. tx-store-outside: what is stored is made durable. tx-not-ended: a trace does not show where the end belongs. */
static void cure_of(struct cause_cure *cure, const struct complaints *all, const struct complaint *c, struct locator *l, const struct trials *t)
{
	*cure = (struct cause_cure){ .kind = c->rule->by_time ? CAUSE_CURE_NONE : c->rule->by_range ? CAUSE_CURE_LOG : CAUSE_CURE_CALL };
	for (size_t i = 0; i < all->list.n; i++)
		if (is_same_statement(l, c, &all->list.at[i]))
			cause_cure_add(cure, trials_class(t, all->list.at[i].finding.places[0].site->id));
}

typedef VEC(size_t) numbers;

/* Findings that the rule takes for consequences. */
static void list_symptoms(const struct report *r, const struct complaint *c, const struct facts *f, const struct bug_location *place, struct trials *t, numbers *out)
{
	for (size_t i = 0; i < report_ndrafts(r); i++) {
		const struct bug *b = report_draft(r, i);

		if (is_symptom(b) && explains(c, f, b, place))
			*vec_add(out) = i;
	}
	for (size_t i = 0; i < out->n; i++) {
		if (c->draft != SIZE_MAX)
			trials_relate(t, c->draft, out->at[i]);
		for (size_t k = 0; k < i && c->draft == SIZE_MAX; k++)
			trials_relate(t, out->at[i], out->at[k]);
	}
}

/* Those that stand in the report, or explain what does. */
static void explain_by(struct report *r, const struct complaints *all, struct complaint *c, const struct facts *f, struct locator *l, struct trials *t)
{
	struct report *alone = told_alone(c, l);
	const struct bug_location *place = &report_draft(alone, 0)->locations[0];
	numbers symptoms = { 0 };
	struct cause_cure cure;

	c->draft = report_find_draft(r, report_draft(alone, 0));
	list_symptoms(r, c, f, place, t, &symptoms);
	cure_of(&cure, all, c, l, t);
	for (size_t i = 0; i < symptoms.n && !report_is_dropped(r, report_draft(alone, 0)); i++) {
		const size_t b = symptoms.at[i];
		const bool is_free = report_cause(r, b) == b;
		const enum trial_answer answer = is_free ? trials_ask(t, &cure, c->draft, b) : TRIAL_OTHER;

		if (answer == TRIAL_MAY && c->draft != SIZE_MAX)
			report_may_share(r, b, c->draft);
		if (answer != TRIAL_SAME)
			continue;
		if (!c->is_added && !is_in_report(all, c)) {
			report_add(r, report_draft(alone, 0));
			c->is_added = true;
			c->draft = report_find_draft(r, report_draft(alone, 0));
		}
		if (report_draft(r, b)->crash)
			report_lend_crash(r, c->draft, report_draft(r, b)->crash);
		report_explain(r, b, c->draft);
	}
	vec_release(&symptoms);
	report_free(alone);
}

/* Does it complain of the same line in the same transaction? */
static bool complains_in(const struct complaint *c, const struct window *tx)
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

		if (w->stream == tx->stream && w->thread == tx->thread && w->begin_seq == tx->begin_seq && w->line == tx->line)
			return true;
	}
	return false;
}

/* The same for a finding, which is of a statement, whoever called it. */
static bool finding_complains_in(const struct complaints *all, size_t draft, const struct window *tx)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (all->list.at[i].draft == draft && complains_in(&all->list.at[i], tx))
			return true;
	return false;
}

/* Each line that lacks the one in a transaction lacks the other there, too. One that also lacks something alone has a cause of its own. */
static bool is_part_of(const struct complaints *all, size_t part, size_t whole)
{
	for (size_t i = 0; i < all->list.n; i++) {
		const struct complaint *c = &all->list.at[i];

		for (size_t k = 0; c->draft == part && k < c->windows.n; k++)
			if (!finding_complains_in(all, whole, &c->windows.at[k]))
				return false;
	}
	return true;
}

/* A transaction may lack several ranges, and what fails then goes only when all of them are added. All are findings, so that what is listed under one of them hides nothing. */
static void explain_by_all(struct report *r, const struct complaints *all, const struct facts *f, struct trials *t)
{
	for (size_t i = 0; i < report_ndrafts(r); i++) {
		struct cause_cure cure = { .kind = CAUSE_CURE_LOG };
		size_t cause = SIZE_MAX, n = 0;

		for (size_t k = 0; k < all->list.n && report_cause(r, i) == i && is_symptom(report_draft(r, i)); k++) {
			const struct complaint *c = &all->list.at[k];

			if (!c->rule->by_range || c->draft == SIZE_MAX || !explains(c, f, report_draft(r, i), &report_draft(r, c->draft)->locations[0]))
				continue;
			n += cause != c->draft;
			cause = cause == SIZE_MAX ? c->draft : cause;
			cause_cure_add(&cure, trials_class(t, c->finding.places[0].site->id));
		}
		if (n > 1 && trials_ask_joint(t, &cure, &i, 1) == TRIAL_SAME)
			report_explain(r, i, cause);
	}
}

/* One call would add the range that two statements of a function store to. Two functions have a call of their own each. */
static bool is_one_range(const struct complaints *all, struct report *r, struct trials *t, size_t part, size_t whole)
{
	struct cause_cure cure, other;

	if (report_cause(r, part) != part || !is_part_of(all, part, whole) ||
	    !place_same_function(&report_draft(r, part)->locations[0], &report_draft(r, whole)->locations[0]))
		return false;
	cause_cure_of(&cure, t, whole);
	cause_cure_of(&other, t, part);
	for (size_t i = 0; i < other.nof; i++)
		cause_cure_add(&cure, other.of[i]);
	return trials_ask_joint(t, &cure, (const size_t[]){ whole, part }, 2) == TRIAL_SAME;
}

/* One range that is not logged, stored to by several statements. */
static void unite_ranges(struct report *r, const struct complaints *all, struct trials *t)
{
	for (size_t i = 0; i < all->list.n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct complaint *a = &all->list.at[k], *b = &all->list.at[i];

			if (a->rule != b->rule || !a->rule->by_range || a->draft == SIZE_MAX || b->draft == SIZE_MAX || a->draft == b->draft)
				continue;
			if (is_one_range(all, r, t, b->draft, a->draft))
				report_explain(r, b->draft, a->draft);
			else if (is_one_range(all, r, t, a->draft, b->draft))
				report_explain(r, a->draft, b->draft);
		}
}

void complaints_explain(struct complaints *all, struct report *r, struct locator *l, const struct facts *f, struct trials *t)
{
	set_windows(all, f);
	for (size_t i = 0; i < all->list.n; i++)
		explain_by(r, all, &all->list.at[i], f, l, t);
	explain_by_all(r, all, f, t);
	unite_ranges(r, all, t);
}
