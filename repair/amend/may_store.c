/* Decides by types whether a statement may store to an object. If the path of a store to its place
 * (p->a.b) goes through structures and none of them is the object's, it does not store to it. A
 * store through a pointer to a plain number may. So may every call whose code is unknown, virtual
 * or behind a pointer, whatever its arguments are; only known library functions are excepted. */
#include <string.h>

#include "repair/amend/internal.h"
#include "source/source.h"

enum { DEPTH_MAX = 3 };

/* Returns the last word of the type: "slot" for "const struct slot *". */
static const char *type_name(struct repair *r, const char *type)
{
	size_t end = type ? strlen(type) : 0, begin;

	while (end > 0 && strchr(" *&", type[end - 1]))
		end--;
	if (end > 5 && strncmp(type + end - 5, "const", 5) == 0)
		return type_name(r, text_copy(r->code, type, end - 5));
	for (begin = end; begin > 0 && !strchr(" :*&", type[begin - 1]); begin--)
		;
	return text_copy(r->code, type ? type + begin : "", end - begin);
}

static const char *class_name(struct repair *r, const struct source_function *f)
{
	size_t len = f->scope ? strlen(f->scope) : 0;

	return len > 2 ? type_name(r, text_copy(r->code, f->scope, len - 2)) : "";
}

struct touching {
	struct repair *r;
	const char *type;
};

/* Asks whether the type is that of the object. is_pointee: a pointer to the object counts (as in
 * p->a); otherwise it does not, because a pointer to the object is not the object itself. */
static bool is_object(const struct touching *t, const char *type, bool is_pointee)
{
	const char *star = type ? strchr(type, '*') : NULL;

	return type && (is_pointee ? star && !strchr(star + 1, '*') : !star) &&
	       strcmp(type_name(t->r, type), t->type) == 0;
}

/* Asks whether the stored place may be in the object: checks each step of its path, outermost
 * first. */
static bool place_may_be(const struct touching *t, const struct source_node *place,
			 const struct source_function *in)
{
	bool has_member = false;

	if (node_is_own_variable(place) &&
	    (place->kind != SOURCE_NAME || !strchr(place->type ? place->type : "", '*')))
		return false;
	for (const struct source_node *n = place; n; n = n->child) {
		if (is_object(t, n->type, false) ||
		    (n->kind == SOURCE_MEMBER && n->is_arrow && n->child &&
		     is_object(t, n->child->type, true)))
			return true;
		has_member |= n->kind == SOURCE_MEMBER;
		if (n->kind == SOURCE_MEMBER && !n->child &&
		    strcmp(class_name(t->r, in), t->type) == 0)
			return true;
	}
	return !has_member && source_bare(place)->kind != SOURCE_NAME;
}

static bool touches_below(const struct touching *t, const struct source_unit *u,
			  const struct source_function *in, const struct source_node *top,
			  unsigned depth);

/* Asks whether the library function takes a buffer but does not change its bytes. */
static bool is_no_store(const char *name)
{
	static const char *const names[] = { "free",  "munmap",  "msync",  "mprotect", "madvise",
					     "mlock", "munlock", "setbuf", "setvbuf" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Asks whether a library function may fill a buffer that is in the object. */
static bool fills_object(const struct touching *t, const struct source_unit *u,
			 const struct source_function *in, const struct source_node *call)
{
	const struct source_function *d = NULL;
	size_t i = 0;

	for (size_t k = 0; k < u->nfunctions && !d; k++)
		d = u->functions[k].is_system && strcmp(u->functions[k].name, call->name) == 0
			    ? &u->functions[k]
			    : NULL;
	for (const struct source_node *a = call->child ? call->child->next : NULL;
	     a && d && i < d->nparameters; a = a->next, i++) {
		const char *type = d->parameters[i].type;
		const struct source_node *n = source_bare(a);

		if (!type || (strncmp(type, "void *", 6) != 0 && strncmp(type, "char *", 6) != 0) ||
		    idiom_known(call->name) || is_no_store(call->name))
			continue;
		if (n->kind == SOURCE_UNARY && n->op[0] == '&' && n->child)
			n = source_bare(n->child);
		else if (n->kind == SOURCE_NAME && !n->is_array)
			return true; /* the pointer may lead to the object */
		if (place_may_be(t, n, in))
			return true;
	}
	return false;
}

/* Asks whether all known methods of this name only flush and fence. */
static bool virtual_writes_back(const struct touching *t, const struct source_unit *u,
				const struct source_node *call)
{
	size_t n = 0;

	for (size_t i = 0; i < u->nfunctions; i++) {
		const struct source_function *f = &u->functions[i];

		if (!f->body || strcmp(f->name, call->name) != 0)
			continue;
		if (!idiom_only_writes_back(t->r, u, f))
			return false;
		n++;
	}
	return n > 0;
}

static bool call_may(const struct touching *t, const struct source_unit *u,
		     const struct source_function *in, const struct source_node *call,
		     unsigned depth)
{
	int to = call_writes_to(u, call);
	const struct source_node *place = to >= 0 ? call_argument(call, to) : call->child;
	const struct source_function *f = call->name ? function_named(u, call->name) : NULL;
	struct source_unit *other = NULL;

	if (call_is_by_pointer(u, call))
		return !idiom_pointer_writes_back(t->r, u, call);
	if (call_is_virtual(u, call))
		return !virtual_writes_back(t, u, call);
	if (to >= 0 && source_bare(place)->kind == SOURCE_NAME && !place->is_array)
		return true; /* the pointer may lead to the object */
	if (to != WRITES_NOTHING)
		return place_may_be(t, place, in);
	if (call->name && idiom_known(call->name))
		return false;
	if (call_is_of_library(u, call))
		return fills_object(t, u, in, call);
	if (call_is_made_by_compiler(u, call))
		return false;
	if (!call->name)
		return true;
	idiom_call_does_far(t->r, u, call); /* parses the file that defines it */
	if (!f)
		f = function_defined(t->r->code, &other, call->name);
	if (!f || !f->body)
		return true; /* its code is unknown */
	if (idiom_only_writes_back(t->r, other ? other : u, f))
		return false;
	return depth == 0 || touches_below(t, other ? other : u, f, f->body, depth - 1);
}

/* Asks whether the assembly may store: unknown assembly may. An empty one does not; it only
 * restrains the compiler. */
static bool asm_may(const struct source_unit *u, const struct source_node *n)
{
	static const char *const harmless[] = {
		"", "pause", "nop", "yield", "rep; nop", "rep;nop"
	};
	const char *begin = n->name && strstr(n->name, "asm") ? strchr(n->name, '"') : NULL,
		   *end = begin ? strchr(begin + 1, '"') : NULL, *flush;
	unsigned does;

	if (!end || idiom_asm(u, n, &does, &flush))
		return false;
	for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
		if (strlen(harmless[i]) == (size_t)(end - begin - 1) &&
		    strncmp(begin + 1, harmless[i], strlen(harmless[i])) == 0)
			return false;
	return true;
}

/* Asks whether the node may store. If a macro hides the operator, the node may assign whenever its
 * left side is an lvalue. */
static bool may_store(const struct source_node *n)
{
	const struct source_node *left = n->child ? source_bare(n->child) : NULL;

	if (node_is_assignment(n))
		return !(left->kind == SOURCE_NAME && left->is_local && !left->is_reference);
	return n->kind == SOURCE_BINARY && !n->op[0] && left && n->child != n->last &&
	       (left->kind == SOURCE_MEMBER || left->kind == SOURCE_SUBSCRIPT ||
		left->kind == SOURCE_UNARY);
}

static bool touches_below(const struct touching *t, const struct source_unit *u,
			  const struct source_function *in, const struct source_node *top,
			  unsigned depth)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		if (may_store(n) && place_may_be(t, source_bare(n->child), in))
			return true;
		if (n->kind == SOURCE_CALL && call_may(t, u, in, n, depth))
			return true;
		if (n->kind == SOURCE_ASM && asm_may(u, n))
			return true;
	}
	return false;
}

bool may_store_to(struct repair *r, const struct fix *at, const struct source_node *top,
		  const struct object *o)
{
	struct touching t = { r, o->type ? type_name(r, o->type) : class_name(r, at->function) };

	return touches_below(&t, at->unit, at->function, top, DEPTH_MAX);
}

bool is_changed_between(const struct source_function *f, uint32_t from, uint32_t to,
			const char *expression)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const char *name = n->kind == SOURCE_VARIABLE ? n->name
				   : node_is_assignment(n) && n->child &&
						   source_bare(n->child)->kind == SOURCE_NAME
					   ? source_bare(n->child)->name
					   : NULL;

		if (name && n->begin >= from && n->begin < to && text_has_word(expression, name))
			return true;
	}
	return false;
}
