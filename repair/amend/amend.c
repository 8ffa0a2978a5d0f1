/* Changes an existing flush that was meant for the store but does not cover it. No other flush is
 * written then. The flush may be behind the store that publishes the object, have a length that
 * leaves the store out, call a helper that flushes too little, or be behind the loop that stores.
 * So it is moved, made longer, or its helper is corrected.
 *
 *   e->key = k;                     // the store
 *   flush(&e->value, sizeof e->value);      -> flush(e, sizeof *e)
 *
 * That the flush does not cover the store is not proved by the source but by the report: the flush
 * is behind the store on every path and begins at the same object, and still the store was not
 * flushed. */
#include "repair/amend/amend.h"

#include <ctype.h>
#include <string.h>

#include "repair/amend/internal.h"

enum { CALLERS_MAX = 3, STATEMENTS_MAX = 100 };

/* The place of the store, or of the call that leads to it, in one function. */
struct spot {
	struct fix at;
	const struct source_node *stmt; /* the statement in its block */
	/* the later store or answer that must not come before the flush; NULL: it is in another
	 * function */
	const struct source_node *published;
	bool is_sure; /* whoever reaches the statement does execute the store */
};

static const struct source_node *statement_of(const struct source_node *n)
{
	while (n && n->parent && n->parent->kind != SOURCE_COMPOUND)
		n = n->parent;
	return n && n->parent ? n : NULL;
}

/* Returns the statement of this function that leads to place p: the one on p's call path that is in
 * this function. NULL: none. */
static const struct source_node *published_in(struct repair *r, const struct fix *at,
					      const struct repair_place *p)
{
	for (size_t i = 0; i < p->nframes; i++) {
		const char *path =
			p->frames[i].file ? file_resolve(r->code, p->frames[i].file) : NULL;
		const struct source_node *found = NULL;

		if (!path || strcmp(path, at->file->path) != 0 ||
		    p->frames[i].line < at->function->line ||
		    p->frames[i].line > at->function->end_line)
			continue;
		for (const struct source_node *n = at->function->body; n;
		     n = node_next(n, at->function->body))
			if (n->parent && n->parent->kind == SOURCE_COMPOUND &&
			    n->line <= p->frames[i].line)
				/* the last and innermost statement that begins at or before that
				 * line */
				found = n;
		return found;
	}
	return NULL;
}

static bool publishes(const struct repair_place *p)
{
	return p->role &&
	       (strcmp(p->role, "survived") == 0 || strcmp(p->role, "acknowledged") == 0);
}

static const struct source_node *first_published(struct repair *r, const struct fix *at,
						 const struct source_node *stmt)
{
	const struct repair_bug *b = r->bugs.at[at->bug];
	const struct source_node *first = NULL;

	for (size_t i = 0; i < b->nplaces; i++) {
		const struct source_node *n =
			publishes(&b->places[i]) ? published_in(r, at, &b->places[i]) : NULL;

		if (n && n->begin > stmt->begin && (!first || n->begin < first->begin))
			first = n;
	}
	return first;
}

/* ---- lengths ---- */

/* Asks whether the length consists of sizes and constants, so that it is always the same and meant
 * for an object. A bare number may be meant for a line. */
static bool is_fixed(const char *len)
{
	bool has_size = false;

	for (const char *p = len; *p;) {
		size_t n = 0;
		bool is_constant = true;

		while (isalnum((unsigned char)p[n]) || p[n] == '_') {
			is_constant &= !islower((unsigned char)p[n]);
			n++;
		}
		if ((n == 6 && strncmp(p, "sizeof", n) == 0) ||
		    (n == 8 && strncmp(p, "offsetof", n) == 0)) {
			int depth = 0;

			has_size = true;
			p += n + strspn(p + n, " ");
			do {
				depth += *p == '(' || *p == '['   ? 1
					 : *p == ')' || *p == ']' ? -1
								  : 0;
				p++;
			} while (*p &&
				 (depth > 0 || isalnum((unsigned char)*p) || strchr("_.>-[*", *p)));
			continue;
		}
		if (n && !is_constant && !isdigit((unsigned char)*p))
			return false;
		p += n ? n : 1;
	}
	return has_size;
}

static bool value_of(const struct source_node *n, int64_t *value)
{
	int64_t a, b;

	while (n->kind == SOURCE_EXPR && n->child && n->child == n->last && !n->has_value)
		n = n->child;
	if (n->has_value) {
		*value = n->value;
		return true;
	}
	if (n->kind != SOURCE_BINARY || !n->child || !value_of(n->child, &a) ||
	    !value_of(n->last, &b) || !strchr("+-*", n->op[0]) || n->op[1])
		return false;
	*value = n->op[0] == '+' ? a + b : n->op[0] == '-' ? a - b : a * b;
	return true;
}

/* Returns the length of the flush in bytes; -1: unknown. */
static int64_t length_of(const struct source_node *stmt, const struct idiom_flush *f)
{
	int64_t value;

	for (const struct source_node *n = stmt; n; n = node_next(n, stmt))
		if (n->text_begin == f->len_begin && n->text_end == f->len_end &&
		    value_of(n, &value))
			return value;
	return -1;
}

static bool covers(struct repair *r, const struct source_node *stmt, const struct idiom_flush *f,
		   const struct object *o)
{
	int64_t len = f->len ? length_of(stmt, f) : -1;

	if (!f->len || strcmp(text_bare(r, f->len), text_bare(r, o->size)) == 0)
		return true;
	return len >= 0 &&
	       ((o->bytes && len >= o->bytes) || (o->span && len >= o->offset + o->span));
}

/* Asks whether the length is the size of the object's first member. Then the flush is right for
 * that member. */
static bool is_of_member(struct repair *r, const struct idiom_flush *f)
{
	const char *len = text_bare(r, f->len), *addr = text_bare(r, f->addr);

	if (strncmp(len, "sizeof", 6) != 0 || strpbrk(len, "+*/"))
		return false;
	len += 6;
	addr += addr[0] == '&';
	return strncmp(len, addr, strlen(addr)) == 0 &&
	       (len[strlen(addr)] == '.' || strncmp(len + strlen(addr), "->", 2) == 0);
}

/* Returns the length that also covers the store; NULL: this flush is not too short. */
static const char *longer(struct repair *r, const struct fix *x, const struct source_node *stmt,
			  const struct idiom_flush *f, const struct object *o)
{
	int64_t len = f->len ? length_of(stmt, f) : -1;

	if (!f->len || !is_fixed(f->len) || is_of_member(r, f))
		return NULL;
	if (x->range.tail && x->range.base &&
	    strcmp(text_bare(r, x->range.base), text_bare(r, o->addr)) == 0)
		return covers(r, stmt, f, o)
			       ? text_format(r->code, "%s + %s", f->len, x->range.tail)
			       : NULL;
	if (covers(r, stmt, f, o) || (len >= 0 && o->bytes && len >= o->bytes))
		return NULL;
	return emit_in_style(r, x->file, o->size);
}

/* Like longer(), for a flush that begins at the stored address. For example, returns n + 1 if the
 * flush has the length n, and the store the length n + 1. */
static const char *longer_text(struct repair *r, const struct fix *x, const struct idiom_flush *f)
{
	const char *is = f->len ? text_bare(r, f->len) : NULL,
		   *wanted = x->range.len ? text_bare(r, x->range.len) : NULL;
	bool is_pointer = is && strncmp(is, "sizeof", 6) == 0 && text_is_identifier(is + 6) &&
			  strcmp(is + 6, text_bare(r, x->range.addr)) == 0;

	if (!is || !wanted || strcmp(text_bare(r, f->addr), text_bare(r, x->range.addr)) != 0 ||
	    strcmp(is, wanted) == 0)
		return NULL;
	if (is_pointer || (text_is_identifier(is) && text_has_word(wanted, is)) ||
	    (strncmp(wanted, is, strlen(is)) == 0 && wanted[strlen(is)] == '+'))
		return emit_in_style(r, x->file, x->range.len);
	return NULL;
}

/* ---- finding the flush ---- */

/* Finds a planned change of the same flush or the same helper; NULL: none. */
static struct amendment *amendment_like(struct repair *r, const struct amendment *a)
{
	for (size_t i = 0; i < r->durability->amendments.n; i++) {
		struct amendment *b = &r->durability->amendments.at[i];

		if ((b->at.file == a->at.file && b->at.stmt->begin == a->at.stmt->begin) ||
		    (a->how == AMEND_HELPER && b->how == AMEND_HELPER &&
		     b->helper_file == a->helper_file && b->mend.at == a->mend.at))
			return b;
	}
	return NULL;
}

/* Plans to correct the helper. If that is impossible, the bug is left: once the user corrects the
 * helper, no other flush is needed. */
static bool mend_helper(struct repair *r, struct amendment *a)
{
	a->how = AMEND_HELPER;
	a->helper_file = file_open(r->code, a->flush.helper->file);
	if (a->helper_file &&
	    idiom_mend_short(r, a->flush.helper_unit, a->flush.helper, &a->mend) &&
	    !(r->options->root && !path_is_below(a->helper_file->path, r->options->root)))
		return true;
	r->failures.at[a->bug] = text_format(
		r->code, "%s leaves out the last line of a range that begins inside a line; fix it",
		a->flush.helper->name);
	r->has_new_failures = true;
	return false;
}

/* Asks whether a variable of the expression may change between the store and the flush, also by a
 * loop around the store. */
static bool is_changed(const struct spot *s, const struct source_node *flush,
		       const char *expression)
{
	uint32_t from = s->stmt->begin;

	for (const struct source_node *n = s->stmt;
	     n && !(n->begin <= flush->begin && flush->end <= n->end); n = n->parent)
		if (n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE || n->kind == SOURCE_DO)
			from = n->begin;
	return is_changed_between(s->at.function, from, flush->begin, expression);
}

/* Asks whether the flush was meant for the store, and sets how the flush must be changed. is_late:
 * the flush is behind the store that publishes the object. */
static bool is_meant(struct repair *r, const struct fix *x, const struct spot *s,
		     const struct objects *o, bool is_late, struct amendment *a)
{
	const struct idiom_flush *f = &a->flush;

	for (size_t i = 0; f->addr && i < o->n; i++) {
		const struct object *at = &o->at[i];

		if (strcmp(text_bare(r, f->addr), text_bare(r, at->addr)) != 0 ||
		    is_changed(s, a->at.stmt, at->addr))
			continue;
		if (f->is_short && !is_late && (!is_fixed(f->len) || covers(r, a->at.stmt, f, at)))
			return mend_helper(r, a);
		if (f->is_short)
			return false;
		if (is_late)
			return covers(r, a->at.stmt, f, at) &&
			       amend_move(r, a, s->stmt, s->published, at);
		a->how = AMEND_WIDEN;
		a->len = longer(r, x, a->at.stmt, f, at);
		if (a->len)
			return true;
	}
	if (!f->addr || is_late || f->is_short || s->at.function != x->function ||
	    is_changed(s, a->at.stmt, x->range.addr))
		return false;
	a->how = AMEND_WIDEN;
	a->len = longer_text(r, x, f);
	return a->len != NULL && !is_changed(s, a->at.stmt, a->len);
}

/* Returns the statement that is always executed next; NULL: there is none. */
static const struct source_node *next_statement(const struct source_node *n)
{
	while (n->parent && !(n->parent->kind == SOURCE_COMPOUND && n->next)) {
		if (n->parent->kind == SOURCE_LABEL || n->parent->kind == SOURCE_SWITCH ||
		    n->parent->kind == SOURCE_LAMBDA)
			return NULL;
		n = n->parent;
	}
	n = n->parent ? n->next : NULL;
	return n && n->kind != SOURCE_RETURN && n->kind != SOURCE_JUMP && n->kind != SOURCE_LABEL
		       ? n
		       : NULL;
}

/* For `if (pm) flush(…)` in a file whose flushes all have this test, returns the flush, otherwise
 * the statement itself. */
static const struct source_node *without_guard(struct repair *r, const struct fix *at,
					       const struct source_node *n)
{
	const struct source_node *then = n->kind == SOURCE_IF && n->child ? n->child->next : NULL,
				 *body = then && then->kind == SOURCE_COMPOUND ? then->child : then;
	struct idiom i;

	if (!body || then->next || then != n->last)
		return n;
	idiom_find(r, at, &i);
	for (size_t k = 0; k < 2; k++) {
		const char *guard = k ? i.persist.guard : i.flush.guard;

		if (guard && strncmp(at->file->text + n->begin, guard, strlen(guard)) == 0)
			return body;
	}
	return n;
}

static bool look_behind(struct repair *r, const struct fix *x, const struct spot *s,
			const struct objects *o, struct amendment *a)
{
	const struct source_node *n = s->stmt;
	bool is_late = false;

	for (unsigned i = 0; i < STATEMENTS_MAX && (n = next_statement(n)); i++) {
		*a = (struct amendment){ .bug = x->bug, .at = s->at, .is_sure = s->is_sure };
		is_late |= s->published && n->begin >= s->published->begin;
		a->at.stmt = is_late ? n : without_guard(r, &s->at, n);
		if (idiom_flush_at(r, s->at.unit, s->at.file, a->at.stmt, &a->flush) &&
		    is_meant(r, x, s, o, is_late, a))
			return true;
		if (node_publishes(r->code, s->at.unit, s->at.file, n))
			return false;
	}
	return false;
}

/* Looks for the flush in the function that stores, then in its callers. */
static bool find(struct repair *r, const struct fix *x, struct amendment *a,
		 const struct source_node **store)
{
	struct spot s = { .at = *x, .stmt = statement_of(x->stmt) };
	struct objects o;
	const char *why;

	objects_of_store(r, x, &o);
	s.is_sure = s.stmt && node_is_sure(x->store, s.stmt);
	for (size_t i = 0; s.stmt && i <= CALLERS_MAX; i++) {
		const struct source_function *callee = s.at.function;
		const struct source_node *call;

		*store = s.stmt;
		s.published = first_published(r, &s.at, s.stmt);
		if (look_behind(r, x, &s, &o, a))
			return true;
		*a = (struct amendment){ .bug = x->bug, .at = s.at };
		if (amend_scope(r, a, s.stmt, s.published, &o))
			return true;
		if (s.published || x->frame + i + 1 >= x->place->nframes)
			return false; /* what callers do comes later than that */
		call = call_of_frame(r, &s.at, x->place, x->frame + i + 1, callee->name, &why);
		if (!call || !objects_leave(r, &o, callee, &s.at, call))
			return false;
		s.is_sure &= node_is_sure(s.stmt, callee->body) &&
			     node_is_sure(call, statement_of(call));
		s.stmt = statement_of(call);
	}
	return false;
}

/* ---- planning ---- */

static const char *what_was_done(struct repair *r, const struct amendment *a)
{
	switch (a->how) {
	case AMEND_WIDEN:
		return text_format(r->code, "the flush in line %u widened", a->at.stmt->line);
	case AMEND_MOVE:
		return text_format(r->code, "the flush in line %u moved", a->at.stmt->line);
	case AMEND_HELPER:
		return text_format(r->code,
				   a->flush.is_short
					   ? "%s now flushes the last line, too"
					   : "%s now flushes all lines of what it is given",
				   a->flush.helper->name);
	case AMEND_REPLACE:
		return text_format(r->code, "flush added in %s, instead of the one in line %u",
				   a->at.function->name, a->at.stmt->line);
	}
	return NULL;
}

/* Adds the change, unless another bug has it already. False: another change of the same flush is
 * planned. */
static bool agree(struct repair *r, const struct amendment *a)
{
	struct amendment *there = amendment_like(r, a);

	if (!there) {
		*vec_add(&r->durability->amendments) = *a;
		return true;
	}
	if (there->how != a->how || (a->how == AMEND_WIDEN && strcmp(there->len, a->len) != 0))
		return false;
	group_join(r, there->bug, a->bug);
	there->needs_fence |= a->needs_fence;
	if (a->how == AMEND_MOVE && a->behind->begin > there->behind->begin)
		there->behind = a->behind;
	return true;
}

static bool amend(struct repair *r, struct fix *x)
{
	const struct source_node *store;
	struct amendment a;

	if (!x->needs_flush || !x->place || !x->range.addr || x->is_extra)
		return false;
	if (amend_named_helper(r, x, &a)) { /* the trial showed that only the flush is missing */
		if (!agree(r, &a))
			return false;
		x->is_dropped = true;
	} else if (r->failures.at[x->bug]) {
		return false;
	} else if (find(r, x, &a, &store)) {
		bool has_fence = a.flush.does & DOES_FENCE || !x->needs_fence;

		a.needs_fence = !has_fence;
		if ((a.how != AMEND_WIDEN && a.how != AMEND_HELPER) || has_fence) {
			if (!agree(r, &a))
				return false;
			x->is_dropped = true;
		} else {
			struct fix fence = { .bug = x->bug,
					     .unit = a.at.unit,
					     .function = a.at.function,
					     .file = a.at.file,
					     .where = AFTER,
					     .store = a.at.stmt,
					     .stmt = a.at.stmt,
					     .needs_fence = true };

			if (!agree(r, &a))
				return false;
			*x = fence;
		}
	} else if (!amend_loop(r, x, &a) || !agree(r, &a)) {
		return false;
	} else {
		x->place = NULL; /* it stays in the loop */
		x->is_dropped = a.how == AMEND_WIDEN;
	}
	r->outcomes.at[x->bug].text = what_was_done(r, &a);
	return true;
}

void amend_fixes(struct repair *r)
{
	size_t n = 0;

	if (r->options->flush_call || r->options->is_page_cache)
		return; /* the user's own call is to be written, and syncs are not changed */
	for (size_t i = 0; i < r->fixes.n; i++) {
		amend(r, &r->fixes.at[i]);
		if (!r->fixes.at[i].is_dropped)
			r->fixes.at[n++] = r->fixes.at[i];
	}
	r->fixes.n = n;
}
