/* From a bug to a planned change: which store, which bytes, in which function. */
#include "repair/repair.h"

#include <stdlib.h>
#include <string.h>

#include "repair/inner.h"

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
	vec_release(&r->changed);
	arena_release(&r->arena);
	free(r);
}

void repair_add(struct repair *r, const struct repair_bug *b)
{
	*vec_add(&r->bugs) = b;
	*vec_add(&r->outcomes) = (struct outcome){ REPAIR_OTHER, "this kind of bug is not mended" };
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
	x->function = function_at(x->unit, path, p->frames[i].line);
	if (!x->function)
		*why = text_format(r, "%s:%u is in no function", p->frames[i].file, p->frames[i].line);
	return x->function ? 0 : -1;
}

/* A value that an inlined function computed may be stored where it was called. Gives the frame, -1 with a reason. */
static int find_store(struct repair *r, struct fix *x, const struct repair_place *p, const char **why)
{
	for (size_t i = 0; i < p->nframes; i++) {
		const struct repair_frame *f = &p->frames[i];

		if (fix_enter_frame(r, x, p, i, why) < 0)
			return -1;
		x->store = store_at(r, x->unit, x->function, x->file, f->line, f->column);
		if (x->store)
			return (int)i;
		*why = text_format(r, "no store, or more than one, is at %s:%u:%u", f->file, f->line, f->column);
		if (has_stores(x->function))
			return -1;
	}
	return -1;
}

/* ---- kinds ---- */

static int plan_store(struct repair *r, struct fix *x, const struct repair_bug *b, const char **why)
{
	const struct repair_place *p = place_of(b, "store");
	int frame = p ? find_store(r, x, p, why) : -1;

	if (!p)
		*why = "the report does not say which store it is";
	if (frame < 0 || range_of_store(r, x, why) < 0)
		return -1;
	if (place_fix(r, x, why) < 0)
		return -1;
	x->place = p;
	x->frame = (size_t)frame;
	return 0;
}

/* The fence follows the call that flushes: the outermost function that does nothing else. */
static int plan_fence(struct repair *r, struct fix *x, const struct repair_bug *b, const char **why)
{
	const struct repair_place *p = place_of(b, "flush");
	const char *callee = NULL;
	size_t i = 0;

	if (!p)
		p = place_of(b, "store");
	if (!p) {
		*why = "the report does not say where the flush is";
		return -1;
	}
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
	int (*plan)(struct repair *r, struct fix *x, const struct repair_bug *b, const char **why);
} kinds[] = {
	{ "missing-flush", true, false, plan_store },
	{ "missing-flush-fence", true, true, plan_store },
	{ "missing-fence", false, true, plan_fence },
};

static const char *what_was_done(const struct fix *x)
{
	return x->needs_flush && x->needs_fence ? "flush and fence" : x->needs_flush ? "flush" : "fence";
}

static void plan_bug(struct repair *r, size_t i)
{
	const struct repair_bug *b = r->bugs.at[i];
	const char *why = "";

	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
		struct fix x = { .bug = i, .needs_flush = kinds[k].needs_flush, .needs_fence = kinds[k].needs_fence };

		if (strcmp(kinds[k].name, b->kind) != 0)
			continue;
		if (kinds[k].plan(r, &x, b, &why) < 0) {
			r->outcomes.at[i] = (struct outcome){ REPAIR_DECLINED, why };
			continue;
		}
		r->outcomes.at[i] = (struct outcome){ REPAIR_MENDED, text_format(r, "%s in %s", what_was_done(&x), x.function->name) };
		*vec_add(&r->fixes) = x;
	}
}

void repair_plan(struct repair *r)
{
	for (size_t i = 0; i < r->bugs.n; i++)
		plan_bug(r, i);
	if (!r->options->no_hoist)
		hoist_fixes(r);
	for (size_t i = 0; i < r->fixes.n; i++)
		loop_leave(r, &r->fixes.at[i]);
	reduce_fixes(r);
	emit_fixes(r);
	clone_emit(r);
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
