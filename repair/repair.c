/* From a bug to a planned change: which store, which bytes, in which function. */
#include "repair/repair.h"

#include <stdlib.h>
#include <string.h>

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
	for (size_t i = 0; i < r->clones.n; i++)
		vec_release(&r->clones.at[i]->copy->edits);
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

static const struct repair_place *place_of(const struct repair_bug *b, const char *role)
{
	for (size_t i = 0; i < b->nplaces; i++)
		if (b->places[i].role && strcmp(b->places[i].role, role) == 0)
			return &b->places[i];
	return NULL;
}

/* ---- which statement ---- */

static bool has_stores(const struct source_function *f)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (node_is_assignment(n) && n->child && n->child->kind != SOURCE_NAME)
			return true;
	return false;
}

/* Fills unit, file, function for frame i of the place. */
int fix_enter_frame(struct repair *r, struct fix *x, const struct repair_place *p, size_t i, const char **why)
{
	const char *path;

	if (i >= p->nframes || !p->frames[i].file) {
		*why = "the report does not say where in the source it is";
		return -1;
	}
	x->unit = unit_for(r, p, i, why);
	path = x->unit ? file_resolve(r, p->frames[i].file) : NULL;
	x->file = path ? file_open(r, path) : NULL;
	if (!x->file)
		return -1;
	if (!file_is_as_reported(x->file, &p->frames[i])) {
		*why = text_format(r, "%s:%u is not the line that was reported: build, check and mend again", p->frames[i].file, p->frames[i].line);
		return -1;
	}
	x->function = function_at(x->unit, path, p->frames[i].line);
	if (!x->function)
		*why = text_format(r, "%s:%u is in no function", p->frames[i].file, p->frames[i].line);
	return x->function ? 0 : -1;
}

/* A value that an inlined function computed may be stored where it was called. Gives the frame, -1 with a reason. */
static int find_store(struct repair *r, struct fix *x, const struct repair_place *p, const char **why)
{
	bool is_atomic = false;

	for (size_t i = 0; i < p->nframes; i++) {
		const struct repair_frame *f = &p->frames[i];

		if (frame_is_of_atomics(f)) {
			is_atomic = true;
			continue;
		}
		if (fix_enter_frame(r, x, p, i, why) < 0)
			return -1;
		x->store = store_at(x->unit, x->function, x->file, f->line, f->column);
		if (x->store && (!is_atomic || atomic_object(x->store)))
			return (int)i;
		*why = text_format(r, "no store, or more than one, is at %s:%u:%u", f->file, f->line, f->column);
		if (has_stores(x->function))
			return -1;
	}
	return -1;
}

/* ---- kinds ---- */

static int plan_store(struct repair *r, struct fix *x, const struct repair_place *p, const char **why)
{
	int frame = find_store(r, x, p, why);

	if (frame < 0 || range_of_store(r, x, why) < 0)
		return -1;
	if (place_fix(r, x, why) < 0)
		return -1;
	x->place = p;
	x->frame = (size_t)frame;
	return 0;
}

/* The fence follows the call that flushes: the outermost function that does nothing else. */
static int plan_fence(struct repair *r, struct fix *x, const struct repair_place *p, const char **why)
{
	const char *callee = NULL;
	size_t i = 0;

	for (; i < p->nframes; i++) {
		if (fix_enter_frame(r, x, p, i, why) < 0)
			return -1;
		if (has_stores(x->function) || i + 1 == p->nframes || !(strstr(x->function->name, "flush") || strstr(x->function->name, "clwb")))
			break;
		callee = x->function->name;
	}
	x->store = callee ? call_at(x->function, callee, p->frames[i].line, p->frames[i].column) : NULL;
	for (const struct source_node *n = x->function->body; n && !x->store; n = node_next(n, x->function->body))
		if ((n->kind == SOURCE_CALL || n->kind == SOURCE_ASM || n->kind == SOURCE_BINARY) && n->line == p->frames[i].line &&
		    (!p->frames[i].column || n->column == p->frames[i].column || n->kind == SOURCE_BINARY))
			x->store = n;
	if (!x->store) {
		*why = text_format(r, "no call is at %s:%u", p->frames[i].file, p->frames[i].line);
		return -1;
	}
	return place_fix(r, x, why);
}

static const struct kind {
	const char *name;
	bool needs_flush, needs_fence;
} kinds[] = {
	{ "missing-flush", true, false },
	{ "missing-flush-fence", true, true },
	{ "missing-fence", false, true },
	{ "ordering", true, true },
};

static const char *what_was_done(const struct fix *x)
{
	return x->needs_flush && x->needs_fence ? "flush and fence" : x->needs_flush ? "flush" : "fence";
}

static int plan_place(struct repair *r, size_t bug, const struct repair_place *p, bool needs_flush, bool needs_fence, const char **why)
{
	struct fix x = { .bug = bug, .needs_flush = needs_flush, .needs_fence = needs_fence };

	if ((needs_flush ? plan_store : plan_fence)(r, &x, p, why) < 0)
		return -1;
	r->outcomes.at[bug] = (struct outcome){ REPAIR_MENDED, text_format(r, "%s in %s", what_was_done(&x), x.function->name) };
	*vec_add(&r->fixes) = x;
	return 0;
}

/* Each store that a crash can lose; the flush, or the fence, that it had in time follows it in the report. */
static int plan_lost(struct repair *r, size_t bug, const char **why)
{
	const struct repair_bug *b = r->bugs.at[bug];
	int result = -1;

	*why = "the report does not say which store it is";
	for (size_t i = 0; i < b->nplaces; i++) {
		const char *next = i + 1 < b->nplaces && b->places[i + 1].role ? b->places[i + 1].role : "";

		if (!b->places[i].role || strcmp(b->places[i].role, "lost") != 0)
			continue;
		if (strcmp(next, "flush") == 0)
			result = plan_place(r, bug, &b->places[i + 1], false, true, why);
		else
			result = plan_place(r, bug, &b->places[i], true, strcmp(next, "fence") != 0, why);
		if (result < 0)
			return -1;
	}
	return result;
}

static int plan_kind(struct repair *r, size_t bug, const struct kind *k, const char **why)
{
	const struct repair_place *store = place_of(r->bugs.at[bug], "store"), *flush = place_of(r->bugs.at[bug], "flush");

	if (place_of(r->bugs.at[bug], "lost"))
		return plan_lost(r, bug, why);
	*why = "the report does not say which store it is";
	if (k->needs_flush)
		return store ? plan_place(r, bug, store, true, k->needs_fence, why) : -1;
	if (flush && flush->nframes && flush->frames[0].file)
		return plan_place(r, bug, flush, false, true, why);
	return store ? plan_place(r, bug, store, true, true, why) : -1; /* pmemcheck's logs do not say where a flush is: another one does no harm */
}

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
	size_t nfixes = r->fixes.n;
	const char *why = "";

	r->outcomes.at[i] = (struct outcome){ REPAIR_OTHER, "this kind of bug is not mended" };
	if (plan_cure(r, i))
		return;
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
		if (strcmp(kinds[k].name, r->bugs.at[i]->kind) != 0)
			continue;
		if (!r->wanted.at[i])
			why = "rejected";
		else if (r->failures.at[i])
			why = r->failures.at[i];
		else if (plan_kind(r, i, &kinds[k], &why) == 0)
			return;
		r->fixes.n = nfixes; /* all of it or nothing */
		r->outcomes.at[i] = (struct outcome){ REPAIR_DECLINED, why };
	}
	if (is_redundant_kind(r->bugs.at[i]->kind) && r->wanted.at[i])
		redundant_plan(r, i);
	else if (is_redundant_kind(r->bugs.at[i]->kind))
		r->outcomes.at[i] = (struct outcome){ REPAIR_SUGGESTED, "rejected" };
}

/* Forgets an earlier plan. */
static void plan_begin(struct repair *r)
{
	for (size_t i = 0; i < r->clones.n; i++)
		vec_release(&r->clones.at[i]->copy->edits);
	r->clones.n = r->redirects.n = 0;
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
	emit_files(r);
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
