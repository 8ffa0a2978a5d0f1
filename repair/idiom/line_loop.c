/* Corrects a helper that misses lines of its range because its loop never advances, ends too early
 * or does not exist. The loop over the lines is written anew:
 *
 *   uintptr_t line = (uintptr_t)addr & ~(uintptr_t)63;
 *
 *   for (; line < (uintptr_t)addr + len; line += 64)
 *           flush_line(line);
 *
 * The flush itself stays as the helper writes it. A helper that does anything else there is left
 * alone. */
#include <string.h>

#include "repair/idiom/internal.h"
#include "source/source.h"
#include "repair/edit/internal.h"

struct walk {
	struct short_helper h;
	const struct source_node *flush;   /* the instruction or call that flushes a line */
	const struct source_node *operand; /* the address of the flush */
	/* the statement that contains the flush and nothing else */
	const struct source_node *stmt;
	/* the statements of the body from `from` to `to` are replaced */
	const struct source_node *from, *to;
	const char *name; /* name of the new variable */
	bool is_integer;  /* the new variable is an integer and no pointer */
};

static bool is_flush(const struct walk *w, const struct source_node *n)
{
	const char *template;
	unsigned does;

	if (n->kind == SOURCE_ASM)
		return idiom_asm(w->h.u, n, &does, &template) && does == DOES_FLUSH;
	return n->kind == SOURCE_CALL && idiom_call_does(w->h.r, w->h.u, n) == DOES_FLUSH;
}

/* Finds the only flush of the helper. Its only operand must be an address. */
static bool find_flush(struct walk *w)
{
	const struct source_node *body = w->h.f->body, *only;

	for (const struct source_node *n = body; n; n = node_next(n, body)) {
		if ((w->flush && source_is_inside(n, w->flush)) || !is_flush(w, n))
			continue;
		if (w->flush)
			return false;
		w->flush = n;
	}
	if (!w->flush)
		return false;
	only = w->flush->kind == SOURCE_CALL ? call_argument(w->flush, 0) : w->flush->child;
	if (!only || only->next)
		return false;
	w->operand = only;
	only = source_bare(only);
	if (w->flush->kind == SOURCE_ASM && only->kind == SOURCE_UNARY && only->op[0] == '*')
		w->operand = only->child;
	return w->operand && w->operand->type;
}

/* Asks whether the statement changes nothing but variables of the function, so that it may be
 * removed or repeated. */
static bool is_plain(const struct walk *w, const struct source_node *top)
{
	if (top->kind == SOURCE_DECL && strncmp(w->h.file->text + top->begin, "static", 6) == 0)
		return false;
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		if (source_is_inside(n, w->flush))
			continue;
		if (n->kind == SOURCE_CALL || n->kind == SOURCE_ASM || n->kind == SOURCE_RETURN ||
		    n->kind == SOURCE_JUMP || n->kind == SOURCE_LABEL || n->kind == SOURCE_LAMBDA)
			return false;
		if (node_may_assign(n) && n->child && !node_is_own_variable(source_bare(n->child)))
			return false;
	}
	return true;
}

/* Finds the statement of the function's body that contains the flush. No condition may be around
 * the flush. */
static bool find_loop(struct walk *w)
{
	const struct source_node *n = w->flush;

	while (n && n->parent != w->h.f->body) {
		const enum source_kind in = n->parent ? n->parent->kind : SOURCE_STMT;

		if (!w->stmt && (in == SOURCE_COMPOUND || in == SOURCE_FOR || in == SOURCE_WHILE ||
				 in == SOURCE_DO))
			w->stmt = n;
		if (in == SOURCE_IF || in == SOURCE_SWITCH || in == SOURCE_CONDITIONAL ||
		    in == SOURCE_LABEL || in == SOURCE_LAMBDA)
			return false;
		n = n->parent;
	}
	w->to = n;
	w->stmt = w->stmt ? w->stmt : n;
	return n && is_plain(w, n);
}

/* Asks whether a statement of the body stays: it is behind the loop, or before the loop and does
 * more than compute. */
static bool is_kept(const struct walk *w, const struct source_node *s)
{
	return s->begin > w->to->begin || (s != w->to && !is_plain(w, s));
}

static bool is_used_elsewhere(const struct walk *w, const char *name)
{
	for (const struct source_node *s = w->h.f->body->child; s; s = s->next)
		if (is_kept(w, s) && node_mentions(s, name))
			return true;
	return false;
}

static bool sets_for_others(const struct walk *w, const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		const struct source_node *to =
			node_may_assign(n) && n->child ? source_bare(n->child) : n;

		if ((to != n || n->kind == SOURCE_VARIABLE) && to->name &&
		    is_used_elsewhere(w, to->name))
			return true;
	}
	return false;
}

/* Finds the first statement to replace. The replaced statements must set nothing that the others
 * use, and the others must not change the parameters. */
static bool find_begin(struct walk *w)
{
	const struct source_node *s;

	for (s = w->h.f->body->child; s != w->to && is_kept(w, s);)
		s = s->next;
	w->from = s;
	for (s = w->h.f->body->child; s != w->to->next; s = s->next)
		if (is_kept(w, s)
			    ? node_assigns(s, NULL, w->h.addr) || node_assigns(s, NULL, w->h.len)
			    : sets_for_others(w, s))
			return false;
	return text_begins_line(w->h.file, w->from->begin) &&
	       !text_has_directive(w->h.file, w->from->begin, w->to->end);
}

static bool find_name(struct walk *w)
{
	static const char *const names[] = { "line", "at", "cache_line" };
	const struct source_function *f = w->h.f;
	const char *text = text_copy(w->h.r->code, w->h.file->text + f->begin, f->end - f->begin);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!text_has_word(text, names[i])) {
			w->name = names[i];
			return true;
		}
	return false;
}

/* ---- the new text ---- */

static const char *pointer_type(const struct walk *w)
{
	return strstr(w->operand->type, "const") || w->h.u->is_cplusplus ? "const char *"
									 : "char *";
}

static const char *argument(const struct walk *w)
{
	const char *type = w->operand->type;

	if (w->is_integer || strstr(type, "void *") || strstr(type, "char *"))
		return w->name;
	return text_format(w->h.r->code, "(%s)%s", type, w->name);
}

/* Returns the text of the flush with another address; NULL: it is unknown where the address is in
 * the text. */
static const char *flush_words(const struct walk *w)
{
	const struct file *f = w->h.file;
	const struct source_use *use = macro_use(w->h.u, f->path, w->flush);
	const uint32_t end = statement_end(f, w->stmt);
	uint32_t from = w->operand->text_begin, to = w->operand->text_end;
	const char **args = use ? text_arguments(w->h.r->code, f, use->begin, use->end) : NULL;

	if (use) {
		if (!args || !args[0] || args[1] || use->begin < w->stmt->begin || use->end > end)
			return NULL;
		from = (uint32_t)(strchr(f->text + use->begin, '(') + 1 - f->text);
		to = use->end - 1;
	}
	if (from < w->stmt->begin || to > end || from >= to)
		return NULL;
	return text_format(w->h.r->code, "%.*s%s%.*s", (int)(from - w->stmt->begin),
			   f->text + w->stmt->begin, argument(w), (int)(end - to), f->text + to);
}

/* Returns the text of the statements that stay and that stand between those that are replaced. */
static const char *kept_words(const struct walk *w, const char *indent)
{
	const char *words = "";

	for (const struct source_node *s = w->from; s != w->to; s = s->next)
		if (is_kept(w, s))
			words = text_format(w->h.r->code, "%s%s%.*s\n", words, indent,
					    (int)(statement_end(w->h.file, s) - s->begin),
					    w->h.file->text + s->begin);
	return words;
}

static const char *walk_words(const struct walk *w, const char *flush)
{
	struct codebase *code = w->h.r->code;
	const char *indent = text_indent(code, w->h.file, w->from->begin);
	const char *type = w->is_integer ? short_integer_type(&w->h) : pointer_type(w);
	const char *begin = short_rounded_down(&w->h, type, !w->is_integer);
	const char *end =
		text_format(code, "%s + %s", short_cast(&w->h, type, w->h.addr), w->h.len);

	return text_format(code, "%s%s%s = %s;\n\n%s%sfor (; %s < %s; %s += %s)\n%s%s%s", type,
			   w->is_integer ? " " : "", w->name, begin, kept_words(w, indent), indent,
			   w->name, end, w->name, w->h.line, indent,
			   indent_unit(code, w->h.file, w->h.f), flush);
}

/* ---- the edit ---- */

bool idiom_leaves_out(struct repair *r, const struct source_unit *u,
		      const struct source_function *f)
{
	int addr, len;

	return way_leaves_out(r, u, f, &addr, &len);
}

bool idiom_mend_line_loop(struct repair *r, const struct source_unit *u,
			  const struct source_function *helper, struct idiom_mend *out)
{
	struct walk w = { 0 };
	const char *flush;
	int addr, len;

	if (!way_leaves_out(r, u, helper, &addr, &len) ||
	    !short_helper_init(&w.h, r, u, helper, addr, len) || !find_flush(&w) ||
	    !find_loop(&w) || !find_begin(&w) || !find_name(&w))
		return false;
	w.is_integer = !strpbrk(w.operand->type, "*]");
	flush = flush_words(&w);
	if (!flush)
		return false;
	*out = (struct idiom_mend){ w.from->begin, statement_end(w.h.file, w.to) - w.from->begin,
				    walk_words(&w, flush) };
	return true;
}
