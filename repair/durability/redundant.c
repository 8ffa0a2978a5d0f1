/* Removes a flush or fence that achieved nothing, if the source proves that it never does: the statements directly before it, in the
 * same block, or before the `if` that it heads, with nothing in between, are flushes and fences that did its work already. And the execution must agree: it was
 * redundant each time it ran. Anything else is left.
 *
 * What other threads do between the two is not looked at: a program that relies on another thread's flush of its stores is broken. */
#include <string.h>

#include "repair/durability/internal.h"

static const char *const kinds[] = { "redundant-flush", "redundant-fence", "flush-clean", NULL };

bool redundant_is_kind(const char *kind)
{
	for (size_t i = 0; kinds[i]; i++)
		if (strcmp(kinds[i], kind) == 0)
			return true;
	return false;
}

/* ---- what a call does ---- */

enum { DEPTH_MAX = 3, DOES_MORE = 8 };

static unsigned call_does(const struct source_unit *u, const struct source_node *call, int depth);

/* A function that flushes or fences and changes nothing but its own variables. */
static unsigned function_does(const struct source_unit *u, const struct source_function *f, int depth)
{
	unsigned does = 0, by_asm;
	const char *flush;

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		if (n->kind == SOURCE_CALL)
			does |= call_does(u, n, depth + 1);
		else if (n->kind == SOURCE_ASM)
			does |= idiom_asm(u, n, &by_asm, &flush) ? by_asm : DOES_MORE;
		else if ( n->kind == SOURCE_LAMBDA || (n->kind == SOURCE_BINARY && !n->op[0]))
			does |= DOES_MORE;
		else if (node_is_assignment(n) && !(n->child && n->child->kind == SOURCE_NAME && n->child->is_local && !n->child->is_reference))
			does |= DOES_MORE;
	}
	return does;
}

/* DOES_FLUSH and DOES_FENCE, or DOES_MORE. */
static unsigned call_does(const struct source_unit *u, const struct source_node *call, int depth)
{
	const struct source_function *f = call->name ? function_named(u, call->name) : NULL;

	if (call->name && strcmp(call->name, "pmem_msync") != 0 && strcmp(call->name, "pmem_deep_flush") != 0 && idiom_known(call->name))
		return idiom_known(call->name);
	if (!f || depth > DEPTH_MAX)
		return DOES_MORE;
	return function_does(u, f, depth);
}

/* The last thing that the call does is a fence, whatever its arguments. */
static bool ends_with_fence(const struct source_unit *u, const struct source_node *call, int depth)
{
	const struct source_function *f = call->name ? function_named(u, call->name) : NULL;
	const char *flush;
	unsigned does;

	if (call->name && idiom_known(call->name))
		return (idiom_known(call->name) & DOES_FENCE) && strcmp(call->name, "pmem_msync") != 0;
	for (const struct source_node *n = f ? f->body : NULL; n; n = node_next(n, f->body))
		if (n->kind == SOURCE_RETURN || n->kind == SOURCE_JUMP)
			return false;
	if (f && f->body->last && f->body->last->kind == SOURCE_ASM)
		return idiom_asm(u, f->body->last, &does, &flush) && does == DOES_FENCE;
	return f && depth <= DEPTH_MAX && f->body->last && f->body->last->kind == SOURCE_CALL && ends_with_fence(u, f->body->last, depth + 1);
}

/* mfence orders loads, too: no sfence makes one redundant. */
static bool has_mfence(const struct source_unit *u, const struct source_node *call, int depth)
{
	const struct source_function *f = call->name ? function_named(u, call->name) : NULL;

	if (call->name && strcmp(call->name, "_mm_mfence") == 0)
		return true;
	for (const struct source_node *n = f && depth <= DEPTH_MAX ? f->body : NULL; n; n = node_next(n, f->body))
		if ((n->kind == SOURCE_CALL && has_mfence(u, n, depth + 1)) || (n->kind == SOURCE_ASM && n->name && strstr(n->name, "mfence")))
			return true;
	return false;
}

/* ---- the statements before ---- */

static const struct source_node *previous(const struct source_node *n)
{
	const struct source_node *p = n->parent->child;

	if (p == n)
		return NULL;
	while (p->next != n)
		p = p->next;
	return p;
}

/* Only blanks and comments, no directive, lie between the two statements. */
static bool is_directly_before(const struct file *f, const struct source_node *a, const struct source_node *b)
{
	uint32_t semicolon = text_semicolon(f, a->end);

	return semicolon && text_skip_blanks(f, semicolon) == b->begin && !memchr(f->text + a->end, '#', b->begin - a->end);
}

/* At the head of what runs under an `if` that only looks: the `if`. Otherwise the statement itself. */
static const struct source_node *head(const struct source_unit *u, const struct file *f, const struct source_node *s)
{
	const struct source_node *block = s->parent, *branch = block ? block->parent : NULL;

	while (branch && branch->kind == SOURCE_IF && block->child == s && text_skip_blanks(f, block->begin + 1) == s->begin && block != branch->child &&
	       node_is_repeatable(u, branch->child) && branch->parent && branch->parent->kind == SOURCE_COMPOUND) {
		s = branch;
		block = s->parent;
		branch = block->parent;
	}
	return s;
}

static bool arguments_repeat(const struct source_unit *u, const struct source_node *call)
{
	for (const struct source_node *a = call->child ? call->child->next : NULL; a; a = a->next)
		if (!node_is_repeatable(u, a))
			return false;
	return true;
}

static bool is_same_call(struct repair *r, const struct file *f, const struct source_node *a, const struct source_node *b, bool same_name)
{
	const char **x = text_arguments(r->code, f, a->begin, a->end), **y = text_arguments(r->code, f, b->begin, b->end);

	if (!x || !y || !a->name || !b->name || (same_name && strcmp(a->name, b->name) != 0))
		return false;
	for (; *x && *y; x++, y++)
		if (strcmp(*x, *y) != 0)
			return false;
	return !*x && !*y;
}

/* Both of the same library, so that equal arguments mean equal ranges. */
static bool is_same_library(const char *a, const char *b)
{
	const char *x = strchr(a, '_'), *y = strchr(b, '_');

	return idiom_known(a) && idiom_known(b) && x && y && x - a == y - b && strncmp(a, b, (size_t)(x - a)) == 0 && a[0] == 'p';
}

/* The statement's work was done by those before it. */
static bool is_proven(struct repair *r, const struct source_unit *u, const struct file *f, const struct source_node *s)
{
	unsigned does = call_does(u, s, 0);
	const struct source_node *after = head(u, f, s), *before = previous(after);
	bool is_near = true; /* nothing but `before` is between */

	if (does & DOES_MORE || !does || !arguments_repeat(u, s))
		return false;
	for (; before && before->kind == SOURCE_CALL && is_directly_before(f, before, after);
	     after = head(u, f, before), before = previous(after)) {
		unsigned did = call_does(u, before, 0);

		if (did & DOES_MORE || !did || !arguments_repeat(u, before))
			return false;
		if (does == DOES_FENCE)
			return ends_with_fence(u, before, 0) && (!has_mfence(u, s, 0) || is_same_call(r, f, before, s, true));
		if ((is_near || does == DOES_FLUSH) && is_same_call(r, f, before, s, true))
			return true;
		if (does == DOES_FLUSH && (did & DOES_FLUSH) && is_same_library(before->name, s->name) && is_same_call(r, f, before, s, false))
			return true;
		is_near = false;
	}
	return false;
}

/* ---- which statement ---- */

static const struct source_node *call_on_line(const struct source_unit *u, const struct source_function *fn, const struct repair_frame *frame)
{
	const struct source_node *found = NULL;

	for (const struct source_node *n = fn->body; n; n = node_next(n, fn->body)) {
		if (n->kind != SOURCE_CALL || n->line != frame->line || (frame->column && n->column != frame->column) ||
		    (call_does(u, n, 0) & DOES_MORE))
			continue;
		if (found)
			return NULL;
		found = n;
	}
	return found;
}

/* From the instruction outwards, as long as functions do nothing but flush and fence. */
static const struct source_node *find_statement(struct repair *r, struct fix *x, const struct repair_place *p, const char **why)
{
	const struct source_node *s;
	const char *callee = NULL;
	size_t i = 0;

	for (;; i++) {
		if (fix_enter_frame(r, x, p, i, why) < 0)
			return NULL;
		if (i + 1 >= p->nframes || !idiom_is_helper(r, x->unit, x->function) || (function_does(x->unit, x->function, 0) & DOES_MORE))
			break;
		callee = x->function->name;
	}
	*why = "which statement it is cannot be told";
	s = callee ? call_at(x->function, callee, p->frames[i].line, p->frames[i].column) : NULL;
	return s ? s : call_on_line(x->unit, x->function, &p->frames[i]);
}

void redundant_plan(struct repair *r, size_t bug)
{
	const struct repair_bug *b = r->bugs.at[bug];
	const struct source_node *s = NULL;
	const char *why = "the report does not say where it is";
	struct fix x = { .bug = bug };

	r->outcomes.at[bug] = (struct repair_outcome){ REPAIR_DECLINED, "see whether it can go", "" };
	if (r->options->keeps_redundant) {
		r->outcomes.at[bug] = (struct repair_outcome){ REPAIR_NOT_APPLICABLE, "nothing is removed (--keep-redundant)", "" };
		return;
	}
	if (b->nplaces)
		s = find_statement(r, &x, &b->places[0], &why);
	if (s && (!s->parent || s->parent->kind != SOURCE_COMPOUND || !is_proven(r, x.unit, x.file, s))) {
		why = "see whether it can go; the statements before it do not show that it is redundant each time";
		s = NULL;
	}
	if (!s) {
		r->outcomes.at[bug].text = why;
		return;
	}
	*vec_add(&r->durability->removals) = (struct removal){ bug, x.file, s, b->executions && b->count == b->executions ? NULL :
						   "see whether it can go; it was not redundant each time it was executed" };
}

/* ---- the change ---- */

static bool is_in_use(const struct repair *r, const struct removal *m)
{
	for (size_t i = 0; i < r->fixes.n; i++) {
		const struct fix *x = &r->fixes.at[i];

		if (x->file == m->file && !x->is_dropped && (x->stmt->begin == m->stmt->begin || (x->fence_stmt && x->fence_stmt->begin == m->stmt->begin)))
			return true;
	}
	return false;
}

static const char *veto(struct repair *r, const struct removal *m)
{
	for (size_t i = 0; i < r->durability->removals.n; i++) {
		const struct removal *other = &r->durability->removals.at[i];

		if (other->file == m->file && other->stmt->begin == m->stmt->begin && other->why_not)
			return other->why_not;
	}
	if (r->options->root && !path_is_below(m->file->path, r->options->root))
		return "it is not below the source's folder (--root)";
	return is_in_use(r, m) || amend_holds(r, m->file, m->stmt) ? "see whether it can go, when what is missing there has been added" : NULL;
}

void redundant_emit(struct repair *r)
{
	for (size_t i = 0; i < r->durability->removals.n; i++) {
		struct removal *m = &r->durability->removals.at[i];
		const char *why_not = veto(r, m);
		bool is_again = false;

		r->outcomes.at[m->bug] = why_not ? (struct repair_outcome){ REPAIR_DECLINED, why_not, "" } : (struct repair_outcome){ REPAIR_MENDED, "removed", NULL };
		if (why_not)
			continue;
		for (size_t k = 0; k < i && !is_again; k++)
			if (r->durability->removals.at[k].file == m->file && r->durability->removals.at[k].stmt->begin == m->stmt->begin) {
				group_join(r, r->durability->removals.at[k].bug, m->bug);
				is_again = true;
			}
		if (is_again)
			continue;
		statement_remove(m->file, m->stmt);
		r->nremoved++;
	}
}
