/* Writes the copies of functions: each behind its original, with an unused name, and declared where
 * the original is. An equal copy that an earlier fix made is used again. */
#include <string.h>

#include "repair/plan/internal.h"

/* ---- names ---- */

static bool is_taken(struct repair *r, const char *name)
{
	for (size_t i = 0; i < r->clones.n; i++)
		if (r->clones.at[i]->name && strcmp(r->clones.at[i]->name, name) == 0)
			return true;
	for (size_t i = 0; i < r->code->units.n; i++) {
		for (size_t k = 0; k < r->code->units.at[i]->nfunctions; k++)
			if (strcmp(r->code->units.at[i]->functions[k].name, name) == 0)
				return true;
		for (size_t k = 0; k < r->code->units.at[i]->nmacros; k++)
			if (strcmp(r->code->units.at[i]->macros[k].name, name) == 0)
				return true;
	}
	for (size_t i = 0; i < r->code->db->n; i++)
		file_open(r->code, r->code->db->files[i]);
	for (size_t i = 0; i < r->code->files.n; i++)
		if (text_has_word(r->code->files.at[i]->text, name))
			return true;
	return false;
}

/* ---- text ---- */

static bool is_header(const struct clone *c)
{
	return strcmp(c->file->path, c->unit->main_file) != 0;
}

/* Returns the text with `inline` if it is a static function in a header: compilers would warn of it
 * where nobody calls it. */
static const char *with_inline(struct repair *r, const struct clone *c, const char *text)
{
	const char *head = text_copy(r->code, c->file->text + c->function->begin,
				     c->function->body->begin - c->function->begin);

	if (!c->function->is_static || !is_header(c) || text_has_word(head, "inline") ||
	    text_has_word(head, "__inline") || strncmp(text, "static ", 7) != 0)
		return text;
	return text_format(r->code, "static inline %s", text + 7);
}

/* Asks whether the two texts are equal, except for blanks and comments. */
static bool is_same_code(const char *a, const char *b)
{
	struct file x = { .text = (char *)a, .len_bytes = (uint32_t)strlen(a) },
		    y = { .text = (char *)b, .len_bytes = (uint32_t)strlen(b) };
	uint32_t i = text_skip_blanks(&x, 0), k = text_skip_blanks(&y, 0);

	while (a[i] && a[i] == b[k]) {
		i = text_skip_blanks(&x, i + 1);
		k = text_skip_blanks(&y, k + 1);
	}
	return !a[i] && !b[k];
}

/* Asks whether an equal function of this name is directly behind the original, so that an earlier
 * fix made it. */
static bool is_made_before(struct repair *r, const struct clone *c, const char *name,
			   const char *text)
{
	const struct source_function *f = function_named(c->unit, name);

	return f && strcmp(f->file, c->file->path) == 0 &&
	       text_skip_blanks(c->file, c->function->end) == f->begin &&
	       is_same_code(text, text_copy(r->code, c->file->text + f->begin, f->end - f->begin));
}

static const char *text_named(struct repair *r, struct clone *c, const char *name)
{
	const struct source_function *f = c->function;
	uint32_t at = clone_declarator(c->copy, f->begin, f->body->begin, f->name);
	const char *head = text_copy(r->code, c->copy->text + f->begin, at - f->begin);

	return with_inline(
		r, c,
		text_format(r->code, "%s%s%s", head, name,
			    file_edited(r->code, c->copy, at + (uint32_t)strlen(f->name), f->end)));
}

static void insert_copy(struct repair *r, struct clone *c, const char *text)
{
	uint32_t at = c->function->end;

	if (r->options->is_explained)
		text = text_format(r->code, "/* pmend: %s() for %s */\n%s", c->function->name,
				   c->is_for_tx ? "transactions: what it stores is logged"
						: "persistent memory: what it stores is flushed",
				   text);
	while (at < c->file->len_bytes && (c->file->text[at] == ' ' || c->file->text[at] == '\t'))
		at++;
	/* behind a comment in the same line */
	at = at < c->file->len_bytes && c->file->text[at] == '/' ? text_line_end(c->file, at)
								 : c->function->end;
	file_edit(c->file, at, 0, text_format(r->code, "\n\n%s", text));
}

static bool is_original(const struct repair *r, const struct file *f)
{
	for (size_t i = 0; i < r->clones.n; i++)
		if (r->clones.at[i]->copy == f)
			return false;
	return true;
}

static void edit_call(const struct redirect *d)
{
	file_edit(d->file, d->call->child->text_begin,
		  d->call->child->text_end - d->call->child->text_begin, d->to->name);
}

/* Writes a copy after those that it calls, since it contains their names. */
static void emit_copy(struct repair *r, struct clone *c)
{
	const char *suffix = c->is_for_tx ? "tx" : "pm",
		   *name = text_format(r->code, "%s_%s", c->function->name, suffix), *text;

	for (size_t i = 0; i < r->redirects.n; i++)
		if (r->redirects.at[i].file == c->copy) {
			if (!r->redirects.at[i].to->name)
				emit_copy(r, r->redirects.at[i].to);
			edit_call(&r->redirects.at[i]);
		}
	for (unsigned i = 2;; i++) {
		text = text_named(r, c, name);
		c->is_there = is_made_before(r, c, name, text);
		if (c->is_there || !is_taken(r, name))
			break;
		name = text_format(r->code, "%s_%s%u", c->function->name, suffix, i);
	}
	c->name = name;
	if (!c->is_there)
		insert_copy(r, c, text);
	for (size_t i = 0; c->is_there && i < r->fixes.n; i++)
		r->nflushes -= r->fixes.at[i].file == c->copy && r->fixes.at[i].needs_flush &&
			       !r->fixes.at[i].is_dropped;
}

static void emit_prototype(struct repair *r, const struct clone *c, const struct source_function *d)
{
	struct file *f = file_open(r->code, d->file);
	uint32_t end = clone_declaration_end(f, d),
		 name = clone_declarator(f, d->begin, d->end, c->function->name);
	const char *text =
		text_format(r->code, "\n%s%.*s%s%s", text_indent(r->code, f, d->begin),
			    (int)(name - d->begin), f->text + d->begin, c->name,
			    text_copy(r->code, f->text + name + strlen(c->function->name),
				      end - name - strlen(c->function->name)));

	for (size_t i = 0; i < f->edits.n; i++)
		if (f->edits.at[i].at == end && strcmp(f->edits.at[i].insert, text) == 0)
			return;
	file_edit(f, end, 0, text);
}

/* Declares the copy behind each declaration of the original in this unit. */
static void emit_prototypes(struct repair *r, const struct clone *c, const struct source_unit *u)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (clone_is_declaration(r, &u->functions[i], c->function))
			emit_prototype(r, c, &u->functions[i]);
}

/* Asks whether the copy has no edits of its own and calls no copy. */
static bool is_like_original(const struct repair *r, const struct clone *c)
{
	for (size_t i = 0; i < r->redirects.n; i++)
		if (r->redirects.at[i].file == c->copy)
			return false;
	return c->is_for_tx && c->copy->edits.n == c->ninherited;
}

/* Drops copies that equal their originals; their calls stay unchanged. Further copies may then
 * equal their originals, too, and are also dropped. */
static void drop_needless(struct repair *r)
{
	for (size_t i = 0; i < r->clones.n;) {
		const struct clone *c = r->clones.at[i];
		size_t kept = 0;

		if (!is_like_original(r, c)) {
			i++;
			continue;
		}
		for (size_t k = 0; k < r->redirects.n; k++)
			if (r->redirects.at[k].to != c)
				r->redirects.at[kept++] = r->redirects.at[k];
		r->redirects.n = kept;
		vec_release(&r->clones.at[i]->copy->edits);
		r->clones.at[i] = r->clones.at[--r->clones.n];
		i = 0;
	}
}

void clone_emit(struct repair *r)
{
	drop_needless(r);
	for (size_t i = 0; i < r->clones.n; i++)
		if (!r->clones.at[i]->name)
			emit_copy(r, r->clones.at[i]);
	for (size_t i = 0; i < r->redirects.n; i++) {
		const struct redirect *d = &r->redirects.at[i];
		const struct clone *c = d->to;

		if (is_original(r, d->file))
			edit_call(d);
		if (!c->is_there && (!c->function->is_static ||
				     !clone_is_visible(d->unit, d->file, d->call, c->function)))
			emit_prototypes(r, c, d->unit);
		if (!c->is_there && !c->function->is_static)
			emit_prototypes(r, c, c->unit);
	}
}
