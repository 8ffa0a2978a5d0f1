/* How the code base flushes and fences: its own functions and macros before libpmem and libpmemobj, those before intrinsics; of
 * each sort what this file uses most. --flush-call and --fence-call override. What a function does is told by its body,
 * if there is one, else by its name. */
#include <string.h>

#include "repair/plan/internal.h"

static const struct known {
	const char *name;
	unsigned does;
} known[] = {
	{ "_mm_clwb", DOES_FLUSH },    { "_mm_clflushopt", DOES_FLUSH }, { "_mm_clflush", DOES_FLUSH }, { "pmem_flush", DOES_FLUSH },
	{ "pmem_deep_flush", DOES_FLUSH }, { "pmemobj_flush", DOES_FLUSH }, { "_mm_sfence", DOES_FENCE }, { "_mm_mfence", DOES_FENCE },
	{ "pmem_drain", DOES_FENCE },  { "pmemobj_drain", DOES_FENCE },	 { "pmem_persist", DOES_FLUSH | DOES_FENCE },
	{ "pmemobj_persist", DOES_FLUSH | DOES_FENCE }, { "pmem_msync", DOES_FLUSH | DOES_FENCE }, { NULL, 0 },
};

static unsigned known_does(const char *name)
{
	for (const struct known *k = known; k->name; k++)
		if (strcmp(k->name, name) == 0)
			return k->does;
	return 0;
}

static bool has_word(const char *name, const char *word)
{
	size_t len = strlen(word);

	for (; *name; name++)
		if (strncasecmp(name, word, len) == 0)
			return true;
	return false;
}

static unsigned name_does(const char *name)
{
	if (has_word(name, "persist"))
		return DOES_FLUSH | DOES_FENCE;
	if (has_word(name, "flush") || has_word(name, "clwb"))
		return DOES_FLUSH;
	return has_word(name, "fence") || has_word(name, "drain") ? DOES_FENCE : 0;
}

unsigned idiom_known(const char *name)
{
	return known_does(name);
}

unsigned idiom_name(const char *name)
{
	return name_does(name);
}

bool idiom_is_flush(const char *name)
{
	return (name_does(name) | known_does(name)) & DOES_FLUSH;
}

static unsigned body_does(const struct source_unit *u, const struct source_function *f, int depth)
{
	unsigned does = 0;

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_function *callee = n->kind == SOURCE_CALL && n->name ? function_named(u, n->name) : NULL;

		if (n->kind == SOURCE_CALL && n->name)
			does |= known_does(n->name);
		if (callee && depth < 3)
			does |= body_does(u, callee, depth + 1);
		if (n->kind == SOURCE_ASM)
			does |= name_does(f->name);
		if (node_is_assignment(n) && n->child && n->child->kind != SOURCE_NAME)
			does |= DOES_STORE;
	}
	return does;
}

/* A function that is made to flush or fence, and does not merely have that in its name. */
static bool is_helper(const struct source_unit *u, const struct source_function *f)
{
	return name_does(f->name) && !(body_does(u, f, 0) & DOES_STORE);
}

/* How often it is called in the file, or by such functions of the file. */
static unsigned calls_in(const struct source_unit *u, const char *file, const char *name, bool by_helpers)
{
	unsigned count = 0;

	for (size_t i = 0; i < u->nfunctions; i++) {
		const struct source_function *f = &u->functions[i];

		if (!f->body || strcmp(f->file, file) != 0 || is_helper(u, f) != by_helpers)
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
		choose(&c->persist, text_format(r, "pmemobj_persist(%s, {addr}, {len})", pool ? pool : "pmemobj_pool_by_ptr({addr})"), rank, false);
	else if (strcmp(name, "pmemobj_flush") == 0 && (uses || pool))
		choose(&c->flush, text_format(r, "pmemobj_flush(%s, {addr}, {len})", pool ? pool : "pmemobj_pool_by_ptr({addr})"), rank, false);
	else if (strcmp(name, "pmemobj_drain") == 0 && pool)
		choose(&c->fence, text_format(r, "pmemobj_drain(%s)", pool), rank + 1, false);
	else if (strcmp(name, "_mm_sfence") == 0)
		choose(&c->fence, "_mm_sfence()", rank, false);
	else if (strncmp(name, "_mm_cl", 6) == 0 && uses + hidden) {
		choose(&c->line, text_format(r, "%s({addr})", name), rank, false);
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
static bool flushes_parameter(const struct source_function *f)
{
	const struct source_node *call = NULL, *arg;
	const char *type = f->parameters[0].type;

	if (!type || !f->parameters[0].name || (strcmp(type, "const void *") != 0 && strcmp(type, "void *") != 0))
		return false;
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		if (n->kind == SOURCE_CALL && call)
			return false;
		if (n->kind == SOURCE_CALL)
			call = n;
	}
	for (arg = call ? call->last : NULL; arg && arg->kind == SOURCE_EXPR && arg->child == arg->last; arg = arg->child)
		;
	return call && call->name && strncmp(call->name, "_mm_cl", 6) == 0 && arg && arg->kind == SOURCE_NAME && strcmp(arg->name, f->parameters[0].name) == 0;
}

static void consider_own(struct repair *r, const struct fix *x, struct choices *c, const struct source_function *f, unsigned uses)
{
	unsigned does, rank = uses * 2 + 1;
	bool is_range = f->nparameters == 2 && f->parameters[0].is_pointer && f->parameters[1].is_integer;
	bool is_line = f->nparameters == 1 && f->parameters[0].is_pointer;

	if (!is_visible(f, x) || f == x->function)
		return;
	does = f->body ? body_does(x->unit, f, 0) : name_does(f->name);
	if (does & DOES_STORE)
		return;
	if (is_range && (does & DOES_FLUSH))
		c->range_uses += uses;
	if (is_range && does == DOES_FLUSH)
		choose(&c->flush, text_format(r, "%s({addr}, {len})", f->name), rank, false);
	else if (is_range && does == (DOES_FLUSH | DOES_FENCE))
		choose(&c->persist, text_format(r, "%s({addr}, {len})", f->name), rank, false);
	else if (is_line && f->body && does == DOES_FLUSH && flushes_parameter(f)) {
		choose(&c->line, text_format(r, "%s({addr})", f->name), OWN + rank, false);
		c->line_uses += uses;
	} else if (f->nparameters == 0 && does == DOES_FENCE)
		choose(&c->fence, text_format(r, "%s()", f->name), OWN + rank, false);
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

static void consider_macro(struct repair *r, const struct fix *x, struct choices *c, const struct source_macro *m)
{
	const char *body = "";
	size_t n = m->is_function ? macro_parameters(m->text, &body) : SIZE_MAX;
	unsigned does = name_does(m->name), rank = 1;
	bool is_statement = strncmp(body, "do", 2) == 0 || body[0] == '{' || strncmp(body, "for", 3) == 0;

	if ((strcmp(m->file, x->file->path) == 0 && m->begin > x->store->begin) || !*body)
		return;
	if (strcmp(m->file, x->unit->main_file) == 0 && strcmp(m->file, x->file->path) != 0)
		return; /* a header does not know the macros of the file that includes it */
	for (size_t i = 0; i < x->unit->nuses; i++)
		rank += 2 * (strcmp(x->unit->uses[i].name, m->name) == 0 && strcmp(x->unit->uses[i].file, x->file->path) == 0);
	if (n == 0 && does == DOES_FENCE)
		choose(&c->fence, text_format(r, "%s()", m->name), OWN + rank, is_statement);
	else if (n == 2 && does == DOES_FLUSH)
		choose(&c->flush, text_format(r, "%s({addr}, {len})", m->name), rank, is_statement);
	else if (n == 2 && does == (DOES_FLUSH | DOES_FENCE))
		choose(&c->persist, text_format(r, "%s({addr}, {len})", m->name), rank, is_statement);
}

static const char *override_call(struct repair *r, const char *call, bool is_flush)
{
	if (strchr(call, '('))
		return call;
	return text_format(r, is_flush ? "%s({addr}, {len})" : "%s()", call);
}

void idiom_find(struct repair *r, const struct fix *x, struct idiom *i)
{
	struct choices c = { 0 };
	unsigned flush_uses;

	for (size_t k = 0; k < x->unit->nfunctions; k++) {
		const struct source_function *f = &x->unit->functions[k];
		bool is_considered = f->is_system ? known_does(f->name) : name_does(f->name);
		unsigned uses = is_considered ? calls_in(x->unit, x->file->path, f->name, false) : 0;

		if (is_considered && f->is_system && is_visible(f, x))
			consider_library(r, x, &c, f->name, uses);
		else if (is_considered && !f->is_system)
			consider_own(r, x, &c, f, uses);
	}
	for (size_t k = 0; k < x->unit->nmacros; k++)
		if (!x->unit->macros[k].is_system) /* which are thousands */
			consider_macro(r, x, &c, &x->unit->macros[k]);
	flush_uses = c.flush.call ? c.flush.rank : 0;
	*i = (struct idiom){ .flush = c.flush.call, .line = c.line.call, .persist = c.persist.call, .fence = c.fence.call };
	i->prefers_line = c.line_uses > 0 && c.line_uses >= c.range_uses;
	i->prefers_persist = c.persist.call && (!c.flush.call || c.persist.rank >= flush_uses || !c.fence.call);
	i->flush_is_statement = c.flush.is_statement;
	i->persist_is_statement = c.persist.is_statement;
	i->fence_is_statement = c.fence.is_statement;
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

static const char *fill(struct repair *r, const char *pattern, const char *addr, const char *len)
{
	char *out = NULL;
	size_t room = 0;
	FILE *f = open_memstream(&out, &room);
	const char *copy;

	while (*pattern) {
		if (strncmp(pattern, "{addr}", 6) == 0) {
			fputs(addr, f);
			pattern += 6;
		} else if (strncmp(pattern, "{len}", 5) == 0) {
			fputs(len, f);
			pattern += 5;
		} else {
			fputc(*pattern++, f);
		}
	}
	fclose(f);
	copy = text_copy(r, out, strlen(out));
	free(out);
	return copy;
}

/* A loop over the lines of the range, where only lines can be flushed. */
static const char *line_loop(struct repair *r, const struct idiom *i, const struct range *range)
{
	return text_format(r,
			   "for (const char *line = (const char *)((unsigned long)(%s) & ~63ul), *end = (const char *)(%s) + (%s); line < end; "
			   "line += 64)\n\t%s",
			   range->addr, range->addr, range->len, fill(r, i->line, "(void *)line", "64"));
}

const char **idiom_lines(struct repair *r, const struct idiom *given, const struct range *range, bool flush, bool fence, bool as_expression,
			 const char **why)
{
	const char **lines = arena_alloc(&r->arena, 3 * sizeof *lines);
	struct idiom some = *given, *i = &some;
	const char *addr = flush && range->is_volatile ? text_format(r, "(void *)%s", range->addr) : range->addr;
	size_t n = 0;
	bool by_line;

	*why = NULL;
	if (as_expression) {
		some.flush = given->flush_is_statement ? NULL : given->flush;
		some.persist = given->persist_is_statement ? NULL : given->persist;
		some.fence = given->fence_is_statement ? NULL : given->fence;
	}
	/* without a fence, a function that has one is more than is needed */
	by_line = flush && i->line && range->is_one_line && (i->prefers_line || !i->flush) && (i->prefers_line || !i->persist || !fence);
	if (flush && by_line) {
		lines[n++] = fill(r, i->line, addr, range->len);
	} else if (flush && i->persist && ((fence && i->prefers_persist) || !i->flush)) {
		lines[n++] = fill(r, i->persist, addr, range->len);
		fence = false;
	} else if (flush && i->flush) {
		lines[n++] = fill(r, i->flush, addr, range->len);
	} else if (flush && i->line) {
		lines[n++] = line_loop(r, i, range);
		if (as_expression)
			*why = "a flush of a range is not an expression here; say which function does it with --flush-call";
	} else if (flush) {
		*why = "this file shows no way to flush; say which with --flush-call and --fence-call";
	}
	if (fence && i->fence)
		lines[n++] = i->fence;
	else if (fence)
		*why = "this file shows no way to fence; say which with --fence-call";
	if (*why && as_expression && (given->flush || given->persist))
		*why = "the flush of this file is no expression; say which function does it with --flush-call and --fence-call";
	lines[n] = NULL;
	return *why ? NULL : lines;
}
