/* Finds address and length of a store as expressions that can be evaluated before its statement. */
#include <string.h>

#include "repair/tx/internal.h"

/* ---- whether an expression can be evaluated before the statement ---- */

static bool is_postfix_step(const struct source_node *n)
{
	return n->kind == SOURCE_UNARY && n->op[0] == 'x';
}

static bool is_repeatable(const struct source_unit *u, const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		if ((node_is_assignment(n) && !is_postfix_step(n)) || n->kind == SOURCE_ASM ||
		    n->kind == SOURCE_LAMBDA)
			return false;
		if (n->kind == SOURCE_CALL && (!n->name || !function_is_pure(u, n->name)))
			return false;
	}
	return true;
}

/* Asks whether the statement changes a variable on which the place depends, before it stores. The
 * i++ in a[i++] = v does not count, since the range is written as a[i]. */
static bool is_moved(const struct source_node *stmt, const struct source_node *place)
{
	for (const struct source_node *n = place; n; n = node_next(n, place)) {
		if (n->kind != SOURCE_NAME || !n->name)
			continue;
		for (const struct source_node *m = stmt; m; m = node_next(m, stmt)) {
			bool is_own_step = is_postfix_step(m) && place->begin <= m->begin &&
					   m->end <= place->end;

			if (node_is_assignment(m) && m->child && m->child->kind == SOURCE_NAME &&
			    m->child->name && strcmp(m->child->name, n->name) == 0 && !is_own_step)
				return true;
		}
	}
	return false;
}

/* Returns the text of the place without its ++ and -- steps. */
static const char *text_before(struct repair *r, const struct file *f,
			       const struct source_node *place)
{
	const char *text = text_copy(r->code, "", 0);
	uint32_t from = place->text_begin;

	for (const struct source_node *n = place; n; n = node_next(n, place))
		if (is_postfix_step(n) && n->child && n->text_begin >= from &&
		    n->text_end <= place->text_end) {
			text = text_format(
				r->code, "%s%s", text,
				text_copy(r->code, f->text + from, n->child->text_end - from));
			from = n->text_end;
		}
	return text_format(r->code, "%s%s", text,
			   text_copy(r->code, f->text + from, place->text_end - from));
}

/* Asks whether some node of `top` declares or assigns a variable of the expression. */
bool tx_is_changed(const struct source_node *top, const char *expression)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		const char *name =
			n->kind == SOURCE_VARIABLE ? n->name
			: node_is_assignment(n) && n->child && n->child->kind == SOURCE_NAME
				? n->child->name
				: NULL;

		if (name && text_has_word(expression, name))
			return true;
	}
	return false;
}

/* ---- ranges ---- */

void tx_set_range(struct repair *r, struct tx_log *l, const char *lvalue)
{
	l->lvalue = lvalue;
	if (lvalue[0] == '*' && text_is_postfix(lvalue + 1)) {
		l->addr = text_copy(r->code, lvalue + 1, strlen(lvalue + 1));
		l->len = text_format(r->code, "sizeof(%s)", lvalue);
		return;
	}
	l->addr = text_format(r->code, text_is_postfix(lvalue) ? "&%s" : "&(%s)", lvalue);
	l->len = text_format(r->code, "sizeof(%s)", lvalue);
}

static void fill_sizes(struct tx_log *l, const struct source_node *place)
{
	if (place->kind != SOURCE_MEMBER || !place->is_arrow || !place->child)
		return;
	l->member_bytes = place->size_bytes;
	l->object_bytes = place->child->target_bytes;
}

static int range_of_lvalue(struct repair *r, struct tx_log *l, const char **why)
{
	const struct source_node *place = l->x.store->child;
	const struct source_use *use = macro_use(l->x.unit, l->x.file->path, place);
	bool is_written = !use || (place->text_begin > use->begin && place->text_end < use->end) ||
			  (place->text_begin == use->begin && place->text_end == use->end &&
			   place->kind != SOURCE_NAME && l->x.store->end > use->end);
	const char *text;

	while (place->kind == SOURCE_EXPR && place->child && place->child == place->last && !use)
		place = place->child;
	/* the value of the macro is the place */
	if (use && place->begin == use->begin && place->end == use->end &&
	    l->x.store->end > use->end)
		text = text_copy(r->code, l->x.file->text + use->begin, use->end - use->begin);
	else
		text = is_written ? text_before(r, l->x.file, place)
				  : macro_lvalue(r->code, l->x.unit, l->x.file, use);
	if (!text) {
		*why = text_format(r->code, "macro %s does not let its left side be seen",
				   use->name);
		return -1;
	}
	if (!is_repeatable(l->x.unit, place) || is_moved(l->stmt, place)) {
		*why = text_format(r->code, "'%s' cannot be evaluated before line %u", text,
				   l->stmt->line);
		return -1;
	}
	if (place->is_bitfield && place->child && is_written) {
		const char *base = text_before(r, l->x.file, place->child);

		tx_set_range(r, l,
			     place->is_arrow
				     ? text_format(r->code, text_is_postfix(base) ? "*%s" : "*(%s)",
						   base)
				     : base);
		return 0;
	}
	tx_set_range(r, l, text);
	if (place->kind == SOURCE_SUBSCRIPT && place->child &&
	    place->child->kind == SOURCE_MEMBER && place->child->is_array)
		l->array_bytes = place->child->size_bytes;
	fill_sizes(l, place);
	if (place->is_volatile)
		/* no function takes a volatile pointer */
		l->addr = text_format(r->code, "(void *)%s", l->addr);
	return 0;
}

/* Functions that write: which argument is the address, and which the length. */
static const struct writer {
	const char *name;
	int to, len; /* numbers of arguments; len -1: length of the string `from`, plus 1 */
	int from;
} writers[] = {
	{ "memcpy", 0, 2, 0 },
	{ "memmove", 0, 2, 0 },
	{ "memset", 0, 2, 0 },
	{ "mempcpy", 0, 2, 0 },
	{ "strncpy", 0, 2, 0 },
	{ "snprintf", 0, 1, 0 },
	{ "bzero", 0, 1, 0 },
	{ "strcpy", 0, -1, 1 },
	{ "stpcpy", 0, -1, 1 },
	{ "pmem_memcpy_persist", 0, 2, 0 },
	{ "pmem_memmove_persist", 0, 2, 0 },
	{ "pmem_memset_persist", 0, 2, 0 },
	{ "pmem_memcpy_nodrain", 0, 2, 0 },
	{ "pmem_memset_nodrain", 0, 2, 0 },
	{ "pmem_memmove_nodrain", 0, 2, 0 },
	{ "pmemobj_memcpy_persist", 1, 3, 0 },
	{ "pmemobj_memset_persist", 1, 3, 0 },
	{ "pmemobj_memcpy", 1, 3, 0 },
	{ "pmemobj_memset", 1, 3, 0 },
	{ "pmemobj_memmove", 1, 3, 0 },
};

static const struct writer *writer_find(const char *name)
{
	if (name && strncmp(name, "__builtin_", 10) == 0)
		name += strncmp(name + 10, "__", 2) == 0 ? 12 : 10;
	for (size_t i = 0; name && i < sizeof writers / sizeof *writers; i++)
		if (strncmp(name, writers[i].name, strlen(writers[i].name)) == 0 &&
		    (!name[strlen(writers[i].name)] ||
		     strcmp(name + strlen(writers[i].name), "_chk") == 0))
			return &writers[i];
	return NULL;
}

/* Returns the destination if it is a member array of limited size, which is logged by its name;
 * NULL: it is not. */
static const struct source_node *array_whole(const struct tx_log *l, const struct writer *w)
{
	const struct source_node *to = l->x.store->child ? l->x.store->child->next : NULL;

	for (int i = 0; to && i < w->to; i++)
		to = to->next;
	while (to && to->kind == SOURCE_EXPR && to->child && to->child == to->last)
		to = to->child;
	return to && to->kind == SOURCE_MEMBER && to->is_array && to->size_bytes > 0 &&
			       to->size_bytes <= TX_ARRAY_MAX_BYTES
		       ? to
		       : NULL;
}

static int range_of_call(struct repair *r, struct tx_log *l, const char **why)
{
	const struct writer *w = writer_find(l->x.store->name);
	const char **args =
		text_arguments(r->code, l->x.file, l->x.store->text_begin, l->x.store->text_end);
	int n = 0;

	while (args && args[n])
		n++;
	*why = text_format(r->code, "what %s in line %u writes is not known beforehand",
			   l->x.store->name, l->x.store->line);
	if (!w || n <= w->to || n <= w->len || n <= w->from)
		return -1;
	for (const struct source_node *a = l->x.store->child ? l->x.store->child->next : NULL; a;
	     a = a->next)
		if (!is_repeatable(l->x.unit, a) || is_moved(l->stmt, a))
			return -1;
	l->addr = args[w->to];
	l->len = w->len >= 0 ? args[w->len] : text_format(r->code, "strlen(%s) + 1", args[w->from]);
	l->lvalue = array_whole(l, w) ? l->addr : NULL;
	if (l->lvalue)
		fill_sizes(l, array_whole(l, w));
	return 0;
}

/* ---- the pointer of a store ---- */

const char *tx_pointer_of(const struct source_node *store)
{
	const struct writer *w = store->kind == SOURCE_CALL ? writer_find(store->name) : NULL;
	const struct source_node *n = w                            ? store->child
				      : store->kind == SOURCE_CALL ? NULL
								   : store->child;

	for (int i = -1; n && w && i < w->to; i++)
		n = n->next;
	while (n && n->child) {
		bool is_part = (n->kind == SOURCE_EXPR && n->child == n->last) ||
			       (n->kind == SOURCE_UNARY && n->op[0] == '&') ||
			       (n->kind == SOURCE_MEMBER && !n->is_arrow) ||
			       ((n->kind == SOURCE_SUBSCRIPT ||
				 (n->kind == SOURCE_BINARY && strcmp(n->op, "+") == 0)) &&
				n->child->is_array);

		if (n->kind == SOURCE_MEMBER && n->is_array && n->size_bytes == 0)
			return NULL; /* what is behind the object is no part of it */
		if (!is_part && !(n->kind == SOURCE_MEMBER && n->is_arrow))
			return NULL;
		if (n->kind == SOURCE_MEMBER && n->is_arrow)
			return n->child->kind == SOURCE_NAME && n->child->is_local ? n->child->name
										   : NULL;
		n = n->child;
	}
	return NULL;
}

static int range_of_atomic(struct repair *r, struct tx_log *l, const char **why)
{
	const char **args =
		text_arguments(r->code, l->x.file, l->x.store->text_begin, l->x.store->text_end);

	*why = "the address of the atomic store cannot be evaluated before it";
	if (!args || !args[0] || !is_repeatable(l->x.unit, l->x.store->child))
		return -1;
	l->addr = args[0];
	l->len = text_format(r->code, "sizeof(*(%s))", args[0]);
	return 0;
}

int tx_range(struct repair *r, struct tx_log *l, const char **why)
{
	return l->x.store->kind == SOURCE_CALL   ? range_of_call(r, l, why)
	       : l->x.store->kind == SOURCE_EXPR ? range_of_atomic(r, l, why)
						 : range_of_lvalue(r, l, why);
}
