/* Lists the objects that contain the stored bytes, innermost first, each with the address to flush:
 * for a store to p->a.b, these are the object at &p->a and the object at p. Also says what a caller
 * passes for the outermost object: for p in set(p), the call set(&t->n) passes &t->n. */
#include <ctype.h>
#include <string.h>

#include "repair/amend/internal.h"
#include "source/source.h"

static const char *size_of(struct repair *r, const char *thing)
{
	return text_format(r->code,
			   text_is_postfix(thing[0] == '*' ? thing + 1 : thing) && thing[0] != '('
				   ? "sizeof %s"
				   : "sizeof(%s)",
			   thing);
}

/* Returns the size of what is at the address: of *p for "p", of x for "&x". */
static const char *size_at(struct repair *r, const char *addr)
{
	return addr[0] == '&'
		       ? size_of(r, addr + 1)
		       : size_of(r, text_format(r->code, "*%s", text_wrapped(r->code, addr)));
}

static void add(struct objects *o, struct repair *r, const char *addr, uint32_t bytes,
		uint32_t offset, uint32_t span, const char *type)
{
	if (o->n == OBJECTS_MAX)
		return;
	o->at[o->n++] = (struct object){ .addr = addr,
					 .size = size_at(r, addr),
					 .type = type,
					 .bytes = bytes,
					 .offset = offset,
					 .span = span };
}

/* Adds the objects around a member or element. For an element it is the whole array, since its
 * index is unknown. */
static void add_around(struct repair *r, const struct file *f, const struct source_node *l,
		       struct objects *o)
{
	uint32_t offset = 0, span = l->size_bytes;

	while (l) {
		const struct source_node *base = l->child ? source_bare(l->child) : NULL;

		if (l->kind == SOURCE_SUBSCRIPT && base && base->is_array) {
			l = base;
			offset = 0;
			span = l->size_bytes;
			continue;
		}
		if (l->kind != SOURCE_MEMBER)
			return;
		offset += l->offset_bytes;
		if (!base) {
			add(o, r, "this", 0, offset, span, NULL);
			return;
		}
		if (l->is_arrow) {
			add(o, r, text_of(r->code, f, l->child), base->target_bytes, offset, span,
			    base->type);
			return;
		}
		add(o, r,
		    text_format(r->code, "&%s",
				text_wrapped(r->code, text_of(r->code, f, l->child))),
		    base->size_bytes, offset, span, base->type);
		l = base;
	}
}

/* Returns what is stored to, as an lvalue; NULL: unknown. */
static const struct source_node *destination(const struct fix *x)
{
	const struct source_node *to = x->store->child;
	int i = call_writes_to(x->unit, x->store);

	if (x->store->kind != SOURCE_CALL || atomic_object(x->store))
		return source_bare(atomic_object(x->store) ? atomic_object(x->store) : to);
	if (call_writes_into(x->unit, x->store))
		return call_writes_into(x->unit, x->store);
	for (i++; to && i > 0; i--)
		to = to->next;
	to = to ? source_bare(to) : NULL;
	if (to && to->kind == SOURCE_UNARY && to->op[0] == '&')
		return source_bare(to->child);
	return to && to->is_array ? to : NULL;
}

void objects_of_store(struct repair *r, const struct fix *x, struct objects *o)
{
	const struct source_node *l;

	*o = (struct objects){ 0 };
	if (macro_use(x->unit, x->file->path, x->store))
		return;
	/* the store is in a called function of the program */
	if (x->store->kind == SOURCE_CALL && !node_is_store(x->unit, x->file, x->store)) {
		add(o, r, x->range.addr, x->range.base_bytes, 0, x->range.base_bytes,
		    x->range.base_type);
		return;
	}
	l = destination(x);
	if (!l)
		return;
	if (l->kind == SOURCE_UNARY && l->op[0] == '*' && l->child)
		add(o, r, text_of(r->code, x->file, l->child), l->size_bytes, 0, l->size_bytes,
		    l->type);
	else
		add_around(r, x->file, l, o);
}

/* ---- in the caller ---- */

/* Returns the object on which a method is called. NULL: unknown; the call of a constructor does not
 * name its object. */
static const char *this_of(struct repair *r, const struct file *f, const struct source_node *call)
{
	const struct source_node *callee = source_bare(call->child);

	if (!callee || callee->kind != SOURCE_MEMBER)
		return NULL;
	if (!callee->child)
		return "this";
	return callee->is_arrow
		       ? text_of(r->code, f, callee->child)
		       : text_format(r->code, "&%s",
				     text_wrapped(r->code, text_of(r->code, f, callee->child)));
}

bool objects_leave(struct repair *r, struct objects *o, const struct source_function *callee,
		   const struct fix *at, const struct source_node *call)
{
	struct object *last = o->n ? &o->at[o->n - 1] : NULL;
	const struct source_node *name = call->child;
	const char **args = text_arguments(r->code, at->file,
					   name && name->text_end < call->text_end
						   ? name->text_end
						   : call->text_begin,
					   call->text_end),
		   *addr = NULL;

	if (!last || !args)
		return false;
	if (strcmp(last->addr, "this") == 0)
		addr = this_of(r, at->file, call);
	for (size_t i = 0; i < callee->nparameters && args[i] && !addr; i++)
		if (callee->parameters[i].name &&
		    strcmp(callee->parameters[i].name, last->addr) == 0 &&
		    !node_assigns(callee->body, NULL, last->addr))
			addr = args[i];
	if (!addr)
		return false;
	o->at[0] = *last;
	/* the caller's class is another one */
	if (strcmp(last->addr, "this") == 0 && callee->scope)
		o->at[0].type = text_copy(r->code, callee->scope, strlen(callee->scope) - 2);
	o->at[0].addr = addr;
	o->at[0].size = size_at(r, addr);
	o->n = 1;
	return true;
}

/* ---- texts ---- */

const char *text_bare(struct repair *r, const char *text)
{
	char *out = arena_alloc(&r->code->arena, strlen(text) + 1), *to = out;

	for (const char *p = text; *p; p++) {
		const char *close = *p == '(' ? strchr(p, ')') : NULL;

		if (close && close > p + 1 && close[-1] == '*' &&
		    strcspn(p + 1, "()&+-/>.[,") == (size_t)(close - p - 1) &&
		    isalpha((unsigned char)p[1]))
			p = close; /* a cast to a pointer */
		else if (!isspace((unsigned char)*p) && *p != '(' && *p != ')')
			*to++ = *p;
	}
	*to = 0;
	return out;
}
