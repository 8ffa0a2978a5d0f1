/* The last check before a patch is written. Each changed function is followed on all paths twice,
 * as it is and as it will be. The two are compared where somebody could see a difference: at each
 * store, each output and each return. What was written back, fenced or logged there before must
 * still be. Also, an added flush must not follow a pointer that is NULL on some path:
 *
 *   if (it->next)
 *           it->next->prev = it->prev;      persist(&it->next->prev, 8) belongs here,
 *                                           and not here: the last item has no next one
 *
 * Both versions give equal names to equal values: what only one of them has is counted separately
 * (flow_aside()). If a function leaves less to its caller than before, all callers are compared,
 * too. A function that cannot be followed is not judged. */
#include "repair/effects/gate.h"

#include <stdlib.h>

#include "repair/effects/internal.h"
#include "source/source.h"

enum { LEVELS_MAX = 3, POINTS_MAX = 2000 };

/* A place on one path of calls, with what is known whenever it is reached. */
struct point {
	uint64_t key;
	enum flow_event what;
	bool is_outer; /* it is in the judged function itself */
	unsigned line;
	struct span at; /* the range of a store */
	struct flow_state *state;
};

typedef VEC(struct point) points;

/* One version of the judged function. */
struct version {
	struct repair *r;
	struct codebase *edits; /* contains the files with their edits */
	bool is_after;
	points points;
	/* flushes that the patch removes, by the block that contains them */
	VEC(struct flushed {
		const char *root;
		uint64_t block;
	})
	flushed;
	const struct version *other;
	const char *null; /* the message, if an added flush may follow a NULL pointer */
};

struct gate {
	struct repair *before, *after;
};

/* ---- places of both versions ---- */

static const struct file *edited_file(const struct version *v, const char *path)
{
	for (size_t i = 0; i < v->edits->files.n; i++)
		if (v->edits->files.at[i]->edits.n &&
		    strcmp(v->edits->files.at[i]->path, path) == 0)
			return v->edits->files.at[i];
	return NULL;
}

/* Returns the node's offset in the original file; UINT32_MAX: the node is not in the other
 * version. */
static uint32_t origin(const struct version *v, const struct file *f, const struct source_node *n)
{
	const struct file *edited = edited_file(v, f->path);

	if (!edited)
		return n->begin;
	if (v->is_after)
		return file_origin(edited, n->begin);
	return file_is_removed(edited, n->begin, n->begin + 1) ? UINT32_MAX : n->begin;
}

static bool is_of_one(const struct flow *flow, const struct file *f, const struct source_node *n)
{
	const struct version *v = flow->to;
	const struct file *edited = edited_file(v, f->path);

	return edited && n->end > n->begin &&
	       (v->is_after ? file_is_inserted(edited, n->begin, n->end)
			    : file_is_removed(edited, n->begin, n->end));
}

static uint64_t mixed(uint64_t key, uint64_t with)
{
	return (key ^ with) * 0x100000001b3ULL;
}

static uint64_t place_key(const struct version *v, const struct file *f,
			  const struct source_node *n)
{
	uint64_t key = 0xcbf29ce484222325ULL;

	for (const char *p = f->path; *p; p++)
		key = mixed(key, (unsigned char)*p);
	return mixed(mixed(key, origin(v, f, n)), (uint64_t)n->kind);
}

/* ---- following ---- */

/* Asks whether the value is held by a variable or by memory. Otherwise it is computed. */
static bool is_pointer(const struct value *v)
{
	return v->root && !strchr(v->root, FLOW_FRESH) &&
	       (v->root[0] == '[' || !strpbrk(v->root, "(@~"));
}

static uint64_t block_key(const struct version *v, const struct file *f,
			  const struct source_node *n)
{
	while (n->parent && n->kind != SOURCE_COMPOUND)
		n = n->parent;
	return place_key(v, f, n);
}

/* Notes flushes that are removed, and checks whether an added one may follow a NULL pointer. Not
 * checked are objects that flush in their destructor, which evaluated the pointer when they were
 * declared, and pointers that a removed flush of the same block followed, too. */
static void observe_flush(const struct flow_frame *f, const struct flow_state *s,
			  const struct source_node *n, const struct span *at)
{
	struct version *v = f->flow->to;
	const uint64_t block = block_key(v, f->file, n);

	if (!v->is_after) {
		*vec_add(&v->flushed) = (struct flushed){ at->addr.root, block };
		return;
	}
	if (n->kind == SOURCE_DECL || !is_pointer(&at->addr) || !at->len.is_known || at->len.root ||
	    at->len.offset <= 0 || state_is_reached(f->flow, s, &at->addr))
		return;
	for (size_t i = 0; i < v->other->flushed.n; i++)
		if (v->other->flushed.at[i].block == block && v->other->flushed.at[i].root &&
		    strcmp(v->other->flushed.at[i].root, at->addr.root) == 0)
			return;
	v->null = text_format(
		v->r->code, "the flush in %s would follow a pointer that may be NULL on some path",
		f->function->name);
}

static void observe(const struct flow_frame *f, enum flow_event what, const struct flow_state *s,
		    const struct source_node *n, const struct span *at)
{
	struct version *v = f->flow->to;
	uint64_t key = mixed(place_key(v, f->file, n), what);
	struct flow_counters now;
	struct point *p;

	if (what == FLOW_FLUSH && is_of_one(f->flow, f->file, n))
		observe_flush(f, s, n, at);
	if ((what != FLOW_STORE && what != FLOW_UNSEEN && what != FLOW_OUTPUT &&
	     what != FLOW_RETURN) ||
	    (what == FLOW_RETURN && f->outer) || origin(v, f->file, n) == UINT32_MAX)
		return;
	for (const struct flow_frame *g = f; g->outer; g = g->outer)
		key = mixed(key, place_key(v, g->outer->file, g->call));
	for (size_t i = 0; i < v->points.n; i++)
		if (v->points.at[i].key == key) {
			now = flow_aside(f->flow);
			state_join(f->flow, v->points.at[i].state, s);
			flow_back(f->flow, &now);
			return;
		}
	if (v->points.n == POINTS_MAX) {
		f->flow->why = "it has too many places to compare";
		return;
	}
	p = vec_add(&v->points);
	*p = (struct point){ .key = key,
			     .what = what,
			     .is_outer = !f->outer,
			     .line = n->line,
			     .state = state_copy(s) };
	if (at)
		p->at = *at;
}

/* Follows one version of the function. Returns NULL, or why that is impossible. */
static const char *follow(struct version *v, const struct source_unit *u,
			  const struct source_function *f)
{
	struct flow flow = { .r = v->r, .observe = observe, .is_only_here = is_of_one, .to = v };

	flow_run(&flow, u, f);
	return flow.why;
}

static void version_release(struct version *v)
{
	for (size_t i = 0; i < v->points.n; i++)
		free(v->points.at[i].state);
	vec_release(&v->points);
	vec_release(&v->flushed);
}

/* ---- comparing ---- */

/* Asks whether the list, which is of the other version, contains the same store. */
static bool has_store(const struct span *list, size_t n, const struct version *of, uint64_t key)
{
	for (size_t i = 0; i < n; i++)
		if (place_key(of, list[i].file, list[i].node) == key)
			return true;
	return false;
}

static bool is_fresh(const struct span *s)
{
	return !s->addr.is_known || (s->addr.root && strchr(s->addr.root, FLOW_FRESH)) ||
	       (s->len.root && strchr(s->len.root, FLOW_FRESH));
}

/* Asks whether the range is covered by a clean one, or perhaps by one of the same object whose
 * length is computed. */
static bool may_be_covered(const struct flow_state *s, const struct span *at)
{
	for (size_t i = 0; i < s->nclean; i++)
		if (span_is_same_base(&s->clean[i], at) &&
		    (!s->clean[i].len.is_known || s->clean[i].len.root))
			return true;
	return spans_cover(s->clean, s->nclean, at);
}

/* Asks whether some dirty range may overlap. Stores through other pointers to structures of another
 * type do not. */
static bool may_be_dirty(const struct flow_state *s, const struct span *at)
{
	for (size_t i = 0; i < s->ndirty; i++) {
		const struct span *d = &s->dirty[i];
		bool is_other = d->addr.is_known && d->type && at->type &&
				!span_is_same_base(d, at) && strcmp(d->type, at->type) != 0;

		if (!is_other && span_may_overlap(d, at))
			return true;
	}
	return false;
}

static const char *lost_words(const struct version *v, const struct point *p, const char *what,
			      const struct span *s)
{
	static const char *const words[] = { [FLOW_STORE] = "the store",
					     [FLOW_UNSEEN] = "what pmend cannot follow",
					     [FLOW_OUTPUT] = "the output",
					     [FLOW_RETURN] = "the return" };

	return text_format(v->r->code,
			   "what line %u %s would not be durable any more at %s in line %u",
			   s->line, what, words[p->what], p->line);
}

/* Returns, as a message, what was guaranteed at a point before the change and is not any more;
 * NULL: nothing. */
static const char *lost_at(const struct version *before, const struct point *a,
			   const struct version *after, const struct point *b)
{
	const struct flow_state *was = a->state, *is = b->state;
	const bool is_store = a->what == FLOW_STORE; /* what the store overwrites does not matter */

	for (size_t i = 0; i < is->ndirty + is->npending; i++) {
		const bool is_dirty = i < is->ndirty;
		const struct span *s = is_dirty ? &is->dirty[i] : &is->pending[i - is->ndirty];
		uint64_t key = place_key(after, s->file, s->node);

		if (!s->is_aside && origin(after, s->file, s->node) != UINT32_MAX &&
		    !(is_store && span_may_overlap(s, &a->at)) &&
		    !has_store(was->dirty, was->ndirty, before, key) &&
		    (is_dirty || !has_store(was->pending, was->npending, before, key)))
			return lost_words(before, a, "stores", s);
	}
	for (size_t i = 0; i < was->nclean; i++) {
		const struct span *s = &was->clean[i];

		if (!is_fresh(s) && !(is_store && span_may_overlap(s, &a->at)) &&
		    !may_be_covered(is, s) && may_be_dirty(is, s))
			return lost_words(before, a, "flushes", s);
	}
	for (size_t i = 0; i < was->nlogged; i++)
		if (!is_fresh(&was->logged[i]) &&
		    !spans_cover(is->logged, is->nlogged, &was->logged[i]) &&
		    !spans_cover(is->perhaps, is->nperhaps, &was->logged[i]))
			return text_format(before->r->code,
					   "what line %u logs would not be logged at line %u",
					   was->logged[i].line, a->line);
	return NULL;
}

static const char *lost_of(const struct version *before, const struct version *after,
			   bool of_returns)
{
	for (size_t i = 0; i < before->points.n; i++) {
		const struct point *a = &before->points.at[i];

		for (size_t k = 0; k < after->points.n; k++) {
			const struct point *b = &after->points.at[k];
			const char *why = a->key == b->key && (a->what == FLOW_RETURN) == of_returns
						  ? lost_at(before, a, after, b)
						  : NULL;

			if (why)
				return why;
		}
	}
	return NULL;
}

/* ---- functions ---- */

/* Finds the same function in the patched version, and its unit; NULL: there is none. */
static const struct source_function *counterpart(const struct gate *g, const struct source_unit *u,
						 const struct source_function *f,
						 const struct source_unit **in)
{
	const struct version after = { .edits = g->before->code, .is_after = true };
	const struct file *edited = edited_file(&after, f->file);
	const char *why;

	*in = unit_open(g->after->code, u->main_file, &why);
	for (size_t i = 0; *in && i < (*in)->nfunctions; i++) {
		const struct source_function *h = &(*in)->functions[i];

		if (h->body && strcmp(h->file, f->file) == 0 && strcmp(h->name, f->name) == 0 &&
		    (edited ? file_origin(edited, h->begin) : h->begin) == f->begin)
			return h;
	}
	return NULL;
}

static const char *judge(struct gate *g, const struct source_unit *u,
			 const struct source_function *f, unsigned level);

static const char *judge_callers(struct gate *g, const struct source_function *f, const char *why,
				 unsigned level)
{
	struct callers callers = { .n = 0 };

	callers_open(g->before, f);
	callers_find(g->before, f, &callers);
	if (level == LEVELS_MAX || callers.are_more || !callers.n ||
	    function_is_passed_on(g->before, f))
		return why;
	for (size_t i = 0; i < callers.n; i++) {
		const char *lost = judge(g, callers.units[i], callers.of[i], level + 1);

		if (lost)
			return lost;
	}
	return NULL;
}

static const char *judge(struct gate *g, const struct source_unit *u,
			 const struct source_function *f, unsigned level)
{
	struct version before = { .r = g->before, .edits = g->before->code }, after = {
		.r = g->after, .edits = g->before->code, .is_after = true, .other = &before
	};
	const struct source_unit *in;
	const struct source_function *as_it_will_be = counterpart(g, u, f, &in);
	const char *why = NULL, *unknown;

	if (!as_it_will_be)
		return NULL;
	unknown = follow(&before, u, f);
	if (!unknown)
		unknown = follow(&after, in, as_it_will_be);
	if (!unknown)
		why = lost_of(&before, &after, false);
	if (!unknown && !why) {
		why = lost_of(&before, &after, true);
		why = why ? judge_callers(g, f, why, level) : NULL;
		why = why ? why : after.null;
	}
	version_release(&before);
	version_release(&after);
	return why;
}

static bool changes(const struct file *f, const struct source_function *fn)
{
	for (size_t i = 0; i < f->edits.n; i++)
		if (f->edits.at[i].at >= fn->begin && f->edits.at[i].at < fn->end)
			return true;
	return false;
}

/* ---- the patched version ---- */

static void begin_after(struct repair *r, struct repair *after, struct source_text *texts)
{
	after->code = codebase_new(r->code->api, r->code->db);
	after->options = r->options;
	for (size_t i = 0; i < r->changed.n; i++)
		texts[i] = (struct source_text){ r->changed.at[i]->path, r->changed.at[i]->after,
						 strlen(r->changed.at[i]->after) };
	after->code->changed = texts;
	after->code->nchanged = r->changed.n;
	idiom_new(after);
}

const char *gate_refusal(struct repair *r)
{
	struct repair after = { 0 };
	struct source_text *texts = xcalloc(r->changed.n + 1, sizeof *texts);
	struct gate g = { r, &after };
	VEC(const struct source_function *) judged = { 0 };
	const char *why = NULL;

	begin_after(r, &after, texts);
	for (size_t i = 0; i < r->changed.n; i++)
		for (size_t k = 0; k < r->code->units.n && !why; k++) {
			const struct source_unit *u = r->code->units.at[k];

			for (size_t m = 0; m < u->nfunctions && !why; m++) {
				const struct source_function *f = &u->functions[m];
				bool is_judged = !f->body ||
						 strcmp(f->file, r->changed.at[i]->path) != 0 ||
						 !changes(r->changed.at[i], f);

				for (size_t j = 0; j < judged.n && !is_judged; j++)
					is_judged = function_is_same(judged.at[j], f);
				if (is_judged)
					continue;
				*vec_add(&judged) = f;
				why = judge(&g, u, f, 0);
			}
		}
	why = why ? text_copy(r->code, why, strlen(why)) : NULL;
	vec_release(&judged);
	idiom_free(&after);
	codebase_free(after.code);
	free(texts);
	return why;
}
