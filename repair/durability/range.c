/* Finds which bytes a store writes, as C expressions for address and length that are evaluated
 * after the store: for p->n = 1, "&p->n" and "sizeof p->n". The expressions may not call, increment
 * or assign. If the store itself steps a pointer (*p++ = v), the step is taken back: "&p[-1]". */
#include <ctype.h>
#include <string.h>

#include "repair/durability/internal.h"
#include "source/source.h"

/* ---- whether an expression can be evaluated again ---- */

/* Gives the expressions (at most two) that are read to compute the address of l, such as p and i in
 * p[i]. Returns the next inner lvalue, or NULL. */
static const struct source_node *address_reads(const struct source_node *l,
					       const struct source_node *reads[2])
{
	bool is_element = l->kind == SOURCE_SUBSCRIPT && l->child;
	const struct source_node *base = l->child ? source_bare(l->child) : NULL;

	reads[0] = is_element ? l->last : NULL;
	reads[1] = NULL;
	if (l->kind == SOURCE_NAME)
		return NULL;
	if ((l->kind == SOURCE_MEMBER && base && !l->is_arrow) || (is_element && base->is_array))
		return base;
	reads[1] = l->kind == SOURCE_MEMBER || is_element ||
				   (l->kind == SOURCE_UNARY && l->op[0] == '*')
			   ? l->child
			   : l;
	return NULL;
}

static bool address_is_repeatable(const struct source_unit *u, const struct source_node *lvalue)
{
	const struct source_node *reads[2];

	for (const struct source_node *l = source_bare(lvalue); l;) {
		l = address_reads(l, reads);
		for (size_t i = 0; i < 2; i++)
			if (reads[i] && !node_is_repeatable(u, reads[i]))
				return false;
	}
	return true;
}

/* Asks whether a store to `stored` may change what `n` reads. Members of one name may be the same
 * memory: p->next->next is p->next, if the list is a circle of one. */
static bool may_be_same(struct repair *r, const struct file *f, const struct source_node *stored,
			const struct source_node *n)
{
	if (n->kind != stored->kind || n->is_array || !n->child)
		return false;
	if (n->kind == SOURCE_MEMBER)
		return n->name && stored->name && strcmp(n->name, stored->name) == 0 &&
		       n->offset_bytes == stored->offset_bytes;
	return n->kind == SOURCE_SUBSCRIPT &&
	       strcmp(text_of(r->code, f, n->child), text_of(r->code, f, stored->child)) == 0;
}

static bool changes_own_address(struct repair *r, const struct file *f,
				const struct source_node *lvalue)
{
	const struct source_node *reads[2], *stored = source_bare(lvalue);

	for (const struct source_node *l = stored; l;) {
		l = address_reads(l, reads);
		for (size_t i = 0; i < 2; i++)
			for (const struct source_node *n = reads[i]; n; n = node_next(n, reads[i]))
				if (may_be_same(r, f, stored, n))
					return true;
	}
	return false;
}

/* Asks whether `top` assigns a variable on which the range's address depends. The stored variable
 * itself does not count: its address does not depend on its value. */
static bool depends_on_change(const struct source_node *range, const struct source_node *top,
			      const struct source_node *besides)
{
	for (const struct source_node *n = range; n; n = node_next(n, range))
		if (n->kind == SOURCE_NAME && n->name && n != source_bare(range) &&
		    node_assigns(top, besides, n->name))
			return true;
	return false;
}

/* ---- assignments ---- */

static const char *address_of(struct repair *r, const char *lvalue)
{
	if (lvalue[0] == '*' && text_is_postfix(lvalue + 1))
		return text_copy(r->code, lvalue + 1, strlen(lvalue + 1));
	return text_format(r->code, "&%s",
			   lvalue[0] == '*' ? lvalue : text_wrapped(r->code, lvalue));
}

static const char *size_of(struct repair *r, const char *lvalue)
{
	if (text_is_postfix(lvalue) && lvalue[0] != '(')
		return text_format(r->code, "sizeof %s", lvalue);
	if (lvalue[0] == '*' && text_is_postfix(lvalue + 1))
		return text_format(r->code, "sizeof %s", lvalue);
	return text_format(r->code, "sizeof(%s)", lvalue);
}

/* For *p++ = v and a[i++] = v, returns the lvalue as it is after the step ("p[-1]", "a[i - 1]"),
 * else NULL. */
static const char *stepped(struct repair *r, const struct file *f, const struct source_node *l,
			   const struct source_node **step)
{
	const struct source_node *inner =
		l->kind == SOURCE_UNARY && l->op[0] == '*' ? source_bare(l->child)
		: l->kind == SOURCE_SUBSCRIPT && l->child  ? source_bare(l->last)
							   : NULL;
	const char *name;
	bool is_after;

	if (!inner || inner->kind != SOURCE_UNARY || !node_is_assignment(inner) ||
	    source_bare(inner->child)->kind != SOURCE_NAME)
		return NULL;
	*step = inner;
	name = text_of(r->code, f, inner->child);
	is_after = inner->op[0] == 'x';
	if (l->kind == SOURCE_UNARY)
		return !is_after ? text_format(r->code, "*%s", name)
				 : text_format(r->code, "%s[%s]", name,
					       strcmp(inner->op, "x++") == 0 ? "-1" : "1");
	return text_format(r->code, "%s[%s%s]",
			   text_wrapped(r->code, text_of(r->code, f, l->child)), name,
			   !is_after                       ? ""
			   : strcmp(inner->op, "x++") == 0 ? " - 1"
							   : " + 1");
}

static void fill_base(struct repair *r, struct fix *x, const struct source_node *l)
{
	bool is_element = l->kind == SOURCE_SUBSCRIPT && l->child &&
			  source_bare(l->child)->kind == SOURCE_MEMBER &&
			  source_bare(l->child)->is_array;
	const char *base;

	/* the element belongs to an array that is a member */
	l = is_element ? source_bare(l->child) : l;
	if (l->kind == SOURCE_MEMBER && !l->child)
		x->range.member = is_element ? NULL : l->name; /* a member of `this` */
	if (l->kind != SOURCE_MEMBER || !l->child || macro_use(x->unit, x->file->path, l))
		return;
	base = text_of(r->code, x->file, l->child);
	x->range.base_type = l->child->type;
	x->range.member = is_element ? NULL : l->name;
	if (l->is_arrow) {
		x->range.base = base;
		x->range.base_len = text_format(r->code, "sizeof *%s", text_wrapped(r->code, base));
		x->range.base_bytes = l->child->target_bytes;
		x->range.base_align_bytes = l->child->target_align_bytes;
	} else {
		x->range.base = address_of(r, base);
		x->range.base_len = size_of(r, base);
		x->range.base_bytes = l->child->size_bytes;
		x->range.base_align_bytes = l->child->align_bytes;
	}
}

static int range_of_lvalue(struct repair *r, struct fix *x, const struct source_node *l,
			   const char **why)
{
	const struct source_use *use = macro_use(x->unit, x->file->path, l);
	bool is_written = !use || (l->text_begin > use->begin && l->text_end < use->end);
	/* FIELD(p) = 1: the macro makes only the left side */
	bool is_use = use && x->store->kind == SOURCE_BINARY && x->store->end > use->end;
	const struct source_node *step = NULL;
	const char *text = is_use       ? text_copy(r->code, x->file->text + use->begin,
						    use->end - use->begin)
			   : is_written ? text_of(r->code, x->file, l)
					: macro_lvalue(r->code, x->unit, x->file, use),
		   *taken_back;

	if (!text) {
		*why = text_format(r->code, "macro %s does not let its left side be seen",
				   use->name);
		return -1;
	}
	taken_back = is_written ? stepped(r, x->file, source_bare(l), &step) : NULL;
	if (taken_back) {
		text = taken_back;
	} else if (!address_is_repeatable(x->unit, l)) {
		*why = text_format(r->code, "'%s' cannot be evaluated a second time", text);
		return -1;
	} else if (use && l->is_bitfield) {
		*why = text_format(
			r->code,
			"'%s', which macro %s stores to, is a bit-field and has no address", text,
			use->name);
		return -1;
	} else if ((is_written || is_use) && changes_own_address(r, x->file, l)) {
		*why = text_format(r->code, "the store may change what '%s' depends on", text);
		return -1;
	}
	x->range.names = l;
	x->range.is_volatile = l->is_volatile;
	if (l->is_bitfield && !use) {
		fill_base(r, x, l);
		x->range.addr = x->range.base;
		x->range.len = x->range.base_len;
		return 0;
	}
	x->range.addr = address_of(r, text);
	x->range.len = size_of(r, text);
	x->range.is_one_line = l->size_bytes > 0 && l->size_bytes <= 64 &&
			       (l->size_bytes & (l->size_bytes - 1)) == 0 &&
			       l->align_bytes >= l->size_bytes;
	x->range.thing = text;
	x->range.thing_type = l->type;
	x->range.bytes = l->size_bytes;
	if (is_written && !taken_back)
		fill_base(r, x, source_bare(l));
	return 0;
}

/* ---- calls that write ---- */

/* Asks whether argument i of the call can be evaluated again. */
static bool argument_is_repeatable(const struct source_unit *u, const struct source_node *call,
				   int i)
{
	const struct source_node *n = call->child ? call->child->next : NULL;

	for (; n && i > 0; i--)
		n = n->next;
	return !n || node_is_repeatable(u, n);
}

/* Returns the texts of the call's arguments, also if a macro makes the call from its own arguments.
 * NULL ends the list; returns NULL if the arguments are not in the source. */
static const char **call_arguments(struct repair *r, const struct fix *x)
{
	const struct source_use *use = macro_use(x->unit, x->file->path, x->store);
	const struct source_node *first = x->store->child ? x->store->child->next : NULL;
	const char **args;
	size_t n = 0;

	if (!use || (x->store->text_begin > use->begin && x->store->text_end < use->end))
		return text_arguments(r->code, x->file, x->store->text_begin, x->store->text_end);
	for (const struct source_node *a = first; a; a = a->next)
		n++;
	args = arena_alloc(&r->code->arena, (n + 1) * sizeof *args);
	n = 0;
	for (const struct source_node *a = first; a; a = a->next) {
		if (a->text_begin <= use->begin || a->text_end >= use->end ||
		    a->text_begin >= a->text_end)
			return NULL;
		args[n++] = text_of(r->code, x->file, a);
	}
	args[n] = NULL;
	return args;
}

/* Asks whether the text is a variable, such as "n", or a member of a structure, such as "s.len" if
 * s is no pointer. */
static bool is_variable(const char *text)
{
	return text_is_postfix(text) && !strpbrk(text, "([>") && !isdigit((unsigned char)text[0]);
}

/* Fills in the range for memcpy(p->text, …), where `text` is an array without length at the end of
 * *p: the bytes directly follow *p (`tail`). */
static void fill_tail(struct repair *r, struct fix *x)
{
	const struct source_node *to = x->store->child ? x->store->child->next : NULL;

	if (to && to->kind == SOURCE_MEMBER && to->is_arrow && to->is_array &&
	    to->size_bytes == 0 && to->offset_bytes && x->range.len && to->child &&
	    to->child->target_bytes == to->offset_bytes) {
		fill_base(r, x, to);
		x->range.tail = x->range.base && is_variable(x->range.len) ? x->range.len : NULL;
		x->range.base = x->range.tail ? x->range.base : NULL;
	}
}

/* Returns "sizeofp->name" for "sizeof(p->name)" and for "sizeof p->name", so that the two can be
 * compared. */
static const char *bare_size(struct repair *r, const char *text)
{
	char *out = arena_alloc(&r->code->arena, strlen(text ? text : "") + 1), *to = out;

	for (; text && *text; text++)
		if (!strchr(" ()", *text))
			*to++ = *text;
	*to = 0;
	return out;
}

/* Fills in the object *p as the range for memset(p->name, …), where `name` is an array in *p. */
static void fill_array(struct repair *r, struct fix *x, int to)
{
	const struct source_node *array = call_argument(x->store, to);

	array = array ? source_bare(array) : NULL;
	if (!array || array->kind != SOURCE_MEMBER || !array->is_array || !array->size_bytes ||
	    !array->child || !node_is_repeatable(x->unit, array->child))
		return;
	fill_base(r, x, array);
	x->range.member = NULL;
	x->range.bytes =
		strcmp(bare_size(r, x->range.len),
		       text_format(r->code, "sizeof%s", text_of(r->code, x->file, array))) == 0
			? array->size_bytes
			: 0;
}

static int range_of_call(struct repair *r, struct fix *x, const char **why)
{
	int to = call_writes_to(x->unit, x->store), which = 0;
	const struct source_node *array = call_writes_into(x->unit, x->store);
	const char **args = call_arguments(r, x);

	if (array)
		/* the range is the whole array, of which the call writes a part */
		return range_of_lvalue(r, x, array, why);
	if (!args || !args[0] || !args[0][0]) {
		*why = text_format(r->code, "the arguments of %s are not seen", x->store->name);
		return -1;
	}
	x->range.len = call_writes_bytes(r->code, x->unit, x->store, args, &which);
	x->range.addr = x->range.len ? args[to] : NULL;
	if (to == 0)
		fill_tail(r, x);
	if (!x->range.base && to >= 0)
		fill_array(r, x, to);
	x->range.names = x->store;
	if (!x->range.len || !argument_is_repeatable(x->unit, x->store, to) ||
	    !argument_is_repeatable(x->unit, x->store, which)) {
		*why = text_format(r->code, "the arguments of %s cannot be evaluated a second time",
				   x->store->name);
		return -1;
	}
	return 0;
}

/* Asks whether the statement leaves the pointer as it is. (p = f(p) assigns it.) */
static bool pointer_is_kept(const struct fix *x, const struct source_node *pointer)
{
	const struct source_node *top = x->store, *p = source_bare(pointer);

	while (top->parent && top->parent->kind != SOURCE_COMPOUND)
		top = top->parent;
	return p->kind != SOURCE_NAME || !p->name || !node_assigns(top, NULL, p->name);
}

/* Fills in the object to which a pointer points as the range; `text` is the pointer's text. */
static void fill_pointed(struct repair *r, struct fix *x, const struct source_node *pointer,
			 const char *text)
{
	x->range.addr = x->range.base = text;
	x->range.len = x->range.base_len =
		text[0] == '&' ? size_of(r, text + 1)
			       : text_format(r->code, "sizeof *%s", text_wrapped(r->code, text));
	x->range.base_bytes = pointer->target_bytes;
	x->range.base_align_bytes = pointer->target_align_bytes;
	x->range.base_type = pointer->type;
	x->range.is_one_line = pointer->target_bytes <= pointer->target_align_bytes;
	x->range.names = pointer;
}

/* Finds the range of a call of one of the program's functions that stores to the object to which an
 * argument points. -1 with a reason. */
static int range_of_callee(struct repair *r, struct fix *x, const char **why)
{
	const struct source_node *name = x->store->child, *object;
	const char **args = text_arguments(
		r->code, x->file,
		name->text_end < x->store->text_end ? name->text_end : x->store->text_begin,
		x->store->text_end);
	int i = callee_stores_to(r->code, x->unit, x->store);

	object = i >= 0 ? call_argument(x->store, i) : NULL;
	if (!object || !args || !argument_is_repeatable(x->unit, x->store, i) ||
	    !pointer_is_kept(x, object)) {
		*why = text_format(r->code, "the arguments of %s do not say what it stores to",
				   x->store->name);
		return -1;
	}
	for (int k = 0; k < i; k++)
		if (!args[k])
			return -1;
	fill_pointed(r, x, object, args[i]);
	return 0;
}

static int range_of_atomic(struct repair *r, struct fix *x, const char **why)
{
	const char **args =
		text_arguments(r->code, x->file, x->store->text_begin, x->store->text_end);

	if (!args || !args[0] || !node_is_repeatable(x->unit, x->store->child)) {
		*why = "the address of the atomic store cannot be evaluated a second time";
		return -1;
	}
	x->range.addr = args[0];
	x->range.len = args[0][0] == '&'
			       ? size_of(r, args[0] + 1)
			       : text_format(r->code, "sizeof *%s", text_wrapped(r->code, args[0]));
	x->range.names = x->store->child;
	x->range.is_one_line = true; /* an atomic access never crosses lines */
	return 0;
}

/* Checks that the range means the same after the statement: the statement assigns nothing on which
 * the range depends, except for `step`, which was taken back. -1 with a reason. */
static int check_after(struct repair *r, const struct fix *x, const struct source_node *step,
		       const char **why)
{
	for (const struct source_node *top = x->store; top; top = top->parent) {
		bool is_end = top->parent == NULL ||
			      (top->kind != SOURCE_EXPR && top->kind != SOURCE_BINARY &&
			       top->kind != SOURCE_UNARY && top->kind != SOURCE_CALL &&
			       top->kind != SOURCE_CONDITIONAL);

		if (is_end)
			break;
		if (depends_on_change(x->range.names, top, step)) {
			*why = text_format(r->code, "the statement changes what '%s' depends on",
					   x->range.addr);
			return -1;
		}
	}
	return 0;
}

int range_of_store(struct repair *r, struct fix *x, const char **why)
{
	const struct source_node *step = NULL, *l = x->store->child,
				 *object = atomic_object(x->store);
	int result;

	if (object)
		result = range_of_lvalue(r, x, object, why);
	else if (x->store->kind == SOURCE_CALL &&
		 call_writes_to(x->unit, x->store) == WRITES_NOTHING)
		result = range_of_callee(r, x, why);
	else if (x->store->kind == SOURCE_CALL)
		result = range_of_call(r, x, why);
	else if (x->store->kind == SOURCE_EXPR)
		result = range_of_atomic(r, x, why);
	else
		result = range_of_lvalue(r, x, l, why);
	if (result < 0)
		return -1;
	if (x->store->kind != SOURCE_CALL && x->store->kind != SOURCE_EXPR)
		stepped(r, x->file, source_bare(l), &step);
	return check_after(r, x, step, why);
}

int range_of_pointed(struct repair *r, struct fix *x, const struct source_node *pointer,
		     const char **why)
{
	*why = "the pointer is not known after the statement";
	if (macro_use(x->unit, x->file->path, pointer) || !pointer_is_kept(x, pointer))
		return -1;
	fill_pointed(r, x, pointer, text_of(r->code, x->file, pointer));
	return check_after(r, x, NULL, why);
}

int range_of_object(struct repair *r, struct fix *x, const struct source_node *lvalue,
		    const char **why)
{
	if (range_of_lvalue(r, x, lvalue, why) < 0)
		return -1;
	if (lvalue->is_array)
		x->range.addr = x->range.thing;
	return check_after(r, x, NULL, why);
}
