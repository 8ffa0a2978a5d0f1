/* tx-redundant-add. A log of memory that the transaction has allocated goes. In a loop, a log of the same range each time stands before the loop. A property of C++ that logs
 * itself whenever it is added to is added to once, behind the loop, and a variable adds up. Others are left: whether one is needed on another way is not known. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/tx.h"
#include "repair/tx/internal.h"

static bool is_loop(const struct source_node *n)
{
	return n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE || n->kind == SOURCE_DO;
}

/* The innermost loop around the statement that is in the transaction as a whole; NULL. */
static const struct source_node *loop_around(const struct fix *x, const struct source_node *stmt)
{
	for (const struct source_node *n = stmt->parent; n; n = n->parent)
		if (is_loop(n) || n->kind == SOURCE_LAMBDA)
			return is_loop(n) && n->parent && n->parent->kind == SOURCE_COMPOUND && text_begins_line(x->file, n->begin) && !macro_use(x->unit, x->file->path, n) &&
			       tx_is_in_work(x->unit, x->file, x->function, n) ? n : NULL;
	return NULL;
}

static bool is_left_early(const struct source_node *loop)
{
	for (const struct source_node *n = loop; n; n = node_next(n, loop))
		if (n->kind == SOURCE_RETURN || n->kind == SOURCE_LABEL)
			return true;
	return false;
}

/* ---- a log ---- */

/* Whoever is in the loop comes to it first, each time. */
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
		if (c->begin == a->stmt->begin && c->end == a->stmt->end && text_semicolon(a->x.file, c->end) && is_always_done(a->stmt, a->loop) && !strstr(a->text, "->") && !strstr(a->text, "D_R") &&
		    !strchr(a->text, '[') && !tx_is_changed(a->loop, a->text))
			return true;
	}
	return false;
}

/* ---- a property ---- */

/* "uint64_t" of "p<uint64_t>"; NULL. */
static const char *value_type(struct repair *r, const char *type)
{
	const char *open = type ? strchr(type, '<') : NULL, *close = open ? strrchr(open, '>') : NULL;

	return close && !strchr(open + 1, '<') && !strchr(open + 1, ',') ? text_copy(r->code, open + 1, (size_t)(close - open - 1)) : NULL;
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* How often the text names it. */
static size_t count_word(const char *text, const char *word)
{
	size_t n = 0, len = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += len)
		n += (p == text || !is_letter(p[-1])) && !is_letter(p[len]);
	return n;
}

/* Does a function that is called there name it, or one that this calls? */
static bool is_named_by_callees(struct repair *r, const struct source_unit *u, const struct source_node *top, const char *word, unsigned depth)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		const struct source_function *f = n->kind == SOURCE_CALL && n->name ? function_named(u, n->name) : NULL;
		const struct file *in = f ? file_open(r->code, f->file) : NULL;

		if (in && (depth == 0 || count_word(text_copy(r->code, in->text + f->begin, f->end - f->begin), word) > 0 || is_named_by_callees(r, u, f->body, word, depth - 1)))
			return true;
	}
	return false;
}

static bool plan_sum(struct repair *r, struct tx_again *a)
{
	const struct source_node *to = a->stmt->kind == SOURCE_CALL && a->stmt->name && strcmp(a->stmt->name, "operator+=") == 0 ? a->stmt->child : NULL;
	const char *property = to ? text_of(r->code, a->x.file, to) : "", *type = to ? value_type(r, to->type) : NULL, *name, *rest, *body;
	size_t len = strlen(property);

	if (!type || len < 2 || property[len - 1] != '_' || !text_is_identifier(property) || a->stmt->parent->kind != SOURCE_COMPOUND || is_left_early(a->loop))
		return false;
	name = text_copy(r->code, property, len - 1);
	body = text_copy(r->code, a->x.file->text + a->x.function->begin, a->x.function->end - a->x.function->begin);
	rest = text_copy(r->code, a->x.file->text + to->text_end, a->stmt->end - to->text_end);
	if (text_has_word(body, name) || count_word(text_copy(r->code, a->x.file->text + a->loop->begin, a->loop->end - a->loop->begin), property) != 1 ||
	    is_named_by_callees(r, a->x.unit, a->loop, property, 3))
		return false;
	a->text = text_format(r->code, "%s%s", name, rest);
	a->before = text_format(r->code, "%s %s = 0;", type, name);
	a->behind = text_format(r->code, "%s += %s;", property, name);
	return true;
}

/* ---- all ---- */

static const char *plan(struct repair *r, struct tx_again *a)
{
	a->of_new = tx_log_of_new(r, &a->x, a->stmt);
	if (a->of_new)
		return text_format(r->code, "%s goes: the transaction has allocated %s", text_copy(r->code, a->x.file->text + a->stmt->begin, a->stmt->end - a->stmt->begin), a->of_new);
	a->loop = loop_around(&a->x, a->stmt);
	if (!a->loop || text_has_directive(a->x.file, a->loop->begin, a->loop->end) || !text_begins_line(a->x.file, a->stmt->begin) || (!plan_move(r, a) && !plan_sum(r, a)))
		return NULL;
	return text_format(r->code, a->before ? "%s once, behind the loop" : "%s before the loop", a->before ? a->behind : a->text);
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

		if (fix_enter_frame(r, &a.x, &b->places[0], i, &ignored) < 0 || (r->options->root && !path_is_below(a.x.file->path, r->options->root)))
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

static bool is_blank(const struct file *f, uint32_t line)
{
	while (line < f->len_bytes && strchr(" \t\r", f->text[line]))
		line++;
	return line >= f->len_bytes || f->text[line] == '\n';
}

/* The statement's line, and a blank one too many. */
static void cut_line(struct file *f, const struct source_node *stmt)
{
	uint32_t end = statement_end(f, stmt), line = text_line_begin(f, stmt->begin), after = line_end_behind(f, end), before = line > 0 ? text_line_begin(f, line - 1) : line;

	if (after && before < line && is_blank(f, before) && is_blank(f, after + 1))
		file_edit(f, before, line - before, "");
	tx_cut(f, stmt->begin, end);
}

/* Another bug's is the same statement. */
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
			file_edit(a->x.file, text_line_begin(a->x.file, a->loop->begin), 0, text_format(r->code, "%s%s;\n", indent, a->text));
			tx_cut(a->x.file, a->stmt->begin, statement_end(a->x.file, a->stmt));
			continue;
		}
		file_edit(a->x.file, text_line_begin(a->x.file, a->loop->begin), 0, text_format(r->code, "%s%s\n\n", indent, a->before));
		file_edit(a->x.file, a->stmt->begin, a->stmt->end - a->stmt->begin, a->text);
		file_edit(a->x.file, line ? line : end, 0, text_format(r->code, "\n%s%s", indent, a->behind));
	}
}
