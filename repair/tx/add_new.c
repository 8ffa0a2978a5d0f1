/* A log of memory that the same transaction has allocated is redundant, whatever happens: an abort frees it, and the commit writes it back. That it is this memory is
 * proved in its function: a variable that gets nothing else, no address of which is taken, and whose allocation whoever comes to the log has done. C only: what a
 * reference of C++ does to a variable is not seen. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"

enum { STEPS_MAX = 3 }; /* from a pointer to the handle that it was made of */

/* ---- what is logged ---- */

static size_t word_length(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return n;
}

/* "o" of "o" and of "D_RW(o)", with what follows; NULL. */
static const char *variable_in(struct repair *r, const char *text, const char **rest)
{
	static const char *const words[] = { "D_RW(", "D_RO(", "DIRECT_RW(", "DIRECT_RO(" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *in = text + strlen(words[i]);
		size_t n = strncmp(text, words[i], strlen(words[i])) == 0 ? word_length(in) : 0;

		if (n > 0 && in[n] == ')') {
			*rest = in + n + 1;
			return text_copy(r->code, in, n);
		}
	}
	*rest = text + word_length(text);
	return *rest > text && **rest != '(' ? text_copy(r->code, text, (size_t)(*rest - text)) : NULL;
}

/* A member of the object itself: nothing is followed, no element is counted off. */
static bool is_member(const char *text)
{
	return *text && !strpbrk(text, "[(") && !strstr(text, "->");
}

/* The variable by which the call names the object that it logs, or a part of; NULL: it may log something else. */
static const char *variable_logged(struct repair *r, const struct tx_add_call *c)
{
	const char *what = tx_bare(r, c->args[c->how.first]), *rest, *name;
	char sign = *what == '&' || *what == '*' ? *what : 0;

	name = variable_in(r, what + (sign != 0), &rest);
	if (!name || (*rest && (strncmp(rest, "->", 2) != 0 || !is_member(rest + 2))))
		return NULL;
	switch (c->how.form) {
	case FORM_OBJECT:
	case FORM_HANDLE: return !sign && !*rest ? name : NULL;
	case FORM_FIELD:
	case FORM_MEMBER: return !sign && !*rest && is_member(c->args[c->how.second]) ? name : NULL;
	case FORM_POINTER:
	case FORM_RANGE: return sign == (*rest ? '&' : 0) ? name : NULL;
	case FORM_LVALUE: return sign == (*rest ? 0 : '*') ? name : NULL;
	}
	return NULL;
}

/* ---- what the variable stands for ---- */

/* What a declaration or an assignment gives to the variable; NULL: it gives it nothing. */
static const struct source_node *value_given(const struct source_node *n, const char *name)
{
	if (n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, name) == 0)
		return n->last && n->last->kind != SOURCE_STMT && n->last->begin > n->begin ? n->last : NULL;
	return node_is_assignment(n) && n->child && n->child->kind == SOURCE_NAME && n->child->name && strcmp(n->child->name, name) == 0 ? n->child->next : NULL;
}

static bool is_address_of(const struct source_node *n, const char *name)
{
	const struct source_node *of = n->kind == SOURCE_UNARY && n->op[0] == '&' ? n->child : NULL;

	while (of && of->kind == SOURCE_EXPR && of->child == of->last)
		of = of->child;
	return of && of->kind == SOURCE_NAME && of->name && strcmp(of->name, name) == 0;
}

/* The only value that the variable of the function ever gets; NULL. */
static const struct source_node *only_value(const struct source_function *f, const char *name)
{
	const struct source_node *found = NULL;
	size_t ndeclared = 0;

	for (size_t i = 0; i < f->nparameters; i++)
		if (f->parameters[i].name && strcmp(f->parameters[i].name, name) == 0)
			return NULL;
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_node *value = value_given(n, name);

		ndeclared += n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, name) == 0;
		if (is_address_of(n, name) || (value && found) || (node_is_assignment(n) && value && strcmp(n->op, "=") != 0))
			return NULL;
		found = value ? value : found;
	}
	return ndeclared == 1 ? found : NULL;
}

/* New memory, which the commit writes back, and which is there: otherwise the transaction is aborted. */
static bool is_allocation(struct repair *r, const struct file *f, const struct source_node *call)
{
	static const char *const names[] = { "pmemobj_tx_alloc", "pmemobj_tx_zalloc", "pmemobj_tx_strdup", "pmemobj_tx_wcsdup" };
	const char **args = strcmp(call->name, "pmemobj_tx_xalloc") == 0 ? text_arguments(r->code, f, call->text_begin, call->text_end) : NULL;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(call->name, names[i]) == 0)
			return true;
	return args && args[0] && args[1] && args[2] && strcmp(args[2], "POBJ_XALLOC_ZERO") == 0;
}

/* The variable of whose handle or pointer the value is the pointer; NULL. */
static const char *made_of(const struct source_node *value)
{
	while (value->kind == SOURCE_EXPR && value->last)
		value = value->last; /* casts */
	if (value->kind == SOURCE_CALL && value->name && strncmp(value->name, "pmemobj_direct", 14) == 0)
		value = value->last;
	while (value && ((value->kind == SOURCE_EXPR && value->last) || (value->kind == SOURCE_MEMBER && !value->is_arrow && value->name && strcmp(value->name, "oid") == 0)))
		value = value->kind == SOURCE_EXPR ? value->last : value->child;
	return value && value->kind == SOURCE_NAME && value->is_local ? value->name : NULL;
}

/* Does a transaction end between the two? */
static bool is_ended(const struct source_function *f, const struct source_node *from, const struct source_node *to)
{
	static const char *const names[] = { "pmemobj_tx_commit", "pmemobj_tx_process", "pmemobj_tx_end" };

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (n->kind == SOURCE_CALL && n->name && strcmp(n->name, names[i]) == 0 && from->begin < n->begin && n->begin < to->begin)
				return true;
	return false;
}

/* At this statement, does the variable stand for memory that the transaction has allocated? */
static bool is_new(struct repair *r, const struct fix *x, const char *name, const struct source_node *at, unsigned steps)
{
	const struct source_node *value = only_value(x->function, name), *stmt = value, *call = value;
	const char *from;

	while (stmt && !(stmt->parent && stmt->parent->kind == SOURCE_COMPOUND))
		stmt = stmt->parent;
	if (!stmt || stmt == at || (stmt->kind != SOURCE_DECL && stmt != value->parent) || !tx_way_from(x->file, stmt, at) || !tx_is_still_open(x->unit, x->function, stmt, at) ||
	    is_ended(x->function, stmt, at))
		return false;
	while (call->kind == SOURCE_EXPR && call->last)
		call = call->last;
	if (call->kind == SOURCE_CALL && call->name && is_allocation(r, x->file, call))
		return true;
	from = steps > 0 ? made_of(value) : NULL;
	return from && is_new(r, x, from, stmt, steps - 1);
}

const char *tx_log_of_new(struct repair *r, const struct fix *x, const struct source_node *stmt)
{
	const struct tx_add_calls *all = tx_add_calls_of(r, x->unit, x->file);

	if (x->unit->is_cplusplus || !stmt->parent || stmt->parent->kind != SOURCE_COMPOUND || stmt->parent->child == stmt->parent->last || !text_begins_line(x->file, stmt->begin))
		return NULL;
	for (size_t i = 0; i < all->list.n; i++) {
		const struct tx_add_call *c = &all->list.at[i];
		const char *name = c->begin == stmt->begin && c->end == stmt->end && !c->once && text_semicolon(x->file, c->end) ? variable_logged(r, c) : NULL;

		if (name && is_new(r, x, name, stmt, STEPS_MAX))
			return name;
	}
	return NULL;
}
