/* Makes copies of functions, and changes calls to call them. A function has at most one copy that
 * flushes and one for transactions; all fixes share them.
 *
 * A copy is made by edits of the original's text in a second `struct file`. clone_emit.c writes
 * that text behind the original. */
#include "repair/plan/internal.h"

struct clone *clone_find(const struct repair *r, const struct source_function *f, bool is_for_tx)
{
	for (size_t i = 0; i < r->clones.n; i++)
		if (function_is_same(r->clones.at[i]->function, f) &&
		    r->clones.at[i]->is_for_tx == is_for_tx)
			return r->clones.at[i];
	return NULL;
}

struct clone *clone_get(struct repair *r, struct source_unit *u, struct file *file,
			const struct source_function *f)
{
	struct clone *c = clone_find(r, f, false);

	if (c)
		return c;
	c = arena_alloc(&r->code->arena, sizeof *c);
	*c = (struct clone){ .unit = u,
			     .function = f,
			     .file = file,
			     .copy = arena_alloc(&r->code->arena, sizeof *c->copy) };
	*c->copy = (struct file){ .path = file->path,
				  .text = file->text,
				  .len_bytes = file->len_bytes };
	*vec_add(&r->clones) = c;
	return c;
}

/* Returns the copy for transactions, and makes it if there is none. It has the edits that the
 * original has so far. */
struct clone *clone_for_tx(struct repair *r, struct source_unit *u, struct file *file,
			   const struct source_function *f)
{
	struct clone *c = clone_find(r, f, true);

	if (c)
		return c;
	c = arena_alloc(&r->code->arena, sizeof *c);
	*c = (struct clone){ .unit = u,
			     .function = f,
			     .file = file,
			     .copy = arena_alloc(&r->code->arena, sizeof *c->copy),
			     .is_for_tx = true };
	*c->copy = (struct file){ .path = file->path,
				  .text = file->text,
				  .len_bytes = file->len_bytes };
	for (size_t i = 0; i < file->edits.n; i++)
		if (file->edits.at[i].at >= f->begin && file->edits.at[i].at < f->end)
			*vec_add(&c->copy->edits) = file->edits.at[i];
	c->ninherited = c->copy->edits.n;
	*vec_add(&r->clones) = c;
	return c;
}

void clone_redirect(struct repair *r, size_t bug, const struct fix *at, struct file *file,
		    const struct source_node *call, struct clone *to)
{
	for (size_t i = 0; i < r->redirects.n; i++)
		if (r->redirects.at[i].file == file &&
		    r->redirects.at[i].call->begin == call->begin)
			return;
	*vec_add(&r->redirects) = (struct redirect){ bug, at->unit, at->function, file, call, to };
}

void clone_forget(struct repair *r)
{
	for (size_t i = 0; i < r->clones.n; i++)
		vec_release(&r->clones.at[i]->copy->edits);
	r->clones.n = r->redirects.n = 0;
}
