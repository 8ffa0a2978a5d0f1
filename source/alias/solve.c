/* Solves the constraints: applies the rules of a node to each location in its set until nothing
 * changes. Only what is new in a set is passed on (difference propagation), and from time to time
 * nodes that copy to each other in a circle are united, because their sets end up equal. */
#include <string.h>

#include "source/alias/solve_internal.h"

enum { ASK_EVERY = 1 << 22 }; /* units of work; some milliseconds */

/* Is the work limit reached? Asked often, because one rule of one node may be most of the work. */
static bool is_spent(struct solver *s)
{
	if (s->may_go_on && s->work - s->asked > ASK_EVERY) {
		s->asked = s->work;
		if (!s->may_go_on(s->watch))
			s->work_max = 0;
	}
	return s->work > s->work_max;
}

/* ---- rules ---- */

static void apply_rule(struct solver *s, const struct rule *r, uint32_t l)
{
	const struct set *others;

	switch (r->kind) {
	case RULE_LOAD: solver_copy(s, r->other, l); break;
	case RULE_STORE: solver_copy(s, l, r->other); break;
	case RULE_STEP:
		solver_point(s, r->other,
			     solver_location(s, s->nodes.at[l].object,
					     s->nodes.at[l].offset + r->bytes));
		break;
	case RULE_DUPLICATE_TO:
	case RULE_DUPLICATE_FROM:
		others = &s->nodes.at[node_find(s, r->other)].points;
		for (size_t i = 0; i < others->n && !is_spent(s); i++) {
			object_duplicate(s, r->kind == RULE_DUPLICATE_TO ? l : others->at[i],
					 r->kind == RULE_DUPLICATE_TO ? others->at[i] : l);
			/* the vector may have moved; what was added to it is processed later */
			others = &s->nodes.at[node_find(s, r->other)].points;
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
	n = node_find(s, n);
	*vec_add(&s->nodes.at[n].rules) = r;
	if (r.is_stride) { /* waits until circles are found */
		set_join(&s->nodes.at[n].fresh, &s->nodes.at[n].points, NULL);
		node_enqueue(s, n);
		return;
	}
	set_join(&now, &s->nodes.at[n].points, NULL);
	for (size_t i = 0; i < now.n && !is_spent(s); i++)
		apply_rule(s, &r, now.at[i]);
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
		add_rule(s, from, (struct rule){ .kind = RULE_STEP, .other = to, .bytes = bytes });
}

void solver_stride(struct solver *s, uint32_t to, uint32_t from, int64_t bytes)
{
	if (bytes == 0)
		solver_copy(s, to, from);
	else
		add_rule(s, from,
			 (struct rule){ .kind = RULE_STEP,
					.other = to,
					.bytes = bytes,
					.is_stride = true });
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

/* ---- until nothing changes ---- */

static void process_node(struct solver *s, uint32_t n)
{
	struct set delta = s->nodes.at[n].fresh;

	s->nodes.at[n].fresh = (struct set){ 0 };
	for (size_t i = 0; i < s->nodes.at[n].rules.n; i++) {
		struct rule r = s->nodes.at[n].rules.at[i];

		if (r.is_stride && node_find(s, r.other) == n)
			/* a circle united both nodes: array elements are not told apart */
			continue;
		s->work += delta.n;
		for (size_t k = 0; k < delta.n && !is_spent(s); k++)
			apply_rule(s, &r, delta.at[k]);
	}
	for (size_t i = 0; i < s->nodes.at[n].copies.n; i++) {
		uint32_t to = node_find(s, s->nodes.at[n].copies.at[i]);

		s->work += delta.n + s->nodes.at[to].points.n;
		if (to != n && set_join(&s->nodes.at[to].points, &delta, &s->nodes.at[to].fresh))
			node_enqueue(s, to);
	}
	set_release(&delta);
}

void solver_watch(struct solver *s, bool (*may_go_on)(void *arg), void *arg)
{
	s->may_go_on = may_go_on;
	s->watch = arg;
}

void solver_limit(struct solver *s, uint64_t work)
{
	s->work_max = work;
}

bool solver_run(struct solver *s)
{
	circles_collapse(s);
	for (size_t i = 0; i < s->queue.n && !is_spent(s); i++) {
		uint32_t n = s->queue.at[i];

		s->nodes.at[n].is_queued = false;
		if (node_find(s, n) == n)
			process_node(s, n);
		if (s->nedges_since > s->nodes.n / 2)
			circles_collapse(s);
		if (i > 1 << 16) { /* forget the entries that are done */
			memmove(s->queue.at, s->queue.at + i + 1,
				(s->queue.n - i - 1) * sizeof s->queue.at[0]);
			s->queue.n -= i + 1;
			i = SIZE_MAX;
		}
	}
	s->queue.n = 0;
	return !is_spent(s);
}

/* ---- results ---- */

size_t solver_nobjects(const struct solver *s)
{
	return s->objects.n;
}

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
	const struct set *points = &s->nodes.at[node_find(s, node)].points;

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
	const struct set *points = &s->nodes.at[node_find(s, node)].points;

	for (size_t i = 0; i < points->n; i++)
		set_append(&s->result, s->nodes.at[points->at[i]].object);
}

size_t solver_objects(struct solver *s, uint32_t node, const uint32_t **objects)
{
	s->result.n = 0;
	if (node)
		add_objects(s, node);
	set_settle(&s->result);
	*objects = s->result.at;
	return s->result.n;
}

size_t solver_content(struct solver *s, uint32_t object, const uint32_t **objects)
{
	s->result.n = 0;
	for (size_t i = 0; i < s->objects.at[object].fields.n; i++)
		add_objects(s, s->objects.at[object].fields.at[i]);
	set_settle(&s->result);
	*objects = s->result.at;
	return s->result.n;
}
