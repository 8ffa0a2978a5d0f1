/* Decides how far out a flush goes. Each place on the call stack has a score (score.c): the store
 * itself, or a call further out. The place with the best score that can be changed is taken, the
 * innermost one if several are equal. To change a call means that it calls a copy of the function,
 * and the copy flushes (subprogram.c). No copy is needed if a function only stores through a
 * parameter, or if its other callers flush after the call: then the caller flushes (outward.c).
 *
 * All bugs of one store are fixed in the same way: if one of them needs a change in the function
 * itself, copies of the function are useless for the others. */
#include <string.h>

#include "repair/durability/internal.h"

enum { MAX_LEVELS = 24 };

/* How far out a fix moves; level 0: it stays. */
struct choice {
	size_t level;
	bool by_arguments;
	const char *scores;
};

/* The function does nothing but this store. */
static bool is_setter(const struct fix *x)
{
	const struct source_node *only = x->function->body->child;

	return only && !only->next && only == x->stmt && x->where == AFTER;
}

/* Other callers of the function flush after the call. */
static bool others_flush(struct repair *r, const struct fix *x, const struct source_node *besides)
{
	for (size_t i = 0; i < x->unit->nfunctions; i++) {
		const struct source_node *body = x->unit->functions[i].body;

		for (const struct source_node *c = body; c; c = node_next(c, body))
			if (c->kind == SOURCE_CALL && c != besides && c->name &&
			    strcmp(c->name, x->function->name) == 0 &&
			    call_is_flushed_after(r, x->unit, c))
				return true;
	}
	return false;
}

/* Moves the fix `level` calls further out, if the arguments of the calls say which bytes are
 * stored. False: they do not. */
static bool leave_by_arguments(struct repair *r, const struct fix *x, struct fix *out, size_t level)
{
	struct fix now = *x;

	for (size_t i = 0; i < level; i++) {
		if (!outward_step(r, &now, out, x->place, x->frame + i))
			return false;
		now = *out;
	}
	return level > 0;
}

/* Returns the outermost level at which other callers flush after the call; 0: none. */
static size_t level_by_custom(struct repair *r, const struct fix *x)
{
	struct fix now = *x, outer;
	size_t best = 0;

	for (size_t i = 0; x->frame + i + 1 < x->place->nframes && i < MAX_LEVELS &&
			   outward_step(r, &now, &outer, x->place, x->frame + i);
	     i++) {
		if (others_flush(r, &now, outer.store))
			best = i + 1;
		now = outer;
	}
	return best;
}

static const char *describe(struct repair *r, const struct fix *x, const struct score *scores,
			    size_t n)
{
	const char *text = text_format(r->code, "scores: %s %d = %u - %u", x->function->name,
				       scores[0].value, scores[0].npm, scores[0].nvolatile);
	size_t i;

	for (i = 1; i < n && scores[i].value != SCORE_NEVER; i++)
		text = text_format(r->code, "%s, call in %s %d = %u - %u", text,
				   x->place->frames[x->frame + i].function, scores[i].value,
				   scores[i].npm, scores[i].nvolatile);
	if (i < n)
		text = text_format(r->code, "%s, call in %s none: %s", text,
				   x->place->frames[x->frame + i].function,
				   scores[i].why ? scores[i].why
						 : "no passed pointer leads to the store");
	text = text_format(r->code, "%s; seen %llu times", text,
			   (unsigned long long)r->bugs.at[x->bug]->count);
	return r->durability->alias ? text : text_format(r->code, "%s; by callers", text);
}

/* Returns the best level that can be changed. Levels with a better score that cannot be changed are
 * added to *told, with the reason. */
static size_t best_level(struct repair *r, const struct fix *x, struct score *scores, size_t n,
			 bool *by_arguments, const char **told)
{
	struct fix ignored;

	for (;;) {
		const char *why;
		size_t best = 0;

		for (size_t i = 1; i < n; i++)
			if (scores[i].value > scores[best].value)
				best = i;
		*by_arguments = best > 0 &&
				((best == 1 && is_setter(x)) || x->unit->is_cplusplus) &&
				leave_by_arguments(r, x, &ignored, best);
		if (!best || *by_arguments || subprogram_check(r, x, best, &why) == 0)
			return best;
		*told = text_format(r->code, "%s; not the call in %s: %s", *told,
				    x->place->frames[x->frame + best].function, why);
		scores[best].value = SCORE_NEVER;
	}
}

/* Counts the places where the flush can be: after the store, and after each call on the call stack,
 * out to main. If main calls f, and f calls g, which stores, there are three: the store in g, the
 * call of g in f, and the call of f in main. */
static size_t levels(const struct fix *x)
{
	size_t n = 0;

	while (x->frame + n < x->place->nframes && n < MAX_LEVELS) {
		const char *name = x->place->frames[x->frame + n].function;

		n++;
		if (name && strcmp(name, "main") == 0)
			break;
	}
	return n;
}

/* Asks whether some function on the way has a use that the report does not show. Then the function
 * may be called with volatile memory. (The report does not record volatile memory.) Without such a
 * use, a copy helps nobody. */
static bool is_confirmed(struct repair *r, const struct fix *x, size_t level)
{
	for (size_t i = 0; i < level; i++) {
		struct fix at = *x;
		const char *why;

		if (fix_enter_frame(r, &at, x->place, x->frame + i, &why) == 0 &&
		    uses_has_unseen(r, at.function))
			return true;
	}
	return false;
}

static struct choice choose(struct repair *r, const struct fix *x)
{
	struct score scores[MAX_LEVELS], all[MAX_LEVELS];
	struct choice c = { .scores = "" };
	size_t n = levels(x);

	c.level = level_by_custom(r, x);
	c.by_arguments = c.level > 0;
	if (c.level || n < 2 || !score_matters(r, x, n - 1))
		return c;
	score_sites(r, x, scores, n);
	memcpy(all, scores, sizeof all);
	c.scores = describe(r, x, all, n);
	if (!scores[0].nvolatile)
		return c; /* no run would save a flush */
	c.level = best_level(r, x, scores, n, &c.by_arguments, &c.scores);
	if (c.level && !is_confirmed(r, x, c.level)) {
		c.level = 0;
		c.scores = text_format(
			r->code, "%s; but every caller was seen to store to persistent memory",
			c.scores);
	}
	return c;
}

static bool is_same_store(const struct fix *a, const struct fix *b)
{
	return strcmp(a->file->path, b->file->path) == 0 && a->store->begin == b->store->begin &&
	       a->store->end == b->store->end;
}

/* Cancels copies of functions that are changed themselves for another bug. */
static void agree(const struct repair *r, struct choice *choices, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && r->fixes.at[i].place; k++)
			if (r->fixes.at[k].place && choices[i].level == 0 && choices[k].level > 0 &&
			    is_same_store(&r->fixes.at[i], &r->fixes.at[k]))
				choices[k].level = 0;
}

static void apply(struct repair *r, size_t i, const struct choice *c)
{
	struct fix x = r->fixes.at[i], outer;
	struct repair_outcome *o = &r->outcomes.at[x.bug];

	if (c->level > 0 && c->by_arguments) {
		leave_by_arguments(r, &x, &outer, c->level);
		r->fixes.at[i] = outer;
		o->text = text_format(r->code, "%s added in %s",
				      x.needs_fence ? "flush and fence" : "flush",
				      outer.function->name);
	} else if (c->level > 0) {
		subprogram_make(r, i, c->level);
		o = &r->outcomes.at[x.bug];
	}
	if (r->options->is_explained && c->scores[0])
		o->text = text_format(r->code, "%s (%s)", o->text, c->scores);
}

void hoist_fixes(struct repair *r)
{
	size_t n = r->fixes.n;
	struct choice *choices = arena_alloc(&r->code->arena, (n + 1) * sizeof *choices);

	for (size_t i = 0; i < n; i++) {
		watch_tell(r->options->watch, "places chosen", i, n);
		choices[i] = r->fixes.at[i].place ? choose(r, &r->fixes.at[i])
						  : (struct choice){ .scores = "" };
	}
	agree(r, choices, n);
	for (size_t i = 0; i < n; i++)
		apply(r, i, &choices[i]);
	subprogram_complete(r);
}
