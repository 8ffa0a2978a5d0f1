/* Fixes macros that store. If a macro stores and fences but does not flush, it gets a flush between
 * the two, written as in other macros of its file. If a macro persists only its last store, it gets
 * the same call before that store, for what it stored first. */
#include <ctype.h>
#include <string.h>

#include "repair/durability/internal.h"

enum { STORES_MAX = 8 };

/* ---- calls in a macro's text ---- */

/* Finds the next called name in [at, end), and returns where the name ends; 0: none. */
static uint32_t next_call(struct repair *r, const struct file *f, uint32_t at, uint32_t end,
			  const char **name, uint32_t *begin)
{
	while (at < end) {
		uint32_t len = 0;

		while (isalnum((unsigned char)f->text[at + len]) || f->text[at + len] == '_')
			len++;
		if (len && f->text[at + len] == '(') {
			*name = text_copy(r->code, f->text + at, len);
			*begin = at;
			return at + len;
		}
		at += len ? len : 1;
	}
	return 0;
}

static unsigned name_does(struct repair *r, const struct source_unit *u, const char *name)
{
	const struct source_function *f = function_named(u, name);
	unsigned does = 0;
	const char *flush;

	if (idiom_known(name))
		return idiom_known(name);
	if (macro_defined(u, name)) {
		does = idiom_macro_does(r, u, name);
		if (!does && !idiom_asm_text(macro_defined(u, name)->text, &does, &flush))
			does = 0;
		return does;
	}
	return f ? idiom_function_does(r, u, f) : 0;
}

/* Says what the calls in [at, end) of the macro's text do. */
static unsigned does_between(struct repair *r, const struct source_unit *u, const struct file *f,
			     uint32_t at, uint32_t end)
{
	unsigned does = 0;
	const char *name;
	uint32_t begin;

	while ((at = next_call(r, f, at, end, &name, &begin)))
		does |= name_does(r, u, name);
	return does;
}

/* ---- how other macros flush what they store ---- */

/* Returns the call that begins at `begin`, rewritten for another lvalue. Its first argument must be
 * &STORED and its second one, if any, the size of that; else NULL. */
static const char *call_like(struct repair *r, const struct file *f, uint32_t begin, uint32_t end,
			     const char *name, const char *stored, const char *lvalue)
{
	const char **args = text_arguments(r->code, f, begin, end);
	size_t n = 0;

	while (args && args[n])
		n++;
	if (n == 0 || n > 2 || strcmp(args[0], text_format(r->code, "&%s", stored)) != 0)
		return NULL;
	if (n == 1)
		return text_format(r->code, "%s(&%s);", name, lvalue);
	return strncmp(args[1], "sizeof", 6) == 0
		       ? text_format(r->code, "%s(&%s, sizeof(%s));", name, lvalue, lvalue)
		       : NULL;
}

/* Returns the flush for `lvalue`, written as in the last macro of the file that flushes its only
 * store. */
static const char *flush_like_others(struct repair *r, const struct source_unit *u,
				     const struct source_macro *m, const struct file *f,
				     const char *lvalue)
{
	const char *found = NULL, *name;

	for (size_t i = 0; i < u->nmacros; i++) {
		const struct source_macro *o = &u->macros[i];
		struct macro_store s[2];
		uint32_t end = o->begin + (uint32_t)strlen(o->text), begin, at;

		if (o == m || strcmp(o->file, m->file) != 0 || !o->is_function ||
		    macro_stores(r->code, o, f, s, 2) != 1)
			continue;
		for (at = s[0].end; (at = next_call(r, f, at, end, &name, &begin));)
			if (name_does(r, u, name) == DOES_FLUSH &&
			    call_like(r, f, begin, end, name, s[0].lvalue, lvalue))
				found = call_like(r, f, begin, end, name, s[0].lvalue, lvalue);
	}
	return found;
}

static void note_flush(struct repair *r, struct macro_flush *flush)
{
	for (size_t i = 0; i < r->durability->macro_flushes.n; i++)
		if (r->durability->macro_flushes.at[i].file == flush->file &&
		    r->durability->macro_flushes.at[i].store.begin == flush->store.begin) {
			flush->is_again = true;
			group_join(r, r->durability->macro_flushes.at[i].bug, flush->bug);
		}
	*vec_add(&r->durability->macro_flushes) = *flush;
}

/* ---- an order that is missing ---- */

/* The macro's text is one block without conditions and jumps. */
static bool is_straight(const struct source_macro *m)
{
	static const char *const words[] = { "if",   "for",    "switch", "else",
					     "goto", "return", "break",  "continue" };
	const char *block = strchr(m->text, '{');

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (text_has_word(m->text, words[i]))
			return false;
	return block && !strchr(block + 1, '{') && !strpbrk(m->text, "?#") &&
	       !strstr(m->text, "&&") && !strstr(m->text, "||");
}

/* Returns "(e)->link" for "(e)->link.off", with the member's name; NULL: it is no member of a named
 * object. */
static const char *object_of(struct repair *r, const char *lvalue, const char **member)
{
	const char *dot = strrchr(lvalue, '.');

	if (!dot || dot == lvalue || !text_is_identifier(dot + 1) ||
	    !text_is_postfix(text_copy(r->code, lvalue, (size_t)(dot - lvalue))))
		return NULL;
	*member = dot + 1;
	return text_copy(r->code, lvalue, (size_t)(dot - lvalue));
}

/* Returns the size of the member's object where the macro is used; 0: unknown. */
static uint32_t object_bytes(const struct fix *x, const struct source_use *use, const char *member)
{
	for (const struct source_node *n = x->function->body; n;
	     n = node_next(n, x->function->body))
		if (n->kind == SOURCE_MEMBER && n->name && strcmp(n->name, member) == 0 &&
		    n->child && !n->child->target_bytes && n->begin >= use->begin &&
		    n->end <= use->end)
			return n->child->size_bytes;
	return 0;
}

/* Returns what must be persisted before the last store: the only earlier store, or the object (of
 * at most one line) of which all earlier stores are members. NULL: neither. */
static const char *stored_first(struct repair *r, const struct fix *x, const struct source_use *use,
				const struct macro_store *s, size_t n)
{
	const char *object = NULL;

	for (size_t i = 0; i < n && n > 1; i++) {
		const char *member = NULL, *of = object_of(r, s[i].lvalue, &member);
		uint32_t bytes = of ? object_bytes(x, use, member) : 0;

		if (!of || bytes == 0 || bytes > 64 || (object && strcmp(object, of) != 0))
			return NULL;
		object = of;
	}
	return n > 1 ? object : s[0].lvalue;
}

/* Returns the call that makes the macro's last store durable, rewritten for `lvalue`; NULL: there
 * is none. */
static const char *persist_like_last(struct repair *r, const struct source_unit *u,
				     const struct source_macro *m, const struct file *f,
				     const struct macro_store *last, const char *lvalue)
{
	uint32_t end = m->begin + (uint32_t)strlen(m->text), begin, at = last->end;
	const char *name, *text;

	while ((at = next_call(r, f, at, end, &name, &begin)))
		if (name_does(r, u, name) == (DOES_FLUSH | DOES_FENCE) &&
		    (text = call_like(r, f, begin, end, name, last->lvalue, lvalue)))
			return text;
	return NULL;
}

int macro_order_plan(struct repair *r, size_t bug, const struct repair_place *lost,
		     const struct repair_place *survived, const char **why)
{
	const struct repair_frame *a = lost->nframes ? lost->frames : NULL,
				  *b = survived && survived->nframes ? survived->frames : NULL;
	struct fix x = { .bug = bug };
	const char *first;
	const struct source_use *use =
		a && b && a->file && b->file && strcmp(a->file, b->file) == 0 &&
				a->line == b->line && a->column == b->column &&
				fix_enter_frame(r, &x, lost, 0, why) == 0
			? macro_use_at(x.unit, x.file, a->line, a->column)
			: NULL;
	const struct source_macro *m =
		use && !r->options->flush_call ? macro_defined(x.unit, use->name) : NULL;
	struct file *f = m ? file_open(r->code, m->file) : NULL;
	struct macro_flush flush = {
		.bug = bug, .file = f, .name = m ? m->name : NULL, .has_fence = true
	};
	struct macro_store s[STORES_MAX];
	size_t n = f && is_straight(m) ? macro_stores(r->code, m, f, s, STORES_MAX) : 0;

	*why = "one line stores what is lost and what survives. A flush and a fence between them mend it; that was tried on the trace. Write them in the macro that the line uses";
	if (n < 2 || n == STORES_MAX ||
	    (r->options->root && !path_is_below(f->path, r->options->root)) ||
	    does_between(r, x.unit, f, s[0].begin, s[n - 1].begin))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!s[i].is_plain)
			return -1;
	first = stored_first(r, &x, use, s, n - 1);
	flush.store = s[n - 2];
	flush.text = first ? persist_like_last(r, x.unit, m, f, &s[n - 1], first) : NULL;
	if (!flush.text)
		return -1;
	note_flush(r, &flush);
	r->outcomes.at[bug] = (struct repair_outcome){
		REPAIR_MENDED, text_format(r->code, "flush and fence added in macro %s", m->name),
		NULL
	};
	return 0;
}

/* ---- plan and edit ---- */

bool macro_flush_plan(struct repair *r, size_t bug, const struct repair_place *p)
{
	struct fix x = { .bug = bug };
	const char *why;
	const struct source_use *use =
		fix_enter_frame(r, &x, p, 0, &why) == 0
			? macro_use_at(x.unit, x.file, p->frames[0].line, p->frames[0].column)
			: NULL;
	const struct source_macro *m = use ? macro_defined(x.unit, use->name) : NULL;
	struct file *f = m ? file_open(r->code, m->file) : NULL;
	struct macro_store s[STORES_MAX];
	struct macro_flush flush = { .bug = bug, .file = f, .name = m ? m->name : NULL };
	uint32_t end = m ? m->begin + (uint32_t)strlen(m->text) : 0;
	unsigned does;

	if (!f || macro_stores(r->code, m, f, s, STORES_MAX) != 1 || !s[0].is_plain ||
	    (r->options->root && !path_is_below(f->path, r->options->root)))
		return false;
	does = does_between(r, x.unit, f, s[0].end, end);
	flush.store = s[0];
	flush.text = does == DOES_FENCE ? flush_like_others(r, x.unit, m, f, s[0].lvalue) : NULL;
	if (!flush.text)
		return false;
	note_flush(r, &flush);
	r->outcomes.at[bug] = (struct repair_outcome){
		REPAIR_MENDED, text_format(r->code, "flush added in macro %s", m->name), NULL
	};
	return true;
}

void macro_flush_emit(struct repair *r)
{
	for (size_t i = 0; i < r->durability->macro_flushes.n; i++) {
		const struct macro_flush *m = &r->durability->macro_flushes.at[i];

		if (!m->is_again && macro_insert(r->code, m->file, &m->store, m->text, true)) {
			r->nflushes++;
			r->nfences += m->has_fence;
		}
	}
}

const struct macro_flush *macro_flush_at(struct repair *r, const struct repair_place *p)
{
	struct fix x = { 0 };
	const char *why;
	const struct source_use *use =
		fix_enter_frame(r, &x, p, 0, &why) == 0
			? macro_use_at(x.unit, x.file, p->frames[0].line, p->frames[0].column)
			: NULL;

	for (size_t i = 0; use && i < r->durability->macro_flushes.n; i++)
		if (strcmp(r->durability->macro_flushes.at[i].name, use->name) == 0)
			return &r->durability->macro_flushes.at[i];
	return NULL;
}
