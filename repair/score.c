/* Which place works on persistent memory only. Each is scored by the objects that its pointers may point to: persistent ones count
 * for it, volatile ones against it. A call without pointers that lead to what is stored scores nothing, nor do its callers.
 *
 * What pointers point to comes from the analysis of the whole program. Without it (no clang), callers are counted as they are seen in
 * the source and in the report: those that pass variables of their own, and those whose calls stored to persistent memory. */
#include <string.h>

#include "repair/inner.h"

/* ---- callers ---- */

struct use {
	const struct source_unit *unit;
	const struct source_function *in;
	const struct source_node *node;
};

/* Calls f for every use of the function's name in code that was read; a header's, which several units have, once. */
static void for_uses(const struct repair *r, const struct source_function *of, void (*f)(void *data, const struct use *u), void *data)
{
	for (size_t i = 0; i < r->units.n; i++)
		for (size_t k = 0; k < r->units.at[i]->nfunctions; k++) {
			const struct source_function *in = &r->units.at[i]->functions[k];

			if (!in->body || (of->is_static && !function_named(r->units.at[i], of->name)))
				continue;
			for (const struct source_node *n = in->body; n; n = node_next(n, in->body))
				if (n->kind == SOURCE_NAME && n->name && strcmp(n->name, of->name) == 0 && !n->is_local)
					f(data, &(struct use){ r->units.at[i], in, n });
		}
}

static const struct source_node *call_of(const struct source_node *name)
{
	const struct source_node *n = name;

	while (n->parent && n->parent->kind == SOURCE_EXPR && n->parent->child == n)
		n = n->parent;
	return n->parent && n->parent->kind == SOURCE_CALL && n->parent->child == n ? n->parent : NULL;
}

struct counting {
	struct repair *r;
	struct use kept;
	unsigned n, nvolatile, npm;
};

static bool is_seen(const struct repair *r, const struct use *u)
{
	for (size_t i = 0; i < r->fixes.n; i++) {
		const struct repair_place *p = r->fixes.at[i].place;

		for (size_t k = r->fixes.at[i].frame + 1; p && k < p->nframes; k++)
			if (p->frames[k].function && strcmp(p->frames[k].function, u->in->name) == 0 && p->frames[k].line == u->node->line)
				return true;
	}
	return false;
}

static void find_other(void *data, const struct use *u)
{
	struct counting *c = data;

	c->n += !is_seen(c->r, u);
}

bool score_has_other_use(struct repair *r, const struct source_function *f)
{
	struct counting c = { .r = r };

	for_uses(r, f, find_other, &c);
	return c.n > 0;
}

static void count_use(void *data, const struct use *u)
{
	struct counting *c = data;
	const struct source_node *call = call_of(u->node);

	if (c->n && c->kept.in->begin == u->in->begin && strcmp(c->kept.in->file, u->in->file) == 0 && c->kept.node->begin == u->node->begin)
		return; /* the same header, in another unit */
	c->kept = *u;
	c->n++;
	if (call && call_passes_volatile(call))
		c->nvolatile++;
	else if (is_seen(c->r, u))
		c->npm++;
}

static bool is_word(const char *text, const char *at, size_t len)
{
	const char before = at > text ? at[-1] : ' ', after = at[len];

	return !(before == '_' || (before >= '0' && before <= '9') || (before >= 'A' && before <= 'Z') || (before >= 'a' && before <= 'z')) &&
	       !(after == '_' || (after >= '0' && after <= '9') || (after >= 'A' && after <= 'Z') || (after >= 'a' && after <= 'z'));
}

bool text_has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + len, word))
		if (is_word(text, at, len))
			return true;
	return false;
}

/* In files that were not read as trees. */
static bool is_used_elsewhere(struct repair *r, const struct source_function *f)
{
	for (size_t i = 0; !f->is_static && i < r->db->n; i++) {
		const struct file *file;
		bool is_read = false;

		for (size_t k = 0; k < r->units.n; k++)
			is_read |= strcmp(r->units.at[k]->main_file, r->db->files[i]) == 0;
		file = is_read ? NULL : file_open(r, r->db->files[i]);
		if (file && text_has_word(file->text, f->name))
			return true;
	}
	return false;
}

bool score_matters(struct repair *r, const struct fix *x, size_t n)
{
	for (size_t level = 0; level < n; level++) {
		struct fix at = *x;
		struct counting c = { .r = r };
		const char *why;

		if (fix_enter_frame(r, &at, x->place, x->frame + level, &why) < 0)
			return false;
		for_uses(r, at.function, count_use, &c);
		if (c.n != 1 || is_used_elsewhere(r, at.function)) /* none: its address is taken */
			return true;
	}
	return false;
}

/* ---- by the analysis ---- */

static void position(const struct file *f, uint32_t at, uint32_t *line, uint32_t *column)
{
	uint32_t begin = text_line_begin(f, at);

	*column = at - begin + 1;
	*line = 1;
	for (uint32_t i = 0; i < begin; i++)
		*line += f->text[i] == '\n';
}

static struct alias_place place_between(const struct file *f, uint32_t from, uint32_t to, const char *callee)
{
	struct alias_place p = { .file = f->path, .callee = callee };

	position(f, from, &p.line, &p.column);
	position(f, to, &p.end_line, &p.end_column);
	return p;
}

/* Compilers give an assignment the place of its operator, other things that of their beginning. */
static struct alias_place place_of_store(const struct file *f, const struct source_node *n)
{
	const struct source_node *a = n->child, *b = a ? a->next : NULL;

	if (n->kind == SOURCE_BINARY && b && a->end < b->begin)
		return place_between(f, a->end, b->begin - 1, NULL);
	return place_between(f, n->begin, n->end, NULL);
}

static bool analyse(struct repair *r)
{
	struct error err;

	if (r->alias || r->alias_why)
		return r->alias != NULL;
	r->alias = r->api->alias->open(r->options->build_dir, r->db, &err);
	r->alias_why = r->alias ? "" : text_copy(r, err.msg, strlen(err.msg));
	for (size_t i = 0; r->alias && i < r->fixes.n; i++)
		if (r->fixes.at[i].place) {
			struct alias_place p = place_of_store(r->fixes.at[i].file, r->fixes.at[i].store);

			r->api->alias->seed(r->alias, &p);
		}
	return r->alias != NULL;
}

bool score_reaches_pm(struct repair *r, const struct source_unit *u, struct file *f, const struct source_node *n)
{
	struct alias_place p = n->kind == SOURCE_CALL && !node_is_store(u, f, n) ? place_between(f, n->begin, n->end, n->name) : place_of_store(f, n);
	struct alias_counts c = { 0 };

	if (r->alias)
		r->api->alias->count(r->alias, &p, NULL, &c);
	return c.npm > 0;
}

static void set_score(struct score *s, unsigned npm, unsigned nvolatile)
{
	*s = (struct score){ .value = (int)npm - (int)nvolatile, .npm = npm, .nvolatile = nvolatile };
}

/* False: the analysis does not know where the store goes. */
static bool score_by_analysis(struct repair *r, const struct fix *x, struct score *scores, size_t n)
{
	struct alias_place store = place_of_store(x->file, x->store);
	struct alias_counts c;
	const char *callee = x->function->name;

	r->api->alias->count(r->alias, &store, NULL, &c);
	if (!c.is_found || !c.npm)
		return false;
	set_score(&scores[0], c.npm, c.nvolatile);
	for (size_t level = 1; level < n; level++) {
		struct fix at = *x;
		const char *why;
		const struct source_node *call = call_of_frame(r, &at, x->place, x->frame + level, callee, &why);
		struct alias_place p;

		scores[level].why = call ? NULL : why;
		if (!call)
			break;
		p = place_between(at.file, call->begin, call->end, callee);
		r->api->alias->count(r->alias, &p, &store, &c);
		if (!c.is_found || !c.has_pointers)
			break;
		set_score(&scores[level], c.npm, c.nvolatile);
		callee = at.function->name;
	}
	return true;
}

/* ---- by callers ---- */

static bool passes_parameter(const struct source_node *call, const struct source_function *f, bool *has_pointers)
{
	bool passes = false;

	for (const struct source_node *a = call->child ? call->child->next : NULL; a; a = a->next) {
		*has_pointers |= a->target_bytes > 0 || (a->type && strchr(a->type, '*'));
		for (const struct source_node *n = a; n; n = node_next(n, a))
			for (size_t i = 0; n->kind == SOURCE_NAME && n->name && i < f->nparameters; i++)
				passes |= f->parameters[i].is_pointer && f->parameters[i].name && strcmp(f->parameters[i].name, n->name) == 0;
	}
	return passes;
}

static void score_by_callers(struct repair *r, const struct fix *x, struct score *scores, size_t n)
{
	struct fix at = *x;
	struct counting c = { .r = r };
	const char *why, *callee = x->function->name;

	for_uses(r, x->function, count_use, &c);
	set_score(&scores[0], c.npm ? c.npm : 1, c.nvolatile);
	for (size_t level = 1; level < n; level++) {
		const struct source_node *call = call_of_frame(r, &at, x->place, x->frame + level, callee, &why);
		bool has_pointers = false;

		scores[level].why = call ? NULL : why;
		if (!call)
			break;
		c = (struct counting){ .r = r };
		if (passes_parameter(call, at.function, &has_pointers)) {
			for_uses(r, at.function, count_use, &c);
			set_score(&scores[level], c.npm ? c.npm : 1, c.nvolatile);
		} else if (has_pointers) {
			set_score(&scores[level], !call_passes_volatile(call), call_passes_volatile(call));
		} else {
			break;
		}
		callee = at.function->name;
	}
}

void score_sites(struct repair *r, const struct fix *x, struct score *scores, size_t n)
{
	for (size_t i = 0; i < n; i++)
		scores[i] = (struct score){ .value = SCORE_NEVER };
	if (!analyse(r) || !score_by_analysis(r, x, scores, n))
		score_by_callers(r, x, scores, n);
}
