/* Fixes logs that repeat others (tx-redundant-add):
 *
 * - A log of memory that the transaction has allocated is removed. An abort frees that memory
 *   anyway, and the commit writes it back.
 * - A log in a loop that logs the same range each time moves before the loop.
 * - A property of C++ that logs itself at each += is added to once, behind the loop; a variable
 *   sums up.
 *
 * Other repeated logs stay: they may be needed on another path.
 *
 * Memory is proved to be new within the function: a variable gets only the value of an allocation,
 * which is always executed before the log, and its address is never taken. C only: references of
 * C++ could change a variable unseen. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/tx.h"
#include "repair/tx/internal.h"
#include "util/str.h"
#include "source/source.h"
#include "repair/edit/internal.h"

/* how many steps are followed from a pointer to the handle that it was made of */
enum { STEPS_MAX = 3 };

/* ---- new memory: the logged variable ---- */

static size_t word_length(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return n;
}

/* Returns the variable "o" for "o" and for "D_RW(o)"; *rest is the text behind it. NULL: another
 * form. */
static const char *variable_in(struct repair *r, const char *text, const char **rest)
{
	static const char *const words[] = { "D_RW(", "D_RO(", "DIRECT_RW(", "DIRECT_RO(" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *in = text + strlen(words[i]);
		size_t n = strncmp(text, words[i], strlen(words[i])) == 0 ? word_length(in) : 0;

		if (n > 0 && in[n] == ')') {
			*rest = in + n + 1;
			return text_copy(r->code, in, n);
		}
	}
	*rest = text + word_length(text);
	return *rest > text && **rest != '(' ? text_copy(r->code, text, (size_t)(*rest - text))
					     : NULL;
}

/* Asks whether the text names a member of the object itself: it follows no pointer and has no
 * index. */
static bool is_member(const char *text)
{
	return *text && !strpbrk(text, "[(") && !strstr(text, "->");
}

/* Returns the variable through which the call names the object that it logs, wholly or in part;
 * NULL: unknown. */
static const char *variable_logged(struct repair *r, const struct tx_add_call *c)
{
	const char *what = tx_bare(r, c->args[c->how.first]), *rest, *name;
	char sign = *what == '&' || *what == '*' ? *what : 0;

	name = variable_in(r, what + (sign != 0), &rest);
	if (!name || (*rest && (strncmp(rest, "->", 2) != 0 || !is_member(rest + 2))))
		return NULL;
	switch (c->how.form) {
	case FORM_OBJECT:
	case FORM_HANDLE: return !sign && !*rest ? name : NULL;
	case FORM_FIELD:
	case FORM_MEMBER: return !sign && !*rest && is_member(c->args[c->how.second]) ? name : NULL;
	case FORM_POINTER:
	case FORM_RANGE: return sign == (*rest ? '&' : 0) ? name : NULL;
	case FORM_LVALUE: return sign == (*rest ? 0 : '*') ? name : NULL;
	}
	return NULL;
}

/* ---- new memory: the variable's value ---- */

/* Returns the value that a declaration or assignment gives to the variable; NULL: it gives none. */
static const struct source_node *value_given(const struct source_node *n, const char *name)
{
	if (n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, name) == 0)
		return n->last && n->last->kind != SOURCE_STMT && n->last->begin > n->begin
			       ? n->last
			       : NULL;
	return node_is_assignment(n) && n->child && n->child->kind == SOURCE_NAME &&
			       n->child->name && strcmp(n->child->name, name) == 0
		       ? n->child->next
		       : NULL;
}

static bool is_address_of(const struct source_node *n, const char *name)
{
	const struct source_node *of = n->kind == SOURCE_UNARY && n->op[0] == '&' ? n->child : NULL;

	while (of && of->kind == SOURCE_EXPR && of->child == of->last)
		of = of->child;
	return of && of->kind == SOURCE_NAME && of->name && strcmp(of->name, name) == 0;
}

/* Returns the only value that the function ever gives to the variable; NULL: none, or several. */
static const struct source_node *only_value(const struct source_function *f, const char *name)
{
	const struct source_node *found = NULL;
	size_t ndeclared = 0;

	for (size_t i = 0; i < f->nparameters; i++)
		if (f->parameters[i].name && strcmp(f->parameters[i].name, name) == 0)
			return NULL;
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_node *value = value_given(n, name);

		ndeclared += n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, name) == 0;
		if (is_address_of(n, name) || (value && found) ||
		    (node_is_assignment(n) && value && strcmp(n->op, "=") != 0))
			return NULL;
		found = value ? value : found;
	}
	return ndeclared == 1 ? found : NULL;
}

/* Asks whether the call allocates new memory, which the commit writes back. If the allocation
 * fails, it aborts the transaction. */
static bool is_allocation(struct repair *r, const struct file *f, const struct source_node *call)
{
	static const char *const names[] = { "pmemobj_tx_alloc", "pmemobj_tx_zalloc",
					     "pmemobj_tx_strdup", "pmemobj_tx_wcsdup" };
	const char **args = strcmp(call->name, "pmemobj_tx_xalloc") == 0
				    ? text_arguments(r->code, f, call->text_begin, call->text_end)
				    : NULL;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(call->name, names[i]) == 0)
			return true;
	return args && args[0] && args[1] && args[2] && strcmp(args[2], "POBJ_XALLOC_ZERO") == 0;
}

/* Returns the variable with the handle or pointer from which the value was made; NULL: none. */
static const char *made_of(const struct source_node *value)
{
	while (value->kind == SOURCE_EXPR && value->last)
		value = value->last; /* casts */
	if (value->kind == SOURCE_CALL && value->name &&
	    strncmp(value->name, "pmemobj_direct", 14) == 0)
		value = value->last;
	while (value && ((value->kind == SOURCE_EXPR && value->last) ||
			 (value->kind == SOURCE_MEMBER && !value->is_arrow && value->name &&
			  strcmp(value->name, "oid") == 0)))
		value = value->kind == SOURCE_EXPR ? value->last : value->child;
	return value && value->kind == SOURCE_NAME && value->is_local ? value->name : NULL;
}

/* Asks whether a transaction ends between the two nodes. */
static bool is_ended(const struct source_function *f, const struct source_node *from,
		     const struct source_node *to)
{
	static const char *const names[] = { "pmemobj_tx_commit", "pmemobj_tx_process",
					     "pmemobj_tx_end" };

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (n->kind == SOURCE_CALL && n->name && strcmp(n->name, names[i]) == 0 &&
			    from->begin < n->begin && n->begin < to->begin)
				return true;
	return false;
}

/* Asks whether, at this statement, the variable stands for memory that the open transaction has
 * allocated. */
static bool is_new_memory(struct repair *r, const struct fix *x, const char *name,
			  const struct source_node *at, unsigned steps)
{
	const struct source_node *value = only_value(x->function, name), *stmt = value,
				 *call = value;
	const char *from;

	while (stmt && !(stmt->parent && stmt->parent->kind == SOURCE_COMPOUND))
		stmt = stmt->parent;
	if (!stmt || stmt == at || (stmt->kind != SOURCE_DECL && stmt != value->parent) ||
	    !tx_way_from(x->file, stmt, at) || !tx_is_still_open(x->unit, x->function, stmt, at) ||
	    is_ended(x->function, stmt, at))
		return false;
	while (call->kind == SOURCE_EXPR && call->last)
		call = call->last;
	if (call->kind == SOURCE_CALL && call->name && is_allocation(r, x->file, call))
		return true;
	from = steps > 0 ? made_of(value) : NULL;
	return from && is_new_memory(r, x, from, stmt, steps - 1);
}

static const char *log_of_new(struct repair *r, const struct fix *x, const struct source_node *stmt)
{
	const struct tx_add_calls *all = tx_add_calls_of(r, x->unit, x->file);

	if (x->unit->is_cplusplus || !stmt->parent || stmt->parent->kind != SOURCE_COMPOUND ||
	    stmt->parent->child == stmt->parent->last || !text_begins_line(x->file, stmt->begin))
		return NULL;
	for (size_t i = 0; i < all->list.n; i++) {
		const struct tx_add_call *c = &all->list.at[i];
		const char *name = c->begin == stmt->begin && c->end == stmt->end && !c->once &&
						   text_semicolon(x->file, c->end)
					   ? variable_logged(r, c)
					   : NULL;

		if (name && is_new_memory(r, x, name, stmt, STEPS_MAX))
			return name;
	}
	return NULL;
}

/* ---- loops ---- */

/* Returns the innermost loop around the statement that is entirely in the transaction; NULL:
 * none. */
static const struct source_node *loop_around(const struct fix *x, const struct source_node *stmt)
{
	for (const struct source_node *n = stmt->parent; n; n = n->parent)
		if (source_is_loop(n) || n->kind == SOURCE_LAMBDA)
			return source_is_loop(n) && n->parent &&
					       n->parent->kind == SOURCE_COMPOUND &&
					       text_begins_line(x->file, n->begin) &&
					       !macro_use(x->unit, x->file->path, n) &&
					       tx_is_in_work(x->unit, x->file, x->function, n)
				       ? n
				       : NULL;
	return NULL;
}

static bool is_left_early(const struct source_node *loop)
{
	for (const struct source_node *n = loop; n; n = node_next(n, loop))
		if (n->kind == SOURCE_RETURN || n->kind == SOURCE_LABEL)
			return true;
	return false;
}

/* ---- moving a log before its loop ---- */

/* Asks whether each iteration executes the statement, and nothing leaves the loop before it. */
static bool is_always_done(const struct source_node *stmt, const struct source_node *loop)
{
	for (const struct source_node *n = stmt; n != loop; n = n->parent)
		if (n->parent != loop && n->parent->kind != SOURCE_COMPOUND)
			return false;
	for (const struct source_node *n = loop; n; n = node_next(n, loop))
		if ((n->kind == SOURCE_JUMP || n->kind == SOURCE_RETURN) && n->begin < stmt->begin)
			return false;
	return true;
}

static bool plan_move(struct repair *r, struct tx_again *a)
{
	const struct tx_add_calls *all = tx_add_calls_of(r, a->x.unit, a->x.file);

	for (size_t i = 0; i < all->list.n; i++) {
		const struct tx_add_call *c = &all->list.at[i];

		a->text = text_copy(r->code, a->x.file->text + c->begin, c->end - c->begin);
		if (c->begin == a->stmt->begin && c->end == a->stmt->end &&
		    text_semicolon(a->x.file, c->end) && is_always_done(a->stmt, a->loop) &&
		    !strstr(a->text, "->") && !strstr(a->text, "D_R") && !strchr(a->text, '[') &&
		    !tx_is_changed(a->loop, a->text))
			return true;
	}
	return false;
}

/* ---- a property that logs itself ---- */

/* Returns the type of the value in a property of C++: "uint64_t" for "p<uint64_t>"; NULL: another
 * form. */
static const char *value_type(struct repair *r, const char *type)
{
	const char *open = type ? strchr(type, '<') : NULL,
		   *close = open ? strrchr(open, '>') : NULL;

	return close && !strchr(open + 1, '<') && !strchr(open + 1, ',')
		       ? text_copy(r->code, open + 1, (size_t)(close - open - 1))
		       : NULL;
}

/* Counts how often the word is in the text. */
static size_t count_word(const char *text, const char *word)
{
	size_t n = 0, len = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += len)
		n += (p == text || !str_is_word_char(p[-1])) && !str_is_word_char(p[len]);
	return n;
}

/* Asks whether a called function contains the word, or may call one that does. */
static bool is_named_by_callees(struct repair *r, const struct source_unit *u,
				const struct source_node *top, const char *word, unsigned depth)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		const struct source_function *f =
			n->kind == SOURCE_CALL && n->name ? function_named(u, n->name) : NULL;
		const struct file *in = f ? file_open(r->code, f->file) : NULL;

		if (in && (depth == 0 ||
			   count_word(text_copy(r->code, in->text + f->begin, f->end - f->begin),
				      word) > 0 ||
			   is_named_by_callees(r, u, f->body, word, depth - 1)))
			return true;
	}
	return false;
}

static bool plan_sum(struct repair *r, struct tx_again *a)
{
	const struct source_node *to = a->stmt->kind == SOURCE_CALL && a->stmt->name &&
						       strcmp(a->stmt->name, "operator+=") == 0
					       ? a->stmt->child
					       : NULL;
	const char *property = to ? text_of(r->code, a->x.file, to) : "",
		   *type = to ? value_type(r, to->type) : NULL, *name, *rest, *body;
	size_t len = strlen(property);

	if (!type || len < 2 || property[len - 1] != '_' || !text_is_identifier(property) ||
	    a->stmt->parent->kind != SOURCE_COMPOUND || is_left_early(a->loop))
		return false;
	name = text_copy(r->code, property, len - 1);
	body = text_copy(r->code, a->x.file->text + a->x.function->begin,
			 a->x.function->end - a->x.function->begin);
	rest = text_copy(r->code, a->x.file->text + to->text_end, a->stmt->end - to->text_end);
	if (text_has_word(body, name) ||
	    count_word(text_copy(r->code, a->x.file->text + a->loop->begin,
				 a->loop->end - a->loop->begin),
		       property) != 1 ||
	    is_named_by_callees(r, a->x.unit, a->loop, property, 3))
		return false;
	a->text = text_format(r->code, "%s%s", name, rest);
	a->before = text_format(r->code, "%s %s = 0;", type, name);
	a->behind = text_format(r->code, "%s += %s;", property, name);
	return true;
}

/* ---- plan and edit ---- */

static const char *plan(struct repair *r, struct tx_again *a)
{
	a->of_new = log_of_new(r, &a->x, a->stmt);
	if (a->of_new)
		return text_format(r->code, "%s removed: the transaction has allocated %s",
				   text_copy(r->code, a->x.file->text + a->stmt->begin,
					     a->stmt->end - a->stmt->begin),
				   a->of_new);
	a->loop = loop_around(&a->x, a->stmt);
	if (!a->loop || text_has_directive(a->x.file, a->loop->begin, a->loop->end) ||
	    !text_begins_line(a->x.file, a->stmt->begin) || (!plan_move(r, a) && !plan_sum(r, a)))
		return NULL;
	return text_format(r->code, a->before ? "%s once, after the loop" : "%s before the loop",
			   a->before ? a->behind : a->text);
}

int tx_plan_again(struct repair *r, size_t bug, const char **why)
{
	const struct repair_bug *b = r->bugs.at[bug];
	const char *ignored;

	*why = "it is not in a loop that logs the same each time, nor of memory that this transaction has certainly allocated";
	for (size_t i = 0; b->nplaces > 0 && i < b->places[0].nframes; i++) {
		const struct repair_frame *f = &b->places[0].frames[i];
		struct tx_again a = { .bug = bug };
		const char *words;

		if (fix_enter_frame(r, &a.x, &b->places[0], i, &ignored) < 0 ||
		    (r->options->root && !path_is_below(a.x.file->path, r->options->root)))
			continue;
		a.stmt = tx_statement(a.x.function, a.x.file, f->line, f->column);
		words = a.stmt ? plan(r, &a) : NULL;
		if (!words)
			continue;
		*vec_add(&r->tx->again) = a;
		r->outcomes.at[bug] = (struct repair_outcome){ REPAIR_MENDED, words, NULL };
		return 0;
	}
	return -1;
}

/* Removes the statement's line, and one of two blank lines around it. */
static void cut_line(struct file *f, const struct source_node *stmt)
{
	uint32_t end = statement_end(f, stmt), line = text_line_begin(f, stmt->begin),
		 after = line_end_behind(f, end),
		 before = line > 0 ? text_line_begin(f, line - 1) : line;

	if (after && before < line && file_is_blank_line(f, before) &&
	    file_is_blank_line(f, after + 1))
		file_edit(f, before, line - before, "");
	tx_cut(f, stmt->begin, end);
}

/* Asks whether another bug has the same statement, which is then changed already. */
static bool is_emitted(struct repair *r, size_t i)
{
	const struct tx_again *a = r->tx->again.at;

	for (size_t k = 0; k < i; k++)
		if (a[k].x.file == a[i].x.file && a[k].stmt->begin == a[i].stmt->begin) {
			group_join(r, a[k].bug, a[i].bug);
			return true;
		}
	return false;
}

void tx_emit_again(struct repair *r)
{
	for (size_t i = 0; i < r->tx->again.n; i++) {
		const struct tx_again *a = &r->tx->again.at[i];
		const char *indent;
		uint32_t end, line;

		if (is_emitted(r, i))
			continue;
		if (a->of_new) {
			cut_line(a->x.file, a->stmt);
			r->nremoved++;
			continue;
		}
		indent = text_indent(r->code, a->x.file, a->loop->begin);
		end = statement_end(a->x.file, a->loop);
		line = line_end_behind(a->x.file, end);
		if (!a->before) {
			file_edit(a->x.file, text_line_begin(a->x.file, a->loop->begin), 0,
				  text_format(r->code, "%s%s;\n", indent, a->text));
			tx_cut(a->x.file, a->stmt->begin, statement_end(a->x.file, a->stmt));
			continue;
		}
		file_edit(a->x.file, text_line_begin(a->x.file, a->loop->begin), 0,
			  text_format(r->code, "%s%s\n\n", indent, a->before));
		file_edit(a->x.file, a->stmt->begin, a->stmt->end - a->stmt->begin, a->text);
		file_edit(a->x.file, line ? line : end, 0,
			  text_format(r->code, "\n%s%s", indent, a->behind));
	}
}
