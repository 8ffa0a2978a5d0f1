/* Replaces atomic allocations and releases inside a new transaction by their transactional forms,
 * which an abort undoes. If the form is unknown, or the allocation has a constructor, the
 * transaction is not written. If the program checks the result of an allocation, the new form
 * returns an error, too, and does not abort. */
#include <string.h>

#include "repair/tx/internal.h"

enum form { ALLOC, FREE, REALLOC, NO_FORM };

static const struct pair {
	const char *name;
	enum form form;
	/* numbers of arguments; -1: it has no such argument */
	int to, type, size, number, constructor;
	const char *as; /* {L} the handle, {S} the size, {N} the type number, {T} the type */
	/* gives a handle, for calls whose result is checked; NULL: impossible */
	const char *unlikely;
	bool is_typed; /* the handle is a TOID */
} pairs[] = {
	{ "pmemobj_alloc", ALLOC, 1, -1, 2, 3, 4, "{L} = pmemobj_tx_alloc({S}, {N})",
	  "pmemobj_tx_xalloc({S}, {N}, POBJ_XALLOC_NO_ABORT)", false },
	{ "pmemobj_zalloc", ALLOC, 1, -1, 2, 3, -1, "{L} = pmemobj_tx_zalloc({S}, {N})",
	  "pmemobj_tx_xalloc({S}, {N}, POBJ_XALLOC_ZERO | POBJ_XALLOC_NO_ABORT)", false },
	{ "pmemobj_realloc", REALLOC, 1, -1, 2, 3, -1, "{L} = pmemobj_tx_realloc({L}, {S}, {N})",
	  NULL, false },
	{ "pmemobj_zrealloc", REALLOC, 1, -1, 2, 3, -1, "{L} = pmemobj_tx_zrealloc({L}, {S}, {N})",
	  NULL, false },
	{ "pmemobj_free", FREE, 0, -1, -1, -1, -1, "pmemobj_tx_free({L}), {L} = OID_NULL", NULL,
	  false },
	{ "POBJ_NEW", ALLOC, 1, 2, -1, -1, 3, "{L} = TX_NEW({T})",
	  "TX_XALLOC({T}, sizeof({T}), POBJ_XALLOC_NO_ABORT)", true },
	{ "POBJ_ALLOC", ALLOC, 1, 2, 3, -1, 4, "{L} = TX_ALLOC({T}, {S})",
	  "TX_XALLOC({T}, {S}, POBJ_XALLOC_NO_ABORT)", true },
	{ "POBJ_ZNEW", ALLOC, 1, 2, -1, -1, -1, "{L} = TX_ZNEW({T})",
	  "TX_XALLOC({T}, sizeof({T}), POBJ_XALLOC_ZERO | POBJ_XALLOC_NO_ABORT)", true },
	{ "POBJ_ZALLOC", ALLOC, 1, 2, 3, -1, -1, "{L} = TX_ZALLOC({T}, {S})",
	  "TX_XALLOC({T}, {S}, POBJ_XALLOC_ZERO | POBJ_XALLOC_NO_ABORT)", true },
	{ "POBJ_REALLOC", REALLOC, 1, 2, 3, -1, -1, "{L} = TX_REALLOC({L}, {S})", NULL, true },
	{ "POBJ_FREE", FREE, 0, -1, -1, -1, -1, "TX_FREE({L}), ({L}).oid = OID_NULL", NULL, true },
};

/* Other functions that allocate, release or link; there is no form for them here. */
static const char *const foreign[] = { "pmemobj_xalloc",      "pmemobj_strdup",
				       "pmemobj_wcsdup",      "pmemobj_reserve",
				       "pmemobj_xreserve",    "pmemobj_publish",
				       "pmemobj_list_insert", "pmemobj_list_insert_new",
				       "pmemobj_list_remove", "pmemobj_list_move" };

static const struct pair *pair_find(const char *name)
{
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (strcmp(pairs[i].name, name) == 0)
			return &pairs[i];
	return NULL;
}

static bool is_foreign(const char *name)
{
	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
		if (strcmp(foreign[i], name) == 0)
			return true;
	return false;
}

/* Returns the pattern with {L}, {S}, {N} and {T} replaced. */
static const char *fill(struct repair *r, const char *pattern, const char *l, const char *s,
			const char *n, const char *type)
{
	const char *text = "";

	for (; *pattern; pattern++) {
		const char *value = NULL;

		if (pattern[0] == '{' && pattern[1] && pattern[2] == '}')
			value = pattern[1] == 'L'   ? l
				: pattern[1] == 'S' ? s
				: pattern[1] == 'N' ? n
						    : type;
		text = value ? text_format(r->code, "%s%s", text, value)
			     : text_format(r->code, "%s%c", text, *pattern);
		pattern += value ? 2 : 0;
	}
	return text;
}

static const char *argument(const char *const *args, int i)
{
	return i < 0 ? "" : args[i];
}

/* Asks whether the statement consists of the call only, so that nobody uses its result. */
static bool is_statement(const struct tx *t, const struct source_node *stmt, uint32_t begin,
			 uint32_t end)
{
	uint32_t at = stmt->begin;

	if (t->x.file->text[at] == '(' && strncmp(t->x.file->text + at, "(void)", 6) == 0)
		at = text_skip_blanks(t->x.file, at + 6);
	return at == begin && stmt->end <= end;
}

/* Asks whether the handle is a local variable, or a member of one. */
static bool is_local(const struct tx *t, const char *handle)
{
	const struct source_function *f = t->x.function;
	size_t len =
		strspn(handle, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	if (len == 0 || (handle[len] && handle[len] != '.') || strstr(handle, "->"))
		return false;
	for (size_t i = 0; i < f->nparameters; i++)
		if (f->parameters[i].name && strlen(f->parameters[i].name) == len &&
		    strncmp(f->parameters[i].name, handle, len) == 0)
			return true;
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (n->kind == SOURCE_VARIABLE && n->name && strlen(n->name) == len &&
		    strncmp(n->name, handle, len) == 0)
			return true;
	return false;
}

/* Asks whether some planned transaction logs a store through the same variable. Then the variable's
 * memory is persistent. */
static bool is_known(const struct repair *r, const struct tx *t, const char *handle)
{
	size_t len =
		strspn(handle, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	for (size_t i = 0; i < r->tx->list.n; i++)
		for (size_t k = 0; k < r->tx->list.at[i]->logs.n; k++) {
			const struct tx_log *l = &r->tx->list.at[i]->logs.at[k];
			const char *base = l->x.function == t->x.function && !l->is_unsure
						   ? tx_base_of(l->x.store)
						   : NULL;

			if (base && strlen(base) == len && strncmp(base, handle, len) == 0)
				return true;
		}
	return false;
}

/* Logs the handle itself, which may be in persistent memory: an abort must restore its value. */
static void log_handle(struct repair *r, struct tx *t, const struct source_node *stmt,
		       const char *handle, const char *addr)
{
	struct tx_log l = {
		.x = t->x, .stmt = stmt, .addr = addr, .is_unsure = !is_known(r, t, handle)
	};

	l.x.store = stmt;
	l.len = text_format(r->code, "sizeof(%s)", handle);
	l.lvalue = handle;
	tx_log_split(r, &l);
	for (size_t i = 0; i < t->logs.n; i++)
		if (!t->logs.at[i].is_dropped && strcmp(t->logs.at[i].addr, l.addr) == 0 &&
		    t->logs.at[i].stmt->begin <= stmt->begin)
			return;
	*vec_add(&t->logs) = l;
}

/* ---- replacing calls ---- */

/* Asks whether the call is the whole condition: if (CALL). */
static bool is_condition(const struct file *f, uint32_t begin, uint32_t end)
{
	uint32_t open = begin;

	while (open > 0 && (f->text[open - 1] == ' ' || f->text[open - 1] == '\t'))
		open--;
	if (open == 0 || f->text[open - 1] != '(' || f->text[text_skip_blanks(f, end)] != ')')
		return false;
	for (open--; open > 0 && f->text[open - 1] == ' ';)
		open--;
	return open >= 2 && strncmp(f->text + open - 2, "if", 2) == 0;
}

static int convert(struct repair *r, struct tx *t, const struct pair *p, uint32_t begin,
		   uint32_t end, const struct source_node *call)
{
	const char **args = text_arguments(r->code, t->x.file, begin, end), *handle, *text;
	const struct source_node *stmt =
		tx_statement(t->x.function, t->x.file, call->line, call->column);
	bool is_alone = stmt && is_statement(t, stmt, begin, end);
	int n = 0;

	while (args && args[n])
		n++;
	t->why = text_format(r->code, "%s in line %u has no transactional form here", p->name,
			     call->line);
	if (!stmt || n <= p->to || n <= p->type || n <= p->size || n <= p->number ||
	    n <= p->constructor || (!is_alone && !p->unlikely))
		return -1;
	if (p->constructor >= 0 && strcmp(args[p->constructor], "NULL") != 0 &&
	    strcmp(args[p->constructor], "0") != 0 && strcmp(args[p->constructor], "nullptr") != 0)
		return -1;
	if (strcmp(args[p->to], "NULL") == 0)
		return -1;
	handle = args[p->to][0] == '&'
			 ? text_copy(r->code, args[p->to] + 1, strlen(args[p->to] + 1))
			 : text_format(r->code, "(*%s)", args[p->to]);
	text = fill(r, is_alone ? p->as : p->unlikely, handle, argument(args, p->size),
		    argument(args, p->number), argument(args, p->type));
	if (!is_alone && is_condition(t->x.file, begin, end) && is_local(t, handle)) {
		text = text_format(r->code, "%s(%s = %s)",
				   p->is_typed ? "TOID_IS_NULL" : "OID_IS_NULL", handle, text);
	} else if (!is_alone) { /* if the allocation fails, the handle keeps its old value */
		const char *name = tx_free_name(r, t, "allocated");

		*vec_add(&t->declarations) =
			p->is_typed ? text_format(r->code, "TOID(%s) %s;", args[p->type], name)
				    : text_format(r->code, "PMEMoid %s;", name);
		text = text_format(r->code, "(%s = %s, %s(%s) ? -1 : (%s = %s, 0))", name, text,
				   p->is_typed ? "TOID_IS_NULL" : "OID_IS_NULL", name, handle,
				   name);
	}
	*vec_add(&t->changes) = (struct tx_change){ is_alone ? stmt->begin : begin, end, text };
	if (!is_local(t, handle))
		log_handle(r, t, stmt, handle, args[p->to]);
	else if (p->form == ALLOC && !tx_is_ambiguous(t, handle, NULL))
		*vec_add(&t->allocated) = (struct tx_new){ handle, end };
	t->why = NULL;
	return 0;
}

static const struct source_use *use_around(const struct tx *t, const struct source_node *n)
{
	return macro_use(t->x.unit, t->x.file->path, n);
}

static int convert_calls(struct repair *r, struct tx *t)
{
	const struct source_node *body = t->x.function->body;
	uint32_t done = 0;

	for (const struct source_node *n = body; n; n = node_next(n, body)) {
		const struct source_use *use;
		const struct pair *p;

		if (n->kind != SOURCE_CALL || !n->name || !tx_holds(t, n) || n->begin < done)
			continue;
		use = use_around(t, n);
		p = pair_find(use ? use->name : n->name);
		if (!p && (is_foreign(n->name) || pair_find(n->name))) {
			t->why = text_format(r->code, "%s in line %u has no transactional form",
					     use ? use->name : n->name, n->line);
			return -1;
		}
		if (!p)
			continue;
		done = use ? use->end : n->end;
		if (convert(r, t, p, use ? use->begin : n->begin, done, n) < 0)
			return -1;
	}
	return 0;
}

/* ---- called functions ---- */

bool tx_is_allocation(const struct source_node *n)
{
	return n->kind == SOURCE_CALL && n->name && (pair_find(n->name) || is_foreign(n->name));
}

static const struct source_node *first_allocation(const struct source_function *f)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (tx_is_allocation(n))
			return n;
	return NULL;
}

bool tx_allocates(const struct source_function *f)
{
	return first_allocation(f) != NULL;
}

/* Replaces the allocations of a function that transactions call; all of it runs in a transaction.
 * Returns what changes; NULL: nothing. */
struct tx *tx_callee_allocations(struct repair *r, const struct tx_callee *c)
{
	const struct source_node *n = first_allocation(c->x.function);
	struct tx *t;

	if (!n)
		return NULL;
	t = xcalloc(1, sizeof *t);
	t->x = c->x;
	t->first = t->last = c->x.function->body;
	t->block = t->first;
	if (c->way == TX_GUARDED) {
		t->why = text_format(
			r->code,
			"%s, which the transaction would call, allocates or frees in line %u; others call it, too, and it cannot be copied",
			c->x.function->name, n->line);
		return t;
	}
	convert_calls(r, t);
	for (size_t i = 0; i < t->logs.n; i++)
		t->logs.at[i].is_foreign = true;
	tx_sort_logs(r, t);
	tx_follow_pointers(t);
	return t;
}

int tx_allocations(struct repair *r, struct tx *t)
{
	if (t->is_there)
		return 0;
	if (convert_calls(r, t) < 0)
		return -1;
	tx_drop_allocated(r, t);
	tx_sort_logs(r, t);
	return 0;
}
