/* Which place works on persistent memory only. Each is scored by the objects that its pointers may point to: persistent ones count
 * for it, volatile ones against it. A call without pointers that lead to what is stored scores nothing, nor do its callers.
 *
 * What pointers point to comes from the analysis of the whole program. Without it (no clang), callers are counted as they are seen in
 * the source and in the report: those that pass variables of their own, and those whose calls stored to persistent memory. */
#include <string.h>

#include "repair/plan/internal.h"

/* ---- callers ---- */

static const struct source_node *call_of(const struct source_node *name)
{
	const struct source_node *n = name;

	while (n->parent && n->parent->kind == SOURCE_EXPR && n->parent->child == n)
		n = n->parent;
	return n->parent && n->parent->kind == SOURCE_CALL && n->parent->child == n ? n->parent : NULL;
}

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

/* A static function of a header is known in every unit that includes it. */
static bool is_in_header(const struct source_unit *u, const struct source_function *f)
{
	return strcmp(u->main_file, f->file) != 0 && function_at(u, f->file, f->line);
}

/* The next use after i of what the function's name stands for; a header's, which several units have, once. n at the end. */
static size_t next_use(const struct use *uses, size_t n, size_t i, const struct source_function *of)
{
	for (; i < n; i++) {
		bool is_again = i > 0 && uses[i - 1].node && uses[i - 1].at == uses[i].at && strcmp(uses[i - 1].in->file, uses[i].in->file) == 0;

		if (uses[i].node && !is_again && (!of->is_static || strcmp(uses[i].unit->main_file, of->file) == 0 || is_in_header(uses[i].unit, of)))
			return i;
	}
	return n;
}

static unsigned count_uses(struct repair *r, const struct source_function *f)
{
	unsigned count = 0;
	size_t n;
	const struct use *uses = names_find(r, f->name, &n);

	for (size_t i = next_use(uses, n, 0, f); i < n; i = next_use(uses, n, i + 1, f))
		count++;
	return count;
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

bool score_has_other_use(struct repair *r, const struct source_function *f)
{
	size_t n;
	const struct use *uses = names_find(r, f->name, &n);

	for (size_t i = next_use(uses, n, 0, f); i < n; i = next_use(uses, n, i + 1, f))
		if (!is_seen(r, &uses[i]))
			return true;
	return is_used_elsewhere(r, f);
}

bool score_matters(struct repair *r, const struct fix *x, size_t n)
{
	for (size_t level = 0; level < n; level++) {
		struct fix at = *x;
		const char *why;

		if (fix_enter_frame(r, &at, x->place, x->frame + level, &why) < 0)
			return false;
		if (count_uses(r, at.function) != 1 || is_used_elsewhere(r, at.function)) /* none: its address is taken */
			return true;
	}
	return false;
}

/* ---- by the analysis ---- */

/* From one place in the text, whose line and column are known, on to a later one. */
static void advance(const struct file *f, uint32_t from, uint32_t to, uint32_t *line, uint32_t *column)
{
	for (; from < to && from < f->len_bytes; from++) {
		*column = f->text[from] == '\n' ? 1 : *column + 1;
		*line += f->text[from] == '\n';
	}
}

static struct alias_place place_within(const struct file *f, const struct source_node *n, uint32_t from, uint32_t to, const char *callee)
{
	struct alias_place p = { f->path, n->line, n->column, 0, 0, callee };

	advance(f, n->begin, from, &p.line, &p.column);
	p.end_line = p.line;
	p.end_column = p.column;
	advance(f, from, to, &p.end_line, &p.end_column);
	return p;
}

/* Compilers give an assignment the place of its operator, other things that of their beginning. */
static struct alias_place place_of_store(const struct file *f, const struct source_node *n)
{
	const struct source_node *a = n->child, *b = a ? a->next : NULL;

	if (n->kind == SOURCE_BINARY && b && n->begin < a->end && a->end < b->begin)
		return place_within(f, n, a->end, b->begin - 1, NULL);
	return place_within(f, n, n->begin, n->end, NULL);
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
	struct alias_place p = n->kind == SOURCE_CALL && !node_is_store(u, f, n) ? place_within(f, n, n->begin, n->end, n->name) : place_of_store(f, n);
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
		p = place_within(at.file, call, call->begin, call->end, callee);
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

/* Volatile memory that reaches a function's pointer parameters: variables that its callers, or theirs, pass. Persistent memory counts
 * once, however many lead there: so does a mapping in the analysis. */
struct origins {
	struct repair *r;
	unsigned nvolatile;
	VEC(const struct source_function *) seen;
};

static void find_origins(struct origins *o, const struct source_function *f);

static void add_origin(struct origins *o, const struct source_function *in, const struct source_node *call)
{
	bool has_pointers = false;

	if (call_passes_volatile(call))
		o->nvolatile++;
	else if (passes_parameter(call, in, &has_pointers))
		find_origins(o, in);
}

static void find_origins(struct origins *o, const struct source_function *f)
{
	size_t n;
	const struct use *uses = names_find(o->r, f->name, &n);

	for (size_t i = 0; i < o->seen.n; i++)
		if (o->seen.at[i] == f)
			return;
	*vec_add(&o->seen) = f;
	for (size_t i = next_use(uses, n, 0, f); i < n; i = next_use(uses, n, i + 1, f))
		if (call_of(uses[i].node))
			add_origin(o, uses[i].in, call_of(uses[i].node));
}

static void score_by_callers(struct repair *r, const struct fix *x, struct score *scores, size_t n)
{
	struct fix at = *x;
	struct origins o = { .r = r };
	const char *why, *callee = x->function->name;

	find_origins(&o, x->function);
	set_score(&scores[0], 1, o.nvolatile);
	for (size_t level = 1; level < n; level++) {
		const struct source_node *call = call_of_frame(r, &at, x->place, x->frame + level, callee, &why);
		bool has_pointers = false;

		scores[level].why = call ? NULL : why;
		if (!call)
			break;
		passes_parameter(call, at.function, &has_pointers);
		if (!has_pointers)
			break;
		o.seen.n = o.nvolatile = 0;
		add_origin(&o, at.function, call);
		set_score(&scores[level], 1, o.nvolatile);
		callee = at.function->name;
	}
	vec_release(&o.seen);
}

void score_sites(struct repair *r, const struct fix *x, struct score *scores, size_t n)
{
	for (size_t i = 0; i < n; i++)
		scores[i] = (struct score){ .value = SCORE_NEVER };
	if (!analyse(r) || !score_by_analysis(r, x, scores, n))
		score_by_callers(r, x, scores, n);
}
