/* Runs a function's source tree with invented addresses and lengths, to see which lines it flushes,
 * whatever its name and the order of its parameters are. Memory is not modelled: a value that is
 * read from memory is unknown. If a test is unknown, both branches are executed, except for one
 * that returns. */
#include "repair/idiom/run.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "repair/idiom/internal.h"
#include "source/source.h"

enum { STEPS_MAX = 40000, DEPTH_MAX = 6, VARIABLES_MAX = 32 };

enum flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN };

struct run {
	struct repair *r;
	struct effect *e;
	/* this expression is taken as rounded down to a line; NULL: none */
	const struct source_node *aligned;
	unsigned nsteps;
};

struct frame {
	struct run *run;
	const struct source_unit *unit;
	const struct file *file;
	struct run_value this, result;
	struct {
		const char *name;
		struct run_value value;
	} variables[VARIABLES_MAX];
	size_t nvariables;
	/* frame whose variables hold the values of the object's members; NULL: unknown */
	const struct frame *members;
	unsigned depth;
};

static const struct run_value unknown;

static struct run_value known(uint64_t value)
{
	return (struct run_value){ true, value };
}

static struct run_value evaluate(struct frame *f, const struct source_node *n);
static enum flow execute(struct frame *f, const struct source_node *n);

/* ---- flushes ---- */

static void flush(struct run *run, struct run_value addr, struct run_value len_bytes)
{
	uint64_t first = (addr.value - RUN_BASE) / 64,
		 last = len_bytes.value ? (addr.value + len_bytes.value - 1 - RUN_BASE) / 64
					: first;

	run->e->flushes = true;
	run->e->fences = false;
	if (!addr.is_known || !len_bytes.is_known || addr.value < RUN_BASE || last >= RUN_LINES) {
		run->e->is_followed = false;
		return;
	}
	for (uint64_t i = first; len_bytes.value && i <= last; i++)
		run->e->lines[i] = true;
}

/* ---- expressions ---- */

static struct run_value *variable(struct frame *f, const char *name)
{
	for (size_t i = f->nvariables; name && i-- > 0;)
		if (f->variables[i].name && strcmp(f->variables[i].name, name) == 0)
			return &f->variables[i].value;
	return NULL;
}

static bool is_this(const struct frame *f, const struct source_node *n)
{
	return !n->child && n->end - n->begin == 4 &&
	       strncmp(f->file->text + n->begin, "this", 4) == 0;
}

/* Returns the value of a part of a parameter that is a structure, such as "s.len", if that value
 * was invented. */
static struct run_value part(const struct frame *f, const struct source_node *n)
{
	const struct source_node *of = n->kind == SOURCE_MEMBER && !n->is_arrow && n->child
					       ? source_bare_value(n->child)
					       : NULL;
	size_t len = of && of->kind == SOURCE_NAME && of->name && n->name ? strlen(of->name) : 0;

	for (size_t i = 0; len && i < f->nvariables; i++) {
		const char *name = f->variables[i].name;

		if (name && strncmp(name, of->name, len) == 0 && name[len] == '.' &&
		    strcmp(name + len + 1, n->name) == 0)
			return f->variables[i].value;
	}
	return unknown;
}

/* Returns the value of a member of the method's own object, if that value was invented. */
static struct run_value member(const struct frame *f, const struct source_node *n)
{
	const struct frame *m =
		n->kind == SOURCE_MEMBER && n->name && (!n->child || is_this(f, n->child))
			? f->members
			: NULL;

	for (size_t i = 0; m && i < m->nvariables; i++)
		if (m->variables[i].name && strcmp(m->variables[i].name, n->name) == 0)
			return m->variables[i].value;
	return part(f, n);
}

static void declare(struct frame *f, const char *name, struct run_value value)
{
	struct run_value *there = variable(f, name);

	/* a loop comes here again; a variable that hides an outer one is not told apart */
	if (there)
		*there = value;
	else if (f->nvariables < VARIABLES_MAX) {
		f->variables[f->nvariables].name = name;
		f->variables[f->nvariables++].value = value;
	}
}

static struct run_value plus(struct run_value a, uint64_t offset)
{
	return a.is_known ? known(a.value + offset) : unknown;
}

/* Returns the address of an lvalue. */
static struct run_value address(struct frame *f, const struct source_node *lvalue)
{
	const struct source_node *n = source_bare_value(lvalue);
	struct run_value base, index;

	if (n->kind == SOURCE_UNARY && n->op[0] == '*')
		return evaluate(f, n->child);
	if (n->kind == SOURCE_MEMBER)
		return plus(!n->child     ? f->this
			    : n->is_arrow ? evaluate(f, n->child)
					  : address(f, n->child),
			    n->offset_bytes);
	if (n->kind != SOURCE_SUBSCRIPT || !n->child)
		return unknown;
	base = n->child->is_array ? address(f, n->child) : evaluate(f, n->child);
	index = evaluate(f, n->last);
	return base.is_known && index.is_known
		       ? known(base.value + index.value * (n->size_bytes ? n->size_bytes : 1))
		       : unknown;
}

static bool is_pointer(const struct source_node *n)
{
	return n->target_bytes > 0 || n->is_array ||
	       (n->type && n->type[0] && strchr("*]", n->type[strlen(n->type) - 1]));
}

static uint64_t scale_of(const struct source_node *n)
{
	return is_pointer(n) && n->target_bytes ? n->target_bytes : 1;
}

static struct run_value compute(const char *op, const struct source_node *left,
				const struct source_node *right, uint64_t a, uint64_t b)
{
	bool is_signed = !left->is_unsigned && !right->is_unsigned && !is_pointer(left);
	uint64_t la = is_pointer(right) && !is_pointer(left) ? a * scale_of(right) : a;
	uint64_t lb = is_pointer(left) && !is_pointer(right) ? b * scale_of(left) : b;

	switch (op[0]) {
	case '+': return known(la + lb);
	case '-':
		return known(is_pointer(left) && is_pointer(right) ? (a - b) / scale_of(left)
								   : a - lb);
	case '*': return known(a * b);
	case '/': return b ? known(a / b) : unknown;
	case '%': return b ? known(a % b) : unknown;
	case '^': return known(a ^ b);
	case '&': return known(op[1] == '&' ? a && b : a & b);
	case '|': return known(op[1] == '|' ? a || b : a | b);
	case '=': return known(a == b);
	case '!': return known(a != b);
	case '<':
		if (op[1] == '<')
			return known(b < 64 ? a << b : 0);
		return known(op[1] == '=' ? (is_signed ? (int64_t)a <= (int64_t)b : a <= b)
					  : (is_signed ? (int64_t)a < (int64_t)b : a < b));
	case '>':
		if (op[1] == '>')
			return known(b < 64 ? a >> b : 0);
		return known(op[1] == '=' ? (is_signed ? (int64_t)a >= (int64_t)b : a >= b)
					  : (is_signed ? (int64_t)a > (int64_t)b : a > b));
	default: return unknown;
	}
}

static struct run_value assign(struct frame *f, const struct source_node *n, struct run_value value)
{
	const struct source_node *to = source_bare_value(n->child);
	struct run_value *there = to->kind == SOURCE_NAME ? variable(f, to->name) : NULL;

	if (there)
		*there = value;
	else if (to->kind != SOURCE_NAME && address(f, to).is_known)
		f->run->e->stores = true;
	return value;
}

static struct run_value binary(struct frame *f, const struct source_node *n)
{
	const struct source_node *left = n->child, *right = n->last;
	struct run_value a, b;

	if (!left || left == right)
		return unknown;
	if (strcmp(n->op, "=") == 0)
		return assign(f, n, evaluate(f, right));
	a = evaluate(f, left);
	if (a.is_known &&
	    ((strcmp(n->op, "&&") == 0 && !a.value) || (strcmp(n->op, "||") == 0 && a.value)))
		return known(a.value != 0);
	b = evaluate(f, right);
	if (strcmp(n->op, ",") == 0)
		return b;
	if (!n->op[0] || !a.is_known || !b.is_known)
		return node_is_assignment(n) ? assign(f, n, unknown) : unknown;
	if (node_is_assignment(n))
		return assign(f, n, compute(n->op, left, right, a.value, b.value));
	return compute(n->op, left, right, a.value, b.value);
}

static struct run_value unary(struct frame *f, const struct source_node *n)
{
	struct run_value a;

	if (!n->child)
		return unknown;
	if (n->op[0] == '&')
		return address(f, n->child);
	a = evaluate(f, n->child);
	if (strchr(n->op, 'x')) {
		uint64_t step = strchr(n->op, '+') ? scale_of(n->child) : -scale_of(n->child);
		struct run_value after = assign(f, n, plus(a, step));

		return n->op[0] == 'x' ? a : after;
	}
	if (!a.is_known)
		return unknown;
	switch (n->op[0]) {
	case '-': return known(-a.value);
	case '~':
		return known(n->child->is_unsigned && n->child->size_bytes == 4 ? (uint32_t)~a.value
										: ~a.value);
	case '!': return known(!a.value);
	case '+': return a;
	default: return unknown;
	}
}

/* ---- calls ---- */

/* Library functions: which arguments are the address and the length. */
static const struct library {
	const char *name;
	int addr, len;
} libraries[] = {
	{ "pmem_flush", 0, 1 },        { "pmem_persist", 0, 1 },
	{ "pmem_msync", 0, 1 },        { "pmem_deep_flush", 0, 1 },
	{ "pmem_deep_persist", 0, 1 }, { "msync", 0, 1 },
	{ "pmemobj_flush", 1, 2 },     { "pmemobj_persist", 1, 2 },
	{ "pmem2_persist", 0, 1 },     { NULL, 0, 0 },
};

static void call_library(struct run *run, const char *name, const struct run_value *args, size_t n)
{
	const struct library *l = libraries;
	unsigned does = idiom_known(name);

	while (l->name && strcmp(l->name, name) != 0)
		l++;
	if (l->name && (size_t)l->len < n)
		flush(run, args[l->addr], args[l->len]);
	else if (does & DOES_FLUSH && n == 1)
		flush(run, args[0], known(1));
	if (does & DOES_FENCE)
		run->e->fences = true;
}

/* Executes msync on a platform of the page cache: it waits for whole pages, and fails if the
 * address is inside a page. */
static void call_sync(struct run *run, const char *name, const struct run_value *args, size_t n)
{
	const uint64_t page = 4096 - 1;

	if (strcmp(name, "msync") != 0 || n < 3)
		return;
	if (args[2].is_known && args[2].value & MS_SYNC && !(args[0].value & page)) {
		flush(run, args[0],
		      args[1].is_known ? known((args[1].value + page) & ~page) : unknown);
		run->e->fences = true;
	}
}

/* Returns the page size, if the call asks for it, as getpagesize() does. */
static struct run_value page_bytes(const char *name, const struct run_value *args, size_t n)
{
	bool is_asked = strcmp(name, "getpagesize") == 0 ||
			(strcmp(name, "sysconf") == 0 && n == 1 && args[0].is_known &&
			 args[0].value == _SC_PAGESIZE);

	return is_asked ? known(4096) : unknown;
}

static struct run_value run_body(struct frame *f, const struct source_function *fn)
{
	execute(f, fn->body);
	return f->result;
}

static bool copies_to_argument(const struct frame *f, const struct source_node *call,
			       const struct run_value *args, size_t n)
{
	return n > 0 && args[0].is_known && node_is_store(f->unit, f->file, call);
}

static struct run_value call(struct frame *f, const struct source_node *n)
{
	const struct source_unit *u = f->unit;
	const struct source_node *callee = n->child ? source_bare_value(n->child) : NULL;
	const struct source_function *fn;
	struct run_value args[RUN_ARGUMENTS] = { 0 };
	struct frame inner;
	size_t nargs = 0;

	for (const struct source_node *a = n->child ? n->child->next : NULL;
	     a && nargs < RUN_ARGUMENTS; a = a->next)
		args[nargs++] = evaluate(f, a);
	if (!n->name)
		return unknown;
	if (f->run->r->options->is_page_cache) {
		call_sync(f->run, n->name, args, nargs);
		if (idiom_known(n->name) || page_bytes(n->name, args, nargs).is_known)
			return page_bytes(n->name, args, nargs);
	} else if (idiom_known(n->name)) {
		call_library(f->run, n->name, args, nargs);
		return unknown;
	}
	f->run->e->stores |= copies_to_argument(f, n, args, nargs);
	fn = f->depth < DEPTH_MAX ? run_callee(f->run->r, &u, n) : NULL;
	if (!fn && f->depth < DEPTH_MAX)
		fn = way_behind_pointer(f->run->r, &u, n);
	if (!fn)
		return unknown;
	inner = (struct frame){ .run = f->run,
				.unit = u,
				.file = file_open(f->run->r->code, fn->file),
				.depth = f->depth + 1 };
	if (callee && callee->kind == SOURCE_MEMBER)
		inner.members = !callee->child || is_this(f, callee->child) ? f->members : NULL;
	if (callee && callee->kind == SOURCE_MEMBER)
		inner.this = !callee->child     ? f->this
			     : callee->is_arrow ? evaluate(f, callee->child)
						: address(f, callee->child);
	for (size_t i = 0; i < fn->nparameters && i < nargs; i++)
		declare(&inner, fn->parameters[i].name, args[i]);
	return inner.file ? run_body(&inner, fn) : unknown;
}

static struct run_value rounded_down(struct frame *f, const struct source_node *node)
{
	struct run_value value;

	f->run->aligned = NULL;
	value = evaluate(f, node);
	f->run->aligned = node;
	value.value &= ~(uint64_t)63;
	return value;
}

static struct run_value evaluate(struct frame *f, const struct source_node *node)
{
	const struct source_node *n = source_bare_value(node);
	struct run_value *there, test;

	if (node == f->run->aligned)
		return rounded_down(f, node);

	if (++f->run->nsteps > STEPS_MAX) {
		f->run->e->is_followed = false;
		return unknown;
	}
	if (n->has_value)
		return known((uint64_t)n->value);
	switch (n->kind) {
	case SOURCE_NAME: there = variable(f, n->name); return there ? *there : unknown;
	case SOURCE_BINARY: return binary(f, n);
	case SOURCE_UNARY: return unary(f, n);
	case SOURCE_CALL: return call(f, n);
	case SOURCE_CONDITIONAL:
		test = evaluate(f, n->child);
		return !n->child->next || !test.is_known
			       ? unknown
			       : evaluate(f, test.value ? n->child->next : n->last);
	case SOURCE_EXPR:
		if (is_this(f, n))
			return f->this;
		for (const struct source_node *c = n->child; c; c = c->next)
			evaluate(f, c);
		return unknown;
	case SOURCE_MEMBER:
	case SOURCE_SUBSCRIPT: return n->is_array ? address(f, n) : member(f, n);
	default:
		if (node_is_statement(n))
			execute(f, n); /* ({ … }) */
		return unknown;
	}
}

/* ---- statements ---- */

static void assembly(struct frame *f, const struct source_node *n)
{
	const char *template;
	unsigned does;

	/* unknown assembly (a pause, a request to Valgrind) is no flush, unless bytes may hide
	 * one */
	if (!idiom_asm(f->unit, n, &does, &template)) {
		f->run->e->is_followed &= n->name && !strstr(n->name, "byte") &&
					  !strstr(n->name, "cl") && !strstr(n->name, "dc ");
		return;
	}
	if (f->run->r->options->is_page_cache)
		return; /* only msync makes stores durable there */
	if (does & DOES_FLUSH) {
		struct run_value at = unknown;

		for (const struct source_node *c = n->child; c; c = c->next) {
			const struct source_node *operand = source_bare_value(c);
			struct run_value is =
				operand->kind == SOURCE_UNARY &&
						(operand->op[0] == '*' || !operand->op[0])
					? evaluate(f, operand->child)
				: operand->kind == SOURCE_MEMBER ||
						operand->kind == SOURCE_SUBSCRIPT
					? address(f, operand)
					: evaluate(f, operand);

			at = is.is_known ? is : at;
		}
		flush(f->run, at, known(1));
	}
	if (does & DOES_FENCE)
		f->run->e->fences = true;
}

static bool has_return(const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n->kind == SOURCE_RETURN || n->kind == SOURCE_JUMP)
			return true;
	return false;
}

static enum flow branch(struct frame *f, const struct source_node *n)
{
	const struct source_node *test = n->child, *then = test ? test->next : NULL,
				 *otherwise = then ? then->next : NULL;
	struct run_value value = test ? evaluate(f, test) : unknown;

	if (!then)
		return FLOW_ON;
	if (value.is_known)
		return value.value ? execute(f, then) : otherwise ? execute(f, otherwise) : FLOW_ON;
	if (!has_return(then))
		execute(f, then);
	if (otherwise && !has_return(otherwise))
		execute(f, otherwise);
	return FLOW_ON;
}

/* Executes a loop. If its test is unknown, its body is executed once. */
static enum flow loop(struct frame *f, const struct source_node *n)
{
	const struct source_node *init = NULL, *test = NULL, *step = NULL, *body = n->last;
	enum flow flow = FLOW_ON;

	if (n->kind == SOURCE_FOR) {
		const struct source_node *parts[4] = { 0 };
		size_t k = 0;

		for (const struct source_node *c = n->child; c && k < 4; c = c->next)
			parts[k++] = c;
		if (k != 4) { /* the tree does not say which part is missing */
			test = k == 3 ? parts[1] : k == 2 ? parts[0] : NULL;
			init = k == 3 ? parts[0] : NULL;
			if (k == 3 && !node_is_assignment(source_bare_value(parts[0])) &&
			    parts[0]->kind != SOURCE_DECL) {
				init = NULL;
				test = parts[0];
				step = parts[1];
			}
		} else {
			init = parts[0];
			test = parts[1];
			step = parts[2];
		}
	} else if (n->kind == SOURCE_WHILE) {
		test = n->child;
	} else {
		test = n->last;
		body = n->child;
	}
	if (init)
		execute(f, init);
	for (bool is_first = n->kind == SOURCE_DO;; is_first = false) {
		struct run_value go = is_first || !test ? known(1) : evaluate(f, test);

		if ((go.is_known && !go.value) || f->run->nsteps > STEPS_MAX)
			return FLOW_ON;
		flow = execute(f, body);
		if (flow == FLOW_BREAK || flow == FLOW_RETURN)
			return flow == FLOW_BREAK ? FLOW_ON : flow;
		if (step)
			evaluate(f, step);
		if (!go.is_known)
			return FLOW_ON;
	}
}

static enum flow execute(struct frame *f, const struct source_node *n)
{
	enum flow flow = FLOW_ON;

	if (++f->run->nsteps > STEPS_MAX) {
		f->run->e->is_followed = false;
		return FLOW_RETURN;
	}
	switch (n->kind) {
	case SOURCE_COMPOUND:
	case SOURCE_SWITCH:
		for (const struct source_node *c = n->child; c && flow == FLOW_ON; c = c->next)
			flow = execute(f, c);
		return n->kind == SOURCE_SWITCH && flow == FLOW_BREAK ? FLOW_ON : flow;
	case SOURCE_LABEL: return n->last ? execute(f, n->last) : FLOW_ON;
	case SOURCE_IF: return branch(f, n);
	case SOURCE_FOR:
	case SOURCE_WHILE:
	case SOURCE_DO: return loop(f, n);
	case SOURCE_RETURN:
		f->result = n->child ? evaluate(f, n->child) : unknown;
		return FLOW_RETURN;
	case SOURCE_JUMP:
		return f->file->text[n->begin] == 'b'   ? FLOW_BREAK
		       : f->file->text[n->begin] == 'c' ? FLOW_CONTINUE
							: FLOW_RETURN;
	case SOURCE_DECL:
		for (const struct source_node *v = n->child; v; v = v->next)
			if (v->kind == SOURCE_VARIABLE)
				declare(f, v->name, v->last ? evaluate(f, v->last) : unknown);
		return FLOW_ON;
	case SOURCE_ASM: assembly(f, n); return FLOW_ON;
	case SOURCE_STMT: return FLOW_ON;
	default: evaluate(f, n); return FLOW_ON;
	}
}

void run_function(struct repair *r, const struct source_unit *u, const struct source_function *f,
		  struct run_value this, const struct run_value *args,
		  const struct source_node *aligned, struct effect *e)
{
	struct run run = { .r = r, .e = e, .aligned = aligned };
	struct frame frame = {
		.run = &run, .unit = u, .file = file_open(r->code, f->file), .this = this
	};

	*e = (struct effect){ .is_followed = true };
	for (size_t i = 0; i < f->nparameters && i < RUN_ARGUMENTS; i++)
		declare(&frame, f->parameters[i].name, args[i]);
	/* the destructor of way_scope.c: its parameters stand for members */
	frame.members = f->name[0] == '~' ? &frame : NULL;
	if (frame.file && f->body)
		run_body(&frame, f);
	else
		e->is_followed = false;
}
