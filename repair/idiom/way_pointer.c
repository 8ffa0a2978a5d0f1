/* Finds the functions behind calls through pointers, `ops->flush(p, n)` or `persist_fn(p, n)`. The
 * called function is the one that the file assigns to a member or variable of that name, directly
 * or as the result of another function. If the file assigns none, other files are searched; all
 * functions that they assign must flush and fence in the same way. */
#include <ctype.h>
#include <string.h>

#include "repair/idiom/internal.h"
#include "util/str.h"

static const struct source_function *function_declared(const struct source_unit *u,
						       const char *name)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (!u->functions[i].is_system && strcmp(u->functions[i].name, name) == 0)
			return &u->functions[i];
	return NULL;
}

/* Returns the function of the next "name = function" or "void (*name)(…) = &function" behind *p,
 * and advances *p. is_call: it is "name = function(…)", which assigns what the function returns.
 * NULL: none. */
static const struct source_function *next_assigned(const struct source_unit *u, const char *text,
						   const char **p, const char *name, bool *is_call)
{
	size_t len = strlen(name);

	while ((*p = strstr(*p, name))) {
		const char *from = *p, *q = from + len + strspn(from + len, " \t");
		const struct source_function *f;
		char word[128];
		size_t n = 0;

		*p += len;
		if ((from > text && str_is_word_char(from[-1])) || str_is_word_char(from[len]))
			continue;
		if (*q == ')')
			q += strcspn(q, "=;{");
		if (*q != '=' || q[1] == '=')
			continue;
		for (q += 1 + strspn(q + 1, " \t&\n");
		     str_is_word_char(q[n]) && n + 1 < sizeof word; n++)
			word[n] = q[n];
		word[n] = 0;
		f = n ? function_named(u, word) : NULL;
		*is_call = q[n + strspn(q + n, " \t")] == '(';
		if (!f && n && *is_call)
			f = function_declared(u, word);
		if (f)
			return f;
	}
	return NULL;
}

/* Returns the pointer that is called; NULL: a function is called. A function has the type "void
 * (int)", a pointer "void (*)(int)" or the name of a type. */
static const struct source_node *pointer_called(const struct source_node *call)
{
	const struct source_node *n = call->child;

	while (n && n->child && n->child == n->last &&
	       (n->kind == SOURCE_EXPR || (n->kind == SOURCE_UNARY && n->op[0] == '*')))
		n = n->child;
	if (!n || !n->name || (n->kind != SOURCE_NAME && n->kind != SOURCE_MEMBER) || !n->type ||
	    !n->type[0])
		return NULL;
	return strstr(n->type, "(*") || (!strchr(n->type, '(') && n->type[0] != '<') ? n : NULL;
}

bool way_is_by_pointer(const struct source_node *call)
{
	return pointer_called(call) != NULL;
}

/* ---- functions that return functions ---- */

static bool is_same_way(const struct way *a, const struct way *b)
{
	return a->unit == b->unit && a->does == b->does && a->addr == b->addr && a->len == b->len;
}

/* Returns the function with its body, which another file may have. That file is parsed. */
static const struct source_function *with_body(struct repair *r, const struct source_unit **u,
					       const struct source_function *f)
{
	const struct source_function *found = f->body ? f : run_definition(r, u, f);
	const char *why;

	for (size_t i = 0; !found && i < r->code->db->n; i++) {
		const struct file *file = file_open(r->code, r->code->db->files[i]);

		if (file && text_has_word(file->text, f->name) &&
		    unit_open(r->code, r->code->db->files[i], &why))
			found = run_definition(r, u, f);
	}
	return found;
}

/* Adds a returned function to what was found. All must flush in the same way, or not at all (for
 * processors that need no flush). */
static bool take_returned(struct repair *r, const struct source_unit *u,
			  const struct source_node *value, const struct source_function **found)
{
	const struct source_function *f;

	while (value && value->child && value->child == value->last &&
	       (value->kind == SOURCE_EXPR || value->kind == SOURCE_UNARY))
		value = value->child;
	if (value && value->kind == SOURCE_CONDITIONAL)
		return value->child->next && take_returned(r, u, value->child->next, found) &&
		       take_returned(r, u, value->last, found);
	f = value && value->kind == SOURCE_NAME && value->name ? function_named(u, value->name)
							       : NULL;
	if (!f || !f->body)
		return false;
	if (*found && !(r->idioms->way_of(r, u, f)->does & DOES_FLUSH))
		return true;
	if (*found && r->idioms->way_of(r, u, *found)->does & DOES_FLUSH)
		return is_same_way(r->idioms->way_of(r, u, *found), r->idioms->way_of(r, u, f));
	*found = f;
	return true;
}

/* instead of a number of arguments: the entry is about what the function of this name returns */
enum { RETURNED = -1 };

static const struct source_function *returned(struct repair *r, const struct source_unit **u,
					      const struct source_function *getter)
{
	struct pointed to = { .name = getter->name, .nargs = (size_t)RETURNED };
	const struct source_function *body;
	const struct source_unit *in = *u;

	for (size_t i = 0; i < r->idioms->pointed.n; i++)
		if (r->idioms->pointed.at[i].nargs == to.nargs &&
		    strcmp(r->idioms->pointed.at[i].name, to.name) == 0) {
			*u = r->idioms->pointed.at[i].function ? r->idioms->pointed.at[i].unit : *u;
			return r->idioms->pointed.at[i].function;
		}
	body = with_body(r, &in, getter);
	for (const struct source_node *n = body ? body->body : NULL; n;
	     n = node_next(n, body->body))
		if (n->kind == SOURCE_RETURN && !take_returned(r, in, n->child, &to.function)) {
			to.function = NULL;
			break;
		}
	to.unit = in;
	*vec_add(&r->idioms->pointed) = to;
	*u = to.function ? in : *u;
	return to.function;
}

/* ---- other files ---- */

/* Asks whether the text contains "name = word". */
static bool assigns(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; (p = strstr(p, name)); p += len) {
		const char *q = p + len + strspn(p + len, " \t");

		if ((p == text || !str_is_word_char(p[-1])) && *q == '=' && q[1] != '=')
			return true;
	}
	return false;
}

/* Adds the functions that this file assigns to the pointer. False: one of them does something else
 * than those found before. */
static bool agrees(struct repair *r, const struct source_unit *u, const char *text, size_t nargs,
		   struct pointed *to)
{
	const struct source_function *f;
	const char *p = text;
	bool is_call;

	while ((f = next_assigned(u, text, &p, to->name, &is_call))) {
		if (is_call || f->nparameters != nargs || !f->body)
			continue; /* the member of another structure */
		if (!to->function) {
			to->function = f;
			to->unit = u;
		} else if (!is_same_way(r->idioms->way_of(r, to->unit, to->function),
					r->idioms->way_of(r, u, f))) {
			return false;
		}
	}
	return true;
}

static const struct source_function *
assigned_elsewhere(struct repair *r, const struct source_unit **u, const char *name, size_t nargs)
{
	struct pointed to = { .name = name, .nargs = nargs };
	size_t at = r->idioms->pointed.n;
	const char *why;

	for (size_t i = 0; i < r->idioms->pointed.n; i++)
		if (r->idioms->pointed.at[i].nargs == nargs &&
		    strcmp(r->idioms->pointed.at[i].name, name) == 0) {
			*u = r->idioms->pointed.at[i].unit;
			return r->idioms->pointed.at[i].function;
		}
	*vec_add(&r->idioms->pointed) = to; /* a question in a circle gets no answer */
	for (size_t i = 0; i < r->code->db->n; i++) {
		const struct file *f = file_open(r->code, r->code->db->files[i]);
		const struct source_unit *in =
			f && assigns(f->text, name)
				? unit_open(r->code, r->code->db->files[i], &why)
				: NULL;

		if (in && !agrees(r, in, f->text, nargs, &to))
			return NULL;
	}
	r->idioms->pointed.at[at] = to;
	*u = to.unit;
	return to.function;
}

const struct source_function *way_behind_pointer(struct repair *r, const struct source_unit **u,
						 const struct source_node *call)
{
	const struct source_node *callee = pointer_called(call);
	const struct file *file = callee ? file_open(r->code, (*u)->main_file) : NULL;
	const struct source_unit *in = *u;
	const struct source_function *found;
	const char *p = file ? file->text : NULL;
	bool is_call = false;
	size_t nargs = 0;

	if (!p)
		return NULL;
	found = next_assigned(*u, file->text, &p, callee->name, &is_call);
	if (found)
		return is_call ? returned(r, u, found) : found;
	for (const struct source_node *a = call->child->next; a; a = a->next)
		nargs++;
	found = assigned_elsewhere(r, &in, callee->name, nargs);
	*u = found ? in : *u;
	return found;
}

const struct source_function *way_assigned(struct repair *r, const struct source_unit **u,
					   const struct source_node *assignment)
{
	const struct source_node *to = strcmp(assignment->op, "=") == 0 ? assignment->child : NULL,
				 *value = assignment->last;

	if (!to || to == value || to->kind != SOURCE_MEMBER || !to->child || !to->name ||
	    !value->name || !(idiom_name(to->name) || idiom_name(value->name)))
		return NULL;
	if (value->kind == SOURCE_CALL)
		return function_declared(*u, value->name)
			       ? returned(r, u, function_declared(*u, value->name))
			       : NULL;
	return value->kind == SOURCE_NAME ? function_named(*u, value->name) : NULL;
}
