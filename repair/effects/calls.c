/* Follows calls. A call that flushes or fences has that effect; a function in the sources is
 * followed into; of library functions it is known which arguments they write to. Any other call may
 * store anywhere. */
#include <string.h>

#include "repair/effects/internal.h"

/* ---- flushes and fences ---- */

static bool is_target(const struct flow_frame *f, const struct source_node *n)
{
	if (!f->flow->target)
		return false;
	return n == f->flow->target ||
	       (n->begin == f->flow->target_begin && n->kind == f->flow->target->kind &&
		strcmp(f->file->path, f->flow->target_file) == 0 &&
		n->end - n->begin == f->flow->target->end - f->flow->target->begin);
}

static struct span range_of(struct flow_frame *f, struct flow_state *s, const struct source_node *n,
			    const struct idiom_effect *e)
{
	struct value addr = !e->addr      ? value_unknown
			    : e->is_thing ? flow_address(f, s, e->addr)
					  : flow_evaluate(f, s, e->addr);
	struct value len =
		e->len ? flow_evaluate(f, s, e->len) : value_number(e->is_line ? 1 : e->len_bytes);

	return flow_span(f, addr, len, e->addr, n);
}

struct flow_scope flow_scope(struct flow_frame *f, struct flow_state *s,
			     const struct source_node *declaration, const struct idiom_effect *e)
{
	struct flow_scope scope = { .does = e->does };

	if (e->does & DOES_FLUSH)
		scope.range = range_of(f, s, declaration, e);
	return scope;
}

/* Applies the target statement as if it wrote back exactly what was stored of its range: these
 * stores are not dirty any more, and a fence has to wait. */
static void narrow(struct flow_state *s, const struct span *range)
{
	size_t n = 0;

	for (size_t i = 0; i < s->ndirty; i++)
		if (!span_is_within(&s->dirty[i], range))
			s->dirty[n++] = s->dirty[i];
	s->ndirty = n;
	s->may_wait = true;
}

static void tell_effect(const struct flow_frame *f, const struct flow_state *s,
			const struct source_node *n, unsigned does, const struct span *range)
{
	if (does & DOES_FLUSH)
		flow_tell(f, FLOW_FLUSH, s, n, range);
	if (does & DOES_FENCE)
		flow_tell(f, FLOW_FENCE, s, n, NULL);
}

bool flow_effect(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	struct idiom_effect e;
	struct span range = { 0 };
	struct flow_counters now;

	if (!idiom_effect(f->flow->r, f->unit, f->file, n, &e))
		return false;
	if (f->flow->observe) {
		now = flow_aside(f->flow);
		if (e.does & DOES_FLUSH)
			range = range_of(f, s, n, &e);
		flow_back(f->flow, &now);
		tell_effect(f, s, n, e.does, &range);
	} else if (e.does & DOES_FLUSH) {
		range = range_of(f, s, n, &e);
	}
	if (is_target(f, n)) {
		f->flow->njudged++;
		f->flow->judge(f->flow, s, &e, &range);
		if (f->flow->is_narrowed)
			narrow(s, &range);
		return true; /* the target counts as not there */
	}
	if (e.does & DOES_FLUSH)
		state_flush(f->flow, s, &range);
	if (e.does & DOES_FENCE)
		state_fence(s);
	return true;
}

/* ---- libraries ---- */

static const struct source_function *declaration(const struct source_unit *u, const char *name)
{
	const struct source_function *found = NULL;

	for (size_t i = 0; i < u->nfunctions; i++)
		if (strcmp(u->functions[i].name, name) == 0 &&
		    (!found || !u->functions[i].is_system))
			found = &u->functions[i];
	return found;
}

/* Returns the number of the length argument of memcpy and the like; -1: the function has none. */
static int length_argument(const char *name)
{
	return strstr(name, "mem") && !strstr(name, "printf") ? 2
	       : strcmp(name, "strncpy") == 0                 ? 2
							      : -1;
}

/* Applies the effect of copies that flush, such as pmem_memcpy_persist. Those with "nodrain" in
 * their name do not fence. */
static void flush_copied(const struct flow_frame *f, struct flow_state *s,
			 const struct source_node *call, const struct span *to)
{
	if (!f->flow->observe || (strncmp(call->name, "pmem_mem", 8) != 0 &&
				  strncmp(call->name, "pmemobj_mem", 11) != 0))
		return;
	flow_tell(f, FLOW_FLUSH, s, call, to);
	state_flush(f->flow, s, to);
	if (strstr(call->name, "nodrain"))
		return;
	flow_tell(f, FLOW_FENCE, s, call, NULL);
	state_fence(s);
}

static void copy_to(struct flow_frame *f, struct flow_state *s, const struct source_node *call,
		    const struct value *args, size_t n)
{
	const struct source_node *object = atomic_object(call);
	const int at = object ? -1 : call_writes_to(f->unit, call),
		  len = length_argument(call->name ? call->name : "");
	const struct source_node *to = at >= 0 ? call_argument(call, at) : object;
	struct span x =
		flow_span(f,
			  object                      ? flow_address(f, s, object)
			  : at >= 0 && (size_t)at < n ? args[at]
						      : value_unknown,
			  len >= 0 && (size_t)len < n ? args[len] : value_unknown, to, call);

	if (object && object->size_bytes)
		x.len = value_number(object->size_bytes);
	x.max_bytes = to && flow_strip(to)->is_array ? flow_strip(to)->size_bytes : 0;
	x.is_pointer = object ? strchr(object->type, '*') != NULL : !x.type;
	if (!x.addr.is_own)
		flow_tell(f, FLOW_STORE, s, call, &x);
	state_store(f->flow, s, &x);
	flush_copied(f, s, call, &x);
}

/* What libpmemobj's transaction functions do with a range, and which arguments give it. offset: the
 * object is given by its handle. */
static const struct transaction_call {
	const char *name;
	enum flow_event what;
	int addr, offset, len; /* numbers of arguments; -1: none */
} transaction_calls[] = {
	{ "pmemobj_tx_add_range", FLOW_LOG, 0, 1, 2 },
	{ "pmemobj_tx_xadd_range", FLOW_LOG, 0, 1, 2 },
	{ "pmemobj_tx_add_range_direct", FLOW_LOG, 0, -1, 1 },
	{ "pmemobj_tx_xadd_range_direct", FLOW_LOG, 0, -1, 1 },
	{ "pmemobj_tx_free", FLOW_FREE, 0, -1, -1 },
	{ "pmemobj_tx_xfree", FLOW_FREE, 0, -1, -1 },
	{ "pmemobj_free", FLOW_FREE, 0, -1, -1 },
	{ "free", FLOW_FREE, 0, -1, -1 },
};

static void call_transaction(struct flow_frame *f, struct flow_state *s,
			     const struct source_node *call, const struct value *args, size_t n)
{
	for (size_t i = 0; i < sizeof transaction_calls / sizeof transaction_calls[0]; i++) {
		const struct transaction_call *t = &transaction_calls[i];
		struct span x;

		if (strcmp(call->name, t->name) != 0 || (size_t)t->addr >= n)
			continue;
		x = flow_span(f, args[t->addr],
			      t->len >= 0 && (size_t)t->len < n ? args[t->len] : value_unknown,
			      call_argument(call, t->addr), call);
		if (t->offset >= 0 && (size_t)t->offset < n)
			x.addr = value_add(f->flow, x.addr, args[t->offset], 1);
		flow_tell(f, t->what, s, call, &x);
		if (t->what == FLOW_LOG && f->flow->observe)
			state_log(s, &x);
	}
	if (f->flow->naside && strcmp(call->name, "pmemobj_tx_begin") == 0)
		/* and the transaction flushes all that it logs */
		f->flow->why = "it gets a transaction";
	if (strcmp(call->name, "pmemobj_tx_commit") == 0 ||
	    strcmp(call->name, "pmemobj_tx_end") == 0)
		s->nlogged = 0;
}

/* Asks whether the parameter points to bytes that are not constant, so that the function may fill
 * them. */
static bool takes_buffer(const char *type)
{
	return type &&
	       (strncmp(type, "void *", 6) == 0 || strncmp(type, "char *", 6) == 0 ||
		strncmp(type, "unsigned char *", 15) == 0) &&
	       !strstr(type, "**");
}

static bool has_variable(const struct value *v)
{
	return v->is_known && v->is_own;
}

static void call_library(struct flow_frame *f, struct flow_state *s, const struct source_node *call,
			 const struct source_function *d, const struct value *args, size_t n)
{
	const struct source_node *a = call->child ? call->child->next : NULL;

	if (f->flow->observe)
		call_transaction(f, s, call, args, n);
	if (call_is_output(call))
		flow_tell(f, FLOW_OUTPUT, s, call, NULL);
	for (size_t i = 0; i < n && a; i++, a = a->next) {
		struct span x = flow_span(f, args[i], value_unknown, a, call);

		if (d && i < d->nparameters && takes_buffer(d->parameters[i].type) &&
		    !has_variable(&args[i]) && !strstr(call->name, "map") &&
		    strcmp(call->name, "free") != 0) {
			flow_tell(f, FLOW_STORE, s, call, &x);
			state_store(f->flow, s, &x);
			flush_copied(f, s, call, &x);
		}
	}
	f->flow->versions[0]++;
}

/* ---- functions in the sources ---- */

static bool is_recursive(const struct flow_frame *f, const struct source_function *fn)
{
	for (; f; f = f->outer)
		if (function_is_same(f->function, fn))
			return true;
	return false;
}

/* Forgets variables whose addresses are passed, and in C++ those passed by reference: the call may
 * change them. */
static void forget_passed(struct flow_frame *f, struct flow_state *s,
			  const struct source_node *call, const struct source_function *to)
{
	size_t i = 0;

	for (const struct source_node *a = call->child ? call->child->next : NULL; a;
	     a = a->next, i++) {
		const struct source_node *n = flow_strip(a);
		const char *type = to && i < to->nparameters ? to->parameters[i].type : NULL;
		bool is_by_reference = f->unit->is_cplusplus &&
				       (!type || (strchr(type, '&') && !strstr(type, "const")));

		if (n->kind == SOURCE_UNARY && n->child && (n->op[0] == '&' || !n->op[0]))
			n = flow_strip(n->child);
		else if (!is_by_reference)
			continue;
		if (n->kind == SOURCE_NAME && n->is_local && n->name && !n->is_array)
			state_set(f->flow, s, f->id, n->name, value_fresh(f->flow, n->name, n));
	}
}

/* Asks whether the name is that of an operator that assigns, such as "operator+=". Without known
 * code, it stores to its left side. */
static bool is_assigning_operator(const char *name)
{
	size_t len = strlen(name);

	if (strncmp(name, "operator", 8) != 0 || len < 9)
		return false;
	if (strcmp(name + 8, "++") == 0 || strcmp(name + 8, "--") == 0)
		return true;
	return name[len - 1] == '=' && strcmp(name + 8, "==") != 0 && strcmp(name + 8, "!=") != 0 &&
	       strcmp(name + 8, "<=") != 0 && strcmp(name + 8, ">=") != 0;
}

static void assign_by_operator(struct flow_frame *f, struct flow_state *s,
			       const struct source_node *call)
{
	const struct source_node *to = flow_strip(call->child);
	struct span x;

	if (node_is_own_variable(to)) {
		if (to->kind == SOURCE_NAME && to->name)
			state_set(f->flow, s, f->id, to->name, value_fresh(f->flow, to->name, to));
		return;
	}
	x = flow_span(f, flow_address(f, s, to), value_number(to->size_bytes), to, call);
	if (!to->size_bytes)
		x.len = value_unknown;
	x.is_pointer = true;
	flow_tell(f, FLOW_STORE, s, call, &x);
	state_store(f->flow, s, &x);
}

static struct value follow(struct flow_frame *f, struct flow_state *s,
			   const struct source_node *call, const struct source_unit *u,
			   const struct source_function *fn, const struct value *args, size_t n)
{
	const struct source_node *callee = flow_strip(call->child);
	struct flow_frame inner = { .flow = f->flow,
				    .unit = u,
				    .file = file_open(f->flow->r->code, fn->file),
				    .function = fn,
				    .outer = f,
				    .call = call,
				    .id = f->flow->nframes++,
				    .depth = f->depth + 1 };
	size_t nbefore = s->nvariables;

	inner.this = value_fresh(f->flow, "this", NULL);
	if (callee->kind == SOURCE_MEMBER)
		inner.this = !callee->child     ? f->this
			     : callee->is_arrow ? flow_evaluate(f, s, callee->child)
						: flow_address(f, s, callee->child);
	for (size_t i = 0; i < fn->nparameters && i < n; i++)
		if (fn->parameters[i].name)
			state_set(f->flow, s, inner.id, fn->parameters[i].name, args[i]);
	if (!inner.file) {
		state_store_anywhere(f->flow, s, f, call);
		return value_unknown;
	}
	f->flow->steps->body(&inner, s);
	/* variables of the called function are gone */
	s->nvariables = nbefore < s->nvariables ? nbefore : s->nvariables;
	return inner.nreturns == 1 ? inner.result : value_fresh(f->flow, fn->name, call);
}

/* Returns the value of a library call. Methods that only read a constant object give equal values
 * for equal calls. */
static struct value library_value(struct flow_frame *f, const struct source_node *call,
				  const struct value *args, size_t n)
{
	const struct source_node *callee = flow_strip(call->child),
				 *object = callee && callee->kind == SOURCE_MEMBER && callee->child
						   ? flow_strip(callee->child)
						   : NULL;
	bool is_const = object && object->kind == SOURCE_NAME && object->is_local && object->type &&
			strncmp(object->type, "const ", 6) == 0;
	struct value v = value_fresh(f->flow, call->name, call);

	if (n == 0 && is_const)
		v.root = text_format(f->flow->r->code, "%s#%u.%s()", object->name, f->id,
				     call->name);
	if (n == 1 && strcmp(call->name, "strlen") == 0 && args[0].is_known && args[0].root)
		v.root = text_format(f->flow->r->code, "strlen(%s%+lld)%c%u", args[0].root,
				     (long long)args[0].offset, FLOW_NUMBER, f->flow->versions[0]);
	return v;
}

struct value flow_call(struct flow_frame *f, struct flow_state *s, const struct source_node *call)
{
	struct value args[16];
	const struct source_node *callee = call->child ? flow_strip(call->child) : NULL;
	const struct source_unit *u = f->unit;
	const struct source_function *fn, *d;
	size_t n = 0;

	if (flow_effect(f, s, call))
		return value_unknown;
	if (callee && callee->kind == SOURCE_MEMBER && callee->child &&
	    flow_strip(callee->child)->kind == SOURCE_CALL)
		flow_evaluate(f, s, callee->child);
	else if (callee && callee->kind != SOURCE_MEMBER && callee->kind != SOURCE_NAME)
		flow_evaluate(f, s,
			      /* the left side of an operator, or an expression that gives the
			       * function */
			      callee);
	for (const struct source_node *a = call->child ? call->child->next : NULL; a && n < 16;
	     a = a->next)
		args[n++] = flow_evaluate(f, s, a);
	/* a pointer that is passed on is taken to point to memory */
	for (size_t i = 0; i < n; i++)
		if (!call->name || call_is_by_pointer(f->unit, call))
			state_reach(f->flow, s, &args[i]);
	if (!call->name || !call->child) {
		if (!f->unit->is_cplusplus || f->function->is_template ||
		    call_is_by_pointer(f->unit, call))
			state_store_anywhere(f->flow, s, f, call);
		return value_fresh(f->flow, "call", call);
	}
	if (node_is_store(f->unit, f->file, call)) {
		copy_to(f, s, call, args, n);
		return n ? args[0] : value_unknown;
	}
	fn = run_callee(f->flow->r, &u, call);
	if (!fn)
		fn = run_method(f->flow->r, &u, call);
	d = declaration(f->unit, call->name);
	if (fn && (is_recursive(f, fn) || f->depth >= FLOW_DEPTH || call_is_virtual(f->unit, call)))
		state_store_anywhere(f->flow, s, f, call);
	else if (fn) {
		struct value result = follow(f, s, call, u, fn, args, n);

		forget_passed(f, s, call, fn);
		return result;
	} else if (is_assigning_operator(call->name))
		assign_by_operator(f, s, call);
	else if (call_is_by_pointer(f->unit, call) ||
		 (d && !d->is_system && !function_is_pure(f->unit, call->name)))
		/* defined in a file that is not parsed */
		state_store_anywhere(f->flow, s, f, call);
	else if (!call_is_of_library(f->unit, call) && !call_is_made_by_compiler(f->unit, call) &&
		 !function_is_pure(f->unit, call->name))
		state_store_anywhere(f->flow, s, f, call);
	else
		call_library(f, s, call, d, args, n);
	forget_passed(f, s, call, d);
	return library_value(f, call, args, n);
}
