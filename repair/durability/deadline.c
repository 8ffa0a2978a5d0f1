/* Chooses where a missing fence goes if flushes further in wait for it. The deadline is known: the
 * store that survived the crash, or the answer that was sent; the fence must come before it. In the
 * function from which both the flush and the deadline are reached, one fence between the last flush
 * and the deadline is enough for all:
 *
 *   for (i = 0; i < n; i++)
 *           update(&t->e[i]);      // flushes
 *   fence();                       <- one fence behind the loop
 *   t->valid = 1;                  // the deadline
 *
 * The fence goes there only if
 *
 * - the flush is in a loop of that function,
 * - or other callers of the function that flushes fence behind the call,
 * - or several flushes share the fence, the function fences already, and no other function that is
 *   called on the way from it to the flush is durable by itself.
 *
 * If other callers of a function further in fence behind their call, the fence goes behind the call
 * of that function. Otherwise it stays directly behind the flush. */
#include <string.h>

#include "repair/durability/internal.h"
#include "repair/idiom/run.h"
#include "util/str.h"
#include "source/source.h"

/* The two statements of one block between which the fence may stand. */
struct span {
	struct fix at; /* the unit, file and function of the block */
	/* the call through which the flush is reached, or the flush itself */
	const struct source_node *call;
	/* the fence must be behind `from` and before `until` */
	const struct source_node *from, *until;
	bool is_custom; /* other callers of the same function fence here */
	bool is_same_function;
};

/* ---- where the fence may stand ---- */

static bool is_same_frame(const struct repair_frame *a, const struct repair_frame *b)
{
	return a->line == b->line && a->column == b->column && str_same(a->file, b->file) &&
	       str_same(a->function, b->function);
}

/* Finds the function in which the two stacks diverge: frame i of the flush and frame k of the
 * deadline are in it, at different places. False: there is none. */
static bool frames_part(const struct repair_place *flush, const struct repair_place *later,
			size_t *i, size_t *k)
{
	const struct repair_frame *a, *b;

	for (*i = flush->nframes, *k = later->nframes; *i > 0 && *k > 0; --*i, --*k)
		if (!is_same_frame(&flush->frames[*i - 1], &later->frames[*k - 1]))
			break;
	if (*i == 0 || *k == 0)
		return false;
	a = &flush->frames[--*i];
	b = &later->frames[--*k];
	return a->file && str_same(a->file, b->file) && str_same(a->function, b->function);
}

static const struct source_node *call_of(struct repair *r, struct fix *at,
					 const struct repair_place *p, size_t i)
{
	struct fix inner = { 0 };
	const char *why;

	return i > 0 && fix_enter_frame(r, &inner, p, i - 1, &why) == 0
		       ? call_of_frame(r, at, p, i, inner.function->name, &why)
		       : NULL;
}

/* Returns the first statement on a line; NULL if the line has statements of several blocks. */
static const struct source_node *statement_on(const struct source_function *f, uint32_t line)
{
	const struct source_node *found = NULL;

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		if (n->line != line || !n->parent || n->parent->kind != SOURCE_COMPOUND)
			continue;
		if (found && found->parent != n->parent)
			return NULL;
		if (!found)
			found = n;
	}
	return found;
}

static const struct source_node *later_node(struct repair *r, struct fix *at,
					    const struct repair_place *later, size_t k)
{
	const struct source_node *n = call_of(r, at, later, k);

	if (!n && k == 0)
		n = store_at(at->unit, at->function, at->file, later->frames[k].line,
			     later->frames[k].column);
	return n ? n : statement_on(at->function, later->frames[k].line);
}

static bool find_span(struct repair *r, const struct fix *x, struct span *s)
{
	const struct source_node *later, *block;
	const char *why;
	size_t i, k;

	*s = (struct span){ .at = { .bug = x->bug } };
	if (!frames_part(x->flush_place, x->later_place, &i, &k) ||
	    fix_enter_frame(r, &s->at, x->flush_place, i, &why) < 0)
		return false;
	s->is_same_function = s->at.function == x->function;
	s->call = s->is_same_function ? x->store : call_of(r, &s->at, x->flush_place, i);
	later = s->call ? later_node(r, &s->at, x->later_place, k) : NULL;
	for (block = later;
	     block && !(block->kind == SOURCE_COMPOUND && source_is_inside(s->call, block));)
		block = block->parent;
	s->from = block ? source_child_of(block, s->call) : NULL;
	s->until = block ? source_child_of(block, later) : NULL;
	return s->from && s->until && s->from->end <= s->until->begin &&
	       !statement_may_be_left(s->at.file, s->from) && !node_is_in_lambda(s->from) &&
	       !macro_use(s->at.unit, s->at.file->path, block);
}

/* ---- what other callers do ---- */

/* The statement fences and does not store: a fence, or a helper's call, perhaps under an `if`. */
static bool is_fence(struct repair *r, const struct fix *at, const struct source_node *top)
{
	const struct source_use *use = macro_use(at->unit, at->file->path, top);
	const char *flush;
	unsigned does;

	if (use && idiom_macro_does(r, at->unit, use->name) & DOES_FENCE)
		return true;
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		if (n->kind == SOURCE_CALL &&
		    (idiom_call_does_far(r, at->unit, n) & (DOES_FENCE | DOES_STORE)) == DOES_FENCE)
			return true;
		if (n->kind == SOURCE_ASM && idiom_asm(at->unit, n, &does, &flush) &&
		    does & DOES_FENCE)
			return true;
	}
	return false;
}

/* The statement behind the call, or behind the loop around the call, is a fence. */
static bool is_fenced_behind(struct repair *r, const struct fix *at, const struct source_node *call)
{
	const struct source_node *s = call;

	while (s->parent &&
	       (s->parent->kind != SOURCE_COMPOUND || (!s->next && s->parent->parent &&
						       (s->parent->parent->kind == SOURCE_FOR ||
							s->parent->parent->kind == SOURCE_WHILE))))
		s = s->parent;
	return s->next && is_fence(r, at, s->next);
}

static bool others_fence(struct repair *r, const struct span *s)
{
	for (size_t i = 0; s->call->name && i < s->at.unit->nfunctions; i++) {
		const struct source_function *f = &s->at.unit->functions[i];

		for (const struct source_node *n = strcmp(f->file, s->at.file->path) == 0 ? f->body
											  : NULL;
		     n; n = node_next(n, f->body))
			if (n->kind == SOURCE_CALL && n != s->call && n->name &&
			    strcmp(n->name, s->call->name) == 0 && is_fenced_behind(r, &s->at, n))
				return true;
	}
	return false;
}

static bool fences_itself(struct repair *r, const struct span *s)
{
	for (const struct source_node *n = s->at.function->body; n;
	     n = node_next(n, s->at.function->body))
		if ((n->kind == SOURCE_CALL || n->kind == SOURCE_ASM) && is_fence(r, &s->at, n))
			return true;
	return false;
}

/* Asks whether another function that this one calls flushes and fences for itself. Then the
 * function with the new flush should do so, too. */
static bool has_durable_callee(struct repair *r, const struct fix *at, const char *besides)
{
	for (const struct source_node *n = at->function->body; n;
	     n = node_next(n, at->function->body)) {
		const struct source_unit *in = at->unit;
		const struct source_function *callee =
			n->kind == SOURCE_CALL && n->name && strcmp(n->name, besides) != 0
				? run_callee(r, &in, n)
				: NULL;

		if (callee && !idiom_is_helper(r, in, callee) &&
		    function_fences_itself(r, in, callee))
			return true;
	}
	return false;
}

/* Asks whether some function calls another one that is durable by itself. The functions are those
 * from the one that flushes out to that of the span. */
static bool others_are_durable(struct repair *r, const struct fix *x, const struct span *s)
{
	const char *callee = NULL;

	for (size_t i = 0; i < x->flush_place->nframes; i++) {
		struct fix at = { 0 };
		const char *why;

		if (fix_enter_frame(r, &at, x->flush_place, i, &why) < 0)
			return true;
		if (callee && has_durable_callee(r, &at, callee))
			return true;
		if (at.function == s->at.function)
			return false;
		if (callee || at.function == x->function)
			callee = at.function->name;
	}
	return true;
}

/* ---- the choice ---- */

static bool leaves_loop(const struct span *s)
{
	for (const struct source_node *n = s->call; n; n = n->parent) {
		if (n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE || n->kind == SOURCE_DO)
			return true;
		if (n == s->from)
			break;
	}
	return false;
}

/* Asks whether one fence is enough for both flushes. */
static bool is_shared(const struct span *a, const struct span *b)
{
	return a->at.file == b->at.file && a->from && b->from &&
	       a->from->parent == b->from->parent && a->from->end <= b->until->begin &&
	       b->from->end <= a->until->begin;
}

static bool is_worth_it(struct repair *r, const struct span *spans, size_t i)
{
	const struct fix *x = &r->fixes.at[i];

	if (spans[i].is_same_function ? leaves_loop(&spans[i]) : spans[i].is_custom)
		return true;
	for (size_t k = 0; k < r->fixes.n; k++)
		if (is_shared(&spans[i], &spans[k]) &&
		    (r->fixes.at[k].file != x->file ||
		     r->fixes.at[k].stmt->begin != x->stmt->begin))
			return fences_itself(r, &spans[i]) &&
			       (spans[i].is_same_function || !others_are_durable(r, x, &spans[i]));
	return false;
}

/* Returns the statement behind which all iterations of the loops around the call are over. */
static const struct source_node *behind_loops(const struct source_node *call)
{
	const struct source_node *found = call;

	for (const struct source_node *n = call; n->parent; n = n->parent)
		if (n->parent->kind == SOURCE_COMPOUND &&
		    (found == call || n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE ||
		     n->kind == SOURCE_DO))
			found = n;
	return found;
}

/* Finds a function whose other callers fence behind its call: the innermost one between the
 * function of the flush and that of the deadline. */
static bool find_custom(struct repair *r, const struct fix *x, const struct span *outer,
			struct span *s)
{
	bool is_outside = false; /* frame i is outside the function that flushes */

	for (size_t i = 0; i < x->flush_place->nframes; i++) {
		const char *why;

		*s = (struct span){ .at = { .bug = x->bug } };
		if (fix_enter_frame(r, &s->at, x->flush_place, i, &why) < 0 ||
		    s->at.function == outer->at.function)
			return false;
		s->call = is_outside ? call_of(r, &s->at, x->flush_place, i) : NULL;
		is_outside |= s->at.function == x->function;
		if (!s->call || !others_fence(r, s))
			continue;
		s->from = behind_loops(s->call);
		return s->from->parent && s->from->parent->kind == SOURCE_COMPOUND &&
		       !statement_may_be_left(s->at.file, s->from) && !node_is_in_lambda(s->from) &&
		       !macro_use(s->at.unit, s->at.file->path, s->from);
	}
	return false;
}

/* Returns the last statement of the flushes that share one fence: the fence behind it is enough for
 * all. */
static const struct source_node *last_of(const struct repair *r, const struct span *spans, size_t i)
{
	const struct source_node *last = spans[i].from, *until = spans[i].until;

	for (size_t k = 0; k < r->fixes.n; k++)
		if (is_shared(&spans[i], &spans[k]) && spans[k].until->begin < until->begin)
			until = spans[k].until;
	for (size_t k = 0; k < r->fixes.n; k++)
		if (is_shared(&spans[i], &spans[k]) && spans[k].from->end > last->end &&
		    spans[k].from->end <= until->begin)
			last = spans[k].from;
	return last;
}

static void move(struct repair *r, struct fix *x, const struct span *s,
		 const struct source_node *stmt)
{
	x->unit = s->at.unit;
	x->file = s->at.file;
	x->function = s->at.function;
	x->store = s->call;
	x->stmt = stmt;
	x->until = s->until;
	x->where = AFTER;
	r->outcomes.at[x->bug].text = text_format(r->code, "fence added in %s", x->function->name);
}

void deadline_fences(struct repair *r)
{
	struct span *spans = arena_alloc(&r->code->arena, (r->fixes.n + 1) * sizeof *spans);
	bool *is_worth = arena_alloc(&r->code->arena, r->fixes.n + 1);

	for (size_t i = 0; i < r->fixes.n; i++) {
		struct fix *x = &r->fixes.at[i];

		if (!x->flush_place || !x->later_place || !find_span(r, x, &spans[i]))
			spans[i] = (struct span){ 0 };
		else
			spans[i].is_custom =
				!spans[i].is_same_function && others_fence(r, &spans[i]);
	}
	for (size_t i = 0; i < r->fixes.n; i++)
		is_worth[i] = spans[i].from && is_worth_it(r, spans, i);
	for (size_t i = 0; i < r->fixes.n; i++) {
		struct span inner;

		if (!is_worth[i] && spans[i].from && !spans[i].is_same_function &&
		    find_custom(r, &r->fixes.at[i], &spans[i], &inner))
			move(r, &r->fixes.at[i], &inner, inner.from);
		if (!is_worth[i])
			spans[i].from = NULL;
	}
	for (size_t i = 0; i < r->fixes.n; i++)
		if (spans[i].from)
			move(r, &r->fixes.at[i], &spans[i], last_of(r, spans, i));
		else if (spans[i].is_same_function)
			r->fixes.at[i].until = spans[i].until;
}
