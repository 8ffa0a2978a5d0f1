/* Proves that a flush or fence achieves nothing. All paths of its function to the statement are
 * followed, without the statement. The proof succeeds if everything that the flush would write back
 * is written back on all paths already. Bytes that the function does not store may be stored by a
 * caller: then all callers that have the object are followed, too. */
#include "repair/durability/proof.h"

#include <string.h>

#include "repair/durability/internal.h"

enum { CONDITIONS_MAX = 8, LEVELS_MAX = 3, RUNS_MAX = 24, PM_LINE_BYTES = 64 };

struct asking {
	struct repair *r;
	const struct source_unit *unit;
	const struct file *file;
	const struct source_function *function;
	const struct source_node *stmt;
	const char *guards[CONDITIONS_MAX], *directives[CONDITIONS_MAX];
	size_t nguards, ndirectives;
	unsigned nruns; /* number of functions followed so far */
	/* the following fields sum up all times at which the statement is reached */
	/* a caller is followed now; only what is known about its stores counts */
	bool is_by_caller;
	bool has_flush, has_fence;
	bool is_covered;      /* each line was written back before, on every path */
	bool is_related;      /* the function itself wrote back a part of it before */
	bool is_quiet;        /* no store and no flush waits for it */
	bool is_long;         /* it writes back more than one line */
	bool is_near;         /* all that is not yet written back is in the line of its address */
	bool is_from_outside; /* the object comes from a caller */
	const struct span *left; /* some bytes that are not written back yet; NULL: none */
	struct span kept;
	const char *relation;
};

/* ---- what holds at the statement ---- */

static void add(const char **list, size_t *n, const char *text)
{
	if (*n < CONDITIONS_MAX)
		list[(*n)++] = text;
}

static bool is_steady(const struct asking *a, const struct source_node *test)
{
	if (!node_is_repeatable(a->unit, test))
		return false;
	for (const struct source_node *n = test; n; n = node_next(n, test)) {
		if (n->kind == SOURCE_CALL || n->kind == SOURCE_SUBSCRIPT ||
		    (n->kind == SOURCE_UNARY && n->op[0] != '!'))
			return false;
		if (n->kind == SOURCE_NAME && n->name && n->is_local &&
		    node_assigns(a->function->body, NULL, n->name))
			return false;
		for (const struct source_node *m = a->function->body;
		     m && n->kind == SOURCE_MEMBER && n->name; m = node_next(m, a->function->body))
			if (node_is_assignment(m) && m->child && m->child->kind == SOURCE_MEMBER &&
			    m->child->name && strcmp(m->child->name, n->name) == 0)
				return false;
	}
	return true;
}

static void find_guards(struct asking *a)
{
	for (const struct source_node *n = a->stmt; n->parent; n = n->parent)
		if (n->parent->kind == SOURCE_IF && n->parent->child &&
		    n == n->parent->child->next && is_steady(a, n->parent->child))
			add(a->guards, &a->nguards, text_of(a->r->code, a->file, n->parent->child));
}

/* Collects the #if lines around the statement. False: it is in an #else. */
static bool find_directives(struct asking *a)
{
	const struct file *f = a->file;

	for (uint32_t at = 0; at < a->stmt->begin; at = text_line_end(f, at) + 1) {
		uint32_t p = at, end = text_line_end(f, at);
		const char *line;

		while (p < end && strchr(" \t", f->text[p]))
			p++;
		if (p >= end || f->text[p] != '#')
			continue;
		line = text_copy(a->r->code, f->text + p, end - p);
		if (strncmp(line, "#if", 3) == 0)
			add(a->directives, &a->ndirectives, line);
		else if (strncmp(line, "#el", 3) == 0 && a->ndirectives)
			a->directives[a->ndirectives - 1] = line;
		else if (strncmp(line, "#endif", 6) == 0 && a->ndirectives)
			a->ndirectives--;
	}
	for (size_t i = 0; i < a->ndirectives; i++)
		if (strncmp(a->directives[i], "#el", 3) == 0)
			return false;
	return a->ndirectives < CONDITIONS_MAX;
}

/* ---- at the statement ---- */

/* Asks whether the store may be to the bytes that the statement writes back. In a caller, only
 * stores count that are surely to the same object, or to one of the same type. */
static bool matters(const struct asking *a, const struct span *stored, const struct span *range)
{
	if (!span_may_hit(stored, range))
		return false;
	return !a->is_by_caller ||
	       (stored->addr.is_known &&
		(span_is_same_base(stored, range) ||
		 (stored->type && range->type && strcmp(stored->type, range->type) == 0)));
}

static void judge(struct flow *flow, const struct flow_state *s, const struct idiom_effect *e,
		  const struct span *at)
{
	struct asking *a = flow->to;

	a->has_flush |= (e->does & DOES_FLUSH) != 0;
	a->has_fence |= (e->does & DOES_FENCE) != 0;
	a->is_quiet &= !s->may_wait && !s->may_store;
	if (!(e->does & DOES_FLUSH))
		return;
	if (!at->addr.is_known)
		flow->why = "its address cannot be followed";
	a->is_long |= at->len.is_known && !at->len.root && at->len.offset > PM_LINE_BYTES;
	a->is_covered &= spans_cover(s->clean, s->nclean, at);
	a->is_from_outside |=
		at->addr.root && (strstr(at->addr.root, "#0") || at->addr.root[0] == '&' ||
				  strncmp(at->addr.root, "[&", 2) == 0);
	for (size_t i = 0; i < flow->ndid; i++)
		if (flow->did[i].node != a->stmt &&
		    (span_is_same_base(&flow->did[i], at) ||
		     (flow->did[i].type && at->type && strcmp(flow->did[i].type, at->type) == 0))) {
			a->is_related = true;
			a->relation = text_format(a->r->code, "line %u", flow->did[i].line);
		}
	for (size_t i = 0; i < s->ndirty; i++)
		if (matters(a, &s->dirty[i], at)) {
			a->is_near &= span_is_in_line(&s->dirty[i], &at->addr);
			a->kept = s->dirty[i];
			a->left = &a->kept;
		}
}

/* Follows the function `top` to the statement. Returns NULL, or why that is impossible. */
static const char *follow(struct asking *a, const struct source_unit *u,
			  const struct source_function *top, bool is_narrowed)
{
	struct flow flow = { .r = a->r,
			     .target = a->stmt,
			     .target_file = a->file->path,
			     .target_begin = a->stmt->begin,
			     .is_narrowed = is_narrowed,
			     .guards = a->guards,
			     .nguards = a->nguards,
			     .directives = a->directives,
			     .ndirectives = a->ndirectives,
			     .judge = judge,
			     .to = a };

	if (a->nruns++ == RUNS_MAX)
		return "it has too many callers";
	a->is_covered = a->is_quiet = a->is_near = true;
	a->left = NULL;
	flow_run(&flow, u, top);
	if (flow.why)
		return flow.why;
	return flow.njudged ? NULL
			    : text_format(a->r->code, "no path leads to it from %s", top->name);
}

/* ---- callers ---- */

/* Returns why some caller may need the statement; NULL: none does. */
static const char *callers_need(struct asking *a, const struct source_function *f, bool is_narrowed,
				unsigned level)
{
	struct callers callers = { .n = 0 };
	const char *why = NULL;

	callers_open(a->r, f);
	callers_find(a->r, f, &callers);
	if (a->is_from_outside && function_is_passed_on(a->r, f))
		return text_format(a->r->code, "%s is called through a pointer, too", f->name);
	if (a->is_from_outside && !callers.n && strcmp(f->name, "main") != 0)
		return text_format(a->r->code, "nobody calls %s here", f->name);
	if (callers.are_more)
		return text_format(a->r->code, "%s has too many callers", f->name);
	for (size_t i = 0; i < callers.n && !why; i++) {
		a->is_by_caller = true;
		a->is_from_outside = false;
		why = follow(a, callers.units[i], callers.of[i], is_narrowed);
		if (!why && a->left && !(is_narrowed && a->is_near))
			why = text_format(a->r->code, "line %u of %s, a caller's, may need it",
					  a->left->line, strrchr(a->left->file->path, '/') + 1);
		if (!why && a->is_from_outside && level < LEVELS_MAX)
			why = callers_need(a, callers.of[i], is_narrowed, level + 1);
	}
	return why;
}

/* ---- the answer ---- */

static const char *line_words(struct asking *a, const struct span *s)
{
	return text_format(a->r->code, "the store in line %u of %s may not be flushed before it",
			   s->line, strrchr(s->file->path, '/') + 1);
}

/* Decides by the callers whether the statement is needed. What the function itself stored is
 * written back already; what callers stored may not be. */
static void find_by_callers(struct asking *a, bool is_narrowed, struct proof *out)
{
	bool is_quiet = a->is_quiet, has_fence = a->has_fence;
	const char *relation = a->relation;

	out->why = callers_need(a, a->function, is_narrowed, 1);
	if (out->why)
		out->why = relation && !is_narrowed
				   ? text_format(a->r->code, "%s flushes it before, but %s",
						 relation, out->why)
				   : out->why;
	else
		out->answer = is_narrowed              ? PROOF_NARROWER
			      : !has_fence || is_quiet ? PROOF_ALL
						       : PROOF_FLUSH;
}

void proof_find(struct repair *r, const struct source_unit *u, const struct file *file,
		const struct source_function *f, const struct source_node *stmt, struct proof *out)
{
	struct asking a = { .r = r, .unit = u, .file = file, .function = f, .stmt = stmt };
	struct flow names = { .r = r, .directives = a.directives };

	*out = (struct proof){ .answer = PROOF_NONE };
	find_guards(&a);
	names.ndirectives = find_directives(&a) ? a.ndirectives : 0;
	if (!flow_names_directives(&names, file, f->body->begin, stmt->begin)) {
		out->why = "the code before it is compiled in more than one way";
		return;
	}
	out->why = follow(&a, u, f, false);
	if (out->why)
		return;
	if (!a.has_flush) {
		out->answer = a.is_quiet ? PROOF_ALL : PROOF_NONE;
		out->is_whole = true;
		out->why = a.is_quiet ? NULL : "an earlier store or flush may need it";
	} else if (!a.left && a.is_covered) {
		out->answer = !a.has_fence || a.is_quiet ? PROOF_ALL : PROOF_FLUSH;
		out->is_whole = true;
	} else if (!a.left && a.is_related) {
		find_by_callers(&a, false, out);
	} else if (!a.left) {
		out->why = "its function stores nothing there before it, but a caller may";
	} else {
		const char *why = line_words(&a, a.left);

		if (a.is_long && !follow(&a, u, f, true) && a.left && a.is_near)
			find_by_callers(&a, true, out);
		out->why = why;
	}
}
