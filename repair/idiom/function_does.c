/* Decides what functions do: flush, fence, or store. If any parsed file has the body, the body
 * decides, otherwise the name. For unknown inline assembly, the name of its function decides. */
#include <string.h>

#include "repair/idiom/internal.h"

/* Asks whether the name is that of a function, without a body, that only counts, checks or
 * waits. */
static bool is_harmless(const char *name)
{
	static const char *const harmless[] = { "__builtin_", "__atomic_",      "__sync_",
						"__assert",   "_mm_pause",      "__rdtsc",
						"abort",      "pmemobj_direct", "pmemobj_pool_by" };

	for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
		if (strncmp(name, harmless[i], strlen(harmless[i])) == 0)
			return true;
	return false;
}

static unsigned body_does(struct repair *r, const struct source_unit *u,
			  const struct source_function *f, int depth);

static unsigned call_does(struct repair *r, const struct source_unit *u,
			  const struct source_node *call, int depth)
{
	const struct source_unit *in = u;
	const struct source_function *callee;
	unsigned does = call->name ? idiom_known(call->name) : 0;

	if (does)
		return does;
	callee = call->name ? run_callee(r, &in, call) : NULL;
	if (callee)
		return depth < 4 ? body_does(r, in, callee, depth + 1) : DOES_MORE;
	callee = way_behind_pointer(r, &in, call);
	if (callee)
		return depth < 4 ? body_does(r, in, callee, depth + 1) : DOES_MORE;
	if (call->name && idiom_name(call->name))
		return idiom_name(call->name);
	return call->name && is_harmless(call->name) ? 0 : DOES_MORE;
}

/* Asks whether the node is a store that matters. Incrementing a counter of the program or of the
 * object does not matter. An operator that a macro hides may be a store. */
static bool is_store(const struct source_node *n)
{
	const struct source_node *root = n->child;

	if (!node_may_assign(n) || !root || root->kind == SOURCE_NAME || node_is_own_variable(root))
		return false;
	if (n->kind == SOURCE_BINARY && strcmp(n->op, "=") == 0)
		return true;
	while (root->child)
		root = root->child;
	return root->kind == SOURCE_NAME && root->is_local;
}

static unsigned body_does(struct repair *r, const struct source_unit *u,
			  const struct source_function *f, int depth)
{
	struct does_memo *memo = does_memo(r, f);
	unsigned does = 0, by_asm;
	const char *flush;

	if (memo->is_known || memo->is_busy)
		return memo->is_known ? memo->does : 0;
	memo->is_busy = true;
	if (f->is_template) /* its calls have no names before the template is used */
		does = r->idioms->way_of(r, u, f)->does;
	for (const struct source_node *n = does ? NULL : f->body; n; n = node_next(n, f->body)) {
		if (n->kind == SOURCE_CALL)
			does |= call_does(r, u, n, depth);
		if (n->kind == SOURCE_ASM)
			does |= idiom_asm(u, n, &by_asm, &flush) ? by_asm : idiom_name(f->name);
		if (is_store(n))
			does |= DOES_STORE;
	}
	memo = does_memo(r, f); /* the array may have moved */
	memo->is_busy = false;
	memo->is_known = depth == 0 || !(does & DOES_MORE);
	memo->does = does;
	return does;
}

unsigned idiom_function_does(struct repair *r, const struct source_unit *u,
			     const struct source_function *f)
{
	return f->body ? body_does(r, u, f, 0) & ~(unsigned)DOES_MORE : idiom_name(f->name);
}

unsigned idiom_function_does_all(struct repair *r, const struct source_unit *u,
				 const struct source_function *f)
{
	return body_does(r, u, f, 0);
}

unsigned idiom_call_does(struct repair *r, const struct source_unit *u,
			 const struct source_node *call)
{
	return call_does(r, u, call, 0) & ~(unsigned)DOES_MORE;
}

bool idiom_only_writes_back(struct repair *r, const struct source_unit *u,
			    const struct source_function *f)
{
	unsigned does = f->body ? body_does(r, u, f, 0) : 0;

	return does && !(does & ~(unsigned)(DOES_FLUSH | DOES_FENCE));
}

bool idiom_pointer_writes_back(struct repair *r, const struct source_unit *u,
			       const struct source_node *call)
{
	const struct source_unit *in = u;
	const struct source_function *f = call->name ? way_behind_pointer(r, &in, call) : NULL;

	return f && idiom_only_writes_back(r, in, f);
}
