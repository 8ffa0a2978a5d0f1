/* The solver. Nodes that copy to each other in a circle have the same set: they are found now and then and made one. */
#include "source/alias/solve.h"

#include <stdlib.h>
#include <string.h>

#include "source/alias/set.h"
#include "util/error.h"
#include "util/map.h"
#include "util/vec.h"

enum { MAX_FIELDS = 128, MAX_OFFSET = 1 << 16 };

enum rule_kind { RULE_LOAD, RULE_STORE, RULE_STEP, RULE_DUPLICATE_TO, RULE_DUPLICATE_FROM, RULE_CALL };

/* What happens for every location that a node points to. */
struct rule {
	enum rule_kind kind;
	uint32_t other;
	int64_t bytes;
};

struct node {
	uint32_t parent; /* itself, or the node that it was made one with */
	struct set points, fresh; /* fresh: not passed on yet */
	VEC(uint32_t) copies;	  /* to these */
	VEC(struct rule) rules;
	uint32_t object; /* of a location; 0: a variable */
	int64_t offset;
	bool is_queued;
};

/* New fields of an object are copied here as well. */
struct watcher {
	int64_t from_offset;
	uint32_t to;
};

struct object {
	enum solve_kind kind;
	const char *name;
	bool is_flat;
	VEC(uint32_t) fields; /* locations */
	VEC(struct watcher) watchers;
};

struct solver {
	solve_on_call on_call;
	void *owner;
	VEC(struct node) nodes;
	VEC(struct object) objects;
	VEC(uint32_t) queue;
	struct map edges, duplicates;
	size_t nedges_since;
	struct set result;
};

struct solver *solver_new(solve_on_call on_call, void *owner)
{
	struct solver *s = xcalloc(1, sizeof *s);

	s->on_call = on_call;
	s->owner = owner;
	*vec_add(&s->nodes) = (struct node){ 0 };
	*vec_add(&s->objects) = (struct object){ 0 };
	return s;
}

void solver_free(struct solver *s)
{
	for (size_t i = 0; i < s->nodes.n; i++) {
		set_release(&s->nodes.at[i].points);
		set_release(&s->nodes.at[i].fresh);
		vec_release(&s->nodes.at[i].copies);
		vec_release(&s->nodes.at[i].rules);
	}
	for (size_t i = 0; i < s->objects.n; i++) {
		vec_release(&s->objects.at[i].fields);
		vec_release(&s->objects.at[i].watchers);
	}
	vec_release(&s->nodes);
	vec_release(&s->objects);
	vec_release(&s->queue);
	map_release(&s->edges);
	map_release(&s->duplicates);
	set_release(&s->result);
	free(s);
}

static uint32_t find(const struct solver *s, uint32_t n)
{
	while (s->nodes.at[n].parent != n) {
		struct node *node = &s->nodes.at[n];

		node->parent = s->nodes.at[node->parent].parent; /* shortens the way for the next */
		n = node->parent;
	}
	return n;
}

uint32_t solver_node(struct solver *s)
{
	uint32_t n = (uint32_t)s->nodes.n;

	*vec_add(&s->nodes) = (struct node){ .parent = n };
	return n;
}

static void enqueue(struct solver *s, uint32_t n)
{
	if (s->nodes.at[n].is_queued)
		return;
	s->nodes.at[n].is_queued = true;
	*vec_add(&s->queue) = n;
}

/* True the first time. */
static bool is_first(struct map *m, uint32_t a, uint32_t b)
{
	uint64_t key = (uint64_t)a << 32 | b;

	if (map_get(m, key))
		return false;
	map_set(m, key, m);
	return true;
}

void solver_point(struct solver *s, uint32_t to, uint32_t location)
{
	if (!to || !location)
		return;
	to = find(s, to);
	if (!set_add(&s->nodes.at[to].points, location))
		return;
	set_add(&s->nodes.at[to].fresh, location);
	enqueue(s, to);
}

void solver_copy(struct solver *s, uint32_t to, uint32_t from)
{
	if (!to || !from)
		return;
	to = find(s, to);
	from = find(s, from);
	if (to == from || !is_first(&s->edges, from, to))
		return;
	*vec_add(&s->nodes.at[from].copies) = to;
	s->nedges_since++;
	if (set_join(&s->nodes.at[to].points, &s->nodes.at[from].points, &s->nodes.at[to].fresh))
		enqueue(s, to);
}

/* ---- nodes that are made one ---- */

static void unify(struct solver *s, uint32_t a, uint32_t b)
{
	struct node *x, *y;

	a = find(s, a);
	b = find(s, b);
	if (a == b)
		return;
	x = &s->nodes.at[a];
	y = &s->nodes.at[b];
	y->parent = a;
	set_join(&x->points, &y->points, NULL);
	for (size_t i = 0; i < y->copies.n; i++)
		*vec_add(&x->copies) = y->copies.at[i];
	for (size_t i = 0; i < y->rules.n; i++)
		*vec_add(&x->rules) = y->rules.at[i];
	set_join(&x->fresh, &x->points, NULL); /* each has rules that the other's locations are new to */
	set_release(&y->points);
	set_release(&y->fresh);
	vec_release(&y->copies);
	vec_release(&y->rules);
	if (x->fresh.n)
		enqueue(s, a);
}

void solver_flatten(struct solver *s, uint32_t object)
{
	uint32_t first;

	if (s->objects.at[object].is_flat)
		return;
	s->objects.at[object].is_flat = true;
	first = solver_location(s, object, 0);
	for (size_t i = 0; i < s->objects.at[object].fields.n; i++)
		unify(s, first, s->objects.at[object].fields.at[i]);
}

/* ---- objects ---- */

uint32_t solver_object(struct solver *s, enum solve_kind kind, const char *name)
{
	uint32_t object = (uint32_t)s->objects.n;

	*vec_add(&s->objects) = (struct object){ .kind = kind, .name = name };
	return object;
}

/* Where a field goes. */
static uint32_t moved(struct solver *s, const struct watcher *w, int64_t offset)
{
	const struct node *to = &s->nodes.at[w->to];

	return solver_location(s, to->object, to->offset + offset - w->from_offset);
}

uint32_t solver_location(struct solver *s, uint32_t object, int64_t offset)
{
	struct object *o = &s->objects.at[object];
	uint32_t n;

	if (o->is_flat && o->fields.n)
		return o->fields.at[0];
	for (size_t i = 0; i < o->fields.n; i++)
		if (s->nodes.at[o->fields.at[i]].offset == offset)
			return o->fields.at[i];
	if (!o->is_flat && (offset < 0 || offset > MAX_OFFSET || o->fields.n >= MAX_FIELDS)) {
		solver_flatten(s, object);
		return solver_location(s, object, 0);
	}
	n = solver_node(s);
	s->nodes.at[n].object = object;
	s->nodes.at[n].offset = offset;
	*vec_add(&o->fields) = n;
	for (size_t i = 0; i < s->objects.at[object].watchers.n; i++) {
		struct watcher w = s->objects.at[object].watchers.at[i];

		if (offset >= w.from_offset)
			solver_copy(s, moved(s, &w, offset), n);
	}
	return n;
}

static void duplicate(struct solver *s, uint32_t to, uint32_t from)
{
	uint32_t object = s->nodes.at[from].object;
	struct watcher w = { s->nodes.at[from].offset, to };

	if (!is_first(&s->duplicates, from, to))
		return;
	*vec_add(&s->objects.at[object].watchers) = w;
	for (size_t i = 0; i < s->objects.at[object].fields.n; i++) {
		uint32_t field = s->objects.at[object].fields.at[i];

		if (s->nodes.at[field].offset >= w.from_offset || s->objects.at[object].is_flat)
			solver_copy(s, moved(s, &w, s->objects.at[object].is_flat ? w.from_offset : s->nodes.at[field].offset), field);
	}
}

/* ---- rules ---- */

static void apply(struct solver *s, const struct rule *r, uint32_t l)
{
	const struct set *others;

	switch (r->kind) {
	case RULE_LOAD: solver_copy(s, r->other, l); break;
	case RULE_STORE: solver_copy(s, l, r->other); break;
	case RULE_STEP:
		solver_point(s, r->other, solver_location(s, s->nodes.at[l].object, s->nodes.at[l].offset + r->bytes));
		break;
	case RULE_DUPLICATE_TO:
	case RULE_DUPLICATE_FROM:
		others = &s->nodes.at[find(s, r->other)].points;
		for (size_t i = 0; i < others->n; i++) {
			duplicate(s, r->kind == RULE_DUPLICATE_TO ? l : others->at[i], r->kind == RULE_DUPLICATE_TO ? others->at[i] : l);
			others = &s->nodes.at[find(s, r->other)].points; /* it may have moved; what is added to it has its turn */
		}
		break;
	case RULE_CALL:
		if (s->objects.at[s->nodes.at[l].object].kind == SOLVE_FUNCTION)
			s->on_call(s->owner, r->other, s->nodes.at[l].object);
		break;
	}
}

static void add_rule(struct solver *s, uint32_t n, struct rule r)
{
	struct set now = { 0 };

	if (!n || (!r.other && r.kind != RULE_CALL))
		return;
	n = find(s, n);
	*vec_add(&s->nodes.at[n].rules) = r;
	set_join(&now, &s->nodes.at[n].points, NULL);
	for (size_t i = 0; i < now.n; i++)
		apply(s, &r, now.at[i]);
	set_release(&now);
}

void solver_load(struct solver *s, uint32_t to, uint32_t from)
{
	add_rule(s, from, (struct rule){ .kind = RULE_LOAD, .other = to });
}

void solver_store(struct solver *s, uint32_t to, uint32_t from)
{
	add_rule(s, to, (struct rule){ .kind = RULE_STORE, .other = from });
}

void solver_step(struct solver *s, uint32_t to, uint32_t from, int64_t bytes)
{
	if (bytes == 0)
		solver_copy(s, to, from);
	else
		add_rule(s, from, (struct rule){ RULE_STEP, to, bytes });
}

void solver_duplicate(struct solver *s, uint32_t to, uint32_t from)
{
	if (!to || !from)
		return;
	add_rule(s, to, (struct rule){ .kind = RULE_DUPLICATE_TO, .other = from });
	add_rule(s, from, (struct rule){ .kind = RULE_DUPLICATE_FROM, .other = to });
}

void solver_call(struct solver *s, uint32_t node, uint32_t call)
{
	add_rule(s, node, (struct rule){ .kind = RULE_CALL, .other = call });
}

/* ---- circles ---- */

struct walk {
	uint32_t *index, *low;
	bool *is_on;
	VEC(uint32_t) stack;
	VEC(struct visit { uint32_t node; size_t edge; }) path;
	uint32_t next;
};

static void leave(struct solver *s, struct walk *w, uint32_t n)
{
	uint32_t m;

	if (w->low[n] != w->index[n])
		return;
	do {
		m = w->stack.at[--w->stack.n];
		w->is_on[m] = false;
		unify(s, n, m);
	} while (m != n);
}

static void enter(struct walk *w, uint32_t n)
{
	w->index[n] = w->low[n] = ++w->next;
	w->is_on[n] = true;
	*vec_add(&w->stack) = n;
	*vec_add(&w->path) = (struct visit){ n, 0 };
}

/* Tarjan's components, without recursion. Unifying waits for the component's end, so copies of nodes on the path stay. */
static void walk_from(struct solver *s, struct walk *w, uint32_t start)
{
	enter(w, start);
	while (w->path.n) {
		struct visit *v = &w->path.at[w->path.n - 1];
		uint32_t n = v->node, to;

		if (v->edge < s->nodes.at[n].copies.n) {
			to = find(s, s->nodes.at[n].copies.at[v->edge++]);
			if (!w->index[to])
				enter(w, to);
			else if (w->is_on[to] && w->index[to] < w->low[n])
				w->low[n] = w->index[to];
			continue;
		}
		w->path.n--;
		if (w->path.n && w->low[n] < w->low[w->path.at[w->path.n - 1].node])
			w->low[w->path.at[w->path.n - 1].node] = w->low[n];
		leave(s, w, n);
	}
}

static void collapse_circles(struct solver *s)
{
	size_t n = s->nodes.n;
	struct walk w = { .index = xcalloc(n, sizeof *w.index), .low = xcalloc(n, sizeof *w.low), .is_on = xcalloc(n, sizeof *w.is_on) };

	for (uint32_t i = 1; i < n; i++)
		if (find(s, i) == i && !w.index[i])
			walk_from(s, &w, i);
	free(w.index);
	free(w.low);
	free(w.is_on);
	vec_release(&w.stack);
	vec_release(&w.path);
	s->nedges_since = 0;
}

/* ---- all ---- */

static void process(struct solver *s, uint32_t n)
{
	struct set delta = s->nodes.at[n].fresh;

	s->nodes.at[n].fresh = (struct set){ 0 };
	for (size_t i = 0; i < s->nodes.at[n].rules.n; i++) {
		struct rule r = s->nodes.at[n].rules.at[i];

		for (size_t k = 0; k < delta.n; k++)
			apply(s, &r, delta.at[k]);
	}
	for (size_t i = 0; i < s->nodes.at[n].copies.n; i++) {
		uint32_t to = find(s, s->nodes.at[n].copies.at[i]);

		if (to != n && set_join(&s->nodes.at[to].points, &delta, &s->nodes.at[to].fresh))
			enqueue(s, to);
	}
	set_release(&delta);
}

void solver_run(struct solver *s)
{
	collapse_circles(s);
	for (size_t i = 0; i < s->queue.n; i++) {
		uint32_t n = s->queue.at[i];

		s->nodes.at[n].is_queued = false;
		if (find(s, n) == n)
			process(s, n);
		if (s->nedges_since > s->nodes.n / 2)
			collapse_circles(s);
		if (i > 1 << 16) { /* forget those that are done */
			memmove(s->queue.at, s->queue.at + i + 1, (s->queue.n - i - 1) * sizeof s->queue.at[0]);
			s->queue.n -= i + 1;
			i = SIZE_MAX;
		}
	}
	s->queue.n = 0;
}

/* ---- results ---- */

enum solve_kind solver_kind(const struct solver *s, uint32_t object)
{
	return s->objects.at[object].kind;
}

void solver_set_kind(struct solver *s, uint32_t object, enum solve_kind kind)
{
	s->objects.at[object].kind = kind;
}

const char *solver_name(const struct solver *s, uint32_t object)
{
	return s->objects.at[object].name;
}

size_t solver_locations(const struct solver *s, uint32_t node, const uint32_t **locations)
{
	const struct set *points = &s->nodes.at[find(s, node)].points;

	*locations = points->at;
	return points->n;
}

uint32_t solver_object_of(const struct solver *s, uint32_t location, int64_t *offset)
{
	*offset = s->nodes.at[location].offset;
	return s->nodes.at[location].object;
}

static void add_objects(struct solver *s, uint32_t node)
{
	const struct set *points = &s->nodes.at[find(s, node)].points;

	for (size_t i = 0; i < points->n; i++)
		set_add(&s->result, s->nodes.at[points->at[i]].object);
}

size_t solver_objects(struct solver *s, uint32_t node, const uint32_t **objects)
{
	s->result.n = 0;
	if (node)
		add_objects(s, node);
	*objects = s->result.at;
	return s->result.n;
}

size_t solver_content(struct solver *s, uint32_t object, const uint32_t **objects)
{
	s->result.n = 0;
	for (size_t i = 0; i < s->objects.at[object].fields.n; i++)
		add_objects(s, s->objects.at[object].fields.at[i]);
	*objects = s->result.at;
	return s->result.n;
}
