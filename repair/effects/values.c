/* Evaluates expressions as far as addresses and lengths need it. Two expressions that are computed
 * in the same way have the same value. A value in memory is named by its address and by how often
 * memory was stored to before it was read. */
#include <stdio.h>
#include <string.h>

#include "repair/effects/internal.h"

/* ---- arithmetic ---- */

static struct value combined(struct flow *flow, const char *op, struct value a, struct value b)
{
	if (!a.is_known || !b.is_known || a.is_least || b.is_least || !op[0])
		return value_fresh(flow, "of", NULL);
	return value_named(text_format(flow->r->code, "(%s%+lld%s%s%+lld)", a.root ? a.root : "",
				       (long long)a.offset, op, b.root ? b.root : "",
				       (long long)b.offset),
			   NULL);
}

static int64_t scale_of(const struct source_node *n)
{
	bool is_pointer = n->is_array ||
			  (n->type && n->type[0] && strchr("*]", n->type[strlen(n->type) - 1]));

	return is_pointer && n->target_bytes ? n->target_bytes : 1;
}

/* Recognises an address that is rounded up: (x + 7) & ~7 is at least x. False: the expression is
 * another one. */
static bool rounds_up(struct value a, struct value b, struct value *out)
{
	int64_t step = -b.offset;

	if (!a.is_known || a.is_least || !b.is_known || b.root || b.is_least || step <= 0 ||
	    (step & (step - 1)) || a.offset < step - 1)
		return false;
	*out = a;
	out->offset -= step - 1;
	out->is_least = true;
	return true;
}

static struct value computed(struct flow *flow, const struct source_node *n, struct value a,
			     struct value b)
{
	bool are_numbers =
		a.is_known && b.is_known && !a.root && !b.root && !a.is_least && !b.is_least;
	struct value out;

	if (strcmp(n->op, "+") == 0 || strcmp(n->op, "+=") == 0) {
		if (!a.root && b.root && scale_of(n->last) > 1)
			return value_add(flow, b, a, scale_of(n->last));
		return value_add(flow, a, b, scale_of(n->child));
	}
	if ((strcmp(n->op, "-") == 0 || strcmp(n->op, "-=") == 0) && !b.root && b.is_known &&
	    scale_of(n->last) == 1)
		return value_add(flow, a, value_number(-b.offset), scale_of(n->child));
	if (are_numbers && strcmp(n->op, "*") == 0)
		return value_number(a.offset * b.offset);
	if (are_numbers && strcmp(n->op, "/") == 0 && b.offset > 0 && a.offset >= 0)
		return value_number(a.offset / b.offset);
	if (strcmp(n->op, "&") == 0 && rounds_up(a, b, &out))
		return out;
	return combined(flow, n->op, a, b);
}

/* ---- memory ---- */

static bool is_pointer(const struct source_node *n)
{
	return n->type && n->type[0] && strstr(n->type, "*");
}

static struct value load(struct flow_frame *f, struct flow_state *s, struct value addr,
			 const struct source_node *n)
{
	struct flow *flow = f->flow;

	state_reach(flow, s, &addr);

	if (!addr.is_known)
		return value_fresh(flow, "load", n);
	return value_named(text_format(flow->r->code, "[%s%+lld]%c%u", addr.root ? addr.root : "",
				       (long long)addr.offset,
				       is_pointer(n) ? FLOW_POINTER : FLOW_NUMBER,
				       flow->versions[is_pointer(n)]),
			   n);
}

static struct value with_alignment(struct value v, uint32_t align_bytes)
{
	if (v.offset == 0 && v.align_bytes < align_bytes)
		v.align_bytes = align_bytes;
	return v;
}

struct value flow_address(struct flow_frame *f, struct flow_state *s,
			  const struct source_node *lvalue)
{
	const struct source_node *n = flow_strip(lvalue);
	struct value base, index, *there;

	switch (n->kind) {
	case SOURCE_UNARY:
		return n->child && (n->op[0] == '*' || !n->op[0])
			       ? flow_evaluate(f, s, n->child)
			       : value_fresh(f->flow, "lvalue", NULL);
	case SOURCE_MEMBER:
		base = !n->child     ? f->this
		       : n->is_arrow ? with_alignment(flow_evaluate(f, s, n->child),
						      n->child->target_align_bytes)
				     : flow_address(f, s, n->child);
		return value_add(f->flow, base, value_number(n->offset_bytes), 1);
	case SOURCE_SUBSCRIPT:
		base = n->child->is_array ? flow_address(f, s, n->child)
					  : with_alignment(flow_evaluate(f, s, n->child),
							   n->child->target_align_bytes);
		index = flow_evaluate(f, s, n->last);
		/* an array's index is not negative */
		if (index.root && n->child->is_array)
			index.root = text_format(f->flow->r->code, "{%s}", index.root);
		return value_add(f->flow, base, index, n->size_bytes ? n->size_bytes : 1);
	case SOURCE_NAME:
		if (!n->name)
			return value_unknown;
		if (!n->is_local)
			return value_named(text_format(f->flow->r->code, "&%s", n->name), NULL);
		there = n->is_reference ? state_variable(s, f->id, n->name) : NULL;
		if (n->is_reference)
			return there ? *there
				     : value_named(text_format(f->flow->r->code, "%s#%u", n->name,
							       f->id),
						   NULL);
		base = value_named(text_format(f->flow->r->code, "&%s#%u", n->name, f->id), NULL);
		base.is_own = true;
		return base;
	default: return flow_evaluate(f, s, n);
	}
}

static struct value name_value(struct flow_frame *f, struct flow_state *s,
			       const struct source_node *n)
{
	struct value *there;

	if (n->is_array || n->is_reference || !n->name || !n->is_local)
		return n->is_array                   ? flow_address(f, s, n)
		       : n->is_reference || !n->name ? value_fresh(f->flow, n->name, n)
						     : load(f, s, flow_address(f, s, n), n);
	there = state_variable(s, f->id, n->name);
	if (there)
		return with_alignment(*there, n->target_align_bytes);
	state_set(f->flow, s, f->id, n->name,
		  value_named(text_format(f->flow->r->code, "%s#%u", n->name, f->id), n));
	there = state_variable(s, f->id, n->name);
	return there ? *there : value_unknown;
}

/* Asks whether the type is a number or character, which may be a part of any structure. */
static bool is_plain(const char *type)
{
	static const char *const plain[] = { "int",   "char",  "unsigned", "long", "short", "bool",
					     "_Bool", "float", "double",   "void", "signed" };

	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		if (text_has_word(type, plain[i]))
			return true;
	if (strchr("usif", type[0]) && type[1] && strspn(type + 1, "1234568") == strlen(type + 1))
		return true; /* u64 */
	return strstr(type, "int") || strstr(type, "_t") || strpbrk(type, "*[(");
}

/* Returns the type's name without const, struct and namespaces; NULL: it is no structure. */
static const char *name_of(struct flow *flow, const char *type)
{
	const char *end;

	while (type && (strncmp(type, "const ", 6) == 0 || strncmp(type, "struct ", 7) == 0 ||
			strncmp(type, "volatile ", 9) == 0))
		type = strchr(type, ' ') + 1;
	if (!type)
		return NULL;
	end = type + strcspn(type, " *&[");
	for (const char *p = type; p + 1 < end; p++)
		if (p[0] == ':' && p[1] == ':')
			type = p + 2;
	type = text_copy(flow->r->code, type, (size_t)(end - type));
	return is_plain(type) ? NULL : type;
}

/* Returns the innermost structure that contains the lvalue, or to which the pointer points; *bytes:
 * its size. */
static const char *structure_of(struct flow *flow, const struct source_node *of, uint32_t *bytes)
{
	const struct source_node *n = flow_strip(of);
	bool is_lvalue = n->kind == SOURCE_MEMBER || n->kind == SOURCE_SUBSCRIPT;

	if (n->kind == SOURCE_UNARY && (n->op[0] == '&' || !n->op[0]) && n->child &&
	    n->child->kind != SOURCE_NAME) {
		n = flow_strip(n->child);
		is_lvalue = true;
	}
	if (is_lvalue && n->type && !strpbrk(n->type, "*[(") && name_of(flow, n->type)) {
		*bytes = n->size_bytes;
		return name_of(flow, n->type);
	}
	while (n->kind == SOURCE_SUBSCRIPT && n->child && n->child->is_array)
		n = flow_strip(n->child);
	if (n->kind == SOURCE_MEMBER && n->child) {
		*bytes = n->is_arrow ? n->child->target_bytes : n->child->size_bytes;
		return name_of(flow, n->child->type);
	}
	*bytes = n->target_bytes;
	return name_of(flow, n->type);
}

/* Returns the last name of a scope: "node" for "pm::node::". */
static const char *class_of_scope(struct flow *flow, const char *scope)
{
	size_t end = strlen(scope), begin;

	end -= end > 2 ? 2 : 0;
	for (begin = end; begin > 0 && scope[begin - 1] != ':'; begin--)
		;
	return text_copy(flow->r->code, scope + begin, end - begin);
}

struct span flow_span(const struct flow_frame *f, struct value addr, struct value len,
		      const struct source_node *of, const struct source_node *node)
{
	struct span x = {
		.addr = addr, .len = len, .node = node, .file = f->file, .line = node->line
	};

	x.type = of ? structure_of(f->flow, of, &x.object_bytes) : NULL;
	if (f->flow->observe && of && flow_strip(of)->kind == SOURCE_MEMBER &&
	    !flow_strip(of)->child && f->function->scope)
		x.type = class_of_scope(f->flow, f->function->scope); /* a member of `this` */
	return x;
}

/* Fails if a condition that was taken to hold everywhere may change. */
static void keep_guards(struct flow *flow, const struct source_node *to)
{
	for (size_t i = 0; to->name && i < flow->nguards; i++)
		if (text_has_word(flow->guards[i], to->name))
			flow->why = text_format(flow->r->code, "'%s' may change before it",
						flow->guards[i]);
}

static struct value store(struct flow_frame *f, struct flow_state *s, const struct source_node *n,
			  struct value value)
{
	const struct source_node *to = flow_strip(n->child);
	struct span x;

	if (to->kind == SOURCE_NAME && to->is_local && !to->is_reference && to->name) {
		state_set(f->flow, s, f->id, to->name, value);
		return value;
	}
	if (to->kind == SOURCE_MEMBER || (to->kind == SOURCE_NAME && !to->is_local))
		keep_guards(f->flow, to);
	if (to->kind == SOURCE_NAME && !to->is_local) {
		f->flow->versions[is_pointer(to)]++; /* a global variable is volatile memory */
		return value;
	}
	x = flow_span(f, flow_address(f, s, to), value_number(to->size_bytes ? to->size_bytes : 8),
		      to, n);
	if (!to->size_bytes)
		x.len = value_unknown;
	x.is_pointer = is_pointer(to);
	if (!x.addr.is_own)
		flow_tell(f, FLOW_STORE, s, n, &x);
	state_store(f->flow, s, &x);
	return value;
}

/* Forgets variables to which an atomic operation may write the value that it found:
 * exchange(object, desired, found, …), compare_exchange(object, expected, …). */
static void forget_found(struct flow_frame *f, struct flow_state *s, const struct source_node *n,
			 const char *operation)
{
	bool finds = strncmp(operation, "compare_exchange", 16) == 0 ||
		     strncmp(operation, "exchange(", 9) == 0;

	for (const struct source_node *c = n->child; c; c = c->next) {
		const struct source_node *to = flow_strip(c);
		bool is_address = to->kind == SOURCE_UNARY && to->child && to->op[0] == '&';

		if (is_address && to->child->kind == SOURCE_NAME && to->child->is_local)
			state_set(f->flow, s, f->id, to->child->name,
				  value_fresh(f->flow, to->child->name, to->child));
		else if (finds && c != n->child && is_pointer(c))
			state_store_anywhere(f->flow, s, f, n);
	}
}

/* Evaluates an atomic operation: it stores to its first argument. Its result is unknown. */
static void operate_atomically(struct flow_frame *f, struct flow_state *s,
			       const struct source_node *n, const char *operation)
{
	const struct source_node *to = n->child;
	const struct value addr = flow_evaluate(f, s, to);
	struct span x;

	for (const struct source_node *c = to->next; c; c = c->next)
		flow_evaluate(f, s, c);
	forget_found(f, s, n, operation);
	state_reach(f->flow, s, &addr);
	if (strncmp(operation, "load", 4) == 0)
		return;
	x = flow_span(f, addr, to->target_bytes ? value_number(to->target_bytes) : value_unknown,
		      to, n);
	x.is_pointer = strchr(to->type, '*') != strrchr(to->type, '*');
	if (!x.addr.is_own)
		flow_tell(f, FLOW_STORE, s, n, &x);
	state_store(f->flow, s, &x);
}

/* ---- expressions ---- */

/* Evaluates something that may not be executed (the right side of &&). */
static void evaluate_maybe(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	struct flow_state *other = state_copy(s);

	flow_evaluate(f, other, n);
	state_join(f->flow, s, other);
	free(other);
}

static struct value binary(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	struct value a, b;

	if (!n->child || n->child == n->last)
		return value_fresh(f->flow, "of", NULL);
	if (strcmp(n->op, "=") == 0) {
		b = flow_evaluate(f, s, n->last);
		return store(f, s, n, b);
	}
	a = flow_evaluate(f, s, n->child);
	if (strcmp(n->op, "&&") == 0 || strcmp(n->op, "||") == 0) {
		evaluate_maybe(f, s, n->last);
		return value_fresh(f->flow, "of", NULL);
	}
	b = flow_evaluate(f, s, n->last);
	if (strcmp(n->op, ",") == 0)
		return b;
	if (!n->op[0] && node_may_assign(n)) /* a macro hides the operator */
		return store(f, s, n, value_fresh(f->flow, "of", NULL));
	a = computed(f->flow, n, a, b);
	return node_is_assignment(n) ? store(f, s, n, a) : a;
}

static struct value unary(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	const char *op = n->op;
	struct value a;

	if (!n->child)
		return value_fresh(f->flow, "of", NULL);
	if (!op[0]) { /* a macro hides the operator; the types tell which one it is */
		size_t outer = n->type ? strlen(n->type) : 0,
		       inner = n->child->type ? strlen(n->child->type) : 0;

		op = outer > inner && n->type[outer - 1] == '*' && !n->child->is_array       ? "&"
		     : inner > 1 && outer < inner && strchr("*]", n->child->type[inner - 1]) ? "*"
											     : "?";
	}
	if (op[0] == '&')
		return flow_address(f, s, n->child);
	a = flow_evaluate(f, s, n->child);
	if (op[0] == '*')
		return n->is_array ? a : load(f, s, a, n);
	if (op[0] == '?')
		return n->child->kind == SOURCE_NAME || node_is_own_variable(n->child)
			       ? store(f, s, n, value_fresh(f->flow, "of", NULL))
			       : combined(f->flow, "?", a, value_number(0));
	if (strchr(op, 'x')) {
		struct value after =
			store(f, s, n,
			      value_add(f->flow, a, value_number(strchr(op, '+') ? 1 : -1),
					scale_of(n->child)));

		return op[0] == 'x' ? a : after;
	}
	if (op[0] == '~' && a.is_known && !a.root && !a.is_least)
		return value_number(~a.offset);
	if (op[0] == '-' && a.is_known && !a.root && !a.is_least)
		return value_number(-a.offset);
	return combined(f->flow, op, a, value_number(0));
}

/* Asks whether the expression is `new`, perhaps at a given place. */
static bool is_new(const struct flow_frame *f, const struct source_node *n)
{
	return f->unit->is_cplusplus && n->end - n->begin > 4 &&
	       (strncmp(f->file->text + n->begin, "new ", 4) == 0 ||
		strncmp(f->file->text + n->begin, "new(", 4) == 0 ||
		strncmp(f->file->text + n->begin, "::new", 5) == 0);
}

struct value flow_evaluate(struct flow_frame *f, struct flow_state *s,
			   const struct source_node *node)
{
	const struct source_node *n = flow_strip(node);
	const char *atomic;
	struct value v;

	if (++f->flow->nsteps > FLOW_STEPS)
		f->flow->why = "the functions around it are too long to be followed";
	if (f->flow->why || s->is_dead)
		return value_unknown;
	if (n->has_value)
		return value_number(n->value);
	if (n->kind == SOURCE_CALL && is_only_here(f, n)) {
		struct flow_counters now = flow_aside(f->flow);

		v = f->flow->steps->call(f, s, n);
		flow_back(f->flow, &now);
		return v;
	}
	switch (n->kind) {
	case SOURCE_NAME: return name_value(f, s, n);
	case SOURCE_BINARY: return binary(f, s, n);
	case SOURCE_UNARY: return unary(f, s, n);
	case SOURCE_CALL: return f->flow->steps->call(f, s, n);
	case SOURCE_CONDITIONAL:
		flow_evaluate(f, s, n->child);
		for (const struct source_node *c = n->child->next; c; c = c->next)
			evaluate_maybe(f, s, c);
		return value_fresh(f->flow, "of", n);
	case SOURCE_MEMBER:
	case SOURCE_SUBSCRIPT: v = flow_address(f, s, n); return n->is_array ? v : load(f, s, v, n);
	case SOURCE_EXPR:
		atomic = n->child && n->child != n->last && is_pointer(n->child)
				 ? atomic_operation(f->file, n)
				 : NULL;
		if (atomic) {
			operate_atomically(f, s, n, atomic);
			return value_fresh(f->flow, "of", n);
		}
		if (!n->child && n->end - n->begin == 4 &&
		    strncmp(f->file->text + n->begin, "this", 4) == 0)
			return f->this;
		if (n->end - n->begin > 5 && strncmp(f->file->text + n->begin, "throw", 5) == 0) {
			s->is_dead = true;
			return value_unknown;
		}
		for (const struct source_node *c = n->child; c; c = c->next)
			flow_evaluate(f, s, c);
		if (node_is_store(f->unit, f->file, n) || is_new(f, n))
			state_store_anywhere(f->flow, s, f, n);
		return value_fresh(f->flow, "of", n);
	case SOURCE_LAMBDA: /* it may be called at any time */
		state_store_anywhere(f->flow, s, f, n);
		return value_fresh(f->flow, "of", n);
	case SOURCE_LITERAL: return value_fresh(f->flow, "of", n);
	default:
		if (node_is_statement(n))
			f->flow->steps->execute(f, s, n); /* ({ … }) */
		return value_fresh(f->flow, "of", n);
	}
}
