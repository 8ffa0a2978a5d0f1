/* Finds out whether the program's own operation fences after a store, before anybody can see the
 * result. Looks at the statements behind the store, then at those behind the call of its function,
 * and so on outwards. A fence does not count if it is under a condition, after output, or in the
 * next iteration of a loop. But it counts if the flush itself is under the same condition. */
#include <string.h>

#include "repair/durability/internal.h"

enum { CALLERS_MAX = 4, STATEMENTS_MAX = 200 };

enum found { NOTHING, FENCE, ANSWER, LEAVES };

struct looking {
	struct repair *r;
	const struct fix *x; /* the planned flush */
	const char *test;    /* the `if` that the flush will get as a guard; NULL: none */
	/* name of the called fence, once it is found; NULL: the fence is no call */
	const char *fence;
	/* in a caller, the call that leads to the store; NULL in the store's own function */
	const struct source_node *call;
	/* something else was stored since, and may tell recovery that the first store is there */
	bool is_published;
};

/* Asks whether the condition uses only variables of the whole program, so that it is the same in
 * every function. */
static bool is_of_program(const struct source_node *condition)
{
	for (const struct source_node *n = condition; n; n = node_next(n, condition))
		if ((n->kind == SOURCE_NAME && n->is_local) || n->kind == SOURCE_CALL)
			return false;
	return true;
}

/* Asks whether the flush is done under the same condition. */
static bool is_of_flush(const struct looking *l, const struct fix *at,
			const struct source_node *condition)
{
	const char *text = is_of_program(condition)
				   ? text_format(l->r->code, "if (%s)",
						 text_of(l->r->code, at->file, condition))
				   : NULL;

	if (text && l->test && strcmp(text, l->test) == 0)
		return true;
	for (const struct source_node *n = l->x->stmt; text && n && n->parent; n = n->parent)
		if (n->parent->kind == SOURCE_IF && n == n->parent->child->next &&
		    strcmp(text, text_format(l->r->code, "if (%s)",
					     text_of(l->r->code, l->x->file, n->parent->child))) ==
			    0)
			return true;
	return false;
}

static bool is_taken(const struct looking *l, const struct fix *at, const struct source_node *test,
		     const struct source_node *branch)
{
	if (test->child->has_value) /* the compiler decides this test */
		return (branch == test->child->next) == (test->child->value != 0);
	return branch == test->child->next && is_of_flush(l, at, test->child);
}

static bool is_unconditional(const struct looking *l, const struct fix *at,
			     const struct source_node *n, const struct source_node *top)
{
	for (; n != top; n = n->parent) {
		const struct source_node *p = n->parent;

		if (p->kind == SOURCE_IF && n != p->child && !is_taken(l, at, p, n))
			return false;
		if ((p->kind == SOURCE_FOR || p->kind == SOURCE_WHILE ||
		     p->kind == SOURCE_CONDITIONAL || p->kind == SOURCE_SWITCH) &&
		    n != p->child)
			return false;
		if (p->kind == SOURCE_LAMBDA || (p->kind == SOURCE_BINARY && n != p->child &&
						 (!p->op[0] || p->op[1] == p->op[0])))
			return false;
	}
	return true;
}

/* Returns the text of the object of which the lvalue is a member or element. */
static const char *base_of(struct repair *r, const struct file *f, const struct source_node *lvalue)
{
	const struct source_node *n = lvalue;

	while (n->child &&
	       (n->kind == SOURCE_MEMBER || n->kind == SOURCE_SUBSCRIPT || n->kind == SOURCE_EXPR ||
		(n->kind == SOURCE_UNARY && strchr("*&", n->op[0]))))
		n = n->child;
	return n->kind == SOURCE_MEMBER ? "this" : text_of(r->code, f, n);
}

/* Returns the text of the object to which the store of the planned flush stores; NULL: unknown. */
static const char *base_of_store(const struct looking *l)
{
	const struct source_node *names = l->x->range.names;
	int to = names && names->kind == SOURCE_CALL ? call_writes_to(l->x->unit, names) : 0;

	if (names && names->kind == SOURCE_CALL)
		names = to >= 0 ? call_argument(names, to) : NULL;
	return names ? base_of(l->r, l->x->file, names) : NULL;
}

/* Asks whether `to` belongs to the object that is flushed or, in a caller, to an object that the
 * call was given. */
static bool is_own_object(const struct looking *l, const struct fix *at,
			  const struct source_node *to)
{
	const char *base = base_of(l->r, at->file, to), *own = l->call ? NULL : base_of_store(l);

	if (!l->call)
		return !own || strcmp(base, own) == 0;
	for (const struct source_node *n = node_next(l->call, l->call); n;
	     n = node_next(n, l->call))
		if (n->kind == SOURCE_NAME && strcmp(base, text_of(l->r->code, at->file, n)) == 0)
			return true;
	return false;
}

/* Asks whether the statement stores to another object. That store may tell recovery that the first
 * one is there. */
static bool publishes(const struct looking *l, const struct fix *at, const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (node_is_assignment(n) && n->child && n->child->kind != SOURCE_NAME &&
		    !node_is_own_variable(n->child) && !is_own_object(l, at, n->child))
			return true;
	return false;
}

static enum found look_at(struct looking *l, const struct fix *at, const struct source_node *top)
{
	const struct source_unit *u = at->unit;
	const struct source_use *use = macro_use(u, at->file->path, top);
	const char *flush;
	unsigned does;

	l->fence = NULL;
	if (use && idiom_macro_does(l->r, u, use->name) & DOES_FENCE)
		return FENCE;

	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		if (n->kind == SOURCE_CALL && call_is_output(n))
			return ANSWER;
		if (n->kind == SOURCE_CALL && is_unconditional(l, at, n, top) &&
		    (idiom_call_does_far(l->r, u, n) & (DOES_FENCE | DOES_STORE)) == DOES_FENCE) {
			/* A call that also stores fences for its own store. After another store, a
			 * call that also flushes makes that one durable, so it comes too late. */
			if (l->is_published && idiom_call_does_far(l->r, u, n) & DOES_FLUSH)
				return ANSWER;
			l->fence = n->name;
			return FENCE;
		}
		if (n->kind == SOURCE_ASM && idiom_asm(u, n, &does, &flush) && does & DOES_FENCE &&
		    is_unconditional(l, at, n, top))
			return FENCE;
	}
	l->is_published |= publishes(l, at, top);
	return top->kind == SOURCE_RETURN || top->kind == SOURCE_JUMP ? LEAVES : NOTHING;
}

static const struct source_node *label_of(const struct fix *at, const struct source_node *jump)
{
	const char *text = at->file->text + jump->begin, *name;
	size_t len;

	if (strncmp(text, "goto", 4) != 0)
		return NULL;
	name = text + 4 + strspn(text + 4, " \t");
	len = strcspn(name, "; \t\n");
	for (const struct source_node *n = at->function->body; n;
	     n = node_next(n, at->function->body))
		if (n->kind == SOURCE_LABEL && strncmp(at->file->text + n->begin, name, len) == 0 &&
		    strchr(": \t", at->file->text[n->begin + len]))
			return n;
	return NULL;
}

static const struct source_node *loop_around(const struct source_node *n)
{
	while (n && n->kind != SOURCE_FOR && n->kind != SOURCE_WHILE && n->kind != SOURCE_DO &&
	       n->kind != SOURCE_SWITCH)
		n = n->parent;
	return n;
}

/* Looks from a statement to the end of its function. */
static enum found look_behind(struct looking *l, const struct fix *at,
			      const struct source_node *from)
{
	const struct source_node *n = from;

	for (unsigned i = 0; n && n->parent && i < STATEMENTS_MAX; i++) {
		enum found found;

		/* the other branch of an `if` and the parts of a `for` are not executed next */
		n = n->parent->kind == SOURCE_COMPOUND && n->next ? n->next : n->parent;
		if (n == from->parent || n->begin <= from->begin)
			continue; /* go up */
		found = look_at(l, at, n);
		if (found == FENCE || found == ANSWER)
			return found;
		if (found == LEAVES && n->kind == SOURCE_JUMP) {
			const struct source_node *label = label_of(at, n);
			const char *word = at->file->text + n->begin;

			if (label && label->begin > n->begin && look_at(l, at, label) != NOTHING)
				return look_at(l, at, label);
			n = label && label->begin > n->begin ? label
			    : strncmp(word, "break", 5) == 0 ? loop_around(n)
							     : NULL;
			if (!n)
				return ANSWER;
			from = n;
		} else if (found == LEAVES) {
			return NOTHING;
		}
	}
	return NOTHING;
}

static bool look_outwards(struct looking *l, const struct repair_place *p, size_t frame)
{
	struct fix at = *l->x;
	const struct source_node *from = l->x->stmt;
	const char *callee = l->x->function->name, *why;

	for (size_t i = 0; from && i <= CALLERS_MAX; i++) {
		enum found found =
			from->kind == SOURCE_RETURN ? NOTHING : look_behind(l, &at, from);

		/* if a function makes its own stores durable, it should do so for this one, too */
		if (found != NOTHING)
			return found == FENCE &&
			       (i == 0 ||
				!function_fences_itself(l->r, l->x->unit, l->x->function));
		if (frame + i + 1 >= p->nframes ||
		    fix_enter_frame(l->r, &at, p, frame + i + 1, &why) < 0)
			return false;
		from = l->call = call_at(at.function, callee, p->frames[frame + i + 1].line,
					 p->frames[frame + i + 1].column);
		while (from && from->parent && from->parent->kind != SOURCE_COMPOUND)
			from = from->parent;
		callee = at.function->name;
	}
	return false;
}

static bool has_word(const struct source_node *top, const char *name)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if ((n->kind == SOURCE_NAME || n->kind == SOURCE_MEMBER) && n->name &&
		    strcmp(n->name, name) == 0)
			return true;
	return false;
}

/* Asks whether the function `flush` sets something that the function `fence` tests before it
 * fences: then a new flush makes the fence happen. */
static bool wakes(const struct source_function *flush, const struct source_function *fence)
{
	for (const struct source_node *n = flush->body; n; n = node_next(n, flush->body)) {
		const struct source_node *to = node_is_assignment(n) ? n->child : NULL;

		if (!to || !to->name || (to->kind != SOURCE_NAME && to->kind != SOURCE_MEMBER) ||
		    node_is_own_variable(to))
			continue;
		for (const struct source_node *i = fence->body; i; i = node_next(i, fence->body))
			if (i->kind == SOURCE_IF && has_word(i->child, to->name))
				return true;
	}
	return false;
}

bool fence_follows(struct repair *r, const struct fix *x, const struct repair_place *p,
		   size_t frame, bool was_idle)
{
	struct looking l = { .r = r, .x = x };
	const struct source_function *flush, *fence;
	struct source_unit *u = x->unit, *v = x->unit;
	const struct idiom_line *lines;
	struct idiom idiom;
	const char *why;

	idiom_find(r, x, &idiom);
	lines = idiom_lines(r, &idiom, &x->range, true, false, false, &why);
	l.test = lines ? guard_test(lines[0].guard) : NULL;
	if (!look_outwards(&l, p, frame))
		return false;
	if (!was_idle)
		return true;
	flush = lines ? function_defined(
				r->code, &u,
				text_copy(r->code, lines[0].text, strcspn(lines[0].text, "( ")))
		      : NULL;
	fence = l.fence ? function_defined(r->code, &v, l.fence) : NULL;
	return flush && fence && wakes(flush, fence);
}
