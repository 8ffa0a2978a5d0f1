/* Moves flushes out of callbacks. A callback is a function or lambda that its caller calls through
 * a variable, and that stores to an object which the caller passes:
 *
 *   void insert(struct list *l, void (*fill)(struct entry *e))
 *   {
 *           struct entry *e = &l->entries[l->n];
 *           e->used = 1;      // the caller's own store
 *           fill(e);          // the callback stores to *e
 *           flush(e, sizeof *e);   <- here, and not in each `fill`
 *
 * The caller flushes the object after the call in two cases:
 *
 * - The caller stores to the same object, too, and also misses that flush. The object is one
 *   record, and the callback fills a part of it.
 * - Several callbacks miss the flush at the same call. Callbacks that did not run have the same
 *   bug.
 *
 * The object must exist whatever callback runs: one that did not run may have been given NULL. So
 * the caller must dereference the pointer itself before the call, or pass an address.
 *
 * A callback that flushes or fences anything keeps its own way. So do all callbacks of a caller
 * that is also given callbacks which flush, or whose file flushes nothing. */
#include <string.h>

#include "repair/durability/internal.h"
#include "util/str.h"
#include "source/source.h"

enum { OBJECT_MAX_BYTES = 1024 };

/* A store in a callback that may be flushed by the callback's caller. */
struct given {
	/* the fix in the caller: its statement is the call, its range the object */
	struct fix at;
	const struct source_node *call;
	const struct source_node *callback; /* body of the callback */
	size_t fix;
	bool moves;
	bool is_there; /* no pointer to the object can be NULL at the call */
};

typedef VEC(struct given) given_vec;

/* ---- inside the callback ---- */

static const struct source_node *lambda_around(const struct source_node *n)
{
	while (n && n->kind != SOURCE_LAMBDA)
		n = n->parent;
	return n;
}

static const struct source_node *body_of(const struct fix *x)
{
	const struct source_node *lambda = lambda_around(x->store);

	return lambda ? lambda->last : x->function->body;
}

/* Asks whether the declaration `text` declares `name`: "Loans &loans" declares "loans". */
static bool declares(const char *text, const char *name)
{
	size_t len = strlen(text), n = strlen(name);

	return len > n && strcmp(text + len - n, name) == 0 && strchr(" &*", text[len - n - 1]);
}

/* Returns the number of the parameter with this name, and whether it is a reference; -1: it is no
 * parameter through which the callback can store. */
static int parameter_named(struct repair *r, const struct fix *x, const char *name,
			   bool *is_reference)
{
	const struct source_node *lambda = lambda_around(x->store);
	const char *captured =
		lambda ? memchr(x->file->text + lambda->begin, ']', lambda->end - lambda->begin)
		       : NULL;
	int i = 0;

	for (const struct source_node *n = captured && captured[1] == '(' ? lambda->child : NULL;
	     n && n->kind != SOURCE_COMPOUND; n = n->next) {
		const char *text = text_of(r->code, x->file, n);

		if (x->file->text + n->begin < captured)
			continue;
		*is_reference = strchr(text, '&') != NULL;
		if (declares(text, name))
			return *is_reference || strchr(text, '*') ? i : -1;
		i++;
	}
	*is_reference = false;
	for (size_t k = 0; !lambda && k < x->function->nparameters; k++)
		if (x->function->parameters[k].is_pointer && x->function->parameters[k].name &&
		    strcmp(x->function->parameters[k].name, name) == 0)
			return (int)k;
	return -1;
}

/* The way from a parameter of the callback to what it stores. */
struct way {
	const char *name;
	unsigned npointers; /* pointers that are followed, including the parameter */
	/* The store goes to an element, or has a variable length. Only an array says how large the
	 * whole is. */
	bool is_indexed;
};

static bool find_way(const struct source_node *lvalue, struct way *w)
{
	const struct source_node *n = source_bare(lvalue);

	while (n->kind != SOURCE_NAME) {
		if (!n->child || (n->kind != SOURCE_MEMBER && n->kind != SOURCE_SUBSCRIPT &&
				  !(n->kind == SOURCE_UNARY && n->op[0] == '*')))
			return false;
		if (n->kind == SOURCE_MEMBER ? n->is_arrow : !n->child->is_array) {
			w->npointers++;
			w->is_indexed |= n->kind == SOURCE_SUBSCRIPT;
		}
		n = source_bare(n->child);
	}
	w->name = n->name;
	return n->name && n->is_local;
}

static bool way_of_store(const struct fix *x, struct way *w)
{
	const struct source_node *to = NULL;
	int i;

	*w = (struct way){ 0 };
	if (node_is_assignment(x->store))
		return x->store->child && find_way(x->store->child, w);
	i = x->store->kind == SOURCE_CALL ? call_writes_to(x->unit, x->store) : WRITES_NOTHING;
	to = i >= 0 ? call_argument(x->store, i) : NULL;
	if (to && source_bare(to)->kind == SOURCE_BINARY && source_bare(to)->op[0] == '+' &&
	    source_bare(to)->child)
		to = source_bare(to)->child;
	if (!to || !find_way(to, w))
		return false;
	if (!source_bare(to)->is_array) {
		w->npointers++;
		w->is_indexed = true;
	}
	return true;
}

/* Asks whether the order of the callback's stores may matter: it flushes, fences, or answers
 * somebody. */
static bool minds_order(struct repair *r, const struct source_unit *u, const struct file *f,
			const struct source_node *body)
{
	if (node_publishes(r->code, u, f, body))
		return true;
	for (const struct source_node *n = body; n; n = node_next(n, body)) {
		const struct source_use *use = macro_use(u, f->path, n);

		if (n->kind == SOURCE_ASM || n->kind == SOURCE_LAMBDA ||
		    (use && idiom_macro_does(r, u, use->name)))
			return true;
		if (n->kind == SOURCE_CALL &&
		    (!n->name || idiom_call_does_far(r, u, n) ||
		     !(call_writes_to(u, n) >= 0 || node_is_calm(r->code, u, n))))
			return true;
	}
	return false;
}

/* ---- the call ---- */

/* Asks whether the function is called through a local variable or parameter, or in C through a
 * member. (In C++, a member may be a method.) */
static bool is_by_variable(const struct source_unit *u, const struct source_node *call)
{
	const struct source_node *callee = call->child ? source_bare(call->child) : NULL;

	if (callee && callee->kind == SOURCE_UNARY && callee->op[0] == '*' && callee->child)
		callee = source_bare(callee->child);
	return callee && ((callee->kind == SOURCE_NAME && callee->is_local) ||
			  (callee->kind == SOURCE_MEMBER && !u->is_cplusplus));
}

/* Returns the number of the frame that calls the callback. Frames of std::function in between are
 * skipped. */
static size_t caller_of(const struct fix *x)
{
	size_t i = x->frame + 1;

	while (x->place && i < x->place->nframes && x->place->frames[i].file &&
	       strstr(x->place->frames[i].file, "/c++/"))
		i++;
	return i;
}

/* Returns the only call of the line through a variable. If the line calls `callback` by its name,
 * there is none. */
static const struct source_node *find_call(const struct fix *at, const struct repair_frame *f,
					   const char *callback)
{
	const struct source_node *found = NULL;

	for (const struct source_node *n = at->function->body; n;
	     n = node_next(n, at->function->body))
		if (n->kind == SOURCE_CALL && n->line == f->line) {
			bool is_called = is_by_variable(at->unit, n);

			if (is_called ? found != NULL : n->name && strcmp(n->name, callback) == 0)
				return NULL;
			found = is_called ? n : found;
		}
	return found && !macro_use(at->unit, at->file->path, found) ? found : NULL;
}

/* Asks whether the object is small. In a template its size is unknown (0), and it is taken to be
 * small. */
static bool is_small(const struct fix *at, uint32_t bytes)
{
	return bytes ? bytes <= OBJECT_MAX_BYTES : at->unit->is_cplusplus;
}

/* Returns argument i of the call. If an object of C++ is called, its "operator()" comes before the
 * arguments. */
static const struct source_node *argument_of(const struct source_node *call, int i)
{
	const struct source_node *second = call->child ? call->child->next : NULL;

	second = second ? source_bare(second) : NULL;
	return call_argument(call, second && second->kind == SOURCE_NAME && second->name &&
						   strcmp(second->name, "operator()") == 0
					   ? i + 1
					   : i);
}

/* Asks whether the callback cannot change where the argument points: the argument depends only on
 * local variables of the caller, and on one pointer at most. */
static bool is_steady(const struct source_node *arg)
{
	unsigned npointers = 0;

	for (const struct source_node *n = arg; n; n = node_next(n, arg)) {
		if (n->kind == SOURCE_NAME && !n->is_local)
			return false;
		npointers += (n->kind == SOURCE_MEMBER && n->is_arrow) ||
			     (n->kind == SOURCE_UNARY && n->op[0] == '*') ||
			     (n->kind == SOURCE_SUBSCRIPT && n->child && !n->child->is_array);
	}
	return npointers <= 1;
}

/* Makes the object to which the argument points the range that the fix `at` flushes. */
static bool take_object(struct repair *r, struct fix *at, const struct source_node *arg,
			const struct way *w, bool is_reference, uint32_t target_bytes)
{
	const struct source_node *object = source_bare(arg);
	const char *why;

	if (!node_is_repeatable(at->unit, arg) || !is_steady(arg) ||
	    w->npointers != (is_reference ? 0 : 1))
		return false;
	if (is_reference)
		return !w->is_indexed && is_small(at, object->size_bytes) &&
		       range_of_object(r, at, object, &why) == 0;
	if (object->is_array)
		return object->size_bytes && is_small(at, object->size_bytes) &&
		       range_of_object(r, at, object, &why) == 0;
	if (w->is_indexed || !target_bytes)
		return false;
	if (object->kind == SOURCE_UNARY && object->op[0] == '&' && object->child)
		return object->child->size_bytes == target_bytes &&
		       target_bytes <= OBJECT_MAX_BYTES &&
		       range_of_object(r, at, source_bare(object->child), &why) == 0;
	return object->target_bytes == target_bytes && target_bytes <= OBJECT_MAX_BYTES &&
	       range_of_pointed(r, at, object, &why) == 0;
}

/* The caller dereferences the pointer before the call, on every path. */
static bool is_used_before(struct repair *r, const struct fix *at, const struct source_node *call,
			   const char *pointer)
{
	for (const struct source_node *block = call; block; block = block->parent) {
		if (block->kind != SOURCE_COMPOUND)
			continue;
		for (const struct source_node *n = block; n && n->begin < call->begin;
		     n = node_next(n, block)) {
			bool follows = (n->kind == SOURCE_MEMBER && n->is_arrow) ||
				       (n->kind == SOURCE_UNARY && n->op[0] == '*') ||
				       n->kind == SOURCE_SUBSCRIPT;

			if (follows && n->child &&
			    strcmp(text_of(r->code, at->file, source_bare(n->child)), pointer) ==
				    0 &&
			    node_is_sure(n, block))
				return true;
		}
	}
	return false;
}

/* The expression is an address (&x) or an array, so it cannot be NULL. */
static bool is_address(const struct source_node *n)
{
	n = source_bare(n);
	return n->is_array || (n->kind == SOURCE_UNARY && n->op[0] == '&');
}

/* Asks whether n is a local variable that is initialised with an address and never assigned. */
static bool is_set_to_address(const struct fix *at, const struct source_node *n)
{
	const struct source_node *body = at->function->body, *value = NULL;

	if (n->kind != SOURCE_NAME || !n->is_local || !n->name || node_assigns(body, NULL, n->name))
		return false;
	for (const struct source_node *v = body; v; v = node_next(v, body))
		if (v->kind == SOURCE_VARIABLE && v->name && strcmp(v->name, n->name) == 0)
			value = v->last;
	return value && is_address(value);
}

/* Asks whether the object certainly exists at the call: it is passed by reference or address, or
 * its pointer was dereferenced before. */
static bool is_surely_there(struct repair *r, const struct fix *at, const struct source_node *call,
			    const struct source_node *arg, bool is_reference)
{
	const struct source_node *object = source_bare(arg);

	return is_reference || is_address(object) || is_set_to_address(at, object) ||
	       is_used_before(r, at, call, text_of(r->code, at->file, object));
}

static uint32_t target_of(const struct fix *x, int parameter)
{
	return lambda_around(x->store) ? 0 : x->function->parameters[parameter].target_bytes;
}

/* Asks whether two stacks are equal out to main: the first from its frame i on, the second from its
 * frame k on. */
static bool is_same_stack(const struct repair_place *a, size_t i, const struct repair_place *b,
			  size_t k)
{
	if (a->nframes - i != b->nframes - k)
		return false;
	for (; i < a->nframes; i++, k++)
		if (a->frames[i].line != b->frames[k].line ||
		    !str_same(a->frames[i].file, b->frames[k].file))
			return false;
	return true;
}

/* Finds the statement of the caller before which the object must be durable, if there is one behind
 * the call. False: it must be durable while the statement with the call still runs. */
static bool find_deadline(struct repair *r, struct given *g)
{
	const struct fix *x = &r->fixes.at[g->fix];
	const struct repair_bug *b = r->bugs.at[x->bug];
	const struct source_node *stmt = g->at.stmt;

	for (size_t i = 0; i < b->nplaces; i++) {
		const struct repair_place *p = &b->places[i];
		/* the frame of the caller in this place */
		size_t outer = x->place->nframes - g->at.frame - 1, k = p->nframes - outer - 1;
		const struct source_node *later;

		if (!p->role ||
		    (strcmp(p->role, "survived") != 0 && strcmp(p->role, "acknowledged") != 0) ||
		    p->nframes < outer + 1)
			continue;
		if (!is_same_stack(x->place, g->at.frame + 1, p, k + 1) ||
		    !str_same(p->frames[k].function, x->place->frames[g->at.frame].function))
			continue; /* that place is outside this run of the caller */
		later = g->at.function->body->child;
		while (later && later->next && later->next->line <= p->frames[k].line)
			later = later->next;
		if (!later || stmt->parent != g->at.function->body || later == stmt)
			return false;
		if (later->begin > stmt->begin &&
		    (!g->at.until || later->begin < g->at.until->begin))
			g->at.until = later;
	}
	return true;
}

/* Asks whether the caller's file uses flushes and may be changed. */
static bool is_for_flushes(struct repair *r, const struct fix *at)
{
	struct idiom i;

	idiom_find(r, at, &i);
	return i.flush.uses + i.line.uses + i.persist.uses + i.scope.uses > 0 &&
	       clone_is_ours(r, at->file->path);
}

static bool find_given(struct repair *r, size_t fix, struct given *g)
{
	const struct fix *x = &r->fixes.at[fix];
	const struct source_node *arg;
	size_t caller = caller_of(x);
	struct way way;
	const char *why;
	bool is_reference;
	int i;

	if (!x->needs_flush || !x->place || caller >= x->place->nframes || !way_of_store(x, &way))
		return false;
	i = parameter_named(r, x, way.name, &is_reference);
	*g = (struct given){ .at = *x, .fix = fix, .callback = body_of(x) };
	if (i < 0 || node_assigns(g->callback, NULL, way.name) ||
	    fix_enter_frame(r, &g->at, x->place, caller, &why) < 0)
		return false;
	g->call = find_call(&g->at, &x->place->frames[caller], x->function->name);
	arg = g->call ? argument_of(g->call, i) : NULL;
	g->is_there = arg && is_surely_there(r, &g->at, g->call, arg, is_reference);
	g->at.range = (struct range){ 0 };
	g->at.store = g->call;
	g->at.where = AFTER;
	g->at.stmt = NULL;
	g->at.value = NULL;
	g->at.frame = caller;
	return arg && take_object(r, &g->at, arg, &way, is_reference, target_of(x, i)) &&
	       place_fix(r, &g->at, &why) == 0 && g->at.where == AFTER && find_deadline(r, g) &&
	       is_for_flushes(r, &g->at) && !minds_order(r, x->unit, x->file, g->callback);
}

/* ---- who should flush ---- */

static bool flushes_inside(struct repair *r, const struct source_unit *u,
			   const struct source_node *lambda)
{
	for (const struct source_node *n = lambda; n; n = node_next(n, lambda))
		if (n->kind == SOURCE_CALL && idiom_call_does(r, u, n) & DOES_FLUSH)
			return true;
	return false;
}

/* The call passes a function or lambda that flushes. */
static bool hands_over_flush(struct repair *r, const struct source_unit *u,
			     const struct source_node *call)
{
	for (const struct source_node *n = call->child ? call->child->next : NULL; n; n = n->next) {
		const struct source_node *arg = source_bare(n);
		const struct source_function *f;

		if (arg->kind == SOURCE_LAMBDA && flushes_inside(r, u, arg))
			return true;
		f = arg->kind == SOURCE_NAME && arg->name && !arg->is_local
			    ? function_named(u, arg->name)
			    : NULL;
		if (f && idiom_function_does(r, u, f) & DOES_FLUSH)
			return true;
	}
	return false;
}

/* Asks whether some other callback that the caller is given flushes by itself. Then callbacks flush
 * in this program. */
static bool others_flush(struct repair *r, const struct given *g)
{
	for (size_t i = 0; i < r->code->units.n; i++) {
		const struct source_unit *u = r->code->units.at[i];

		for (size_t k = 0; k < u->nfunctions; k++)
			for (const struct source_node *n = u->functions[k].body; n;
			     n = node_next(n, u->functions[k].body))
				if (n->kind == SOURCE_CALL && n->name &&
				    strcmp(n->name, g->at.function->name) == 0 &&
				    hands_over_flush(r, u, n))
					return true;
	}
	return false;
}

static bool is_at_same_call(const struct given *a, const struct given *b)
{
	return a->at.file == b->at.file && a->call->begin == b->call->begin;
}

/* Asks whether another callback misses the flush at the same call, too. */
static bool is_common(const given_vec *all, const struct given *g)
{
	for (size_t i = 0; i < all->n; i++)
		if (is_at_same_call(&all->at[i], g) && all->at[i].callback != g->callback)
			return true;
	return false;
}

/* The caller also stores to the object and misses that flush. */
static bool is_part_of_callers(const struct repair *r, const struct given *g)
{
	for (size_t i = 0; g->at.range.base && i < r->fixes.n; i++) {
		const struct fix *x = &r->fixes.at[i];

		if (x->needs_flush && x->unit == g->at.unit && x->function == g->at.function &&
		    x->range.base && strcmp(x->range.base, g->at.range.base) == 0 &&
		    x->stmt->parent == g->at.stmt->parent)
			return true;
	}
	return false;
}

/* Asks whether this caller can flush all stores of the callback. Otherwise none of their flushes
 * moves. */
static bool is_complete(const struct repair *r, const given_vec *all, const struct given *g)
{
	for (size_t i = 0; i < r->fixes.n; i++) {
		const struct fix *x = &r->fixes.at[i];
		bool is_given = false;

		if (!x->store || body_of(x) != g->callback)
			continue;
		for (size_t k = 0; k < all->n; k++)
			is_given |= all->at[k].fix == i && is_at_same_call(&all->at[k], g);
		if (!is_given)
			return false;
	}
	return true;
}

static void leave(struct repair *r, const struct given *g)
{
	struct fix *x = &r->fixes.at[g->fix];
	bool needs_fence = x->needs_fence;

	*x = g->at;
	x->is_given = true;
	x->needs_fence = needs_fence || !fence_follows(r, x, x->place, x->frame, false);
	r->outcomes.at[x->bug].text =
		text_format(r->code, "%s added in %s", x->needs_fence ? "flush and fence" : "flush",
			    x->function->name);
}

void callback_fixes(struct repair *r)
{
	given_vec all = { 0 };
	struct given g;

	for (size_t i = 0; i < r->fixes.n; i++)
		if (find_given(r, i, &g))
			*vec_add(&all) = g;
	for (size_t i = 0; i < all.n; i++)
		all.at[i].moves =
			all.at[i].is_there &&
			(is_common(&all, &all.at[i]) || is_part_of_callers(r, &all.at[i])) &&
			is_complete(r, &all, &all.at[i]) && !others_flush(r, &all.at[i]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i].moves)
			leave(r, &all.at[i]);
	vec_release(&all);
}
