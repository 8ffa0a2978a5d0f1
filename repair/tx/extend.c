/* Extends or joins transactions of the program. A transaction with neighbouring statements that
 * belong in it grows: its first and last line move outwards; what it does on an abort stays.
 * Impossible if the statements would see other variables inside, or set variables that are read
 * after an abort. Two transactions in a row become one if they have the same pool and do the same
 * on an abort, and only the check of the first one's abort is between them. Stores at the beginning
 * of TX_ONCOMMIT move to the end of the work. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"
#include "source/source.h"

static const struct source_use *use_named(const struct tx *t, const char *name, uint32_t from,
					  uint32_t to, bool is_last)
{
	const struct source_use *found = NULL;

	for (size_t i = 0; i < t->x.unit->nuses; i++) {
		const struct source_use *u = &t->x.unit->uses[i];

		if (strcmp(u->name, name) == 0 && u->begin >= from && u->end <= to &&
		    strcmp(u->file, t->x.file->path) == 0 &&
		    (!found || (is_last ? u->begin > found->begin : u->begin < found->begin)))
			found = u;
	}
	return found;
}

static bool is_transaction(const struct tx *t, const struct source_node *stmt)
{
	const struct source_use *u =
		use_named(t, "TX_BEGIN", stmt->begin, t->x.file->len_bytes, false);

	return u && u->begin == stmt->begin;
}

/* Returns the block of statements that begins at this brace, behind TX_BEGIN(…). */
static const struct source_node *find_work(const struct source_node *stmt, uint32_t brace)
{
	for (const struct source_node *n = stmt; n; n = node_next(n, stmt))
		if (n->kind == SOURCE_COMPOUND && n->begin == brace)
			return n;
	return NULL;
}

static const struct source_node *work_of(const struct tx *t, const struct source_node *stmt)
{
	const struct source_use *begin =
		use_named(t, "TX_BEGIN", stmt->begin, t->x.file->len_bytes, false);
	uint32_t brace = text_skip_blanks(t->x.file, begin->end);

	return t->x.file->text[brace] == '{' ? find_work(stmt, brace) : NULL;
}

static bool declares(const struct source_node *block, const char *name)
{
	for (const struct source_node *s = block->child; s; s = s->next)
		for (const struct source_node *v = s->kind == SOURCE_DECL ? s->child : NULL; v;
		     v = v->next)
			if (v->kind == SOURCE_VARIABLE && v->name && strcmp(v->name, name) == 0)
				return true;
	return false;
}

/* Asks whether the statement may move into the work: it uses no name that means something else
 * there, and sets no local variable. */
static bool may_move(const struct source_node *stmt, const struct source_node *work)
{
	if (stmt->kind == SOURCE_DECL)
		return false;
	for (const struct source_node *n = stmt; n; n = node_next(n, stmt)) {
		if (n->kind == SOURCE_NAME && n->name && declares(work, n->name))
			return false;
		if (node_is_assignment(n) && n->child && node_is_own_variable(n->child))
			return false;
	}
	return true;
}

void tx_extend(struct tx *t)
{
	const struct source_node *old = NULL, *work;
	const struct source_use *end;
	size_t n = 0;

	for (const struct source_node *s = t->first;; s = s->next) {
		if (is_transaction(t, s)) {
			old = s;
			n++;
		}
		if (s == t->last)
			break;
	}
	if (n == 0)
		return;
	t->note = "an abort of the inner transaction now aborts the whole one";
	if (n > 1 || t->first == t->last || t->flag || t->returns_at_end)
		return;
	work = work_of(t, old);
	end = use_named(t, "TX_END", old->begin, old->end + 8, true);
	if (!work || !end || end->begin < work->end)
		return;
	for (const struct source_node *s = t->first;; s = s->next) {
		if (s != old && !may_move(s, work))
			return;
		if (s == t->last)
			break;
	}
	t->note = NULL;
	t->old = old;
	t->head_begin = old->begin;
	t->head_end = work->begin + 1;
	t->tail_begin = work->end - 1;
	t->tail_end = end->end;
}

/* ---- two transactions in a row ---- */

/* Returns the block behind "} TX_ONABORT", with its braces and without blanks. NULL: the
 * transaction has other clauses, or none. */
static const char *abort_text(struct repair *r, const struct tx *t, const struct source_node *work,
			      const struct source_use *end)
{
	const struct file *f = t->x.file;
	uint32_t at = text_skip_blanks(f, work->end);
	const struct source_use *use = use_named(t, "TX_ONABORT", at, end->begin, false);
	char *out;
	size_t n = 0;

	if (!use || use->begin != at || f->text[text_skip_blanks(f, use->end)] != '{' ||
	    memmem(f->text + use->end, end->begin - use->end, "TX_", 3))
		return NULL;
	out = arena_alloc(&r->code->arena, end->begin - use->end + 1);
	for (uint32_t i = use->end; i < end->begin; i++)
		if (!isspace((unsigned char)f->text[i]))
			out[n++] = f->text[i];
	out[n] = 0;
	return out;
}

/* Asks whether the statement checks for an abort of the first transaction: `if (ret) break;` or the
 * like, about the variable that "{ret=-1;}" sets. */
static bool is_check(struct repair *r, const struct tx *t, const struct source_node *n,
		     const char *text)
{
	const char *name = text_copy(r->code, text + 1, strcspn(text + 1, "="));

	return n->kind == SOURCE_IF && n->child && n->child->next == n->last &&
	       source_leaves(n->last) && text_is_identifier(name) &&
	       strcmp(text + strlen(text) - 2, ";}") == 0 &&
	       strchr(text, ';') == text + strlen(text) - 2 &&
	       text_has_word(text_of(r->code, t->x.file, n->child), name);
}

/* Asks whether a name that the first block declares means something else in the second. */
static bool share_names(const struct source_node *first, const struct source_node *second)
{
	for (const struct source_node *s = first->child; s; s = s->next)
		for (const struct source_node *v = s->kind == SOURCE_DECL ? s->child : NULL; v;
		     v = v->next)
			for (const struct source_node *n = second; n && v->name;
			     n = node_next(n, second))
				if ((n->kind == SOURCE_NAME || n->kind == SOURCE_VARIABLE) &&
				    n->name && strcmp(n->name, v->name) == 0)
					return true;
	return false;
}

static const char *pool_of(struct repair *r, const struct tx *t, const struct source_node *stmt)
{
	const struct source_use *u =
		use_named(t, "TX_BEGIN", stmt->begin, t->x.file->len_bytes, false);
	const char **args = text_arguments(r->code, t->x.file, u->begin, u->end);

	return args && args[0] ? args[0] : "";
}

void tx_join(struct repair *r, struct tx *t)
{
	const struct source_node *a = t->first, *b = t->last, *work[2];
	const struct source_use *end[2];
	const char *text[2];

	t->joint_begin = t->joint_end = 0;
	if (t->is_there || a == b || !is_transaction(t, a) || !is_transaction(t, b) ||
	    strcmp(pool_of(r, t, a), pool_of(r, t, b)) != 0)
		return;
	for (size_t i = 0; i < 2; i++) {
		work[i] = work_of(t, i ? b : a);
		end[i] = work[i] ? use_named(t, "TX_END", work[i]->end, t->x.file->len_bytes, false)
				 : NULL;
		text[i] = end[i] ? abort_text(r, t, work[i], end[i]) : NULL;
		if (!text[i])
			return;
	}
	for (const struct source_node *s = a->next; s != b; s = s->next)
		if (!is_check(r, t, s, text[0]))
			return;
	if (strcmp(text[0], text[1]) != 0 || share_names(work[0], work[1]) ||
	    text_has_directive(t->x.file, a->begin, b->end))
		return;
	t->joint_begin = work[0]->end - 1;
	t->joint_end = work[1]->begin + 1;
}

/* ---- stores in TX_ONCOMMIT ---- */

struct late {
	/* the blocks of TX_BEGIN and of the TX_ONCOMMIT behind it */
	const struct source_node *work, *block;
	const struct source_use *use; /* the use of TX_ONCOMMIT */
};

/* Finds the blocks if the statement is in "} TX_ONCOMMIT { … }". */
static bool find_late(const struct tx *t, const struct source_node *stmt, struct late *out)
{
	const struct file *f = t->x.file;
	const struct source_node *body = t->x.function->body;
	const struct source_use *begin = use_named(t, "TX_BEGIN", body->begin, stmt->begin, true);
	uint32_t brace = begin ? text_skip_blanks(f, begin->end) : 0;

	*out = (struct late){ .block = stmt->parent,
			      .use = use_named(t, "TX_ONCOMMIT", body->begin, stmt->begin, true) };
	out->work = begin && f->text[brace] == '{' ? find_work(body, brace) : NULL;
	return out->work && out->use && out->block && out->block->kind == SOURCE_COMPOUND &&
	       out->block->begin == text_skip_blanks(f, out->use->end) &&
	       out->use->begin == text_skip_blanks(f, out->work->end) &&
	       text_begins_line(f, out->work->end - 1);
}

bool tx_take_late(const struct tx *t, struct tx_log *l)
{
	struct late late;

	if (!t->is_there || l->x.file != t->x.file || l->x.function != t->x.function ||
	    !find_late(t, l->stmt, &late))
		return false;
	l->late = l->stmt;
	return true;
}

static bool is_late(const struct tx *t, const struct source_node *stmt)
{
	for (size_t i = 0; i < t->logs.n; i++)
		if (t->logs.at[i].late == stmt)
			return true;
	return false;
}

static bool is_persist(const struct source_node *n)
{
	return n->kind == SOURCE_CALL && n->name &&
	       (strcmp(n->name, "pmemobj_persist") == 0 || strcmp(n->name, "pmemobj_flush") == 0 ||
		strcmp(n->name, "pmemobj_drain") == 0);
}

/* Returns the object at an address: "t" for "&t->count" and for "t". */
static const char *object_text(struct repair *r, const char *addr)
{
	const char *text = addr[0] == '&' ? addr + 1 : addr, *arrow = NULL;

	for (const char *p = text; (p = strstr(p, "->")); p += 2)
		arrow = p;
	return arrow && !strchr(arrow, ')') ? text_copy(r->code, text, (size_t)(arrow - text))
					    : text;
}

/* Asks whether, outside of the work, the function does something else with the object. Then a
 * persist may be for that. */
static bool is_used_elsewhere(struct repair *r, const struct tx *t, const struct late *late,
			      const char *object)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body)) {
		const struct source_node *stmt = n;

		if ((n->begin >= late->work->begin && n->end <= late->work->end) || is_persist(n) ||
		    (n->kind != SOURCE_CALL && !node_is_assignment(n)))
			continue;
		while (stmt && !is_late(t, stmt))
			stmt = stmt->parent;
		if (!stmt && n->begin != late->work->begin &&
		    text_has_word(text_of(r->code, t->x.file, n), object) &&
		    !(n->kind == SOURCE_CALL && n->name &&
		      function_computes(r->code, t->x.unit, n->name)) &&
		    !macro_use(t->x.unit, t->x.file->path, n))
			return true;
	}
	return false;
}

/* Asks whether the persist is unnecessary: all changes of its object are in the work now, and the
 * commit writes them back. */
static bool is_needless(struct repair *r, const struct tx *t, const struct late *late,
			const struct source_node *n)
{
	const char **args = is_persist(n)
				    ? text_arguments(r->code, t->x.file, n->text_begin, n->text_end)
				    : NULL;
	const char *object = args && args[0] && args[1] ? object_text(r, args[1]) : NULL;

	for (size_t i = 0; object && i < t->logs.n; i++)
		if (t->logs.at[i].late && strcmp(object_text(r, t->logs.at[i].addr), object) == 0)
			return !is_used_elsewhere(r, t, late, object);
	return false;
}

/* Asks whether the statement is removed from TX_ONCOMMIT. It must be among the first statements
 * there. */
static bool goes(struct repair *r, const struct tx *t, const struct late *late,
		 const struct source_node *stmt)
{
	for (const struct source_node *s = late->block->child; s != stmt; s = s->next)
		if (!is_late(t, s) && !is_persist(s))
			return false;
	return is_late(t, stmt) || is_needless(r, t, late, stmt);
}

static bool is_emptied(struct repair *r, const struct tx *t, const struct late *late)
{
	for (const struct source_node *s = late->block->child; s; s = s->next)
		if (!goes(r, t, late, s))
			return false;
	return true;
}

static bool declares_inside(const struct source_node *top, const char *name)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, name) == 0)
			return true;
	return false;
}

/* Asks whether an abort can undo the statement: it sets no local variable, and calls only functions
 * that compute. */
static bool can_be_undone(struct repair *r, const struct tx *t, const struct source_node *stmt)
{
	for (const struct source_node *n = stmt; n; n = node_next(n, stmt)) {
		const struct source_node *to = node_is_assignment(n) ? n->child : NULL;

		while (to && to->kind == SOURCE_MEMBER && !to->is_arrow)
			to = to->child;
		if (to && to->kind == SOURCE_NAME &&
		    (!to->name || !declares_inside(stmt, to->name)))
			return false;
		if (n->kind == SOURCE_CALL &&
		    !(n->name && function_computes(r->code, t->x.unit, n->name)) &&
		    !node_is_store(t->x.unit, t->x.file, n))
			return false;
	}
	return true;
}

static bool shares_names(const struct source_node *stmt, const struct source_node *work)
{
	for (const struct source_node *n = stmt; n; n = node_next(n, stmt))
		if (n->kind == SOURCE_NAME && n->name && declares(work, n->name))
			return true;
	return false;
}

const char *tx_late_why(struct repair *r, const struct tx *t, const struct tx_log *l)
{
	const struct file *f = t->x.file;
	struct late late;

	if (!find_late(t, l->late, &late) || text_has_directive(f, late.work->end, late.block->end))
		return "the transaction's end is not seen";
	for (const struct source_node *s = late.block->child; s; s = s->next) {
		if (!text_begins_line(f, s->begin) || !line_end_behind(f, statement_end(f, s)) ||
		    (!is_late(t, s) && !is_persist(s)))
			return text_format(
				r->code,
				"line %u stores when the transaction is over (TX_ONCOMMIT), and must become part of it, but line %u comes first",
				l->line, s->line);
		if (is_late(t, s) && (s->kind == SOURCE_DECL || !can_be_undone(r, t, s) ||
				      shares_names(s, late.work)))
			return text_format(
				r->code,
				"line %u stores when the transaction is over (TX_ONCOMMIT), and must become part of it, but cannot be undone as it is",
				l->line);
		if (s == l->late)
			return NULL;
	}
	return "the transaction's end is not seen";
}

void tx_emit_late(struct repair *r, struct tx *t)
{
	struct file *f = t->x.file;
	const char *logs = "", *stores = "";
	const struct source_node *s = NULL;
	struct late late;

	for (size_t i = 0; i < t->logs.n; i++) {
		struct tx_log *l = &t->logs.at[i];

		s = l->late ? l->late : s;
		l->is_written |= l->late && !l->is_dropped;
		if (l->late && !l->is_dropped)
			logs = text_format(r->code, "%s%s%s;\n", logs,
					   text_indent(r->code, f, l->late->begin), l->text);
	}
	if (!s || !find_late(t, s, &late))
		return;
	for (s = late.block->child; s; s = s->next) {
		uint32_t from = text_line_begin(f, s->begin);

		if (is_late(t, s))
			stores = text_format(
				r->code, "%s%s\n", stores,
				text_copy(r->code, f->text + from,
					  line_end_behind(f, statement_end(f, s)) - from));
		if (goes(r, t, &late, s) && !is_emptied(r, t, &late))
			tx_cut(f, s->begin, statement_end(f, s));
	}
	file_edit(f, text_line_begin(f, late.work->end - 1), 0,
		  text_format(r->code, "%s%s", logs, stores));
	if (is_emptied(r, t, &late))
		file_edit(f, late.use->begin,
			  text_skip_blanks(f, late.block->end) - late.use->begin, "");
}
