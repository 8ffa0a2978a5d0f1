/* Removes a fence that came too late, once a fence in the right place is added:
 *
 *   flush(p);
 *   fence();       <- added
 *   p->valid = 1;
 *   fence();       <- removed: nothing waits for it any more
 *
 * The program is followed from main with one bit of state: may a flush be waiting for a fence here?
 * A fence of the changed function is removed if, without the added fence, a flush may wait for it
 * on some path, and with the added fence, none can on any path.
 *
 * Both branches of a test are followed. The one exception is a test of the program's own flags that
 * guards only a fence: flushes are taken to be under the same flag. Code that is not seen, or is
 * called through a pointer, counts as leaving a flush. Other threads are not considered. */
#include <string.h>

#include "repair/durability/internal.h"
#include "repair/effects/flow.h"
#include "repair/idiom/run.h"

enum { DEPTH_MAX = 24 };

struct visit {
	const struct source_node *fence; /* the fence as a statement */
	const struct source_node *call;
	bool is_seen, is_needed; /* the fence was reached; a flush may have waited there */
};

typedef VEC(struct visit) visits;

struct summary {
	const struct source_function *function;
	/* result of the function (may a flush wait?), by whether one waited when it was called */
	bool is_pending[2], is_known[2], is_busy[2];
};

struct following {
	struct repair *r;
	bool is_after; /* the added fences count */
	const struct source_unit *unit;
	/* the function that is changed, and the one that is followed now */
	const struct source_function *function, *in;
	bool is_unsure;
	bool jumped, returned; /* may a flush wait at some jump, or some return? */
	visits *visits;
	VEC(struct summary) summaries;
	int depth;
};

/* ---- calls ---- */

static bool follow(struct following *f, const struct source_node *n, bool is_pending);

static struct summary *summary_of(struct following *f, const struct source_function *function)
{
	for (size_t i = 0; i < f->summaries.n; i++)
		if (function_is_same(f->summaries.at[i].function, function))
			return &f->summaries.at[i];
	*vec_add(&f->summaries) = (struct summary){ .function = function };
	return &f->summaries.at[f->summaries.n - 1];
}

static bool follow_function(struct following *f, const struct source_unit *u,
			    const struct source_function *function, bool is_pending)
{
	struct summary *s = summary_of(f, function);
	struct following outer = *f;
	bool result;

	if (s->is_known[is_pending] || s->is_busy[is_pending])
		return s->is_known[is_pending] ? s->is_pending[is_pending] : true;
	if (f->depth > DEPTH_MAX)
		return true;
	s->is_busy[is_pending] = true;
	f->unit = u;
	f->in = function;
	f->depth++;
	f->jumped = f->returned = false;
	result = follow(f, function->body, is_pending) | f->returned;
	f->unit = outer.unit;
	f->in = outer.in;
	f->jumped = outer.jumped;
	f->returned = outer.returned;
	f->depth--;
	s = summary_of(f, function); /* the array may have moved */
	s->is_known[is_pending] = true;
	s->is_pending[is_pending] = result;
	return result;
}

static bool follow_call(struct following *f, const struct source_node *call, bool is_pending)
{
	const struct source_unit *in = f->unit;
	unsigned does = idiom_call_does_far(f->r, f->unit, call);
	const struct source_function *callee = call->name ? run_callee(f->r, &in, call) : NULL;

	if (callee && !idiom_is_helper(f->r, in, callee))
		return follow_function(f, in, callee, is_pending);
	if (does & DOES_FENCE)
		return false;
	if (does & DOES_FLUSH || !call->name)
		return true;
	return is_pending ||
	       !(call_is_of_library(f->unit, call) || call_is_made_by_compiler(f->unit, call)) ||
	       strncmp(call->name, "_mm_stream", 10) == 0 || strstr(call->name, "nodrain");
}

/* ---- fences ---- */

static const struct source_node *only_statement(const struct source_node *n)
{
	while (n && n->kind == SOURCE_COMPOUND && n->child && n->child == n->last)
		n = n->child;
	return n;
}

/* Asks whether the test uses only variables of the whole program, and changes nothing. */
static bool is_program_flag(const struct source_node *test)
{
	for (const struct source_node *n = test; n; n = node_next(n, test))
		if ((n->kind == SOURCE_NAME && n->is_local) || n->kind == SOURCE_CALL ||
		    node_is_assignment(n))
			return false;
	return true;
}

/* Returns the statement's fence if the statement does nothing else; NULL otherwise. */
static const struct source_node *fence_in(struct following *f, const struct source_node *n)
{
	const struct source_use *use;
	const char *flush;
	unsigned does;

	if (n->kind == SOURCE_IF && n->child && n->child->next && n->child->next == n->last &&
	    is_program_flag(n->child))
		n = only_statement(n->last);
	use = macro_use(f->unit, f->in->file, n);
	if (use)
		does = use->begin == n->begin ? idiom_macro_does(f->r, f->unit, use->name) : 0;
	else if (n->kind == SOURCE_ASM)
		does = idiom_asm(f->unit, n, &does, &flush) ? does : 0;
	else
		does = n->kind == SOURCE_CALL ? idiom_call_does_far(f->r, f->unit, n) : 0;
	return does == DOES_FENCE ? n : NULL;
}

static void note(struct following *f, const struct source_node *stmt,
		 const struct source_node *call, bool is_pending)
{
	for (size_t i = 0; i < f->visits->n; i++)
		if (f->visits->at[i].fence == stmt) {
			f->visits->at[i].is_seen = true;
			f->visits->at[i].is_needed |= is_pending;
			return;
		}
	*vec_add(f->visits) = (struct visit){ stmt, call, true, is_pending };
}

/* ---- statements ---- */

static bool follow_children(struct following *f, const struct source_node *n, bool is_pending)
{
	for (const struct source_node *c = n->child; c; c = c->next)
		is_pending = follow(f, c, is_pending);
	return is_pending;
}

static bool follow_loop(struct following *f, const struct source_node *n, bool is_pending)
{
	bool behind = is_pending;

	for (int round = 0; round < 3; round++) { /* one bit: it cannot change more often */
		bool now = behind | f->jumped;

		behind |= follow_children(f, n, now);
		/* the test is executed last */
		for (const struct source_node *c = n->child; c; c = c->next)
			behind |= c != n->last && follow(f, c, now);
	}
	return behind | f->jumped;
}

static bool follow_statement(struct following *f, const struct source_node *n, bool is_pending)
{
	const struct source_node *fence =
		n->parent && n->parent->kind == SOURCE_COMPOUND ? fence_in(f, n) : NULL;
	bool result, other;
	unsigned does;
	const char *flush;

	if (fence) {
		if (function_is_same(f->in, f->function))
			note(f, n, fence, is_pending);
		return false;
	}
	switch (n->kind) {
	case SOURCE_IF:
	case SOURCE_CONDITIONAL:
		if (!n->child)
			return is_pending;
		is_pending = follow(f, n->child, is_pending);
		result = n->child->next ? follow(f, n->child->next, is_pending) : is_pending;
		other = n->child->next && n->child->next->next
				? follow(f, n->child->next->next, is_pending)
				: is_pending;
		return result | other;
	case SOURCE_FOR:
	case SOURCE_WHILE:
	case SOURCE_DO: return follow_loop(f, n, is_pending);
	case SOURCE_SWITCH: return follow_children(f, n, is_pending) | is_pending | f->jumped;
	case SOURCE_LABEL: return follow_children(f, n, is_pending | f->jumped);
	case SOURCE_RETURN: f->returned |= follow_children(f, n, is_pending); return false;
	case SOURCE_JUMP: f->jumped |= is_pending; return false;
	case SOURCE_CALL: return follow_call(f, n, follow_children(f, n, is_pending));
	case SOURCE_ASM:
		if (!idiom_asm(f->unit, n, &does, &flush))
			return true;
		return does & DOES_FENCE ? false : does & DOES_FLUSH ? true : is_pending;
	case SOURCE_LAMBDA: f->is_unsure = true; return true;
	default: return follow_children(f, n, is_pending);
	}
}

/* Asks whether one of the added fences is behind this statement. */
static bool is_fenced(const struct following *f, const struct source_node *n)
{
	for (size_t i = 0; f->is_after && i < f->r->fixes.n; i++) {
		const struct fix *x = &f->r->fixes.at[i];

		if (x->stmt == n && x->until && x->needs_fence && !x->is_dropped &&
		    x->where == AFTER)
			return true;
	}
	return false;
}

static bool follow(struct following *f, const struct source_node *n, bool is_pending)
{
	is_pending = follow_statement(f, n, is_pending);
	return is_pending && !is_fenced(f, n);
}

/* Follows the program from main and notes every fence of the function. False: the result is
 * uncertain. */
static bool follow_main(struct repair *r, const struct fix *x, bool is_after,
			const struct source_unit *u, const struct source_function *main, visits *v)
{
	struct following f = { .r = r, .is_after = is_after, .function = x->function, .visits = v };
	bool is_sure;

	follow_function(&f, u, main, false);
	is_sure = !f.is_unsure;
	vec_release(&f.summaries);
	return is_sure;
}

bool function_fences_itself(struct repair *r, const struct source_unit *u,
			    const struct source_function *f)
{
	visits ignored = { 0 };
	struct following flow = { .r = r, .function = f, .visits = &ignored };
	bool flushes = (idiom_function_does(r, u, f) & (DOES_FLUSH | DOES_FENCE)) ==
		       (DOES_FLUSH | DOES_FENCE),
	     is_pending;

	if (!f->body || !flushes)
		return false;
	is_pending = follow_function(&flow, u, f, false);
	vec_release(&flow.summaries);
	vec_release(&ignored);
	return !is_pending && !flow.is_unsure;
}

/* ---- the text ---- */

/* Finds the lines of the statement, with the comment lines above it, and with an #if and #endif
 * around it that contain nothing else. */
static void lines_of(const struct file *f, const struct source_node *stmt, uint32_t *from,
		     uint32_t *to)
{
	uint32_t begin = text_line_begin(f, stmt->begin),
		 end = text_line_end(f, statement_end(f, stmt)), above, below;
	const char *line;

	for (;;) { /* lines that are comments only */
		above = begin > 0 ? text_line_begin(f, begin - 1) : 0;
		line = f->text + above + strspn(f->text + above, " \t");
		if (begin == 0 || (strncmp(line, "//", 2) != 0 &&
				   !(strncmp(line, "/*", 2) == 0 && text_line_end(f, above) >= 2 &&
				     strncmp(f->text + text_line_end(f, above) - 2, "*/", 2) == 0)))
			break;
		begin = above;
	}
	line = f->text + above + strspn(f->text + above, " \t");
	below = end < f->len_bytes ? end + 1 : end;
	if (begin > 0 && strncmp(line, "#if", 3) == 0 &&
	    strncmp(f->text + below + strspn(f->text + below, " \t"), "#endif", 6) == 0) {
		begin = above;
		end = text_line_end(f, below);
	}
	*from = begin;
	*to = end < f->len_bytes ? end + 1 : end;
}

static bool stands_alone(const struct file *f, const struct source_node *stmt)
{
	return text_begins_line(f, stmt->begin) && line_end_behind(f, statement_end(f, stmt));
}

/* ---- removing the fence ---- */

static const struct source_function *find_main(struct repair *r, const struct repair_place *p,
					       const struct source_unit **u)
{
	for (size_t i = p->nframes; i-- > 0;) {
		struct fix at = { 0 };
		const char *why;

		if (!p->frames[i].function || strcmp(p->frames[i].function, "main") != 0 ||
		    fix_enter_frame(r, &at, p, i, &why) < 0)
			continue;
		*u = at.unit;
		return at.function;
	}
	return NULL;
}

static bool is_needed(const visits *v, const struct source_node *fence)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->at[i].fence == fence)
			return v->at[i].is_needed;
	return true; /* no path leads to it */
}

static bool is_to_be_removed(const struct repair *r, const struct file *file,
			     const struct source_node *fence)
{
	for (size_t i = 0; i < r->durability->removals.n; i++)
		if (r->durability->removals.at[i].file == file &&
		    fence->begin <= r->durability->removals.at[i].stmt->begin &&
		    r->durability->removals.at[i].stmt->end <= fence->end)
			return true;
	return false;
}

/* Sets the outcome of findings that say of this fence that it is redundant in some runs. They are
 * fixed, since the fence is gone. */
static void settle_redundant(struct repair *r, const struct fix *x, const struct source_node *fence)
{
	for (size_t i = 0; i < r->bugs.n; i++) {
		const struct repair_bug *b = r->bugs.at[i];

		if (strcmp(b->kind, "redundant-fence") != 0 ||
		    r->outcomes.at[i].status != REPAIR_DECLINED || !r->wanted.at[i] || !b->nplaces)
			continue;
		for (size_t k = 0; k < b->places[0].nframes; k++) {
			struct fix at = { 0 };
			const char *why;

			if (b->places[0].frames[k].line < fence->line ||
			    fix_enter_frame(r, &at, &b->places[0], k, &why) < 0 ||
			    at.file != x->file ||
			    file_offset(at.file, b->places[0].frames[k].line, 1) > fence->end)
				continue;
			r->outcomes.at[i] = (struct repair_outcome){
				REPAIR_MENDED, "removed, because it came too late", NULL
			};
			group_join(r, x->bug, i);
			break;
		}
	}
}

static bool remove_displaced(struct repair *r, const struct fix *x)
{
	const struct source_unit *u = NULL;
	const struct source_function *main = find_main(r, x->flush_place, &u);
	visits before = { 0 }, after = { 0 };
	size_t nremoved = r->nremoved;
	struct idiom idiom;

	idiom_find(r, x, &idiom);
	if (main && idiom.fence.call && !function_is_passed_on(r, x->function) &&
	    !clone_find(r, x->function, false) && follow_main(r, x, false, u, main, &before) &&
	    follow_main(r, x, true, u, main, &after))
		for (size_t i = 0; i < before.n; i++) {
			const struct visit *v = &before.at[i];
			uint32_t from, to;

			if (!v->is_needed || is_needed(&after, v->fence) ||
			    strcmp(text_of(r->code, x->file, v->call), idiom.fence.call) != 0 ||
			    !stands_alone(x->file, v->fence) ||
			    is_to_be_removed(r, x->file, v->fence))
				continue;
			lines_of(x->file, v->fence, &from, &to);
			file_edit(x->file, from, to - from, "");
			settle_redundant(r, x, v->fence);
			r->nremoved++;
			r->outcomes.at[x->bug].text = text_format(
				r->code,
				"fence added in %s, and the one that came too late removed",
				x->function->name);
		}
	vec_release(&before);
	vec_release(&after);
	return r->nremoved > nremoved;
}

/* Asks whether fix i is the first fix that adds a fence to its function. The others of this
 * function are handled together with it. */
static bool is_first(struct repair *r, size_t i)
{
	const struct fix *x = &r->fixes.at[i];

	for (size_t k = 0; k < i; k++)
		if (r->fixes.at[k].until && !r->fixes.at[k].is_dropped &&
		    r->fixes.at[k].function == x->function)
			return false;
	return true;
}

void late_fences_remove(struct repair *r)
{
	for (size_t i = 0; i < r->fixes.n && !r->options->keeps_redundant; i++) {
		const struct fix *x = &r->fixes.at[i];

		watch_tell(r->options->watch, "fences looked at", i, r->fixes.n);
		if (watch_is_interrupted(r->options->watch))
			return; /* an unnecessary fence is harmless */
		if (x->is_dropped || !x->until || !x->flush_place || x->where != AFTER ||
		    x->needs_flush || !is_first(r, i))
			continue;
		if (remove_displaced(r, x))
			for (size_t k = 0; k < r->fixes.n; k++)
				if (r->fixes.at[k].until && r->fixes.at[k].function == x->function)
					group_join(r, x->bug, r->fixes.at[k].bug);
	}
}
