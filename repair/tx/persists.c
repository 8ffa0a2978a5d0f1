/* Removes persists that a new transaction makes unnecessary, inside the transaction and directly
 * behind it: the commit writes back all that the transaction logs and allocates. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"

/* ---- which persists ---- */

/* Returns the number of the address argument (the length follows it); -1: the call is no
 * persist. */
static int address_argument(const struct source_node *n)
{
	if (n->kind != SOURCE_CALL || !n->name)
		return -1;
	return strcmp(n->name, "pmemobj_persist") == 0 || strcmp(n->name, "pmemobj_flush") == 0 ? 1
	       : strcmp(n->name, "pmem_persist") == 0 || strcmp(n->name, "pmem_flush") == 0     ? 0
											    : -1;
}

static bool is_drain(const struct source_node *n)
{
	return n->kind == SOURCE_CALL && n->name &&
	       (strcmp(n->name, "pmemobj_drain") == 0 || strcmp(n->name, "pmem_drain") == 0);
}

/* Skips blanks, parentheses and "this->", which do not change which memory is meant. */
static const char *skip(const char *p)
{
	while (*p && (isspace((unsigned char)*p) || *p == '(' || *p == ')'))
		p++;
	return strncmp(p, "this->", 6) == 0 ? p + 6 : p;
}

/* Asks whether the texts mean the same memory: they are equal except for what skip() skips; D_RO()
 * and D_RW() are the same. */
static bool same(const char *a, const char *b)
{
	char x, y;

	do {
		a = skip(a);
		b = skip(b);
		if ((strncmp(a, "D_RO", 4) == 0 && strncmp(b, "D_RW", 4) == 0) ||
		    (strncmp(a, "D_RW", 4) == 0 && strncmp(b, "D_RO", 4) == 0)) {
			a += 4;
			b += 4;
		}
		a = skip(a);
		b = skip(b);
		x = *a;
		y = *b;
		a += x != 0;
		b += y != 0;
	} while (x == y && x);
	return x == y;
}

/* Asks whether the length is the size of a number or of a type, and of no structure. */
static bool is_size_of_type(const char *len)
{
	return strncmp(len, "sizeof", 6) == 0 && !strstr(len, "struct") && !strchr(len, '*') &&
	       !strchr(len, '+');
}

static bool is_logged(const struct tx *t, const char *addr, const char *len)
{
	for (size_t i = 0; i < t->logs.n; i++)
		if (!t->logs.at[i].is_foreign && !t->logs.at[i].is_unsure &&
		    same(t->logs.at[i].addr, addr) &&
		    (same(t->logs.at[i].len, len) || (addr[0] == '&' && is_size_of_type(len) &&
						      is_size_of_type(t->logs.at[i].len))))
			return true;
	return false;
}

/* Asks whether the whole object is logged, always before the call, and its name means the same
 * until then. */
static bool is_object_logged(const struct tx *t, const char *object, const struct source_node *call)
{
	for (size_t i = 0; i < t->logs.n; i++) {
		const struct tx_log *l = &t->logs.at[i];
		const struct source_node *until;
		bool is_same = l->is_whole && !l->is_dropped && !l->is_foreign && !l->is_unsure &&
			       l->object && l->x.file == t->x.file && same(l->object, object);

		until = is_same ? tx_way_from(t->x.file, l->stmt, call) : NULL;
		for (const struct source_node *k = l->stmt; until && k != until->next; k = k->next)
			is_same &= !tx_is_changed(k, object);
		if (until && is_same)
			return true;
	}
	return false;
}

/* Asks whether the range is a member, or all, of an object that is logged as a whole. */
static bool is_part_logged(struct repair *r, const struct tx *t, const struct source_node *call,
			   const char *addr, const char *len)
{
	bool is_address = addr[0] == '&';
	const char *place = addr + is_address, *step = strstr(place, "->"),
		   *rest = step ? step + 2 : "";

	if (!step) /* the object itself */
		return !is_address &&
		       (same(len, text_format(r->code, "sizeof(*%s)", addr)) ||
			strncmp(len, "sizeof(struct ", 14) == 0) &&
		       is_object_logged(t, place, call);
	return !strstr(rest, "->") && !strpbrk(rest, "[(") &&
	       (same(len, text_format(r->code, "sizeof(%s)", place)) ||
		(is_address && is_size_of_type(len))) &&
	       is_object_logged(t, text_copy(r->code, place, (size_t)(step - place)), call);
}

/* Asks whether the address is a variable or handle that stands for memory which the transaction
 * allocates. */
static bool is_allocated(struct repair *r, const struct tx *t, const char *addr)
{
	for (size_t i = 0; i < t->allocated.n; i++)
		if (same(addr, t->allocated.at[i].name) ||
		    same(addr, text_format(r->code, "D_RW(%s)", t->allocated.at[i].name)) ||
		    same(addr, text_format(r->code, "D_RO(%s)", t->allocated.at[i].name)))
			return true;
	return false;
}

static bool has_log(const struct tx *t, const struct source_node *store)
{
	for (size_t i = 0; i < t->logs.n; i++)
		if (t->logs.at[i].x.store == store && !t->logs.at[i].is_unsure)
			return true;
	return false;
}

/* Asks whether the node stores to the object, or passes it to someone who may. Logged stores do not
 * count. */
static bool is_changed_by(struct repair *r, const struct tx *t, const char *object,
			  const struct source_node *n)
{
	const char *to =
		node_is_assignment(n) && n->child ? text_of(r->code, t->x.file, n->child) : "";
	const struct source_node *p = n->parent;

	if (has_log(t, n))
		return false;
	if (strncmp(to, object, strlen(object)) == 0 &&
	    (strncmp(to + strlen(object), "->", 2) == 0 || to[strlen(object)] == '['))
		return true;
	for (const struct source_node *a = n->kind == SOURCE_CALL && n->child ? n->child->next
									      : NULL;
	     a; a = a->next)
		if (text_has_word(text_of(r->code, t->x.file, a), object) &&
		    address_argument(n) < 0 &&
		    !(n->name && (strncmp(n->name, "pmemobj_", 8) == 0 ||
				  function_is_pure(t->x.unit, n->name))))
			return true;
	return n->kind == SOURCE_NAME && n->name && strcmp(n->name, object) == 0 && p &&
	       (p->kind == SOURCE_VARIABLE || (node_is_assignment(p) && n == p->last));
}

/* Asks whether, up to `until`, all stores of the function to the object are in the transaction and
 * logged. */
static bool is_all_logged(struct repair *r, const struct tx *t, const char *object, uint32_t until)
{
	const struct source_node *body = t->x.function->body;
	size_t n = 0;

	for (size_t i = 0; i < t->logs.n; i++)
		n += !t->logs.at[i].is_foreign && !t->logs.at[i].is_unsure &&
		     t->logs.at[i].object && same(t->logs.at[i].object, object);
	for (const struct source_node *s = body; n > 0 && s && s->begin < until;
	     s = node_next(s, body))
		if (is_changed_by(r, t, object, s))
			return false;
	/* code that is not compiled now is not seen */
	return n > 0 && !text_has_directive(t->x.file, body->begin, until);
}

static bool is_needless(struct repair *r, const struct tx *t, const struct source_node *call)
{
	int at = address_argument(call);
	const char **args =
		at < 0 ? NULL
		       : text_arguments(r->code, t->x.file, call->text_begin, call->text_end);
	bool is_object;

	if (!args || !args[0] || (at == 1 && !args[1]) || !args[at + 1])
		return false;
	is_object = strncmp(args[at + 1], "sizeof", 6) == 0 &&
		    (same(args[at + 1] + 6, text_format(r->code, "*%s", args[at])) ||
		     strncmp(args[at + 1] + 6, "(struct ", 8) == 0);
	return is_logged(t, args[at], args[at + 1]) ||
	       is_part_logged(r, t, call, args[at], args[at + 1]) || is_allocated(r, t, args[at]) ||
	       (is_object && text_is_identifier(args[at]) &&
		is_all_logged(r, t, args[at], call->begin));
}

/* ---- removing them ---- */

static bool is_whole_statement(const struct tx *t, const struct source_node *n)
{
	return n->parent && n->parent->kind == SOURCE_COMPOUND && node_is_body(t->x.file, n) &&
	       n != t->first && n != t->last && text_begins_line(t->x.file, n->begin) &&
	       !macro_use(t->x.unit, t->x.file->path, n);
}

/* Removes the statement, and a drain behind it that only this persist needs. */
static void take(struct tx *t, const struct source_node *n)
{
	*vec_add(&t->needless) = n;
	if (n->next && is_drain(n->next) && is_whole_statement(t, n->next))
		*vec_add(&t->needless) = n->next;
}

void tx_persists(struct repair *r, struct tx *t)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (tx_holds(t, n) && is_whole_statement(t, n) && is_needless(r, t, n))
			take(t, n);
	for (const struct source_node *n = t->last->next;
	     n && !t->returns_at_end && is_whole_statement(t, n) && is_needless(r, t, n) &&
	     !text_has_directive(t->x.file, t->last->end, n->end);
	     n = n->next)
		take(t, n);
}

bool tx_is_needless(const struct tx *t, const struct source_node *n)
{
	for (size_t i = 0; i < t->needless.n; i++)
		if (t->needless.at[i] == n)
			return true;
	return false;
}
