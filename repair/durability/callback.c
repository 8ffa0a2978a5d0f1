/* Out of a callback: a function or lambda that its caller knows by a variable only, and that stores
 * to an object which the caller gave it. The caller flushes that object after the call, instead of
 * the callback, in two cases:
 *
 *   - the caller stores to the same object, too, and misses the flush of that as well: it is one
 *     record, of which the callback fills a part;
 *   - several callbacks miss it at the same call: then the call is what they have in common, and
 *     callbacks that did not run have the same bug.
 *
 * The object must be there whatever is called: a callback that did not run may have been given
 * NULL. So the caller goes through the pointer itself before the call, or gives no pointer.
 *
 * A callback that flushes or fences anything takes care of itself and is left alone; so are those
 * of a caller that is given others which flush, or whose file flushes nothing. */
#include <string.h>

#include "repair/durability/internal.h"
#include "util/str.h"
#include "source/source.h"

enum { OBJECT_MAX_BYTES = 1024 };

/* A store that may leave its callback. */
struct given {
	/* in the caller: its statement is that of the call, its range the object */
	struct fix at;
	const struct source_node *call;
	const struct source_node *callback; /* its body */
	size_t fix;
	bool moves;
	bool is_there; /* the object: no pointer to it may be NULL at the call */
};

typedef VEC(struct given) given_vec;

/* ---- the callback ---- */

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

/* "loans" of "Loans &loans". */
static bool declares(const char *text, const char *name)
{
	size_t len = strlen(text), n = strlen(name);

	return len > n && strcmp(text + len - n, name) == 0 && strchr(" &*", text[len - n - 1]);
}

/* The number of the parameter, and whether it refers to the argument itself; -1: it is none. */
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

/* How a store gets to what the callback was given. */
struct way {
	const char *name;
	unsigned npointers; /* that are followed on the way, the parameter included */
	/* an element, or as many bytes as somebody said: only an array tells how many there can
	 * be */
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

/* Who flushes, fences or answers inside has an order of his own. */
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

/* By a variable, a parameter, or in C by a member: in C++ that may be a method. */
static bool is_by_variable(const struct source_unit *u, const struct source_node *call)
{
	const struct source_node *callee = call->child ? source_bare(call->child) : NULL;

	if (callee && callee->kind == SOURCE_UNARY && callee->op[0] == '*' && callee->child)
		callee = source_bare(callee->child);
	return callee && ((callee->kind == SOURCE_NAME && callee->is_local) ||
			  (callee->kind == SOURCE_MEMBER && !u->is_cplusplus));
}

/* The frame of the caller: what is between is how std::function calls. */
static size_t caller_of(const struct fix *x)
{
	size_t i = x->frame + 1;

	while (x->place && i < x->place->nframes && x->place->frames[i].file &&
	       strstr(x->place->frames[i].file, "/c++/"))
		i++;
	return i;
}

/* The only one of the line. A function that is called there by its name is no callback. */
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

/* In a template, sizes are not known. */
static bool is_small(const struct fix *at, uint32_t bytes)
{
	return bytes ? bytes <= OBJECT_MAX_BYTES : at->unit->is_cplusplus;
}

/* Of an object of C++, its operator stands behind it. */
static const struct source_node *argument_of(const struct source_node *call, int i)
{
	const struct source_node *second = call->child ? call->child->next : NULL;

	second = second ? source_bare(second) : NULL;
	return call_argument(call, second && second->kind == SOURCE_NAME && second->name &&
						   strcmp(second->name, "operator()") == 0
					   ? i + 1
					   : i);
}

/* The callback cannot change where it is: that depends on variables of the caller only. */
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

/* The object that an argument leads to, as the range of at. */
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

/* The caller itself goes through the pointer before the call, on every way. */
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

/* The address of something, or an array. */
static bool is_address(const struct source_node *n)
{
	n = source_bare(n);
	return n->is_array || (n->kind == SOURCE_UNARY && n->op[0] == '&');
}

/* A variable of the caller that never gets anything but an address. */
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

/* A reference and an address are never NULL. */
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

/* Are both called from the same frame outwards, from these on? */
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

/* The statement in the caller before which it must be durable, as far as it is there. False: it
 * must be while the statement with the call runs. */
static bool find_deadline(struct repair *r, struct given *g)
{
	const struct fix *x = &r->fixes.at[g->fix];
	const struct repair_bug *b = r->bugs.at[x->bug];
	const struct source_node *stmt = g->at.stmt;

	for (size_t i = 0; i < b->nplaces; i++) {
		const struct repair_place *p = &b->places[i];
		/* the caller's own frame */
		size_t outer = x->place->nframes - g->at.frame - 1, k = p->nframes - outer - 1;
		const struct source_node *later;

		if (!p->role ||
		    (strcmp(p->role, "survived") != 0 && strcmp(p->role, "acknowledged") != 0) ||
		    p->nframes < outer + 1)
			continue;
		if (!is_same_stack(x->place, g->at.frame + 1, p, k + 1) ||
		    !str_same(p->frames[k].function, x->place->frames[g->at.frame].function))
			continue; /* behind the caller's end, or of another call */
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

/* The caller's file is one that flushes, and may be changed. */
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

/* ---- whose is it? ---- */

static bool flushes_inside(struct repair *r, const struct source_unit *u,
			   const struct source_node *lambda)
{
	for (const struct source_node *n = lambda; n; n = node_next(n, lambda))
		if (n->kind == SOURCE_CALL && idiom_call_does(r, u, n) & DOES_FLUSH)
			return true;
	return false;
}

/* Does this call hand over a function or a lambda that flushes? */
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
		if (f && idiom_does(r, u, f) & DOES_FLUSH)
			return true;
	}
	return false;
}

/* Other callbacks, which the caller is given, flush: then that is the custom. */
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

/* Another callback misses it at the same call. */
static bool is_common(const given_vec *all, const struct given *g)
{
	for (size_t i = 0; i < all->n; i++)
		if (is_at_same_call(&all->at[i], g) && all->at[i].callback != g->callback)
			return true;
	return false;
}

/* The caller stores to the same object, and misses it, too. */
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

/* What one call of a callback stores goes out together, or stays together. */
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
