/* Plans flushes and fences for bugs of durability or order: finds the store in the source, the
 * bytes that it writes, and where flush and fence go. A bug gets all the fixes that it needs, or
 * none. */
#include <string.h>

#include "repair/durability/internal.h"

/* ---- the statement ---- */

static bool has_stores(const struct source_function *f)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (node_is_assignment(n) && n->child && n->child->kind != SOURCE_NAME)
			return true;
	return false;
}

/* Asks whether the frame is inside std::atomic of libstdc++ or libc++, by its path in the debug
 * information. */
static bool is_of_atomics(const struct repair_frame *f)
{
	const char *base = f->file ? strrchr(f->file, '/') : NULL;

	return base && strstr(f->file, "c++/") &&
	       (strncmp(base, "/atomic", 7) == 0 || strstr(f->file, "/__atomic/"));
}

/* Returns the call at this place if it is the only one and its callee stores to an object that the
 * call passes. Compilers merge the stores of functions that they inline, and give them the place of
 * the call. */
static const struct source_node *storing_call(struct repair *r, const struct fix *x,
					      const struct repair_frame *f)
{
	const struct source_node *found = NULL;

	for (const struct source_node *n = x->function->body; n;
	     n = node_next(n, x->function->body))
		if (n->kind == SOURCE_CALL && n->line == f->line &&
		    (!f->column || n->column == f->column)) {
			if (found || macro_use(x->unit, x->file->path, n))
				return NULL;
			found = n;
		}
	return found && callee_stores_to(r->code, x->unit, found) >= 0 ? found : NULL;
}

/* Finds the store and returns the number of its frame. An inlined function's value may be stored in
 * its caller, so outer frames are tried, too. Returns -1 with a reason, which is about the
 * innermost frame. */
static int find_store(struct repair *r, struct fix *x, const struct repair_place *p,
		      const char **why)
{
	const char *first = NULL;
	bool is_atomic = false;

	for (size_t i = 0; i < p->nframes; i++) {
		const struct repair_frame *f = &p->frames[i];

		if (is_of_atomics(f)) {
			is_atomic = true;
			continue;
		}
		if (fix_enter_frame(r, x, p, i, why) < 0) {
			*why = first ? first : *why;
			return -1;
		}
		x->store = store_at(x->unit, x->function, x->file, f->line, f->column);
		if (!x->store)
			x->store = storing_call(r, x, f);
		if (x->store && (!is_atomic || atomic_object(x->store)))
			return (int)i;
		if (!first)
			first = text_format(r->code, "no store, or more than one, is at %s:%u:%u",
					    f->file, f->line, f->column);
		*why = first;
		if (has_stores(x->function))
			return -1;
	}
	return -1;
}

static int plan_store(struct repair *r, struct fix *x, const struct repair_place *p,
		      const char **why)
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

/* Returns the only call of the line that flushes. For inlined calls, the column cannot be
 * compared. */
static const struct source_node *only_flush(struct repair *r, const struct fix *x, uint32_t line)
{
	const struct source_node *found = NULL;

	for (const struct source_node *n = x->function->body; n;
	     n = node_next(n, x->function->body))
		if (n->kind == SOURCE_CALL && n->line == line &&
		    idiom_call_does(r, x->unit, n) & DOES_FLUSH) {
			if (found)
				return NULL;
			found = n;
		}
	return found;
}

/* Asks whether the node is an `if` that tests an integer parameter and does nothing but fence: if
 * (!(flags & NO_DRAIN)) drain(); */
static bool is_asked_fence(struct repair *r, const struct source_unit *u,
			   const struct source_function *f, const struct source_node *n)
{
	const struct source_node *test = n->child, *then = test ? test->next : NULL;
	unsigned does = 0;
	bool is_asked = false;

	for (const struct source_node *k = test; then && !then->next && k; k = node_next(k, test))
		for (size_t i = 0; k->kind == SOURCE_NAME && k->name && i < f->nparameters; i++)
			is_asked |= f->parameters[i].is_integer && f->parameters[i].name &&
				    strcmp(f->parameters[i].name, k->name) == 0;
	for (const struct source_node *k = is_asked ? then : NULL; k; k = node_next(k, then))
		does |= k->kind == SOURCE_CALL ? idiom_call_does(r, u, k) : 0;
	return does == DOES_FENCE;
}

/* Asks whether a parameter tells the function to fence or not. Then its caller may have to
 * fence. */
static bool leaves_fence_to_caller(struct repair *r, const struct source_unit *u,
				   const struct source_function *f)
{
	for (const struct source_node *n = f->body ? f->body->child : NULL; n; n = n->next)
		if (n->kind == SOURCE_IF && is_asked_fence(r, u, f, n))
			return true;
	return false;
}

/* Plans a fence behind a flush. It goes behind the outermost call that only flushes, or whose
 * callee was told not to fence. */
static int plan_fence(struct repair *r, struct fix *x, const struct repair_place *p,
		      const char **why)
{
	const char *callee = NULL;
	size_t i = 0;

	for (; i < p->nframes; i++) {
		if (fix_enter_frame(r, x, p, i, why) < 0)
			return -1;
		if (i + 1 == p->nframes || !(idiom_is_helper(r, x->unit, x->function) ||
					     leaves_fence_to_caller(r, x->unit, x->function)))
			break;
		callee = x->function->name;
	}
	x->store = callee ? call_at(x->function, callee, p->frames[i].line, p->frames[i].column)
			  : NULL;
	for (const struct source_node *n = x->function->body; n && !x->store;
	     n = node_next(n, x->function->body))
		if ((n->kind == SOURCE_CALL || n->kind == SOURCE_ASM || n->kind == SOURCE_BINARY) &&
		    n->line == p->frames[i].line &&
		    (!p->frames[i].column || n->column == p->frames[i].column ||
		     n->kind == SOURCE_BINARY))
			x->store = n;
	if (!x->store)
		x->store = only_flush(r, x, p->frames[i].line);
	if (!x->store) {
		*why = text_format(r->code, "no call is at %s:%u", p->frames[i].file,
				   p->frames[i].line);
		return -1;
	}
	return place_fix(r, x, why);
}

/* ---- kinds ---- */

static const struct kind {
	const char *name;
	bool needs_flush, needs_fence;
} kinds[] = {
	{ "missing-flush", true, false },     { "missing-flush-fence", true, true },
	{ "missing-fence", false, true },     { "ordering", true, true },
	{ "ack-before-durable", true, true },
};

static const struct repair_place *place_of(const struct repair_bug *b, const char *role)
{
	for (size_t i = 0; i < b->nplaces; i++)
		if (b->places[i].role && strcmp(b->places[i].role, role) == 0)
			return &b->places[i];
	return NULL;
}

static const char *what_was_done(const struct repair *r, const struct fix *x)
{
	return r->options->is_page_cache          ? "sync"
	       : x->needs_flush && x->needs_fence ? "flush and fence"
	       : x->needs_flush                   ? "flush"
						  : "fence";
}

/* Plans the fix of one place. later: the place that must come after the fence, if a fence just
 * before that suffices; NULL: no such place. */
static int plan_place(struct repair *r, size_t bug, const struct repair_place *p, bool needs_flush,
		      bool needs_fence, const struct repair_place *later, const char **why)
{
	struct fix x = { .bug = bug, .needs_flush = needs_flush, .needs_fence = needs_fence };

	if (needs_flush &&
	    (macro_flush_plan(r, bug, p) ||
	     (strcmp(p->role, "store") == 0 && macro_order_plan(r, bug, p, p, why) == 0)))
		return 0;
	if ((needs_flush ? plan_store : plan_fence)(r, &x, p, why) < 0)
		return -1;
	/* The run may have executed a fence later, but perhaps one of another operation. */
	if (needs_flush && strcmp(p->role, "lost") != 0)
		x.needs_fence = !fence_follows(r, &x, p, x.frame, needs_fence);
	if (!needs_flush) {
		x.flush_place = p;
		x.later_place = later;
	}
	r->outcomes.at[bug] = (struct repair_outcome){
		REPAIR_MENDED,
		text_format(r->code, "%s added in %s", what_was_done(r, &x), x.function->name), NULL
	};
	*vec_add(&r->fixes) = x;
	return 0;
}

/* Plans a fix for each store that a crash can lose. If the store had a flush or fence in time, the
 * next place in the report is that flush or fence. */
static int plan_lost(struct repair *r, size_t bug, const char **why)
{
	const struct repair_bug *b = r->bugs.at[bug];
	int result = -1;

	*why = "the report does not say which store it is";
	for (size_t i = 0; i < b->nplaces; i++) {
		const char *next = i + 1 < b->nplaces && b->places[i + 1].role && !b->cure.is_full
					   ? b->places[i + 1].role
					   : "";

		if (!b->places[i].role || strcmp(b->places[i].role, "lost") != 0)
			continue;
		if (b->cure.is_within)
			result = macro_order_plan(r, bug, &b->places[i], place_of(b, "survived"),
						  why);
		else if (strcmp(next, "flush") == 0)
			result = plan_place(r, bug, &b->places[i + 1], false, true,
					    b->cure.is_late ? place_of(b, "survived") : NULL, why);
		else
			result = plan_place(r, bug, &b->places[i], true, strcmp(next, "fence") != 0,
					    NULL, why);
		if (result < 0)
			return -1;
	}
	return result;
}

int barrier_plan_store(struct repair *r, size_t bug, const struct repair_place *p, const char **why)
{
	return plan_place(r, bug, p, true, true, NULL, why);
}

static int plan_kind(struct repair *r, size_t bug, const struct kind *k, const char **why)
{
	const struct repair_place *store = place_of(r->bugs.at[bug], "store"),
				  *flush = place_of(r->bugs.at[bug], "flush");

	if (place_of(r->bugs.at[bug], "lost"))
		return plan_lost(r, bug, why);
	*why = "the report does not say which store it is";
	if (k->needs_flush && !(flush && strcmp(k->name, "ack-before-durable") == 0))
		return store ? plan_place(r, bug, store, true, k->needs_fence, NULL, why) : -1;
	if (flush && flush->nframes && flush->frames[0].file)
		return plan_place(r, bug, flush, false, true,
				  place_of(r->bugs.at[bug], "acknowledged"), why);
	/* logs of pmemcheck do not say where the flush is; a second flush does no harm */
	return store ? plan_place(r, bug, store, true, true, NULL, why) : -1;
}

static const struct kind *kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

bool barrier_is_kind(const char *kind)
{
	return kind_find(kind) != NULL;
}

int barrier_plan(struct repair *r, size_t bug, const char **why)
{
	size_t nfixes = r->fixes.n;

	*why = r->failures.at[bug];
	if (!*why && plan_kind(r, bug, kind_find(r->bugs.at[bug]->kind), why) == 0)
		return 0;
	r->fixes.n = nfixes; /* all of a bug's fixes or none */
	return -1;
}

/* Asks whether a fix of another bug does at the same statement what this fix would do. */
static bool is_done_by_other(const struct repair *r, const struct fix *x)
{
	for (size_t i = 0; i < r->fixes.n; i++) {
		const struct fix *other = &r->fixes.at[i];

		if (other->bug != x->bug && other->function == x->function &&
		    other->store == x->store && other->needs_flush >= x->needs_flush &&
		    other->needs_fence >= x->needs_fence)
			return true;
	}
	return false;
}

bool barrier_join(struct repair *r, size_t bug)
{
	const struct repair_outcome outcome = r->outcomes.at[bug];
	size_t nfixes = r->fixes.n, nmacros = r->durability->macro_flushes.n;
	const char *why;
	bool is_done = place_of(r->bugs.at[bug], "lost") && plan_lost(r, bug, &why) == 0;

	for (size_t i = nfixes; i < r->fixes.n && is_done; i++)
		is_done = is_done_by_other(r, &r->fixes.at[i]);
	for (size_t i = nmacros; i < r->durability->macro_flushes.n && is_done; i++)
		is_done = r->durability->macro_flushes.at[i].is_again;
	if (is_done)
		return true;
	r->fixes.n = nfixes;
	r->durability->macro_flushes.n = nmacros;
	r->outcomes.at[bug] = outcome;
	return false;
}
