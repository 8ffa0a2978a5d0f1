/* Persistent subprograms: copies of functions that flush what they store, and that call such copies. A function has one copy, which
 * all fixes share. Copies stand behind the originals, which stay as they are for everybody else.
 *
 * A copy is made as edits of the original's text that are applied to a second `struct file`; clone_emit() cuts it out. */
#include <string.h>

#include "repair/plan/internal.h"

/* ---- copies ---- */

static bool is_taken(struct repair *r, const char *name)
{
	for (size_t i = 0; i < r->clones.n; i++)
		if (r->clones.at[i]->name && strcmp(r->clones.at[i]->name, name) == 0)
			return true;
	for (size_t i = 0; i < r->units.n; i++) {
		for (size_t k = 0; k < r->units.at[i]->nfunctions; k++)
			if (strcmp(r->units.at[i]->functions[k].name, name) == 0)
				return true;
		for (size_t k = 0; k < r->units.at[i]->nmacros; k++)
			if (strcmp(r->units.at[i]->macros[k].name, name) == 0)
				return true;
	}
	for (size_t i = 0; i < r->db->n; i++)
		file_open(r, r->db->files[i]);
	for (size_t i = 0; i < r->files.n; i++)
		if (text_has_word(r->files.at[i]->text, name))
			return true;
	return false;
}

static struct clone *clone_find(const struct repair *r, const struct source_function *f, bool is_for_tx)
{
	for (size_t i = 0; i < r->clones.n; i++)
		if (function_is_same(r->clones.at[i]->function, f) && r->clones.at[i]->is_for_tx == is_for_tx)
			return r->clones.at[i];
	return NULL;
}

static struct clone *clone_get(struct repair *r, struct source_unit *u, struct file *file, const struct source_function *f)
{
	struct clone *c = clone_find(r, f, false);

	if (c)
		return c;
	c = arena_alloc(&r->arena, sizeof *c);
	*c = (struct clone){ .unit = u, .function = f, .file = file, .copy = arena_alloc(&r->arena, sizeof *c->copy) };
	*c->copy = (struct file){ .path = file->path, .text = file->text, .len_bytes = file->len_bytes };
	*vec_add(&r->clones) = c;
	return c;
}

/* A copy for transactions: what was changed in the function so far is changed in it. */
struct clone *clone_for_tx(struct repair *r, struct source_unit *u, struct file *file, const struct source_function *f)
{
	struct clone *c = clone_find(r, f, true);

	if (c)
		return c;
	c = arena_alloc(&r->arena, sizeof *c);
	*c = (struct clone){ .unit = u, .function = f, .file = file, .copy = arena_alloc(&r->arena, sizeof *c->copy), .is_for_tx = true };
	*c->copy = (struct file){ .path = file->path, .text = file->text, .len_bytes = file->len_bytes };
	for (size_t i = 0; i < file->edits.n; i++)
		if (file->edits.at[i].at >= f->begin && file->edits.at[i].at < f->end)
			*vec_add(&c->copy->edits) = file->edits.at[i];
	*vec_add(&r->clones) = c;
	return c;
}

void clone_redirect(struct repair *r, size_t bug, const struct fix *at, struct file *file, const struct source_node *call, struct clone *to)
{
	for (size_t i = 0; i < r->redirects.n; i++)
		if (r->redirects.at[i].file == file && r->redirects.at[i].call->begin == call->begin)
			return;
	*vec_add(&r->redirects) = (struct redirect){ bug, at->unit, at->function, file, call, to };
}

void clone_make(struct repair *r, size_t i, size_t level)
{
	struct clone_link links[CLONE_MAX_LEVELS];
	struct fix x = r->fixes.at[i], fence;
	const char *why;
	struct clone *c = NULL;

	if (clone_links(r, &x, level, links, &why) < 0)
		BUG("a checked way to a call is gone: %s", why);
	for (size_t k = 0; k < level; k++) {
		const struct clone_link *l = &links[k];

		c = clone_get(r, l->inner.unit, l->inner.file, l->inner.function);
		clone_redirect(r, x.bug, &l->outer, k + 1 < level ? clone_get(r, l->outer.unit, l->outer.file, l->outer.function)->copy : l->outer.file,
			 l->call, c);
	}
	/* what a crash lost may be needed by something inside the call: the fence stays with the flush */
	if (x.needs_fence && strcmp(x.place->role, "lost") != 0 && clone_fence(r, &x, &links[level - 1], &fence, &why) == 0) {
		r->fixes.at[i] = fence;
		x.needs_fence = false;
	} else {
		r->fixes.at[i].is_dropped = true;
	}
	r->outcomes.at[x.bug].text = text_format(r, "flush%s in a copy of %s for the call in %s%s", x.needs_fence ? " and fence" : "",
						 x.function->name, links[level - 1].outer.function->name,
						 r->fixes.at[i].is_dropped ? "" : ", and a fence after that");
	x.place = NULL;
	x.file = clone_find(r, x.function, false)->copy;
	*vec_add(&r->fixes) = x;
}

/* ---- the rest of the subprogram ---- */

static bool flushes(const struct clone *c)
{
	for (const struct source_node *n = c->function->body; n; n = node_next(n, c->function->body))
		if (n->kind == SOURCE_CALL && n->name && idiom_is_flush(n->name))
			return true;
	for (size_t i = 0; i < c->unit->nuses; i++)
		if (c->unit->uses[i].begin >= c->function->begin && c->unit->uses[i].end <= c->function->end &&
		    strcmp(c->unit->uses[i].file, c->file->path) == 0 && idiom_is_flush(c->unit->uses[i].name))
			return true;
	return false;
}

/* What is changed in the original is changed in its copy. */
static void copy_changes(struct repair *r, struct clone *c)
{
	size_t nfixes = r->fixes.n, nredirects = r->redirects.n;

	for (size_t i = 0; i < nfixes; i++) {
		struct fix x = r->fixes.at[i];

		if (x.is_dropped || x.file != c->file || !function_is_same(x.function, c->function))
			continue;
		x.file = c->copy;
		x.place = NULL;
		x.is_extra = true;
		*vec_add(&r->fixes) = x;
	}
	for (size_t i = 0; i < nredirects; i++) {
		struct redirect d = r->redirects.at[i];
		struct fix at = { .unit = d.unit, .function = d.function };

		if (d.file == c->file && function_is_same(d.function, c->function))
			clone_redirect(r, d.bug, &at, c->copy, d.call, d.to);
	}
}

static bool is_fixed(const struct repair *r, const struct file *copy, const struct source_node *n)
{
	for (size_t i = 0; i < r->fixes.n; i++)
		if (r->fixes.at[i].file == copy && r->fixes.at[i].store->begin == n->begin && r->fixes.at[i].store->end == n->end)
			return true;
	return false;
}

/* A store on a path that did not run: it is flushed, too, if that can be done. */
static void add_store(struct repair *r, struct clone *c, size_t bug, const struct source_node *n)
{
	struct fix x = { .bug = bug, .unit = c->unit, .function = c->function, .file = c->copy, .store = n, .needs_flush = true, .is_extra = true };
	const char *why;

	if (range_of_store(r, &x, &why) == 0 && place_fix(r, &x, &why) == 0)
		*vec_add(&r->fixes) = x;
}

static bool stores_to_pm(struct repair *r, const struct source_unit *u, struct file *f, const struct source_function *fn)
{
	for (const struct source_node *n = fn->body; n; n = node_next(n, fn->body))
		if (node_is_store(u, f, n) && score_reaches_pm(r, u, f, n))
			return true;
	return false;
}

static void add_call(struct repair *r, struct clone *c, size_t bug, const struct source_node *call)
{
	const struct source_function *callee = function_named(c->unit, call->name);
	struct file *f = callee ? file_open(r, callee->file) : NULL;
	struct clone to = { .unit = c->unit, .function = callee, .file = f };
	struct fix at = { .unit = c->unit, .function = c->function };
	const char *why;

	if (!f || function_is_pure(c->unit, call->name) || idiom_is_flush(call->name) || macro_use(c->unit, c->file->path, call) ||
	    !call->child || call->child->kind != SOURCE_NAME)
		return;
	if (!score_reaches_pm(r, c->unit, c->file, call) || !stores_to_pm(r, c->unit, f, callee) || flushes(&to) ||
	    clone_function_check(r, c->unit, f, callee, &why) < 0 || clone_call_check(r, c->unit, c->file, call, callee, &why) < 0)
		return;
	clone_redirect(r, bug, &at, c->copy, call, clone_get(r, c->unit, f, callee));
}

static size_t bug_of(const struct repair *r, const struct clone *c)
{
	for (size_t i = 0; i < r->redirects.n; i++)
		if (r->redirects.at[i].to == c)
			return r->redirects.at[i].bug;
	return 0;
}

static void add_rest(struct repair *r, struct clone *c)
{
	size_t bug = bug_of(r, c);

	for (const struct source_node *n = c->function->body; n; n = node_next(n, c->function->body)) {
		if (node_is_store(c->unit, c->file, n)) {
			if (!is_fixed(r, c->copy, n) && score_reaches_pm(r, c->unit, c->file, n))
				add_store(r, c, bug, n);
		} else if (n->kind == SOURCE_CALL && n->name) {
			add_call(r, c, bug, n);
		}
	}
}

void clone_complete(struct repair *r)
{
	for (size_t i = 0; i < r->clones.n; i++) { /* there may come more */
		copy_changes(r, r->clones.at[i]);
		/* a function that flushes has its own ways: what ran and was not reported is flushed somewhere */
		if (r->alias && !flushes(r->clones.at[i]))
			add_rest(r, r->clones.at[i]);
	}
}

/* ---- text ---- */

static bool is_header(const struct clone *c)
{
	return strcmp(c->file->path, c->unit->main_file) != 0;
}

/* A static function of a header that nobody calls would be warned of, unless it is inline. */
static const char *with_inline(struct repair *r, const struct clone *c, const char *text)
{
	const char *head = text_copy(r, c->file->text + c->function->begin, c->function->body->begin - c->function->begin);

	if (!c->function->is_static || !is_header(c) || text_has_word(head, "inline") || text_has_word(head, "__inline") ||
	    strncmp(text, "static ", 7) != 0)
		return text;
	return text_format(r, "static inline %s", text + 7);
}

/* Are they the same but for blanks and comments? */
static bool is_same_code(const char *a, const char *b)
{
	struct file x = { .text = (char *)a, .len_bytes = (uint32_t)strlen(a) }, y = { .text = (char *)b, .len_bytes = (uint32_t)strlen(b) };
	uint32_t i = text_skip_blanks(&x, 0), k = text_skip_blanks(&y, 0);

	while (a[i] && a[i] == b[k]) {
		i = text_skip_blanks(&x, i + 1);
		k = text_skip_blanks(&y, k + 1);
	}
	return !a[i] && !b[k];
}

/* A function of this name directly behind the original, with this text: an earlier mend made it. */
static bool is_made_before(struct repair *r, const struct clone *c, const char *name, const char *text)
{
	const struct source_function *f = function_named(c->unit, name);

	return f && strcmp(f->file, c->file->path) == 0 && text_skip_blanks(c->file, c->function->end) == f->begin &&
	       is_same_code(text, text_copy(r, c->file->text + f->begin, f->end - f->begin));
}

static const char *text_named(struct repair *r, struct clone *c, const char *name)
{
	const struct source_function *f = c->function;
	uint32_t at = clone_declarator(c->copy, f->begin, f->body->begin, f->name);
	const char *head = text_copy(r, c->copy->text + f->begin, at - f->begin);

	return with_inline(r, c, text_format(r, "%s%s%s", head, name, file_edited(r, c->copy, at + (uint32_t)strlen(f->name), f->end)));
}

static void insert_copy(struct repair *r, struct clone *c, const char *text)
{
	uint32_t at = c->function->end;

	if (r->options->is_explained)
		text = text_format(r, "/* pmend: %s() for %s */\n%s", c->function->name,
				   c->is_for_tx ? "transactions: what it stores is logged" : "persistent memory: what it stores is flushed", text);
	while (at < c->file->len_bytes && (c->file->text[at] == ' ' || c->file->text[at] == '\t'))
		at++;
	at = at < c->file->len_bytes && c->file->text[at] == '/' ? text_line_end(c->file, at) : c->function->end; /* behind a comment */
	file_edit(c->file, at, 0, text_format(r, "\n\n%s", text));
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
	file_edit(d->file, d->call->child->text_begin, d->call->child->text_end - d->call->child->text_begin, d->to->name);
}

/* After those that it calls: their names are part of its text. */
static void emit_copy(struct repair *r, struct clone *c)
{
	const char *suffix = c->is_for_tx ? "tx" : "pm", *name = text_format(r, "%s_%s", c->function->name, suffix), *text;

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
		name = text_format(r, "%s_%s%u", c->function->name, suffix, i);
	}
	c->name = name;
	if (!c->is_there)
		insert_copy(r, c, text);
	for (size_t i = 0; c->is_there && i < r->fixes.n; i++)
		r->nflushes -= r->fixes.at[i].file == c->copy && r->fixes.at[i].needs_flush && !r->fixes.at[i].is_dropped;
}

static void emit_prototype(struct repair *r, const struct clone *c, const struct source_function *d)
{
	struct file *f = file_open(r, d->file);
	uint32_t end = clone_declaration_end(f, d), name = clone_declarator(f, d->begin, d->end, c->function->name);
	const char *text = text_format(r, "\n%s%.*s%s%s", text_indent(r, f, d->begin), (int)(name - d->begin), f->text + d->begin, c->name,
				       text_copy(r, f->text + name + strlen(c->function->name), end - name - strlen(c->function->name)));

	for (size_t i = 0; i < f->edits.n; i++)
		if (f->edits.at[i].at == end && strcmp(f->edits.at[i].insert, text) == 0)
			return;
	file_edit(f, end, 0, text);
}

/* Beside each declaration that a caller of the copy sees, or that the definition has; a static function's only if it is needed. */
static void emit_prototypes(struct repair *r, const struct clone *c, const struct source_unit *u)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (clone_is_declaration(r, &u->functions[i], c->function))
			emit_prototype(r, c, &u->functions[i]);
}

void clone_emit(struct repair *r)
{
	for (size_t i = 0; i < r->clones.n; i++)
		if (!r->clones.at[i]->name)
			emit_copy(r, r->clones.at[i]);
	for (size_t i = 0; i < r->redirects.n; i++) {
		const struct redirect *d = &r->redirects.at[i];
		const struct clone *c = d->to;

		if (is_original(r, d->file))
			edit_call(d);
		if (!c->is_there && (!c->function->is_static || !clone_is_visible(d->unit, d->file, d->call, c->function)))
			emit_prototypes(r, c, d->unit);
		if (!c->is_there && !c->function->is_static)
			emit_prototypes(r, c, c->unit);
	}
}
