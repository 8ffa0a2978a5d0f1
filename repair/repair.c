/* Leads from bugs to changed files: each bug is planned on its own, then what touches is settled together, then the text is written. */
#include "repair/repair.h"

#include <stdlib.h>

#include "repair/plan/internal.h"

struct repair *repair_new(const struct source_api *api, const struct source_database *db, const struct repair_options *o)
{
	struct repair *r = xcalloc(1, sizeof *r);

	r->api = api;
	r->db = db;
	r->options = o;
	return r;
}

void repair_free(struct repair *r)
{
	clone_forget(r);
	vec_release(&r->clones);
	vec_release(&r->redirects);
	vec_release(&r->uses);
	vec_release(&r->verdicts);
	if (r->alias)
		r->api->alias->close(r->alias);
	for (size_t i = 0; i < r->units.n; i++)
		r->api->release(r->units.at[i]);
	for (size_t i = 0; i < r->files.n; i++) {
		vec_release(&r->files.at[i]->edits);
		free(r->files.at[i]->text);
	}
	vec_release(&r->bugs);
	vec_release(&r->outcomes);
	vec_release(&r->files);
	vec_release(&r->units);
	vec_release(&r->fixes);
	vec_release(&r->removals);
	tx_forget(r);
	vec_release(&r->txs);
	vec_release(&r->callees);
	vec_release(&r->changed);
	vec_release(&r->wanted);
	vec_release(&r->failures);
	vec_release(&r->groups);
	arena_release(&r->arena);
	free(r);
}

void repair_add(struct repair *r, const struct repair_bug *b)
{
	*vec_add(&r->bugs) = b;
	*vec_add(&r->outcomes) = (struct outcome){ REPAIR_OTHER, "" };
	*vec_add(&r->wanted) = true;
	*vec_add(&r->failures) = NULL;
	*vec_add(&r->groups) = r->groups.n;
}

void repair_choose(struct repair *r, size_t bug, bool is_wanted)
{
	r->wanted.at[bug] = is_wanted;
}

/* ---- kinds ---- */

/* What was tried on the trace decides. False: it said nothing, or that the places do. */
static bool plan_cure(struct repair *r, size_t i)
{
	const struct repair_cure *c = &r->bugs.at[i]->cure;
	const char *why = c->why ? c->why : "";

	if (c->kind == CURE_UNTRIED || c->kind == CURE_BARRIER)
		return false;
	if (!r->wanted.at[i])
		why = "rejected";
	else if (c->kind == CURE_WITH_OTHER || (c->kind != CURE_NONE && tx_plan(r, i, &why) == 0))
		return true; /* its outcome is known at the end */
	r->outcomes.at[i] = (struct outcome){ REPAIR_DECLINED, why };
	return true;
}

static void plan_bug(struct repair *r, size_t i)
{
	const char *kind = r->bugs.at[i]->kind, *why = "rejected";

	r->outcomes.at[i] = (struct outcome){ REPAIR_OTHER, "this kind of bug is not mended" };
	if (plan_cure(r, i))
		return;
	if (barrier_is_kind(kind) && (!r->wanted.at[i] || barrier_plan(r, i, &why) < 0))
		r->outcomes.at[i] = (struct outcome){ REPAIR_DECLINED, why };
	if (redundant_is_kind(kind) && r->wanted.at[i])
		redundant_plan(r, i);
	else if (redundant_is_kind(kind))
		r->outcomes.at[i] = (struct outcome){ REPAIR_SUGGESTED, why };
}

/* Forgets an earlier plan. */
static void plan_begin(struct repair *r)
{
	clone_forget(r);
	r->fixes.n = r->removals.n = r->changed.n = 0;
	r->nflushes = r->nfences = r->nremoved = r->ntransactions = 0;
	tx_forget(r);
	r->has_new_failures = false;
	for (size_t i = 0; i < r->bugs.n; i++)
		r->groups.at[i] = i;
	for (size_t i = 0; i < r->files.n; i++) {
		r->files.at[i]->edits.n = 0;
		r->files.at[i]->after = NULL;
	}
}

/* Bugs that another one's cure mends, too. */
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

static void plan_all(struct repair *r)
{
	plan_begin(r);
	for (size_t i = 0; i < r->bugs.n; i++)
		plan_bug(r, i);
	if (!r->options->no_hoist)
		hoist_fixes(r);
	for (size_t i = 0; i < r->fixes.n; i++)
		loop_leave(r, &r->fixes.at[i]);
	tx_settle(r);
	reduce_fixes(r);
	group_by_place(r);
	emit_fixes(r);
	tx_finish(r);
	share_outcomes(r);
}

static void make_files(struct repair *r)
{
	for (size_t i = 0; i < r->files.n; i++) {
		struct file *f = r->files.at[i];

		if (!f->edits.n)
			continue;
		f->after = file_edited(r, f, 0, f->len_bytes);
		*vec_add(&r->changed) = f;
	}
}

/* What turns out to be impossible to write may have had others' changes merged into it: then all is planned anew without it. */
void repair_plan(struct repair *r)
{
	for (size_t i = 0; i < r->bugs.n; i++)
		r->failures.at[i] = NULL;
	do
		plan_all(r);
	while (r->has_new_failures);
	clone_emit(r);
	redundant_emit(r);
	make_files(r);
}

size_t repair_group(const struct repair *r, size_t bug)
{
	return group_of(r, bug);
}

struct repair_outcome repair_outcome(const struct repair *r, size_t bug)
{
	return (struct repair_outcome){ r->outcomes.at[bug].status, r->outcomes.at[bug].text };
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
	return r->alias_why && r->alias_why[0] ? r->alias_why : NULL;
}

size_t repair_nflushes(const struct repair *r)
{
	return r->nflushes;
}

size_t repair_nfences(const struct repair *r)
{
	return r->nfences;
}

size_t repair_ntransactions(const struct repair *r)
{
	return r->ntransactions;
}

size_t repair_nremoved(const struct repair *r)
{
	return r->nremoved;
}
