/* Sorts the logs of a transaction, and drops those that are unnecessary. A log is dropped if
 * another one covers its range and is always executed before it. */
#include <stdlib.h>
#include <string.h>

#include "repair/tx/internal.h"

/* Returns the local variable through which a store goes; NULL: none. */
const char *tx_base_of(const struct source_node *store)
{
	const struct source_node *place =
		store->kind == SOURCE_CALL && store->child ? store->child->next : store->child;

	for (const struct source_node *n = place; n; n = node_next(n, place))
		if (n->kind == SOURCE_NAME && n->name && n->is_local)
			return n->name;
	return NULL;
}

const struct source_node *tx_way_from(const struct file *f, const struct source_node *from,
				      const struct source_node *to)
{
	const struct source_node *block = from->parent, *s = to;

	if (from->begin > to->begin || text_has_directive(f, from->begin, to->begin))
		return NULL;
	while (s && s->parent != block)
		s = s->parent;
	if (!s || block->kind != SOURCE_COMPOUND)
		return NULL;
	for (const struct source_node *k = from; k != s; k = k->next)
		if (k->next->kind == SOURCE_LABEL)
			return NULL; /* control may enter there */
	return s;
}

/* Asks whether a is in a statement that is always executed before b, and nothing on which b depends
 * changes in between. */
static bool comes_before(const struct tx_log *a, const struct tx_log *b)
{
	const struct source_node *s;

	if (a->x.function == b->x.function && a->stmt == b->stmt)
		return true;
	s = a->x.function == b->x.function &&
			    tx_is_still_open(a->x.unit, a->x.function, a->stmt, b->stmt)
		    ? tx_way_from(a->x.file, a->stmt, b->stmt)
		    : NULL;
	if (!s)
		return false;
	for (const struct source_node *n = b->x.store->child; n && n != b->x.store;
	     n = node_next(n, b->x.store))
		if (n->kind == SOURCE_NAME && n->name)
			for (const struct source_node *k = a->stmt; k && k != s->next; k = k->next)
				if (node_assigns(k, NULL, n->name))
					return false;
	return true;
}

/* Asks whether both logs are of one object, and `part` is within `whole`: "key[i]" is a part of
 * "key". */
static bool is_part_of(const struct tx_log *whole, const struct tx_log *part)
{
	size_t len = whole->member ? strlen(whole->member) : 0;

	if (whole->lvalue && whole->lvalue[0] == '*' && whole->object && !whole->member)
		return part->object && part->member && !part->is_dot &&
		       strcmp(whole->object, part->object) == 0;
	return len > 0 && part->member && strcmp(whole->object, part->object) == 0 &&
	       strncmp(whole->member, part->member, len) == 0 &&
	       (part->member[len] == '[' || part->member[len] == '.');
}

bool tx_log_covers(const struct tx_log *a, const struct tx_log *b)
{
	bool is_same = (strcmp(a->addr, b->addr) == 0 && strcmp(a->len, b->len) == 0) ||
		       (a->text && b->text && strcmp(a->text, b->text) == 0);

	return (is_same || is_part_of(a, b)) && comes_before(a, b);
}

static void drop_duplicates(struct tx *t)
{
	for (size_t i = 0; i < t->logs.n; i++)
		for (size_t k = 0; k < t->logs.n && !t->logs.at[i].is_dropped; k++)
			if (k != i && !t->logs.at[k].is_dropped &&
			    tx_log_covers(&t->logs.at[k], &t->logs.at[i]) &&
			    (t->logs.at[k].stmt != t->logs.at[i].stmt || k < i ||
			     is_part_of(&t->logs.at[k], &t->logs.at[i])))
				t->logs.at[i].is_dropped = t->logs.at[i].is_covered = true;
}

static int by_place(const void *a, const void *b)
{
	const struct tx_log *x = a, *y = b;
	int files = strcmp(x->x.file->path, y->x.file->path);

	return files ? files
	       : x->stmt->begin != y->stmt->begin
		       ? (x->stmt->begin > y->stmt->begin) - (x->stmt->begin < y->stmt->begin)
	       : x->x.store->begin != y->x.store->begin
		       ? (x->x.store->begin > y->x.store->begin) -
				 (x->x.store->begin < y->x.store->begin)
		       : (x->line > y->line) - (x->line < y->line);
}

/* ---- loops ---- */

/* Asks whether the range is the same in each iteration. Only variables are checked, so the
 * expression must not read memory. */
static bool is_same_each_time(const struct tx_log *l, const struct source_node *loop)
{
	const char *from = l->handle ? l->handle : l->object;

	return l->lvalue && from && text_is_identifier(from) &&
	       !(l->member && strstr(l->member, "->")) && !tx_is_changed(loop, l->lvalue);
}

/* Logs a whole member array if the loop goes over its elements. False: the loop does not, or the
 * array is too large. */
static bool take_array(struct repair *r, struct tx_log *l, const struct source_node *loop)
{
	struct tx_log whole = *l;

	if (!tx_log_take_array(r, &whole) || !is_same_each_time(&whole, loop))
		return false;
	*l = whole;
	return true;
}

/* Moves the log before the outermost loop that stores to the same range in each iteration. */
static void leave_loops(struct repair *r, const struct tx *t, struct tx_log *l)
{
	for (const struct source_node *n = l->stmt->parent; n && n->parent; n = n->parent) {
		if (n->kind != SOURCE_FOR && n->kind != SOURCE_WHILE && n->kind != SOURCE_DO)
			continue;
		if (macro_use(l->x.unit, l->x.file->path, n) || !node_is_body(l->x.file, n) ||
		    (!l->is_foreign &&
		     !(t->is_there ? tx_is_in_work(l->x.unit, l->x.file, l->x.function, n)
				   : tx_holds(t, n))) ||
		    (!is_same_each_time(l, n) && !take_array(r, l, n)))
			return;
		l->stmt = n;
	}
}

/* ---- several elements of an array ---- */

/* Returns the array's name: "per_aisle" for "per_aisle[i]"; NULL: the log is of no element of an
 * array. */
static const char *array_of(struct repair *r, const struct tx_log *l)
{
	return l->member && l->array_bytes > 0 && strchr(l->member, '[')
		       ? text_copy(r->code, l->member, strcspn(l->member, "["))
		       : NULL;
}

/* Asks whether the file logs this member, or one of this name, as a whole. */
static bool is_logged_whole(struct repair *r, const struct tx_log *l, const char *array)
{
	const struct tx_add_calls *all = tx_add_calls_of(r, l->x.unit, l->x.file);

	for (size_t i = 0; i < all->list.n; i++) {
		const struct tx_add_call *c = &all->list.at[i];
		const char *what = c->how.form == FORM_FIELD || c->how.form == FORM_MEMBER
					   ? c->args[c->how.second]
					   : c->args[c->how.first];
		size_t len = strlen(what), n = strlen(array);

		if (strcmp(what, array) == 0 ||
		    (len > n + 2 && strcmp(what + len - n, array) == 0 &&
		     strncmp(what + len - n - 2, "->", 2) == 0))
			return true;
	}
	return false;
}

/* Logs two elements of an array as the whole array, if the file logs it so elsewhere. */
static void take_arrays(struct repair *r, struct tx *t)
{
	for (size_t i = 0; i < t->logs.n; i++) {
		struct tx_log *a = &t->logs.at[i];
		const char *array = array_of(r, a);

		for (size_t k = i + 1; array && k < t->logs.n; k++) {
			struct tx_log *b = &t->logs.at[k];
			const char *other = array_of(r, b);

			if (!other || a->x.function != b->x.function || strcmp(array, other) != 0 ||
			    strcmp(a->object, b->object) != 0 ||
			    strcmp(a->member, b->member) == 0 || !is_logged_whole(r, a, array) ||
			    !tx_log_take_array(r, b))
				continue;
			if (a->array_bytes > 0)
				tx_log_take_array(r, a);
		}
	}
}

/* ---- what is logged on every path to a place ---- */

enum { WAYS_DEPTH_MAX = 24 };

struct ways {
	struct repair *r;
	struct tx *t;
	const struct tx_log *of; /* the log that may be unnecessary */
	const struct tx_log *by; /* another log of the transaction that some path needs; NULL */
};

static bool is_settled_before(struct ways *w, const struct source_node *stmt, const char *name,
			      unsigned depth);

static bool allocates(const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n->kind == SOURCE_CALL && n->name && strncmp(n->name, "pmemobj_tx_", 11) == 0 &&
		    strstr(n->name, "alloc"))
			return true;
	return false;
}

/* Returns the variable's only value; NULL: it has several, or none. */
static const struct source_node *only_value(const struct source_function *f, const char *name)
{
	for (const struct source_node *n = f->body; n && !node_assigns(f->body, NULL, name);
	     n = node_next(n, f->body))
		if (n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, name) == 0)
			return n->last;
	return NULL;
}

/* Asks whether the value is memory that the transaction has just allocated, here or in a function
 * that returns it. */
static bool is_new_value(struct ways *w, const struct source_node *value, unsigned depth)
{
	const struct source_function *f = value && value->kind == SOURCE_CALL && value->name
						  ? function_named(w->of->x.unit, value->name)
						  : NULL;
	size_t nreturns = 0;

	if (!value || depth == 0)
		return false;
	if (allocates(value))
		return true;
	for (const struct source_node *n = f ? f->body : NULL; n; n = node_next(n, f->body)) {
		const struct source_node *what = n->kind == SOURCE_RETURN ? n->child : NULL;

		nreturns += n->kind == SOURCE_RETURN;
		if (n->kind == SOURCE_RETURN &&
		    (!what || what->kind != SOURCE_NAME ||
		     !is_new_value(w, only_value(f, what->name), depth - 1)))
			return false;
	}
	return nreturns > 0;
}

/* Asks whether the log is executed whenever its function is called, and is about the parameter's
 * object. */
static bool is_always_done(const struct tx_log *l, const char *parameter)
{
	const struct source_node *body = l->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body))
		if ((n->kind == SOURCE_RETURN || n->kind == SOURCE_JUMP) &&
		    n->begin < l->stmt->begin)
			return false;
	return l->stmt->parent == body && !node_assigns(body, NULL, parameter);
}

/* Asks whether the statement always logs the whole object of the variable, itself or in a called
 * function that gets a log now. */
static bool is_logged_in(struct ways *w, const struct source_node *stmt, const char *name)
{
	const struct tx_add_calls *all = tx_add_calls_of(w->r, w->of->x.unit, w->of->x.file);

	for (size_t i = 0; i < all->list.n; i++)
		if (stmt->begin <= all->list.at[i].begin && all->list.at[i].end <= stmt->end &&
		    tx_add_call_is_whole(&all->list.at[i]) &&
		    strcmp(all->list.at[i].args[all->list.at[i].how.first], name) == 0)
			return true;
	for (const struct source_node *n = stmt; n; n = node_next(n, stmt)) {
		const struct source_function *f = n->kind == SOURCE_CALL && n->name
							  ? function_named(w->of->x.unit, n->name)
							  : NULL;
		const char **args =
			f ? text_arguments(w->r->code, w->of->x.file, n->text_begin, n->text_end)
			  : NULL;

		for (size_t i = 0; f && i < w->t->logs.n; i++) {
			const struct tx_log *l = &w->t->logs.at[i];

			for (size_t k = 0; args && args[k] && k < f->nparameters; k++)
				if (!l->is_dropped && l->x.function == f && l->is_whole &&
				    strcmp(args[k], name) == 0 && f->parameters[k].name &&
				    strcmp(f->parameters[k].name,
					   l->handle ? l->handle : l->object) == 0 &&
				    is_always_done(l, f->parameters[k].name)) {
					w->by = l;
					return true;
				}
		}
	}
	return false;
}

static const struct source_node *previous(const struct source_node *stmt)
{
	const struct source_node *n = stmt->parent->child;

	while (n != stmt && n->next != stmt)
		n = n->next;
	return n == stmt ? NULL : n;
}

/* Asks whether, on all paths to the statement, the object of the variable is new or logged. Follows
 * the paths backwards; the statement itself is included. */
static bool is_settled_at(struct ways *w, const struct source_node *s, const char *name,
			  unsigned depth)
{
	const struct source_node *value = NULL, *then, *otherwise;

	if (depth == 0)
		return false;
	switch (s->kind) {
	case SOURCE_RETURN:
	case SOURCE_JUMP: return true; /* no path comes from there */
	case SOURCE_COMPOUND:
		return s->last ? is_settled_at(w, s->last, name, depth - 1)
			       : is_settled_before(w, s, name, depth - 1);
	case SOURCE_IF:
		then = s->child ? s->child->next : NULL;
		otherwise = then ? then->next : NULL;
		return then && (!otherwise || !otherwise->next) &&
		       is_settled_at(w, then, name, depth - 1) &&
		       (otherwise ? is_settled_at(w, otherwise, name, depth - 1)
				  : is_settled_before(w, s, name, depth - 1));
	case SOURCE_DECL:
		for (const struct source_node *v = s->child; v; v = v->next)
			if (v->kind == SOURCE_VARIABLE && v->name && strcmp(v->name, name) == 0)
				return is_new_value(w, v->last, 4);
		break;
	case SOURCE_BINARY:
		if (strcmp(s->op, "=") == 0 && s->child && s->child->kind == SOURCE_NAME &&
		    s->child->name && strcmp(s->child->name, name) == 0)
			value = s->last;
		if (value && value->kind == SOURCE_NAME && value->is_local)
			return is_settled_before(w, s, value->name, depth - 1);
		if (value)
			return is_new_value(w, value, 4);
		break;
	case SOURCE_CALL: break;
	default:
		if (node_assigns(s, NULL, name))
			return false;
		/* loops and the like may not be executed */
		return is_settled_before(w, s, name, depth - 1);
	}
	return is_logged_in(w, s, name) || is_settled_before(w, s, name, depth - 1);
}

static bool is_settled_before(struct ways *w, const struct source_node *stmt, const char *name,
			      unsigned depth)
{
	while (depth > 0 && stmt->parent) {
		const struct source_node *parent = stmt->parent;

		if (parent->kind == SOURCE_COMPOUND && previous(stmt))
			return is_settled_at(w, previous(stmt), name, depth - 1);
		if (parent->kind != SOURCE_COMPOUND && parent->kind != SOURCE_IF)
			return false; /* a loop or a label */
		stmt = parent;
		depth--;
	}
	return false;
}

/* Drops logs that are unnecessary: on every path to them, the object is new, or logged by the
 * program or by another log of the transaction. */
static void drop_settled(struct repair *r, struct tx *t)
{
	for (size_t i = 0; t->is_there && i < t->logs.n; i++) {
		struct tx_log *l = &t->logs.at[i];
		const char *name = l->handle ? l->handle : l->object;
		struct ways w = { r, t, l, NULL };

		if (l->is_dropped || l->moved || !name || !text_is_identifier(name) ||
		    text_has_directive(l->x.file, l->x.function->begin, l->stmt->begin))
			continue;
		if (is_settled_before(&w, l->stmt, name, WAYS_DEPTH_MAX) && w.by) {
			l->is_dropped = true;
			l->by = w.by;
		}
	}
}

/* ---- the logs' texts ---- */

/* Asks whether the two logs are of different members of one object, and one is executed before the
 * other. */
static bool is_beside(const struct tx_log *a, const struct tx_log *b)
{
	return a != b && !a->is_dropped && !b->is_dropped && a->object && b->object && a->member &&
	       b->member && strcmp(a->object, b->object) == 0 &&
	       strcmp(a->member, b->member) != 0 && !is_part_of(a, b) && !is_part_of(b, a) &&
	       (comes_before(a, b) || comes_before(b, a));
}

/* Returns the calls that log in the log's file; if that shows no way, those in the transaction's
 * file. */
static const struct tx_add_calls *shown_ways(struct repair *r, const struct tx *t,
					     const struct tx_log *l)
{
	const struct tx_add_calls *own = tx_add_calls_of(r, l->x.unit, l->x.file);

	return own->list.n > 0 ? own : tx_add_calls_of(r, t->x.unit, t->x.file);
}

/* Asks whether the log and those of other members together cover a whole object of limited size. */
static bool is_all(const struct tx *t, const struct tx_log *l)
{
	uint64_t bytes = l->member_bytes;

	for (size_t i = 0; i < t->logs.n; i++) {
		bool is_new = is_beside(l, &t->logs.at[i]);

		for (size_t k = 0; is_new && k < i; k++)
			is_new = !is_beside(l, &t->logs.at[k]) ||
				 strcmp(t->logs.at[k].member, t->logs.at[i].member) != 0;
		bytes += is_new ? t->logs.at[i].member_bytes : 0;
	}
	return bytes > l->member_bytes && bytes == l->object_bytes && bytes <= TX_OBJECT_MAX_BYTES;
}

/* Removes an existing log of a part that stands directly before the log of the whole. */
static void take_place_of_part(struct repair *r, struct tx_log *l)
{
	const struct tx_add_calls *all = tx_add_calls_of(r, l->x.unit, l->x.file);

	for (size_t i = 0; i < all->list.n; i++) {
		const struct tx_add_call *c = &all->list.at[i];
		const char *of = c->how.form == FORM_FIELD    ? l->handle
				 : c->how.form == FORM_MEMBER ? l->object
							      : NULL;
		uint32_t end = of && c->end < l->stmt->begin && strcmp(c->args[0], of) == 0
				       ? text_semicolon(l->x.file, c->end)
				       : 0;

		if (end && text_skip_blanks(l->x.file, end) == l->stmt->begin &&
		    text_begins_line(l->x.file, c->begin)) {
			l->instead_begin = c->begin;
			l->instead_end = end;
		}
	}
}

static void choose_forms(struct repair *r, struct tx *t)
{
	for (size_t i = 0; i < t->logs.n; i++) {
		struct tx_log *l = &t->logs.at[i];
		bool are_several = false;

		for (size_t k = 0; k < t->logs.n; k++)
			are_several |= is_beside(l, &t->logs.at[k]);
		if (!t->is_there || !tx_log_move(r, tx_add_calls_of(r, l->x.unit, l->x.file), l))
			l->text = tx_log_form(r, shown_ways(r, t, l), l, are_several, is_all(t, l),
					      &l->is_whole);
		if (t->is_there && l->is_whole)
			take_place_of_part(r, l);
		l->checked =
			t->is_there && !l->moved
				? tx_log_checked(r, tx_add_calls_of(r, l->x.unit, l->x.file), l)
				: NULL;
	}
}

void tx_sort_logs(struct repair *r, struct tx *t)
{
	for (size_t i = 0; i < t->logs.n; i++)
		if (t->logs.at[i].is_covered) /* the others' forms are chosen again */
			t->logs.at[i].is_dropped = t->logs.at[i].is_covered = false;
	tx_log_take_given(r, t);
	for (size_t i = 0; i < t->logs.n; i++)
		leave_loops(r, t, &t->logs.at[i]);
	take_arrays(r, t);
	if (t->logs.n > 0)
		qsort(t->logs.at, t->logs.n, sizeof *t->logs.at, by_place);
	choose_forms(r, t);
	if (t->logs.n > 0)
		qsort(t->logs.at, t->logs.n, sizeof *t->logs.at, by_place); /* some have moved */
	drop_duplicates(t);
	drop_settled(r, t);
}
