/* Finds the function that a call calls, with its body, in this file or another parsed one. */
#include <string.h>

#include "repair/idiom/run.h"
#include "source/source.h"

/* Asks whether the method belongs to the class of the object. The object's type may be "Writer",
 * "const pm::Writer *" and so on. */
static bool is_of_object(const struct source_function *f, const struct source_node *callee)
{
	const char *type = callee->kind == SOURCE_MEMBER && callee->child ? callee->child->type
									  : NULL,
		   *class = f->scope;
	char name[128];
	size_t len;

	if (!type || !f->scope)
		return false;
	for (const char *p = f->scope; (p = strstr(p, "::")); p += 2)
		class = p[2] ? p + 2 : class;
	len = strlen(class) - 2;
	if (len >= sizeof name)
		return false;
	memcpy(name, class, len);
	name[len] = 0;
	return text_has_word(type, name);
}

static size_t count_arguments(const struct source_node *call)
{
	size_t n = 0;

	for (const struct source_node *a = call->child ? call->child->next : NULL; a; a = a->next)
		n++;
	return n;
}

static bool is_pointer(const struct source_node *n)
{
	return n->target_bytes > 0 || n->is_array ||
	       (n->type && n->type[0] && n->type[strlen(n->type) - 1] == '*');
}

/* Scores an overloaded function: best is one of the object's class, with as many parameters as
 * there are arguments, and with pointers where pointers are passed. */
static unsigned suits(const struct source_function *f, const struct source_node *call,
		      const struct source_node *callee, size_t nargs)
{
	unsigned score = 8 * is_of_object(f, callee) + 4 * (f->nparameters == nargs) + 1;
	size_t i = 0;

	for (const struct source_node *a = call->child->next; a && i < f->nparameters;
	     a = a->next, i++)
		if (is_pointer(source_bare(a)) != f->parameters[i].is_pointer)
			return score - 1;
	return score;
}

/* Asks whether the functions have parameters of the same kinds. A database may hold several
 * programs, whose functions may have the same name. */
static bool takes_the_same(const struct source_function *a, const struct source_function *b)
{
	if (a->nparameters != b->nparameters)
		return false;
	for (size_t i = 0; i < a->nparameters; i++)
		if (a->parameters[i].is_pointer != b->parameters[i].is_pointer ||
		    a->parameters[i].is_integer != b->parameters[i].is_integer)
			return false;
	return true;
}

const struct source_function *run_definition(struct repair *r, const struct source_unit **u,
					     const struct source_function *declared)
{
	size_t n;
	const struct use *uses = names_find(r->code, declared->name, &n);

	for (size_t i = 0; i < n; i++)
		if (!uses[i].node && !uses[i].in->is_static &&
		    takes_the_same(uses[i].in, declared)) {
			*u = uses[i].unit;
			return uses[i].in;
		}
	return NULL;
}

const struct source_function *run_callee(struct repair *r, const struct source_unit **u,
					 const struct source_node *call)
{
	const struct source_node *callee = call->child ? source_bare(call->child) : NULL;
	const struct source_function *found = NULL, *declared = NULL;
	size_t nargs = count_arguments(call);
	unsigned best = 0;

	if (!call->name || !callee ||
	    (callee->kind != SOURCE_NAME && callee->kind != SOURCE_MEMBER))
		return NULL;
	for (size_t i = 0; i < (*u)->nfunctions; i++) {
		const struct source_function *f = &(*u)->functions[i];

		if (f->nparameters < nargs || strcmp(f->name, call->name) != 0)
			continue;
		declared = f->is_system ? declared : f;
		if (f->body && (!found || suits(f, call, callee, nargs) > best)) {
			found = f;
			best = suits(f, call, callee, nargs);
		}
	}
	if (found || callee->kind == SOURCE_MEMBER || !declared)
		return found;
	return run_definition(r, u, declared);
}

const struct source_function *run_method(struct repair *r, const struct source_unit **u,
					 const struct source_node *call)
{
	const struct source_node *callee = call->child ? source_bare(call->child) : NULL;

	for (size_t i = 0;
	     call->name && callee && callee->kind == SOURCE_MEMBER && i < (*u)->nfunctions; i++) {
		const struct source_function *f = &(*u)->functions[i];
		const struct use *uses;
		size_t n;

		if (f->is_system || !f->scope || strcmp(f->name, call->name) != 0 ||
		    f->nparameters < count_arguments(call) ||
		    (callee->child && !is_of_object(f, callee)))
			continue;
		uses = names_find(r->code, f->name, &n);
		for (size_t k = 0; k < n; k++)
			if (!uses[k].node && uses[k].in->scope &&
			    strcmp(uses[k].in->scope, f->scope) == 0 &&
			    takes_the_same(uses[k].in, f)) {
				*u = uses[k].unit;
				return uses[k].in;
			}
	}
	return NULL;
}
