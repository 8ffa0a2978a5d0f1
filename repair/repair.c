/* Plans and writes the changes for all bugs of a report: each bug is planned on its own, then
 * changes that touch each other are settled, then the text is written. */
#include "repair/repair.h"

#include <stdlib.h>
#include <string.h>

#include "repair/amend/amend.h"
#include "repair/durability/durability.h"
#include "repair/effects/gate.h"
#include "repair/files/files.h"
#include "repair/idiom/idiom.h"
#include "repair/plan/internal.h"
#include "repair/tx/tx.h"

/* The outcome of kinds that no module handles. Compared by address. */
static const char unhandled[] = "pmend does not fix bugs of this kind";

struct repair *repair_new(const struct source_api *api, const struct source_database *db,
			  const struct repair_options *o)
{
	struct repair *r = xcalloc(1, sizeof *r);

	r->code = codebase_new(api, db);
	r->options = o;
	idiom_new(r);
	durability_new(r);
	transactions_new(r);
	file_syncs_new(r);
	return r;
}

void repair_free(struct repair *r)
{
	clone_forget(r);
	durability_free(r);
	idiom_free(r);
	transactions_free(r);
	file_syncs_free(r);
	vec_release(&r->clones);
	vec_release(&r->redirects);
	vec_release(&r->verdicts);
	vec_release(&r->bugs);
	vec_release(&r->outcomes);
	vec_release(&r->fixes);
	vec_release(&r->changed);
	vec_release(&r->wanted);
	vec_release(&r->failures);
	vec_release(&r->refused);
	vec_release(&r->groups);
	codebase_free(r->code);
	free(r);
}

void repair_add(struct repair *r, const struct repair_bug *b)
{
	*vec_add(&r->bugs) = b;
	*vec_add(&r->outcomes) = (struct repair_outcome){ REPAIR_DECLINED, unhandled, NULL };
	*vec_add(&r->wanted) = !b->is_left_out;
	*vec_add(&r->failures) = NULL;
	*vec_add(&r->refused) = NULL;
	*vec_add(&r->groups) = r->groups.n;
}

void repair_choose(struct repair *r, size_t bug, bool is_wanted)
{
	r->wanted.at[bug] = is_wanted;
}

/* ---- planning ---- */

/* Plans for a bug what a trial on the trace showed. False: there was no trial, or it says to follow
 * the places of the report. */
static bool plan_cure(struct repair *r, size_t i)
{
	const struct repair_cure *c = &r->bugs.at[i]->cure;
	const char *why = c->why ? c->why : "", *help = NULL;

	if (c->kind == CURE_UNTRIED || c->kind == CURE_BARRIER)
		return false;
	if (!r->wanted.at[i])
		why = "rejected", help = "";
	else if (r->failures.at[i])
		why = r->failures.at[i];
	else if (c->kind == CURE_WITH_OTHER ||
		 (c->kind != CURE_NONE && tx_plan(r, i, c, &why) == 0))
		return true; /* set by share_outcomes() */
	r->outcomes.at[i] = (struct repair_outcome){ REPAIR_DECLINED, why, help };
	return true;
}

/* Plans logs for a bug about stores that their transaction does not log. */
static bool plan_add(struct repair *r, size_t i)
{
	const char *why = r->wanted.at[i] ? r->failures.at[i] : "rejected";

	if (!tx_is_wanted(r, i))
		return false;
	if (why || tx_plan_add(r, i, &why) < 0)
		r->outcomes.at[i] = (struct repair_outcome){ REPAIR_DECLINED, why, NULL };
	return true;
}

/* Plans changes for a bug about a range that a transaction logs twice. */
static bool plan_again(struct repair *r, size_t i)
{
	const char *why = r->wanted.at[i] ? r->failures.at[i] : "rejected";

	if (strcmp(r->bugs.at[i]->kind, "tx-redundant-add") != 0 || r->bugs.at[i]->library)
		return false;
	if (r->options->keeps_redundant)
		r->outcomes.at[i] =
			(struct repair_outcome){ REPAIR_NOT_APPLICABLE,
						 "nothing is removed (--keep-redundant)", "" };
	else if (why || tx_plan_again(r, i, &why) < 0)
		r->outcomes.at[i] = (struct repair_outcome){ REPAIR_DECLINED, why, NULL };
	return true;
}

/* Asks whether the user interrupted the first plan before this bug. Later plans have read all that
 * they need, so they continue. */
static bool is_too_late(struct repair *r, size_t i, bool is_first)
{
	if (is_first && r->nplanned == SIZE_MAX && watch_is_interrupted(r->options->watch))
		r->nplanned = i;
	return i >= r->nplanned;
}

static void plan_bug(struct repair *r, size_t i, bool is_first)
{
	watch_tell(r->options->watch, "bugs planned", i, r->bugs.n);
	if (is_too_late(r, i, is_first)) {
		r->outcomes.at[i] =
			(struct repair_outcome){ REPAIR_DECLINED,
						 "interrupted before this bug was reached", "" };
		return;
	}
	if (r->refused.at[i]) {
		r->outcomes.at[i] =
			(struct repair_outcome){ REPAIR_DECLINED, r->refused.at[i], NULL };
		return;
	}
	r->outcomes.at[i] = (struct repair_outcome){ REPAIR_DECLINED, unhandled, NULL };
	if (bug_goes_with_add(r->bugs.at, r->bugs.n, r->bugs.at[i]))
		return; /* set by follow_causes() */
	if (!plan_cure(r, i) && !plan_add(r, i) && !plan_again(r, i) && !file_syncs_plan(r, i))
		durability_plan(r, i);
}

/* Sets the outcome of bugs where recovery survives the lost store but prints something odd. The
 * user has to say whether that is wrong, so nothing is changed. If a change for another bug covers
 * the same store, this bug is fixed, too. */
static void plan_outputs(struct repair *r)
{
	for (size_t i = 0; i < r->bugs.n; i++)
		if (strcmp(r->bugs.at[i]->kind, "recovery-output") == 0 && r->wanted.at[i] &&
		    !r->failures.at[i] && r->outcomes.at[i].text == unhandled &&
		    !r->bugs.at[i]->library)
			durability_join(r, i);
}

/* Forgets an earlier plan. */
static void plan_begin(struct repair *r)
{
	clone_forget(r);
	durability_forget(r);
	tx_forget(r);
	file_syncs_forget(r);
	codebase_forget_edits(r->code);
	r->fixes.n = r->changed.n = 0;
	r->nflushes = r->nfences = r->nsyncs = r->nremoved = r->namended = r->ntransactions =
		r->nlogs = 0;
	r->has_new_failures = false;
	for (size_t i = 0; i < r->bugs.n; i++)
		r->groups.at[i] = i;
}

/* Sets the outcome of bugs that another bug's fix fixes, too. */
static void share_outcomes(struct repair *r)
{
	for (size_t i = 0; i < r->bugs.n; i++) {
		const struct repair_cure *c = &r->bugs.at[i]->cure;

		if (c->kind != CURE_WITH_OTHER || !r->wanted.at[i])
			continue;
		r->outcomes.at[i] = r->outcomes.at[c->other];
		group_join(r, c->other, i);
	}
}

/* Finds the bug (one of the call paths) of finding number `cause`. *is_mended: all its call paths
 * are fixed. */
static const struct repair_bug *find_cause(const struct repair *r, size_t cause, size_t *first,
					   bool *is_mended)
{
	const struct repair_bug *found = NULL;

	*is_mended = true;
	for (size_t i = 0; i < r->bugs.n; i++) {
		if (r->bugs.at[i]->origin != cause)
			continue;
		if (!found)
			*first = i;
		found = r->bugs.at[*first];
		*is_mended &= r->outcomes.at[i].status == REPAIR_MENDED;
	}
	return found;
}

static const char *bug_words(struct repair *r, const struct repair_bug *b)
{
	const struct repair_frame *f =
		b->nplaces && b->places[0].nframes ? b->places[0].frames : NULL;

	return f && f->file ? text_format(r->code, "%s at %s:%u", b->kind, f->file, f->line)
			    : text_format(r->code, "%s", b->kind);
}

/* A kind that no module handles gets the outcome of its cause, as the report says. A bug that was
 * planned and left keeps its own reason. */
static void follow_causes(struct repair *r)
{
	for (size_t i = 0; i < r->bugs.n; i++) {
		const struct repair_bug *b = r->bugs.at[i],
					*add = bug_add_of(r->bugs.at, r->bugs.n, b), *cause;
		bool is_mended;
		size_t first;

		if ((!b->has_cause && !add) || r->outcomes.at[i].text != unhandled)
			continue;
		cause = find_cause(r, add ? add->origin : b->cause, &first, &is_mended);
		if (!cause)
			continue;
		r->outcomes.at[i] = (struct repair_outcome){
			is_mended ? REPAIR_MENDED : REPAIR_DECLINED,
			text_format(r->code,
				    is_mended ? "has the same outcome as its cause: %s"
					      : "its cause is left: %s",
				    bug_words(r, cause)),
			""
		};
		if (is_mended)
			group_join(r, first, i);
	}
}

/* Sets the outcome of findings about a flush that is too short. It is fixed if all stores that the
 * flush missed are: by a new call, or by a change of the helper or of its call. */
static void follow_consequences(struct repair *r)
{
	for (size_t i = 0; i < r->bugs.n; i++) {
		const struct repair_bug *b = r->bugs.at[i];
		size_t first = SIZE_MAX, left = SIZE_MAX;

		if (strcmp(b->kind, "short-flush") != 0 || r->outcomes.at[i].text != unhandled)
			continue;
		for (size_t k = 0; k < r->bugs.n && left == SIZE_MAX; k++) {
			if (!r->bugs.at[k]->has_cause || r->bugs.at[k]->cause != b->origin)
				continue;
			first = first == SIZE_MAX ? k : first;
			left = r->outcomes.at[k].status == REPAIR_MENDED ? SIZE_MAX : k;
		}
		if (first == SIZE_MAX)
			continue;
		if (left != SIZE_MAX && r->options->is_page_cache)
			r->outcomes.at[i] = (struct repair_outcome){
				REPAIR_DECLINED,
				"a sync that is there is not changed; make it cover all pages of the range",
				""
			};
		else if (left != SIZE_MAX)
			r->outcomes.at[i] = (struct repair_outcome){
				REPAIR_DECLINED,
				text_format(r->code, "what it leaves out is still not flushed: %s",
					    r->outcomes.at[left].text),
				""
			};
		else
			r->outcomes.at[i] = (struct repair_outcome){
				REPAIR_MENDED,
				text_format(r->code, "what it leaves out is flushed now: %s",
					    r->outcomes.at[first].text),
				""
			};
		if (left == SIZE_MAX)
			group_join(r, first, i);
	}
}

/* Sets the outcome of bugs that a library makes on its own, and that no change of its caller fixes:
 * they do not count against this source. */
static void excuse_libraries(struct repair *r)
{
	for (size_t i = 0; i < r->bugs.n; i++)
		if (r->bugs.at[i]->library && r->outcomes.at[i].status == REPAIR_DECLINED)
			r->outcomes.at[i] = (struct repair_outcome){
				REPAIR_NOT_APPLICABLE,
				text_format(
					r->code,
					"%s does it on its own; nothing in this source can fix it",
					r->bugs.at[i]->library),
				""
			};
}

static void plan_all(struct repair *r, bool is_first)
{
	plan_begin(r);
	for (size_t i = 0; i < r->bugs.n; i++)
		plan_bug(r, i, is_first);
	plan_outputs(r);
	amend_fixes(r);
	durability_place(r);
	tx_settle(r);
	durability_emit(r);
	amend_emit(r);
	file_syncs_emit(r);
	tx_finish(r);
	share_outcomes(r);
}

static void make_files(struct repair *r)
{
	for (size_t i = 0; i < r->code->files.n; i++) {
		struct file *f = r->code->files.at[i];

		if (!f->edits.n)
			continue;
		f->after = file_edited(r->code, f, 0, f->len_bytes);
		*vec_add(&r->changed) = f;
	}
}

/* Plans and writes until nothing changes. If a change cannot be written, changes of other bugs may
 * have been merged into it, so everything is planned again without it. */
static void plan_and_write(struct repair *r)
{
	for (size_t i = 0; i < r->bugs.n; i++)
		r->failures.at[i] = NULL;
	r->nplanned = SIZE_MAX;
	plan_all(r, true);
	/* each round takes one bug out */
	for (size_t i = 0; r->has_new_failures && i < r->bugs.n; i++)
		plan_all(r, false);
	clone_emit(r);
	durability_remove(r);
	follow_causes(r);
	follow_consequences(r);
	excuse_libraries(r);
	make_files(r);
}

/* ---- changes that are refused ---- */

/* Returns why the plan may not be written; NULL: it may. */
static const char *objection(struct repair *r)
{
	const char *why = compile_error(r);

	if (why)
		return text_format(r->code, "the fix does not compile: %s", why);
	/* the gate does not know what a transaction flushes at its end */
	return r->changed.n && !r->nunchecked && !r->ntransactions ? gate_refusal(r) : NULL;
}

typedef VEC(size_t) numbers;

static void choose_only(struct repair *r, const numbers *groups, const bool *wanted,
			const size_t *chosen, size_t n)
{
	for (size_t i = 0; i < r->bugs.n; i++) {
		r->wanted.at[i] = false;
		for (size_t k = 0; k < n; k++)
			r->wanted.at[i] |= wanted[i] && groups->at[i] == chosen[k];
	}
}

/* Finds, by halving, which of these groups of bugs have changes that may not be written, and
 * refuses these changes. */
static void refuse_among(struct repair *r, const numbers *groups, const bool *wanted,
			 const size_t *chosen, size_t n)
{
	const char *why;

	choose_only(r, groups, wanted, chosen, n);
	plan_and_write(r);
	why = objection(r);
	if (!why && !r->nunchecked)
		return;
	if (n > 1 && why) {
		refuse_among(r, groups, wanted, chosen, n / 2);
		refuse_among(r, groups, wanted, chosen + n / 2, n - n / 2);
		return;
	}
	for (size_t i = 0; i < r->bugs.n; i++)
		for (size_t k = 0; k < n; k++)
			if (groups->at[i] == chosen[k])
				r->refused.at[i] =
					why ? why
					    : "interrupted before pmend knew whether it compiles";
}

/* Refuses all changes: each may be written alone, but not all together. */
static void refuse_all(struct repair *r, const char *why)
{
	for (size_t i = 0; i < r->bugs.n; i++)
		if (r->outcomes.at[i].status == REPAIR_MENDED)
			r->refused.at[i] = text_format(
				r->code, "the fixes of all bugs do not go together: %s", why);
	plan_and_write(r);
}

static void refuse_errors(struct repair *r)
{
	bool *wanted = xcalloc(r->bugs.n, sizeof *wanted);
	numbers groups = { 0 }, chosen = { 0 };
	const char *why;

	for (size_t i = 0; i < r->bugs.n; i++) {
		wanted[i] = r->wanted.at[i];
		*vec_add(&groups) = group_of(r, i);
		if (groups.at[i] == i && r->outcomes.at[i].status == REPAIR_MENDED)
			*vec_add(&chosen) = i;
	}
	if (chosen.n)
		refuse_among(r, &groups, wanted, chosen.at, chosen.n);
	for (size_t i = 0; i < r->bugs.n; i++)
		r->wanted.at[i] = wanted[i];
	plan_and_write(r);
	why = objection(r);
	if (why)
		refuse_all(r, why);
	vec_release(&groups);
	vec_release(&chosen);
	free(wanted);
}

void repair_plan(struct repair *r)
{
	plan_and_write(r);
	if (r->changed.n && objection(r))
		refuse_errors(r);
}

/* ---- results ---- */

size_t repair_group(const struct repair *r, size_t bug)
{
	return group_of(r, bug);
}

struct repair_outcome repair_outcome(const struct repair *r, size_t bug)
{
	return r->outcomes.at[bug];
}

size_t repair_nfiles(const struct repair *r)
{
	return r->changed.n;
}

struct repair_file repair_file(const struct repair *r, size_t i)
{
	const struct file *f = r->changed.at[i];

	return (struct repair_file){ f->path, f->text, f->after };
}

const char *repair_missing(const struct repair *r)
{
	return durability_missing(r);
}

size_t repair_nunchecked(const struct repair *r)
{
	return r->nunchecked;
}

size_t repair_nflushes(const struct repair *r)
{
	return r->nflushes;
}

size_t repair_nfences(const struct repair *r)
{
	return r->nfences;
}

size_t repair_nsyncs(const struct repair *r)
{
	return r->nsyncs;
}

size_t repair_ntransactions(const struct repair *r)
{
	return r->ntransactions;
}

size_t repair_nlogs(const struct repair *r)
{
	return r->nlogs;
}

size_t repair_namended(const struct repair *r)
{
	return r->namended;
}

size_t repair_nremoved(const struct repair *r)
{
	return r->nremoved;
}
