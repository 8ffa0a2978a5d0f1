/* Moves an existing log that comes after the first store to its range: it is put before that store.
 * This is done only if the log means the same there, and is always executed after the store. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"

/* Asks whether the texts are equal, except for blanks. */
static bool same(const char *a, const char *b)
{
	while (a && b) {
		while (isspace((unsigned char)*a))
			a++;
		while (isspace((unsigned char)*b))
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
		a++;
		b++;
	}
	return false;
}

/* Asks whether `outer` contains `member`: "items" contains "items[3].key". */
static bool holds_member(const char *outer, const char *member)
{
	size_t len = strlen(outer);

	return member && (same(outer, member) || (strncmp(outer, member, len) == 0 &&
						  (member[len] == '.' || member[len] == '[')));
}

static bool is_size_of_object(struct repair *r, const char *len, const char *object)
{
	return same(len, text_format(r->code, "sizeof(*%s)", object)) ||
	       same(len, text_format(r->code, "sizeof *%s", object)) ||
	       strncmp(len, "sizeof(struct ", 14) == 0;
}

bool tx_add_call_covers(struct repair *r, const struct tx_add_call *c, const struct tx_log *l)
{
	const char *first = c->args[c->how.first],
		   *second = c->nargs > 1 ? c->args[c->how.second] : "";
	const char *lvalue = l->lvalue ? l->lvalue : "";

	switch (c->how.form) {
	case FORM_OBJECT: return same(first, l->handle);
	case FORM_FIELD: return same(first, l->handle) && holds_member(second, l->member);
	case FORM_MEMBER: return same(first, l->object) && holds_member(second, l->member);
	case FORM_POINTER:
		return same(first, l->object) || same(first, text_format(r->code, "&%s", lvalue)) ||
		       same(first, l->addr);
	case FORM_LVALUE:
		return same(first, lvalue) ||
		       (l->object && same(first, text_format(r->code, "*%s", l->object)));
	case FORM_RANGE:
		return (same(first, l->addr) && same(second, l->len)) ||
		       (l->object && l->member && same(first, l->object) &&
			is_size_of_object(r, second, l->object)) ||
		       (same(first, text_format(r->code, "&%s", lvalue)) &&
			strncmp(second, "sizeof", 6) == 0);
	case FORM_HANDLE: return same(first, tx_log_oid(r, l)) && same(c->args[1], "0");
	}
	return false;
}

/* Returns the statement that consists of this call; NULL: the call is part of another statement. */
static const struct source_node *statement_of(const struct tx_log *l, const struct tx_add_call *c)
{
	const struct source_node *body = l->x.function->body;

	for (const struct source_node *n = body; n && text_semicolon(l->x.file, c->end);
	     n = node_next(n, body))
		if (n->begin == c->begin && n->end == c->end && n->parent &&
		    n->parent->kind == SOURCE_COMPOUND)
			return n;
	return NULL;
}

/* Asks whether, after the store, the function always reaches the log. */
static bool is_come_to(const struct tx_log *l, const struct source_node *from)
{
	for (const struct source_node *n = from; n; n = node_next(n, from))
		if ((n->kind == SOURCE_RETURN || n->kind == SOURCE_JUMP) &&
		    n->begin > l->x.store->begin)
			return false;
	return true;
}

/* Asks whether the log may move: from statement `from` to the log, nothing that the log names is
 * changed or declared, and no label lets control enter. */
static bool may_move(const struct tx_log *l, const struct source_node *from,
		     const struct source_node *log, const char *text, const char *argument)
{
	for (const struct source_node *s = from; s != log; s = s->next)
		if (!s->next || s->next->kind == SOURCE_LABEL || s->kind == SOURCE_RETURN ||
		    tx_is_changed(s, text) || expression_may_change(l->x.unit, s, argument))
			return false;
	return is_come_to(l, from) && !text_has_directive(l->x.file, from->begin, log->begin) &&
	       tx_is_still_open(l->x.unit, l->x.function, from, log);
}

bool tx_log_move(struct repair *r, const struct tx_add_calls *all, struct tx_log *l)
{
	for (size_t i = 0; i < all->list.n; i++) {
		const struct tx_add_call *c = &all->list.at[i];
		const struct source_node *log = c->begin > l->stmt->end &&
								c->end < l->x.function->end &&
								tx_add_call_covers(r, c, l)
							? statement_of(l, c)
							: NULL,
					 *from = l->stmt;
		const char *text =
			text_copy(r->code, l->x.file->text + c->begin, c->end - c->begin);

		while (log && from && from->parent != log->parent)
			from = from->parent;
		if (!log || !from || !may_move(l, from, log, text, c->args[c->how.first]))
			continue;
		l->moved = log;
		l->stmt = from;
		l->text = text;
		return true;
	}
	return false;
}
