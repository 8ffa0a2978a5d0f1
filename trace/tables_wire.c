/* Sends or receives what table records defined. A node is sent as its number in the store. In a
 * process that was not forked, nodes of its table have the same order as in the store, so the
 * numbers are left out. */
#include <string.h>

#include "trace/owner.h"
#include "trace/tables.h"

/* ---- what all processes share ---- */

/* Gives the node's number from 1; 0 for NULL. */
static uint64_t node_number(const struct map *numbers, const struct trace_node *node)
{
	return node ? (uintptr_t)map_get(numbers, (uintptr_t)node) : 0;
}

static const void *at_number(const void *const *list, size_t n, struct wire *w, uint64_t number)
{
	w->is_bad |= number > n;
	return number == 0 || number > n ? NULL : list[number - 1];
}

#define AT(list, w, number) at_number((const void *const *)(list)->at, (list)->n, (w), (number))

static void pass_object(struct tables_store *s, struct wire *w, size_t i)
{
	const bool is_known = i < s->objects.n;
	struct trace_object o = is_known ? *s->objects.at[i]
					 : (struct trace_object){ .id = (uint32_t)i },
			    *object;
	char *path;

	wire_pass(w, o.va);
	wire_pass(w, o.len_bytes);
	wire_pass(w, o.offset);
	wire_pass(w, o.build_id_len);
	wire_bytes(w, o.build_id, sizeof o.build_id);
	path = wire_string(w, o.path);
	if (!w->is_received)
		return;
	w->is_bad |= !path || o.build_id_len > sizeof o.build_id;
	if (!is_known && !w->is_bad) {
		object = arena_alloc(&s->arena, sizeof *object);
		*object = o;
		object->path = arena_text(&s->arena, path);
		object->owner = (uint8_t)(owner_of_object(object->path) + 1);
		*vec_add(&s->objects) = object;
	}
	free(path);
}

static void pass_node(struct tables_store *s, struct wire *w, size_t i, const struct map *numbers)
{
	const bool is_known = i < s->nodes.n;
	struct trace_node n = is_known ? *s->nodes.at[i] : (struct trace_node){ 0 }, *node;
	const uint64_t parent = wire_number(w, w->is_received ? 0 : node_number(numbers, n.parent));
	const uint64_t object = wire_number(w, n.object ? (uint64_t)n.object->id + 1 : 0);

	wire_pass(w, n.pc);
	wire_pass(w, n.is_signal);
	if (!w->is_received || is_known)
		return;
	n.parent = AT(&s->nodes, w, parent);
	n.object = AT(&s->objects, w, object);
	node = arena_alloc(&s->arena, sizeof *node);
	*node = n;
	*vec_add(&s->nodes) = node;
}

static void pass_site(struct tables_store *s, struct wire *w, size_t i, const struct map *numbers)
{
	const bool is_known = i < s->sites.n;
	struct trace_site t = is_known ? *s->sites.at[i]
				       : (struct trace_site){ .id = (uint32_t)i + 1 },
			  *site;
	const uint64_t node = wire_number(w, w->is_received ? 0 : node_number(numbers, t.node));
	const uint64_t object = wire_number(w, t.object ? (uint64_t)t.object->id + 1 : 0);

	wire_pass(w, t.pc);
	wire_pass(w, t.size_bytes);
	wire_pass(w, t.kind);
	if (!w->is_received || is_known)
		return;
	w->is_bad |=
		(unsigned)t.kind >= PMT_NKINDS || !trace_kinds[t.kind].name ||
		(trace_kinds[t.kind].carries & PMT_HAS_VALUE && t.size_bytes > PMT_STORE_MAX_BYTES);
	t.node = AT(&s->nodes, w, node);
	t.object = AT(&s->objects, w, object);
	site = arena_alloc(&s->arena, sizeof *site);
	*site = t;
	*vec_add(&s->sites) = site;
}

void tables_store_pass(struct tables_store *s, struct wire *w, const struct map *numbers)
{
	for (size_t i = 0, n = wire_number(w, s->objects.n); i < n && !w->is_bad; i++)
		pass_object(s, w, i);
	for (size_t i = 0, n = wire_number(w, s->nodes.n); i < n && !w->is_bad; i++)
		pass_node(s, w, i, numbers);
	for (size_t i = 0, n = wire_number(w, s->sites.n); i < n && !w->is_bad; i++)
		pass_site(s, w, i, numbers);
}

/* ---- tables of one process ---- */

void tables_number_nodes(const struct tables_store *s, struct map *numbers)
{
	for (size_t i = 0; i < s->nodes.n; i++)
		map_set(numbers, (uintptr_t)s->nodes.at[i], (void *)(i + 1));
}

static void pass_state(struct wire *w, struct pmt_site_state *s)
{
	wire_pass(w, s->last_addr);
	wire_pass(w, s->stride);
	wire_pass(w, s->last_value);
	wire_pass(w, s->next);
}

static void pass_slot(struct tables *t, struct wire *w, size_t i, const struct tables_store *store)
{
	struct site_slot slot = w->is_received ? (struct site_slot){ 0 } : t->sites.at[i];
	const uint64_t id = wire_number(w, slot.site ? slot.site->id : 0);

	pass_state(w, &slot.state);
	if (!w->is_received)
		return;
	slot.site = AT(&store->sites, w, id);
	w->is_bad |= (i == 0) != !slot.site;
	if (slot.site) {
		slot.size_bytes = slot.site->size_bytes;
		slot.kind = (uint8_t)slot.site->kind;
		slot.carries = trace_kinds[slot.kind].carries;
		slot.nargs = trace_kinds[slot.kind].nargs;
	}
	*vec_add(&t->sites) = slot;
}

/* Are the nodes of t those of the store, in the same order? */
static bool has_plain_nodes(const struct tables *t, const struct tables_store *store)
{
	if (t->nodes.n > store->nodes.n + 1)
		return false;
	for (size_t i = 1; i < t->nodes.n; i++)
		if (t->nodes.at[i] != store->nodes.at[i - 1])
			return false;
	return true;
}

static void pass_nodes(struct tables *t, struct wire *w, const struct tables_store *store,
		       const struct map *numbers)
{
	const bool is_plain = wire_number(w, !w->is_received && has_plain_nodes(t, store));

	for (size_t i = 0, n = wire_number(w, t->nodes.n); i < n && !w->is_bad; i++) {
		uint64_t number = i;

		if (!is_plain)
			number = wire_number(
				w, w->is_received ? 0 : node_number(numbers, t->nodes.at[i]));
		if (w->is_received)
			*vec_add(&t->nodes) = AT(&store->nodes, w, number);
	}
}

static void pass_ranges(struct tables *t, struct wire *w, const struct tables_store *store)
{
	for (size_t i = 0, n = wire_number(w, t->objects.n); i < n && !w->is_bad; i++) {
		struct object_range r =
			w->is_received ? (struct object_range){ 0 } : t->objects.at[i];
		uint64_t id;

		wire_pass(w, r.start);
		wire_pass(w, r.end);
		id = wire_number(w, r.object ? (uint64_t)r.object->id + 1 : 0);
		if (!w->is_received)
			continue;
		r.object = AT(&store->objects, w, id);
		*vec_add(&t->objects) = r;
	}
}

void tables_pass(struct tables *t, struct wire *w, const struct tables_store *store,
		 const struct map *numbers)
{
	struct pmt_encoder *e = &t->encoder;

	wire_pass(w, e->prev_addr);
	wire_pass(w, e->prev_bytes);
	wire_pass(w, e->last_node_pc);
	wire_pass(w, e->last_site_pc);
	wire_pass(w, e->prev_site);
	wire_pass(w, e->thread);
	for (size_t i = 0, n = wire_number(w, t->sites.n); i < n && !w->is_bad; i++)
		pass_slot(t, w, i, store);
	w->is_bad |= t->sites.n > 0 && e->prev_site >= t->sites.n;
	for (size_t i = 0; w->is_received && i < t->sites.n; i++)
		w->is_bad |= t->sites.at[i].state.next >= t->sites.n;
	pass_nodes(t, w, store, numbers);
	pass_ranges(t, w, store);
}
