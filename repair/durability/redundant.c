/* Plans the removal of flushes and fences that achieved nothing in the run, if the source proves
 * that they never do. The proof is one of two: the statements directly before it (also before an
 * `if` that begins with it) have done its work, or all paths of the function show it (proof.c). The
 * run must agree: the statement was redundant each time it was executed. Anything else is left as
 * it is.
 *
 * Other threads are not considered: a program that relies on another thread to flush its stores is
 * broken anyway. */
#include <string.h>

#include "repair/durability/internal.h"
#include "repair/durability/proof.h"
#include "repair/edit/internal.h"

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

/* Returns what a function does: flush and fence, and DOES_MORE if it changes anything but its own
 * variables. */
static unsigned function_does(const struct source_unit *u, const struct source_function *f,
			      int depth)
{
	unsigned does = 0, by_asm;
	const char *flush;

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		if (n->kind == SOURCE_CALL)
			does |= call_does(u, n, depth + 1);
		else if (n->kind == SOURCE_ASM)
			does |= idiom_asm(u, n, &by_asm, &flush) ? by_asm : DOES_MORE;
		else if (n->kind == SOURCE_LAMBDA || (n->kind == SOURCE_BINARY && !n->op[0]))
			does |= DOES_MORE;
		else if (node_is_assignment(n) && !(n->child && n->child->kind == SOURCE_NAME &&
						    n->child->is_local && !n->child->is_reference))
			does |= DOES_MORE;
	}
	return does;
}

/* Returns what a call does: DOES_FLUSH and DOES_FENCE, or DOES_MORE. */
static unsigned call_does(const struct source_unit *u, const struct source_node *call, int depth)
{
	const struct source_function *f = call->name ? function_named(u, call->name) : NULL;

	if (call->name && strcmp(call->name, "pmem_msync") != 0 &&
	    strcmp(call->name, "pmem_deep_flush") != 0 && idiom_known(call->name))
		return idiom_known(call->name);
	if (!f || depth > DEPTH_MAX)
		return DOES_MORE;
	return function_does(u, f, depth);
}

/* Asks whether the last thing that the call does is a fence, whatever its arguments are. */
static bool ends_with_fence(const struct source_unit *u, const struct source_node *call, int depth)
{
	const struct source_function *f = call->name ? function_named(u, call->name) : NULL;
	const char *flush;
	unsigned does;

	if (call->name && idiom_known(call->name))
		return (idiom_known(call->name) & DOES_FENCE) &&
		       strcmp(call->name, "pmem_msync") != 0;
	for (const struct source_node *n = f ? f->body : NULL; n; n = node_next(n, f->body))
		if (n->kind == SOURCE_RETURN || n->kind == SOURCE_JUMP)
			return false;
	if (f && f->body->last && f->body->last->kind == SOURCE_ASM)
		return idiom_asm(u, f->body->last, &does, &flush) && does == DOES_FENCE;
	return f && depth <= DEPTH_MAX && f->body->last && f->body->last->kind == SOURCE_CALL &&
	       ends_with_fence(u, f->body->last, depth + 1);
}

/* The call executes mfence, which also orders loads. An sfence does not make that redundant. */
static bool has_mfence(const struct source_unit *u, const struct source_node *call, int depth)
{
	const struct source_function *f = call->name ? function_named(u, call->name) : NULL;

	if (call->name && strcmp(call->name, "_mm_mfence") == 0)
		return true;
	for (const struct source_node *n = f && depth <= DEPTH_MAX ? f->body : NULL; n;
	     n = node_next(n, f->body))
		if ((n->kind == SOURCE_CALL && has_mfence(u, n, depth + 1)) ||
		    (n->kind == SOURCE_ASM && n->name && strstr(n->name, "mfence")))
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

/* Only blanks and comments are between the two statements, and no directive. */
static bool is_directly_before(const struct file *f, const struct source_node *a,
			       const struct source_node *b)
{
	uint32_t semicolon = text_semicolon(f, a->end);

	return semicolon && text_skip_blanks(f, semicolon) == b->begin &&
	       !memchr(f->text + a->end, '#', b->begin - a->end);
}

/* If s is the first statement under an `if` whose test has no side effects, returns the outermost
 * such `if`, otherwise s. */
static const struct source_node *head(const struct source_unit *u, const struct file *f,
				      const struct source_node *s)
{
	const struct source_node *block = s->parent, *branch = block ? block->parent : NULL;

	while (branch && branch->kind == SOURCE_IF && block->child == s &&
	       text_skip_blanks(f, block->begin + 1) == s->begin && block != branch->child &&
	       node_is_repeatable(u, branch->child) && branch->parent &&
	       branch->parent->kind == SOURCE_COMPOUND) {
		s = branch;
		block = s->parent;
		branch = block->parent;
	}
	return s;
}

static bool is_same_call(struct repair *r, const struct file *f, const struct source_node *a,
			 const struct source_node *b, bool same_name)
{
	const char **x = text_arguments(r->code, f, a->begin, a->end),
		   **y = text_arguments(r->code, f, b->begin, b->end);

	if (!x || !y || !a->name || !b->name || (same_name && strcmp(a->name, b->name) != 0))
		return false;
	for (; *x && *y; x++, y++)
		if (strcmp(*x, *y) != 0)
			return false;
	return !*x && !*y;
}

/* Asks whether both functions are of the same library, so that equal arguments mean equal
 * ranges. */
static bool is_same_library(const char *a, const char *b)
{
	const char *x = strchr(a, '_'), *y = strchr(b, '_');

	return idiom_known(a) && idiom_known(b) && x && y && x - a == y - b &&
	       strncmp(a, b, (size_t)(x - a)) == 0 && a[0] == 'p';
}

/* Asks whether the statements before s have already done what s does. */
static bool is_proven(struct repair *r, const struct source_unit *u, const struct file *f,
		      const struct source_node *s)
{
	unsigned does = call_does(u, s, 0);
	const struct source_node *after = head(u, f, s), *before = previous(after);
	bool is_near = true; /* nothing but `before` is between them */

	if (does & DOES_MORE || !does || !node_arguments_repeat(u, s))
		return false;
	for (; before && before->kind == SOURCE_CALL && is_directly_before(f, before, after);
	     after = head(u, f, before), before = previous(after)) {
		unsigned did = call_does(u, before, 0);

		if (did & DOES_MORE || !did || !node_arguments_repeat(u, before))
			return false;
		if (does == DOES_FENCE)
			return ends_with_fence(u, before, 0) &&
			       (!has_mfence(u, s, 0) || is_same_call(r, f, before, s, true));
		if ((is_near || does == DOES_FLUSH) && is_same_call(r, f, before, s, true))
			return true;
		if (does == DOES_FLUSH && (did & DOES_FLUSH) &&
		    is_same_library(before->name, s->name) && is_same_call(r, f, before, s, false))
			return true;
		is_near = false;
	}
	return false;
}

/* ---- which statement ---- */

static const struct source_node *call_on_line(const struct source_unit *u,
					      const struct source_function *fn,
					      const struct repair_frame *frame)
{
	const struct source_node *found = NULL;

	for (const struct source_node *n = fn->body; n; n = node_next(n, fn->body)) {
		if (n->kind != SOURCE_CALL || n->line != frame->line ||
		    (frame->column && n->column != frame->column) ||
		    (call_does(u, n, 0) & DOES_MORE))
			continue;
		if (found)
			return NULL;
		found = n;
	}
	return found;
}

/* Returns the only call, or statement made by a macro, on the line that flushes or fences. */
static const struct source_node *effect_on_line(struct repair *r, const struct fix *x,
						const struct repair_frame *frame)
{
	/* the column may be that of the name, of the parenthesis, or of the expression's
	 * beginning */
	uint32_t at = file_offset(x->file, frame->line, frame->column);
	const struct source_node *found = NULL;
	struct idiom_effect e;

	for (const struct source_node *n = x->function->body; n;
	     n = node_next(n, x->function->body)) {
		bool is_inside = found && n->begin >= found->begin && n->end <= found->end;

		if (n->line != frame->line || (at && (at < n->begin || at >= n->end)) ||
		    is_inside || !node_is_body(x->file, n) ||
		    !idiom_effect(r, x->unit, x->file, n, &e))
			continue;
		if (found)
			return NULL;
		found = n;
	}
	return found;
}

/* Finds the statement that is redundant: follows the stack from the instruction outwards, as long
 * as functions do nothing but flush and fence. */
static const struct source_node *find_statement(struct repair *r, struct fix *x,
						const struct repair_place *p, const char **why)
{
	const struct source_node *s;
	const char *callee = NULL;
	size_t i = 0;

	for (;; i++) {
		if (fix_enter_frame(r, x, p, i, why) < 0)
			return NULL;
		if (i + 1 >= p->nframes || !idiom_is_helper(r, x->unit, x->function))
			break;
		callee = x->function->name;
	}
	*why = "the statement is not found in the source; check whether it can be removed";
	s = callee ? call_at(x->function, callee, p->frames[i].line, p->frames[i].column) : NULL;
	if (!s)
		s = call_on_line(x->unit, x->function, &p->frames[i]);
	return s ? s : effect_on_line(r, x, &p->frames[i]);
}

/* ---- what replaces it ---- */

/* Returns the text that replaces the statement, written as the file writes such calls; NULL with a
 * reason. */
static const char *words_instead(struct repair *r, struct fix *x, const struct source_node *s,
				 const struct proof *proof, const char **why)
{
	bool is_narrower = proof->answer == PROOF_NARROWER;
	const struct idiom_line *lines;
	struct idiom_effect e;
	struct idiom i;

	x->store = x->stmt = s;
	idiom_find(r, x, &i);
	if (is_narrower && idiom_effect(r, x->unit, x->file, s, &e) && e.addr) {
		x->range.addr = text_copy(r->code, x->file->text + e.addr->text_begin,
					  e.addr->text_end - e.addr->text_begin);
		x->range.addr = e.is_thing ? text_format(r->code, "&%s",
							 text_wrapped(r->code, x->range.addr))
					   : x->range.addr;
		x->range.len = "1";
		x->range.is_one_line = true;
		x->range.names = e.addr;
		if (!i.line.call) {
			*why = "only the first line was stored to; check whether it can be shorter";
			return NULL;
		}
		i.prefers_line = true;
		i.flush.call = i.persist.call = i.scope.call = NULL;
	}
	lines = idiom_lines(r, &i, &x->range, is_narrower, !is_narrower || e.does & DOES_FENCE,
			    false, why);
	if (!lines || !lines[0].text || lines[1].text || lines[0].guard) {
		*why = is_narrower
			       ? "only the first line was stored to; check whether it can be shorter"
			       : "only its fence is needed, and the file shows no way to fence alone";
		return NULL;
	}
	return lines[0].text;
}

/* ---- the plan ---- */

/* Asks whether evaluating the statement's arguments changes something. Operators in arguments of a
 * macro are not in the tree, so the text is searched. */
static bool has_effects(const struct source_unit *u, const struct file *f,
			const struct source_node *s)
{
	for (const char *p = f->text + s->begin; p + 1 < f->text + s->end; p++)
		if ((p[0] == '+' && p[1] == '+') || (p[0] == '-' && p[1] == '-') ||
		    (p[0] == '=' && p[1] != '=' && !strchr("=<>!", p[-1])))
			return true;
	return s->kind == SOURCE_CALL && !macro_use(u, f->path, s) && !node_arguments_repeat(u, s);
}

static const char not_each_time[] =
	"it was not redundant each time it was executed; check whether it can be removed";

/* Decides what happens to the statement. NULL: it is removed or replaced; otherwise returns why
 * not. */
static const char *plan_removal(struct repair *r, struct fix *x, const struct repair_bug *b,
				const struct source_node *s, struct removal *m)
{
	struct proof proof = { .why = NULL };

	m->words = "removed";
	m->why_not = b->executions && b->count == b->executions ? NULL : not_each_time;
	if (s->parent && s->parent->kind == SOURCE_COMPOUND && is_proven(r, x->unit, x->file, s))
		return NULL;
	if (!node_is_body(x->file, s))
		return "it is part of an expression; check whether it can be removed";
	if (has_effects(x->unit, x->file, s))
		return "not removed: it may still be needed (its arguments change something); check whether it can be removed";
	if (call_does(x->unit, s, 0) == DOES_FENCE && has_mfence(x->unit, s, 0))
		return "not removed: it may still be needed (it orders loads, too); check whether it can be removed";
	proof_find(r, x->unit, x->file, x->function, s, &proof);
	if (proof.answer == PROOF_NONE)
		return text_format(
			r->code,
			"not removed: it may still be needed (%s); check whether it can be removed",
			proof.why);
	if (proof.answer == PROOF_ALL)
		return redundant_can_go(x->unit, x->file, s)
			       ? NULL
			       : "something must replace it; check whether it can be removed";
	m->instead = words_instead(r, x, s, &proof, &proof.why);
	m->words = proof.answer == PROOF_FLUSH ? "only its fence stays"
					       : "it flushes only what was stored";
	if (proof.answer == PROOF_NARROWER && b->executions)
		/* some of its lines are needed each time, so the run cannot agree */
		m->why_not = NULL;
	return m->instead ? NULL : proof.why;
}

void redundant_plan(struct repair *r, size_t bug)
{
	const struct repair_bug *b = r->bugs.at[bug];
	const struct source_node *s = NULL;
	const char *why = "the report does not say where it is";
	struct removal m = { .bug = bug };
	struct fix x = { .bug = bug };

	r->outcomes.at[bug] =
		(struct repair_outcome){ REPAIR_DECLINED, "check whether it can be removed", "" };
	if (r->options->keeps_redundant) {
		r->outcomes.at[bug] =
			(struct repair_outcome){ REPAIR_NOT_APPLICABLE,
						 "nothing is removed (--keep-redundant)", "" };
		return;
	}
	if (b->nplaces)
		s = find_statement(r, &x, &b->places[0], &why);
	if (s)
		why = plan_removal(r, &x, b, s, &m);
	if (!s || why) {
		r->outcomes.at[bug].text = why;
		return;
	}
	m.unit = x.unit;
	m.file = x.file;
	m.stmt = s;
	*vec_add(&r->durability->removals) = m;
}
