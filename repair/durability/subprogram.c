/* Makes persistent subprograms: copies of functions that flush what they store, and call such
 * copies in turn. A call that works on persistent memory calls the copy. All other calls keep the
 * original. */
#include <string.h>

#include "repair/durability/internal.h"

/* ---- from the store out to the call ---- */

enum { SUBPROGRAM_MAX_LEVELS = 24 };

struct subprogram_link {
	struct fix inner, outer; /* the called function, and its caller */
	const struct source_node *call;
};

static int subprogram_links(struct repair *r, const struct fix *x, size_t level,
			    struct subprogram_link *links, const char **why)
{
	struct fix inner = *x;

	for (size_t i = 1; i <= level; i++) {
		struct subprogram_link *l = &links[i - 1];

		*l = (struct subprogram_link){ .inner = inner, .outer = inner };
		l->call = call_of_frame(r, &l->outer, x->place, x->frame + i, inner.function->name,
					why);
		if (!clone_is_ours(r, inner.file->path) ||
		    !clone_is_ours(r, l->outer.file ? l->outer.file->path : inner.file->path)) {
			*why = text_format(r->code, "%s is not below the source's folder (--root)",
					   inner.function->name);
			return -1;
		}
		if (!l->call ||
		    clone_function_check(r, inner.unit, inner.file, inner.function, why) < 0 ||
		    clone_call_check(r, l->outer.unit, l->outer.file, l->call, inner.function,
				     why) < 0)
			return -1;
		inner = l->outer;
	}
	return 0;
}

/* Plans the fence behind the call of the copy. -1 with a reason if there is no place for it. */
static int subprogram_fence(struct repair *r, const struct fix *x,
			    const struct subprogram_link *last, struct fix *fence, const char **why)
{
	struct idiom idiom;

	*fence = (struct fix){ .bug = x->bug,
			       .unit = last->outer.unit,
			       .function = last->outer.function,
			       .file = last->outer.file,
			       .store = last->call,
			       .needs_fence = x->needs_fence,
			       .is_hoisted = true };
	if (place_fix(r, fence, why) < 0)
		return -1;
	*why = "the file flushes and fences by one call";
	idiom_find(r, x, &idiom);
	if (idiom.persist.uses > 0 && idiom.flush.uses + idiom.line.uses == 0)
		return -1;
	idiom_find(r, fence, &idiom);
	*why = "a fence does not fit into the expression";
	return fence->where == IN_COMMA ||
			       !idiom_lines(r, &idiom, &fence->range, false, true, false, why)
		       ? -1
		       : 0;
}

int subprogram_check(struct repair *r, const struct fix *x, size_t level, const char **why)
{
	struct subprogram_link links[SUBPROGRAM_MAX_LEVELS];
	const struct subprogram_link *last = &links[level - 1];
	struct idiom idiom;

	*why = "the call is too far out";
	if (level > SUBPROGRAM_MAX_LEVELS || subprogram_links(r, x, level, links, why) < 0)
		return -1;
	if (last->inner.function->is_static && !uses_has_unseen(r, last->inner.function)) {
		*why = text_format(r->code, "nobody else calls %s", last->inner.function->name);
		return -1;
	}
	idiom_find(r, x, &idiom);
	if (!idiom_lines(r, &idiom, &x->range, true, x->needs_fence, x->where == IN_COMMA, why))
		return -1;
	return 0;
}

void subprogram_make(struct repair *r, size_t i, size_t level)
{
	struct subprogram_link links[SUBPROGRAM_MAX_LEVELS];
	struct fix x = r->fixes.at[i], fence;
	const char *why;
	struct clone *c = NULL;

	if (subprogram_links(r, &x, level, links, &why) < 0)
		BUG("a checked way to a call is gone: %s", why);
	for (size_t k = 0; k < level; k++) {
		const struct subprogram_link *l = &links[k];

		c = clone_get(r, l->inner.unit, l->inner.file, l->inner.function);
		clone_redirect(r, x.bug, &l->outer,
			       k + 1 < level ? clone_get(r, l->outer.unit, l->outer.file,
							 l->outer.function)
						       ->copy
					     : l->outer.file,
			       l->call, c);
	}
	/* Code inside the call may depend on what a crash lost, so the fence stays with the
	 * flush. */
	if (x.needs_fence && strcmp(x.place->role, "lost") != 0 &&
	    subprogram_fence(r, &x, &links[level - 1], &fence, &why) == 0) {
		r->fixes.at[i] = fence;
		x.needs_fence = false;
	} else {
		r->fixes.at[i].is_dropped = true;
	}
	r->outcomes.at[x.bug].text = text_format(
		r->code,
		"flush%s added in a copy of %s, which also gets volatile memory, for the call in %s%s",
		x.needs_fence ? " and fence" : "", x.function->name,
		links[level - 1].outer.function->name,
		r->fixes.at[i].is_dropped ? "" : ", and a fence after that");
	x.place = NULL;
	x.file = clone_find(r, x.function, false)->copy;
	*vec_add(&r->fixes) = x;
}

/* ---- other stores of the copy ---- */

static bool is_flush(struct repair *r, const struct source_unit *u, const struct source_node *n)
{
	const char *flush;
	unsigned does;

	if (n->kind == SOURCE_CALL)
		return (idiom_call_does(r, u, n) & (DOES_FLUSH | DOES_STORE)) == DOES_FLUSH;
	return n->kind == SOURCE_ASM && idiom_asm(u, n, &does, &flush) && does & DOES_FLUSH;
}

static bool flushes(struct repair *r, const struct clone *c)
{
	for (const struct source_node *n = c->function->body; n;
	     n = node_next(n, c->function->body))
		if (is_flush(r, c->unit, n))
			return true;
	for (size_t i = 0; i < c->unit->nuses; i++)
		if (c->unit->uses[i].begin >= c->function->begin &&
		    c->unit->uses[i].end <= c->function->end &&
		    strcmp(c->unit->uses[i].file, c->file->path) == 0 &&
		    idiom_name(c->unit->uses[i].name) & DOES_FLUSH)
			return true;
	return false;
}

/* Repeats in the copy all changes of the original. */
static void copy_changes(struct repair *r, struct clone *c)
{
	size_t nfixes = r->fixes.n, nredirects = r->redirects.n;

	for (size_t i = 0; i < nfixes; i++) {
		struct fix x = r->fixes.at[i];

		if (x.is_dropped || x.file != c->file || !function_is_same(x.function, c->function))
			continue;
		x.file = c->copy;
		x.place = NULL;
		x.is_extra = true;
		*vec_add(&r->fixes) = x;
	}
	for (size_t i = 0; i < nredirects; i++) {
		struct redirect d = r->redirects.at[i];
		struct fix at = { .unit = d.unit, .function = d.function };

		if (d.file == c->file && function_is_same(d.function, c->function))
			clone_redirect(r, d.bug, &at, c->copy, d.call, d.to);
	}
}

static bool is_fixed(const struct repair *r, const struct file *copy, const struct source_node *n)
{
	for (size_t i = 0; i < r->fixes.n; i++)
		if (r->fixes.at[i].file == copy && r->fixes.at[i].store->begin == n->begin &&
		    r->fixes.at[i].store->end == n->end)
			return true;
	return false;
}

/* Plans a flush for a store on a path that did not run, if that is possible. */
static void add_store(struct repair *r, struct clone *c, size_t bug, const struct source_node *n)
{
	struct fix x = { .bug = bug,
			 .unit = c->unit,
			 .function = c->function,
			 .file = c->copy,
			 .store = n,
			 .needs_flush = true,
			 .is_extra = true };
	const char *why;

	if (range_of_store(r, &x, &why) == 0 && place_fix(r, &x, &why) == 0)
		*vec_add(&r->fixes) = x;
}

static bool stores_to_pm(struct repair *r, const struct source_unit *u, struct file *f,
			 const struct source_function *fn)
{
	for (const struct source_node *n = fn->body; n; n = node_next(n, fn->body))
		if (node_is_store(u, f, n) && pointers_reach_pm(r, u, f, n))
			return true;
	return false;
}

static void add_call(struct repair *r, struct clone *c, size_t bug, const struct source_node *call)
{
	const struct source_function *callee = function_named(c->unit, call->name);
	struct file *f = callee ? file_open(r->code, callee->file) : NULL;
	struct clone to = { .unit = c->unit, .function = callee, .file = f };
	struct fix at = { .unit = c->unit, .function = c->function };
	const char *why;

	if (!f || function_is_pure(c->unit, call->name) ||
	    idiom_call_does(r, c->unit, call) == DOES_FLUSH ||
	    macro_use(c->unit, c->file->path, call) || !call->child ||
	    call->child->kind != SOURCE_NAME)
		return;
	if (!pointers_reach_pm(r, c->unit, c->file, call) || !stores_to_pm(r, c->unit, f, callee) ||
	    flushes(r, &to) || clone_function_check(r, c->unit, f, callee, &why) < 0 ||
	    clone_call_check(r, c->unit, c->file, call, callee, &why) < 0)
		return;
	clone_redirect(r, bug, &at, c->copy, call, clone_get(r, c->unit, f, callee));
}

static size_t bug_of(const struct repair *r, const struct clone *c)
{
	for (size_t i = 0; i < r->redirects.n; i++)
		if (r->redirects.at[i].to == c)
			return r->redirects.at[i].bug;
	return 0;
}

static void add_rest(struct repair *r, struct clone *c)
{
	size_t bug = bug_of(r, c);

	for (const struct source_node *n = c->function->body; n;
	     n = node_next(n, c->function->body)) {
		if (node_is_store(c->unit, c->file, n)) {
			if (!is_fixed(r, c->copy, n) && pointers_reach_pm(r, c->unit, c->file, n))
				add_store(r, c, bug, n);
		} else if (n->kind == SOURCE_CALL && n->name) {
			add_call(r, c, bug, n);
		}
	}
}

void subprogram_complete(struct repair *r)
{
	for (size_t i = 0; i < r->clones.n; i++) { /* clones.n may grow */
		copy_changes(r, r->clones.at[i]);
		/* A function that flushes has its own ways: stores that ran and were not reported
		 * are flushed somewhere. */
		if (r->durability->alias && !flushes(r, r->clones.at[i]))
			add_rest(r, r->clones.at[i]);
	}
}
