/* How this file flushes and fences: its own functions and macros before libpmem and libpmemobj, those before intrinsics, those before inline assembly; of
 * each sort what this file uses most. --flush-call and --fence-call override. */
#include <string.h>

#include "repair/durability/internal.h"

/* How often it is called in the file, or by such functions of the file. */
static unsigned calls_in(const struct source_unit *u, const char *file, const char *name, bool by_helpers)
{
	unsigned count = 0;

	for (size_t i = 0; i < u->nfunctions; i++) {
		const struct source_function *f = &u->functions[i];

		if (!f->body || strcmp(f->file, file) != 0 || idiom_is_helper(u, f) != by_helpers)
			continue;
		for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
			count += n->kind == SOURCE_CALL && n->name && strcmp(n->name, name) == 0;
	}
	return count;
}

enum { OWN = 1000000 }; /* a fence of the code base's own comes before all others, which its macros may hide */

/* The best so far of one sort, by use. */
struct choice {
	const char *call;
	unsigned rank;
	bool is_statement;
};

static void choose(struct choice *c, const char *call, unsigned rank, bool is_statement)
{
	if (!c->call || rank > c->rank)
		*c = (struct choice){ call, rank, is_statement };
}

struct choices {
	struct choice flush, persist, line, fence;
	unsigned line_uses, range_uses;
};

/* A variable that is used in a block around the place, before it, is known there. */
static bool is_known_at(const struct source_node *use, const struct source_node *place)
{
	const struct source_node *block = use;

	while (block && block->kind != SOURCE_COMPOUND)
		block = block->parent;
	for (; place; place = place->parent)
		if (place == block)
			return true;
	return false;
}

static const char *pool_name(const struct fix *x)
{
	for (size_t i = 0; i < x->function->nparameters; i++)
		if (type_is_pool(x->function->parameters[i].type))
			return x->function->parameters[i].name;
	for (const struct source_node *n = x->function->body; n; n = node_next(n, x->function->body))
		if (n->kind == SOURCE_NAME && n->name && type_is_pool(n->type) && n->begin < x->store->begin &&
		    is_known_at(n, x->store))
			return n->name;
	return NULL;
}

static void consider_library(struct repair *r, const struct fix *x, struct choices *c, const char *name, unsigned uses)
{
	const char *pool = pool_name(x);
	unsigned rank = uses * 2, hidden = calls_in(x->unit, x->file->path, name, true);

	if (strcmp(name, "pmem_flush") == 0)
		choose(&c->flush, "pmem_flush({addr}, {len})", rank, false);
	else if (strcmp(name, "pmem_persist") == 0)
		choose(&c->persist, "pmem_persist({addr}, {len})", rank, false);
	else if (strcmp(name, "pmem_drain") == 0)
		choose(&c->fence, "pmem_drain()", rank + 1, false);
	else if (strcmp(name, "pmemobj_persist") == 0 && uses)
		choose(&c->persist, text_format(r->code, "pmemobj_persist(%s, {addr}, {len})", pool ? pool : "pmemobj_pool_by_ptr({addr})"), rank, false);
	else if (strcmp(name, "pmemobj_flush") == 0 && (uses || pool))
		choose(&c->flush, text_format(r->code, "pmemobj_flush(%s, {addr}, {len})", pool ? pool : "pmemobj_pool_by_ptr({addr})"), rank, false);
	else if (strcmp(name, "pmemobj_drain") == 0 && pool)
		choose(&c->fence, text_format(r->code, "pmemobj_drain(%s)", pool), rank + 1, false);
	else if (strcmp(name, "_mm_sfence") == 0)
		choose(&c->fence, "_mm_sfence()", rank, false);
	else if (strncmp(name, "_mm_cl", 6) == 0 && uses + hidden) {
		choose(&c->line, text_format(r->code, "%s({addr})", name), rank, false);
		c->line_uses += uses;
	}
}

/* Functions are in the order in which they are declared, those of headers where these are included. */
static bool is_visible(const struct source_function *f, const struct fix *x)
{
	for (const struct source_function *g = x->unit->functions; g < x->unit->functions + x->unit->nfunctions; g++) {
		if (g == f)
			return true;
		if (g == x->function)
			return false;
	}
	return false;
}

/* Is all that it does to flush the line at its parameter? */
static bool flushes_parameter(const struct source_unit *u, const struct source_function *f)
{
	const struct source_node *call = NULL, *arg;
	const char *type = f->parameters[0].type, *flush = NULL;
	unsigned does;

	if (!type || !f->parameters[0].name || (strcmp(type, "const void *") != 0 && strcmp(type, "void *") != 0))
		return false;
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		if ((n->kind == SOURCE_CALL || n->kind == SOURCE_ASM) && call)
			return false;
		if (n->kind == SOURCE_CALL || n->kind == SOURCE_ASM)
			call = n;
	}
	if (call && call->kind == SOURCE_ASM && !(idiom_asm(u, call, &does, &flush) && does == DOES_FLUSH))
		return false;
	for (arg = call ? call->last : NULL; arg && arg->kind == SOURCE_EXPR && arg->child == arg->last; arg = arg->child)
		;
	return call && call->name && (flush || strncmp(call->name, "_mm_cl", 6) == 0) && arg && arg->kind == SOURCE_NAME && strcmp(arg->name, f->parameters[0].name) == 0;
}

static void consider_own(struct repair *r, const struct fix *x, struct choices *c, const struct source_function *f, unsigned uses)
{
	unsigned does, rank = uses * 2 + 1;
	bool is_range = f->nparameters == 2 && f->parameters[0].is_pointer && f->parameters[1].is_integer;
	bool is_line = f->nparameters == 1 && f->parameters[0].is_pointer;

	if (!is_visible(f, x) || f == x->function)
		return;
	does = f->body ? idiom_body(x->unit, f, 0) : idiom_name(f->name);
	if (does & DOES_STORE)
		return;
	if (is_range && (does & DOES_FLUSH))
		c->range_uses += uses;
	if (is_range && does == DOES_FLUSH)
		choose(&c->flush, text_format(r->code, "%s({addr}, {len})", f->name), rank, false);
	else if (is_range && does == (DOES_FLUSH | DOES_FENCE))
		choose(&c->persist, text_format(r->code, "%s({addr}, {len})", f->name), rank, false);
	else if (is_line && f->body && does == DOES_FLUSH && flushes_parameter(x->unit, f)) {
		choose(&c->line, text_format(r->code, "%s({addr})", f->name), OWN + rank, false);
		c->line_uses += uses;
	} else if (f->nparameters == 0 && does == DOES_FENCE)
		choose(&c->fence, text_format(r->code, "%s()", f->name), OWN + rank, false);
}

static size_t macro_parameters(const char *text, const char **body)
{
	const char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;
	size_t n = 0;

	if (!close)
		return SIZE_MAX;
	for (const char *p = open; p < close; p++)
		n += *p == ',';
	*body = close + 1 + strspn(close + 1, " \t\\\n");
	return open[1 + strspn(open + 1, " ")] == ')' ? 0 : n + 1;
}

/* Is all of a macro with one parameter a flush of the line at it? */
static bool macro_flushes_line(const char *text, const char *body)
{
	const char *name = strchr(text, '(') + 1, *assembly = strstr(body, "asm"), *flush;
	unsigned does;
	size_t len, n = 0;

	name += strspn(name, " \t");
	len = strcspn(name, " \t)");
	for (const char *p = body; (p = strstr(p, "(")); p++) /* an operand or argument, cast or not */
		n += strncmp(p + 1, name, len) == 0 && p[1 + len] == ')';
	if (n != 1 || strchr(body, '{') || (assembly && strstr(assembly + 3, "asm")))
		return false;
	return strncmp(body, "_mm_cl", 6) == 0 || (idiom_asm_text(body, &does, &flush) && does == DOES_FLUSH);
}

/* Inline assembly that stands in the file's functions, as intrinsics would. */
static void consider_asm(struct repair *r, const struct fix *x, struct choices *c)
{
	for (size_t i = 0; i < x->unit->nfunctions; i++) {
		const struct source_function *f = &x->unit->functions[i];

		if (!f->body || strcmp(f->file, x->file->path) != 0 || idiom_is_helper(x->unit, f))
			continue;
		for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
			const char *flush = NULL;
			unsigned does;

			if (n->kind != SOURCE_ASM || !n->name || !idiom_asm_text(n->name, &does, &flush))
				continue;
			if (does == DOES_FENCE)
				choose(&c->fence, n->name, 0, true);
			else if (does == DOES_FLUSH)
				choose(&c->line, text_format(r->code, "__asm__ volatile(\"%s\" : : \"r\"({addr}) : \"memory\")", flush), 0, true);
		}
	}
}

static void consider_macro(struct repair *r, const struct fix *x, struct choices *c, const struct source_macro *m)
{
	const char *body = "";
	size_t n = m->is_function ? macro_parameters(m->text, &body) : SIZE_MAX;
	unsigned does = idiom_name(m->name), rank = 1;
	bool is_statement = strncmp(body, "do", 2) == 0 || body[0] == '{' || strncmp(body, "for", 3) == 0 || strncmp(body, "asm", 3) == 0 || strncmp(body, "__asm", 5) == 0;

	if ((strcmp(m->file, x->file->path) == 0 && m->begin > x->store->begin) || !*body)
		return;
	if (strcmp(m->file, x->unit->main_file) == 0 && strcmp(m->file, x->file->path) != 0)
		return; /* a header does not know the macros of the file that includes it */
	for (size_t i = 0; i < x->unit->nuses; i++)
		rank += 2 * (strcmp(x->unit->uses[i].name, m->name) == 0 && strcmp(x->unit->uses[i].file, x->file->path) == 0);
	if (n == 1 && does == DOES_FLUSH && macro_flushes_line(m->text, body)) {
		choose(&c->line, text_format(r->code, "%s({addr})", m->name), OWN + rank, is_statement);
		c->line_uses += rank / 2;
	} else if (n == 0 && does == DOES_FENCE)
		choose(&c->fence, text_format(r->code, "%s()", m->name), OWN + rank, is_statement);
	else if (n == 2 && does == DOES_FLUSH)
		choose(&c->flush, text_format(r->code, "%s({addr}, {len})", m->name), rank, is_statement);
	else if (n == 2 && does == (DOES_FLUSH | DOES_FENCE))
		choose(&c->persist, text_format(r->code, "%s({addr}, {len})", m->name), rank, is_statement);
}

static const char *override_call(struct repair *r, const char *call, bool is_flush)
{
	if (strchr(call, '('))
		return call;
	return text_format(r->code, is_flush ? "%s({addr}, {len})" : "%s()", call);
}

void idiom_find(struct repair *r, const struct fix *x, struct idiom *i)
{
	struct choices c = { 0 };
	unsigned flush_uses;

	for (size_t k = 0; k < x->unit->nfunctions; k++) {
		const struct source_function *f = &x->unit->functions[k];
		bool is_considered = f->is_system ? idiom_known(f->name) : idiom_name(f->name);
		unsigned uses = is_considered ? calls_in(x->unit, x->file->path, f->name, false) : 0;

		if (is_considered && f->is_system && is_visible(f, x))
			consider_library(r, x, &c, f->name, uses);
		else if (is_considered && !f->is_system)
			consider_own(r, x, &c, f, uses);
	}
	for (size_t k = 0; k < x->unit->nmacros; k++)
		if (!x->unit->macros[k].is_system) /* which are thousands */
			consider_macro(r, x, &c, &x->unit->macros[k]);
	consider_asm(r, x, &c);
	flush_uses = c.flush.call ? c.flush.rank : 0;
	*i = (struct idiom){ .flush = c.flush.call, .line = c.line.call, .persist = c.persist.call, .fence = c.fence.call };
	i->prefers_line = c.line_uses > 0 && c.line_uses >= c.range_uses;
	i->prefers_persist = c.persist.call && (!c.flush.call || c.persist.rank >= flush_uses || !c.fence.call);
	i->flush_is_statement = c.flush.is_statement;
	i->persist_is_statement = c.persist.is_statement;
	i->line_is_statement = c.line.is_statement;
	i->fence_is_statement = c.fence.is_statement;
	if (!r->options->flush_call && !r->options->fence_call)
		own_macros_offer(r, x, i);
	if (r->options->flush_call) {
		i->flush = override_call(r, r->options->flush_call, true);
		i->line = i->persist = NULL;
		i->prefers_line = i->prefers_persist = false;
	}
	if (r->options->fence_call) {
		i->fence = override_call(r, r->options->fence_call, false);
		i->prefers_persist = false;
	}
}
