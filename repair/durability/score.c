/* Scores places by how surely they work on persistent memory only. The score is the number of
 * persistent objects that the pointers of the place may point to, minus the number of volatile
 * ones. A call without a pointer that leads to the stored object has no score, and neither have its
 * callers.
 *
 * The objects come from the pointer analysis of the whole program. Without it (no clang), callers
 * are counted: those that pass variables of their own are volatile, those that reached the store in
 * the report are persistent. */
#include <string.h>

#include "repair/durability/internal.h"

bool score_matters(struct repair *r, const struct fix *x, size_t n)
{
	for (size_t level = 0; level < n; level++) {
		struct fix at = *x;
		const char *why;

		if (fix_enter_frame(r, &at, x->place, x->frame + level, &why) < 0)
			return false;
		/* no use at all: the function's address is taken */
		if (uses_count(r, at.function) != 1 || uses_are_elsewhere(r, at.function))
			return true;
	}
	return false;
}

/* ---- by the pointer analysis ---- */

static void set_score(struct score *s, unsigned npm, unsigned nvolatile)
{
	*s = (struct score){ .value = (int)npm - (int)nvolatile,
			     .npm = npm,
			     .nvolatile = nvolatile };
}

/* Scores the places by the pointer analysis. False: the analysis does not know where the store
 * goes. */
static bool score_by_analysis(struct repair *r, const struct fix *x, struct score *scores, size_t n)
{
	struct alias_place store = pointers_place_of_store(x->file, x->store);
	struct alias_counts c;
	const char *callee = x->function->name;

	pointers_count(r, &store, NULL, &c);
	if (!c.is_found || !c.npm)
		return false;
	set_score(&scores[0], c.npm, c.nvolatile);
	for (size_t level = 1; level < n; level++) {
		struct fix at = *x;
		const char *why;
		const struct source_node *call =
			call_of_frame(r, &at, x->place, x->frame + level, callee, &why);
		struct alias_place p;

		scores[level].why = call ? NULL : why;
		if (!call)
			break;
		p = pointers_place_of_call(at.file, call, callee);
		pointers_count(r, &p, &store, &c);
		if (!c.is_found || !c.has_pointers)
			break;
		set_score(&scores[level], c.npm, c.nvolatile);
		callee = at.function->name;
	}
	return true;
}

/* ---- by callers ---- */

/* Counts volatile objects that reach a parameter: variables that callers, direct or indirect, pass.
 * Persistent memory counts once, however many callers pass it; a mapping counts once in the
 * analysis, too. */
struct origins {
	struct repair *r;
	unsigned nvolatile;
	VEC(const struct source_function *) seen;
};

static void find_origins(struct origins *o, const struct source_function *f, int parameter);

/* The argument is a local variable's address, or a local array. */
static bool is_volatile(const struct source_node *argument)
{
	if (argument->kind == SOURCE_UNARY && argument->op[0] == '&')
		return node_is_own_variable(argument->child);
	return argument->is_array && node_is_own_variable(argument);
}

/* Adds the object that an argument passes to the origins. If the caller passes on a parameter of
 * its own, returns the number of that parameter; -1: it does not. */
static int add_origin(struct origins *o, const struct source_function *in,
		      const struct source_node *argument)
{
	int parameter = argument ? parameter_of_pointer(in, argument) : -1;

	if (argument && is_volatile(argument))
		o->nvolatile++;
	else if (parameter >= 0)
		find_origins(o, in, parameter);
	return parameter;
}

static void find_origins(struct origins *o, const struct source_function *f, int parameter)
{
	size_t n;
	const struct use *uses = names_find(o->r->code, f->name, &n);

	for (size_t i = 0; i < o->seen.n; i++)
		if (o->seen.at[i] == f)
			return;
	*vec_add(&o->seen) = f;
	for (size_t i = uses_next(uses, n, 0, f); i < n; i = uses_next(uses, n, i + 1, f))
		if (use_call(uses[i].node))
			add_origin(o, uses[i].in, call_argument(use_call(uses[i].node), parameter));
}

static void score_by_callers(struct repair *r, const struct fix *x, struct score *scores, size_t n)
{
	struct fix at = *x;
	struct origins o = { .r = r };
	const char *why, *callee = x->function->name;
	int parameter = parameter_of_store(r, x);

	if (parameter >= 0)
		find_origins(&o, x->function, parameter);
	set_score(&scores[0], 1, o.nvolatile);
	for (size_t level = 1; level < n && parameter >= 0; level++) {
		const struct source_node *call =
			call_of_frame(r, &at, x->place, x->frame + level, callee, &why);

		scores[level].why = call ? NULL : why;
		if (!call)
			break;
		o.seen.n = o.nvolatile = 0;
		parameter = add_origin(&o, at.function, call_argument(call, parameter));
		set_score(&scores[level], 1, o.nvolatile);
		callee = at.function->name;
	}
	vec_release(&o.seen);
}

void score_sites(struct repair *r, const struct fix *x, struct score *scores, size_t n)
{
	for (size_t i = 0; i < n; i++)
		scores[i] = (struct score){ .value = SCORE_NEVER };
	if (!pointers_analyse(r) || !score_by_analysis(r, x, scores, n))
		score_by_callers(r, x, scores, n);
}
