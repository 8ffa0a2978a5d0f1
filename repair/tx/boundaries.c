/* Finds where a transaction may begin and end. No jump may leave or enter it: for break, continue
 * and goto, the ends move outwards until the jump stays inside; a return is done after the end. A
 * declaration that is used after the end moves before the beginning. The ends also move until each
 * #if between them has its #endif there, or half of the transaction would remain if the condition
 * is false:
 *
 *   for (…) {
 *           a->x = 1;             // the transaction began here,
 *           if (c)
 *                   continue;     // but this leaves it: it grows to the whole loop
 *           a->y = 1;
 *   }
 *
 * Limit: code under other conditions of the preprocessor is not seen. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"
#include "source/source.h"

static bool is_word(const struct tx *t, const struct source_node *n, const char *word)
{
	size_t len = strlen(word);

	return strncmp(t->x.file->text + n->begin, word, len) == 0 &&
	       !isalnum((unsigned char)t->x.file->text[n->begin + len]);
}

/* Returns the loop or switch that a break or continue leaves; NULL: a macro hides it. */
static const struct source_node *jump_leaves(const struct tx *t, const struct source_node *jump)
{
	bool is_break = is_word(t, jump, "break");

	for (const struct source_node *n = jump->parent; n; n = n->parent)
		if (source_is_loop(n) || (is_break && n->kind == SOURCE_SWITCH))
			return n;
	return NULL;
}

/* Moves the ends outwards until n is inside. False: n is not in the function's body. */
static bool widen(struct tx *t, const struct source_node *n)
{
	while (!tx_holds(t, n)) {
		const struct source_node *stmt = n, *outer;

		while (stmt && stmt->parent != t->block)
			stmt = stmt->parent;
		if (stmt) {
			if (stmt->begin < t->first->begin)
				t->first = stmt;
			if (stmt->end > t->last->end)
				t->last = stmt;
			continue;
		}
		for (outer = t->block; outer && outer->parent &&
				       (outer->parent->kind != SOURCE_COMPOUND ||
					t->x.file->text[outer->parent->begin] != '{');)
			outer = outer->parent;
		if (!outer || !outer->parent)
			return false;
		t->first = t->last = outer;
		t->block = outer->parent;
	}
	return true;
}

static const struct source_node *find_label(const struct tx *t, const struct source_node *jump)
{
	const char *name = t->x.file->text + text_skip_blanks(t->x.file, jump->begin + 4);
	size_t len = 0;

	while (isalnum((unsigned char)name[len]) || name[len] == '_')
		len++;
	for (const struct source_node *n = t->x.function->body; n;
	     n = node_next(n, t->x.function->body))
		if (n->kind == SOURCE_LABEL &&
		    strncmp(t->x.file->text + n->begin, name, len) == 0 &&
		    !isalnum((unsigned char)t->x.file->text[n->begin + len]) &&
		    t->x.file->text[n->begin + len] != '_')
			return n;
	return NULL;
}

/* ---- jumps ---- */

static int check_jump(struct repair *r, struct tx *t, const struct source_node *n, bool *is_changed)
{
	bool is_goto = is_word(t, n, "goto"), is_inside = tx_holds(t, n);
	const struct source_node *target;

	if (macro_use(t->x.unit, t->x.file->path, n))
		return 0; /* a jump of the transaction's own macros stays inside */
	target = is_goto ? find_label(t, n) : jump_leaves(t, n);
	if (is_goto && !target)
		is_inside = tx_holds(t, n);
	if (!target && is_inside) {
		t->why = text_format(r->code, "line %u jumps out of the transaction", n->line);
		return -1;
	}
	if (!target || is_inside == tx_holds(t, target))
		return 0;
	if (!is_goto && !is_inside)
		return 0; /* a jump around the transaction, in a loop that contains both */
	*is_changed = true;
	if (widen(t, is_inside ? target : n))
		return 0;
	t->why = text_format(r->code, "line %u jumps out of the transaction", n->line);
	return -1;
}

static bool is_long_jump(const struct source_node *n)
{
	static const char *const names[] = { "longjmp", "siglongjmp", "_longjmp" };

	for (size_t i = 0; n->kind == SOURCE_CALL && n->name && i < sizeof names / sizeof *names;
	     i++)
		if (strcmp(n->name, names[i]) == 0)
			return true;
	return false;
}

/* Asks whether n is a `case` in the transaction whose switch is outside: control would enter in the
 * middle. *around is the switch. */
static bool is_entry(const struct tx *t, const struct source_node *n,
		     const struct source_node **around)
{
	if (n->kind != SOURCE_LABEL || !tx_holds(t, n) ||
	    !(is_word(t, n, "case") || is_word(t, n, "default")))
		return false;
	for (*around = n->parent; *around && (*around)->kind != SOURCE_SWITCH;)
		*around = (*around)->parent;
	return *around && !tx_holds(t, *around);
}

/* Asks whether the node throws an exception, which would leave the transaction open. */
static bool is_throw(const struct tx *t, const struct source_node *n)
{
	return t->x.unit->is_cplusplus && !t->wrapper && n->kind == SOURCE_EXPR &&
	       is_word(t, n, "throw") && !node_is_in_lambda(n);
}

static int close_jumps(struct repair *r, struct tx *t)
{
	const struct source_node *around;

	bool is_changed = true;

	while (is_changed) {
		is_changed = false;
		for (const struct source_node *n = t->x.function->body; n && !is_changed;
		     n = node_next(n, t->x.function->body)) {
			if (n->kind == SOURCE_JUMP && !node_is_in_lambda(n) &&
			    check_jump(r, t, n, &is_changed) < 0)
				return -1;
			if (is_entry(t, n, &around))
				is_changed = widen(t, around);
			if (is_long_jump(n) && tx_holds(t, n) &&
			    !macro_use(t->x.unit, t->x.file->path, n)) {
				t->why = text_format(r->code,
						     "line %u may jump out of the transaction",
						     n->line);
				return -1;
			}
			if (is_throw(t, n) && tx_holds(t, n)) {
				t->why = text_format(
					r->code,
					"line %u throws an exception out of the transaction",
					n->line);
				return -1;
			}
		}
	}
	return 0;
}

/* ---- declarations ---- */

static bool is_used_after(const struct tx *t, const char *name)
{
	for (const struct source_node *s = t->last->next; s; s = s->next)
		for (const struct source_node *n = s; n; n = node_next(n, s))
			if (n->kind == SOURCE_NAME && n->name && strcmp(n->name, name) == 0)
				return true;
	return false;
}

static const struct source_node *last_use(const struct tx *t, const char *name)
{
	const struct source_node *last = t->last;

	for (const struct source_node *s = t->last->next; s; s = s->next)
		for (const struct source_node *n = s; n; n = node_next(n, s))
			if (n->kind == SOURCE_NAME && n->name && strcmp(n->name, name) == 0)
				last = s;
	return last;
}

/* Splits a declaration: T name; before the transaction, and name = value; inside. */
static bool split_declaration(struct repair *r, struct tx *t, const struct source_node *d)
{
	const struct source_node *v = d->child;
	const char *text = t->x.file->text, *equals, *name;
	uint32_t end = statement_end(t->x.file, d);

	if (!v || v != d->last || v->kind != SOURCE_VARIABLE || !v->name || !v->type ||
	    v->is_array || v->is_reference || strstr(v->type, "const") ||
	    macro_use(t->x.unit, t->x.file->path, d) || is_word(t, d, "static"))
		return false;
	equals = memchr(text + d->begin, '=', end - d->begin);
	if (!equals || text[text_skip_blanks(t->x.file, (uint32_t)(equals - text) + 1)] == '{')
		return false;
	for (name = equals; name > text + d->begin && isspace((unsigned char)name[-1]);)
		name--;
	name -= strlen(v->name);
	if (name <= text + d->begin || strncmp(name, v->name, strlen(v->name)) != 0)
		return false;
	*vec_add(&t->declarations) =
		text_format(r->code, "%s;",
			    text_copy(r->code, text + d->begin,
				      (size_t)(name - text) + strlen(v->name) - d->begin));
	*vec_add(&t->changes) = (struct tx_change){ d->begin, (uint32_t)(name - text), "" };
	return true;
}

static int keep_declarations(struct repair *r, struct tx *t, bool *is_changed)
{
	t->changes.n = t->declarations.n = 0;
	for (const struct source_node *d = t->first;; d = d->next) {
		for (const struct source_node *v = d->kind == SOURCE_DECL ? d->child : NULL; v;
		     v = v->next) {
			if (v->kind != SOURCE_VARIABLE || !v->name || !is_used_after(t, v->name))
				continue;
			if (split_declaration(r, t, d))
				break;
			t->last = last_use(t, v->name);
			*is_changed = true;
			return 0;
		}
		if (d == t->last)
			break;
	}
	return 0;
}

/* ---- output and locks ---- */

static bool is_output(const struct source_unit *u, const struct source_node *call, unsigned depth)
{
	const struct source_function *f =
		call->name && depth > 0 ? function_named(u, call->name) : NULL;

	if (call_is_output(call))
		return true;
	for (const struct source_node *n = f ? f->body : NULL; n; n = node_next(n, f->body))
		if (n->kind == SOURCE_CALL && is_output(u, n, depth - 1))
			return true;
	return false;
}

/* Refuses output inside, which would tell of data that is not durable yet, and the release of a
 * lock inside, after which others could change what an abort undoes. */
static int check_calls(struct repair *r, struct tx *t)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n && !t->why; n = node_next(n, body)) {
		if (n->kind != SOURCE_CALL || !tx_holds(t, n))
			continue;
		if (is_output(t->x.unit, n, 3))
			t->why = text_format(
				r->code,
				"line %u, which would be in the transaction, outputs data that is not durable before its end",
				n->line);
		else if (n->name && strstr(n->name, "unlock"))
			t->why = text_format(
				r->code,
				"line %u, which would be in the transaction, releases a lock before its end",
				n->line);
	}
	return t->why ? -1 : 0;
}

/* ---- conditional compilation ---- */

enum balance {
	BALANCED,
	BEGINS_INSIDE, /* the transaction begins under a condition that ends inside it */
	ENDS_INSIDE,
};

static bool is_directive(const char *line, const char *word)
{
	line += strspn(line, " \t");
	if (*line != '#')
		return false;
	line += 1 + strspn(line + 1, " \t");
	return strncmp(line, word, strlen(word)) == 0;
}

static enum balance balance_of(const struct tx *t)
{
	const struct file *f = t->x.file;
	int depth = 0;

	for (uint32_t at = text_line_end(f, t->first->begin) + 1; at < t->last->begin;
	     at = text_line_end(f, at) + 1) {
		const char *line = f->text + at;

		if (depth == 0 && (is_directive(line, "el") || is_directive(line, "endif")))
			return BEGINS_INSIDE;
		depth += is_directive(line, "if");
		depth -= is_directive(line, "endif");
	}
	return depth > 0 ? ENDS_INSIDE : BALANCED;
}

static const struct source_node *statement_before(const struct tx *t)
{
	const struct source_node *n = t->block->child;

	while (n && n->next != t->first)
		n = n->next;
	return n;
}

static int close_conditions(struct repair *r, struct tx *t, bool *is_changed)
{
	enum balance b;

	while ((b = balance_of(t)) != BALANCED) {
		const struct source_node *n =
			b == BEGINS_INSIDE ? statement_before(t) : t->last->next;

		if (!n) {
			t->why = text_format(
				r->code,
				"line %u is compiled only under a condition, so part of the transaction would be, too",
				b == BEGINS_INSIDE ? t->first->line : t->last->line);
			return -1;
		}
		*(b == BEGINS_INSIDE ? &t->first : &t->last) = n;
		*is_changed = true;
	}
	return 0;
}

int tx_set_boundaries(struct repair *r, struct tx *t)
{
	bool is_changed = !t->is_there;

	while (is_changed) {
		is_changed = false;
		if (close_jumps(r, t) < 0 || close_conditions(r, t, &is_changed) < 0 ||
		    keep_declarations(r, t, &is_changed) < 0)
			return -1;
	}
	return t->is_there ? 0 : check_calls(r, t) < 0 ? -1 : tx_redirect_returns(r, t);
}
