/* The graph of the points-to analysis: adds nodes, objects, fields and edges, and unites nodes. A
 * node whose set grows goes into the queue. */
#include <stdlib.h>

#include "source/alias/solve_internal.h"

enum { MAX_FIELDS = 128, MAX_OFFSET = 1 << 16 };
#define WORK_MAX (UINT64_C(1) << 31) /* units of work; some seconds */

struct solver *solver_new(solve_on_call on_call, void *owner)
{
	struct solver *s = xcalloc(1, sizeof *s);

	s->work_max = WORK_MAX;
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

uint32_t node_find(const struct solver *s, uint32_t n)
{
	while (s->nodes.at[n].parent != n) {
		struct node *node = &s->nodes.at[n];

		/* shortens the path for the next search */
		node->parent = s->nodes.at[node->parent].parent;
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

void node_enqueue(struct solver *s, uint32_t n)
{
	if (s->nodes.at[n].is_queued)
		return;
	s->nodes.at[n].is_queued = true;
	*vec_add(&s->queue) = n;
}

/* Adds the pair (a, b) to the map. True: the pair came for the first time. */
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
	to = node_find(s, to);
	if (!set_add(&s->nodes.at[to].points, location))
		return;
	set_add(&s->nodes.at[to].fresh, location);
	node_enqueue(s, to);
}

void solver_copy(struct solver *s, uint32_t to, uint32_t from)
{
	if (!to || !from)
		return;
	to = node_find(s, to);
	from = node_find(s, from);
	if (to == from || !is_first(&s->edges, from, to))
		return;
	*vec_add(&s->nodes.at[from].copies) = to;
	s->nedges_since++;
	s->work += s->nodes.at[to].points.n + s->nodes.at[from].points.n;
	if (set_join(&s->nodes.at[to].points, &s->nodes.at[from].points, &s->nodes.at[to].fresh))
		node_enqueue(s, to);
}

/* ---- uniting nodes ---- */

void node_unify(struct solver *s, uint32_t a, uint32_t b)
{
	struct node *x, *y;

	a = node_find(s, a);
	b = node_find(s, b);
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
	/* to the rules of one node, the locations of the other are new */
	set_join(&x->fresh, &x->points, NULL);
	set_release(&y->points);
	set_release(&y->fresh);
	vec_release(&y->copies);
	vec_release(&y->rules);
	if (x->fresh.n)
		node_enqueue(s, a);
}

void solver_flatten(struct solver *s, uint32_t object)
{
	uint32_t first;

	if (s->objects.at[object].is_flat)
		return;
	s->objects.at[object].is_flat = true;
	first = solver_location(s, object, 0);
	for (size_t i = 0; i < s->objects.at[object].fields.n; i++)
		node_unify(s, first, s->objects.at[object].fields.at[i]);
}

/* ---- objects ---- */

uint32_t solver_object(struct solver *s, enum solve_kind kind, const char *name)
{
	uint32_t object = (uint32_t)s->objects.n;

	*vec_add(&s->objects) = (struct object){ .kind = kind, .name = name };
	return object;
}

/* Gives the location to which a duplicated field goes. */
static uint32_t moved_field(struct solver *s, const struct watcher *w, int64_t offset)
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
			solver_copy(s, moved_field(s, &w, offset), n);
	}
	return n;
}

void object_duplicate(struct solver *s, uint32_t to, uint32_t from)
{
	uint32_t object = s->nodes.at[from].object;
	struct watcher w = { s->nodes.at[from].offset, to };

	if (!is_first(&s->duplicates, from, to))
		return;
	*vec_add(&s->objects.at[object].watchers) = w;
	for (size_t i = 0; i < s->objects.at[object].fields.n; i++) {
		uint32_t field = s->objects.at[object].fields.at[i];

		if (s->nodes.at[field].offset >= w.from_offset || s->objects.at[object].is_flat)
			solver_copy(s,
				    moved_field(s, &w,
						s->objects.at[object].is_flat
							? w.from_offset
							: s->nodes.at[field].offset),
				    field);
	}
}
