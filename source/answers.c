/* Remembers what is known about a site's stores before their addresses are seen: the place in a
 * type to which they write. Each site is resolved once. */
#include <stdio.h>

#include "source/types_internal.h"
#include "util/hash.h"

struct known_destination {
	struct destination d;
	struct known_destination *next;
};

static uint64_t place_hash(const struct place *p, const struct trace_node *node)
{
	uint64_t h = hash_mix(hash_mix(hash_mix(1, (uintptr_t)p->root), (uintptr_t)p->target),
			      (uintptr_t)node);

	for (uint32_t i = 0; i < p->nsteps; i++)
		h = hash_mix(h, p->step[i].index);
	return hash_mix(hash_mix(h, p->origin),
			p->extra_bytes * 4 + p->is_region * 2 + p->is_exact);
}

static bool place_equals(const struct place *a, const struct place *b)
{
	if (a->root != b->root || a->nsteps != b->nsteps || a->extra_bytes != b->extra_bytes ||
	    a->origin != b->origin || a->is_region != b->is_region || a->is_exact != b->is_exact)
		return false;
	for (uint32_t i = 0; i < a->nsteps; i++)
		if (a->step[i].in != b->step[i].in || a->step[i].index != b->step[i].index)
			return false;
	return true;
}

static const struct destination *destination_get(struct types *t, const struct place *p,
						 const struct trace_node *node,
						 const struct trace_node *call)
{
	uint64_t h = place_hash(p, node);
	struct known_destination *first = map_get(&t->destinations, h), *k = first;

	while (k && !(k->d.node == node && k->d.call == call && place_equals(&k->d.place, p)))
		k = k->next;
	if (k)
		return &k->d;
	k = arena_alloc(&t->arena, sizeof *k);
	*k = (struct known_destination){ .d = { *p, node, call }, .next = first };
	map_set(&t->destinations, h, k);
	return &k->d;
}

static bool is_bits(const struct place *p)
{
	const struct place_step *last = p->nsteps ? &p->step[p->nsteps - 1] : NULL;

	return last && last->in->kind != LAYOUT_ARRAY && last->in->fields[last->index].is_bits;
}

/* Gives how many bytes before the place the store begins, if the place is a bit-field; else 0.
 * Compilers store a bit-field together with the bytes around it, as an aligned word. */
static uint64_t bits_offset(const struct place *p, uint64_t size_bytes)
{
	return is_bits(p) ? 0 - step_offset(&p->step[p->nsteps - 1]) % size_bytes : 0;
}

static void answer_path(struct types *t, const struct trace_site *site, struct answer *a)
{
	char field[48];
	uint64_t pc = site->pc;

	if (site->object)
		symbols_module(t->symbols, site->object, &pc);
	snprintf(field, sizeof field, "at 0x%llx", (unsigned long long)pc);
	a->shape.n = 1;
	a->shape.level[0] = (struct shape_level){ .type = resolve_path(t, site),
						  .field = names_add(&t->names, field) };
}

static struct answer *answer_make(struct types *t, const struct trace_site *site)
{
	struct answer *a = arena_alloc(&t->arena, sizeof *a);
	const struct trace_node *node, *call;
	struct place place;

	*a = (struct answer){ 0 };
	if (!resolve(t, site, &place, &a->means, &node, &call)) {
		a->means = TYPE_BY_PATH;
		answer_path(t, site, a);
		return a;
	}
	a->destination = destination_get(t, &place, node, call);
	if (place.root->kind == LAYOUT_SCALAR) {
		a->is_spread = place.is_region;
		answer_path(t, site, a);
		return a;
	}
	a->is_spread = place.is_region || place.target->kind != LAYOUT_SCALAR ||
		       place.target->size_bytes > site->size_bytes;
	if (place.is_exact && !place.is_region) {
		uint64_t offset = place.extra_bytes; /* a number inside a struct of known layout */

		a->is_spread = false;
		place.extra_bytes = 0;
		offset = place_descend(&place, offset, site->size_bytes);
		shape_make(&t->names, &place, offset, site->size_bytes, &a->shape);
	} else if (!a->is_spread && place.target->size_bytes &&
		   place.target->size_bytes < site->size_bytes && !is_bits(&place)) {
		uint64_t offset = 0 - place.ahead_bytes;

		place_ascend(&place, &offset, site->size_bytes);
		shape_make(&t->names, &place, offset, site->size_bytes, &a->shape);
	} else if (!a->is_spread || is_bits(&place) || place.target->size_bytes == 0) {
		a->is_spread = false;
		shape_make(&t->names, &place, bits_offset(&place, site->size_bytes),
			   site->size_bytes, &a->shape);
	}
	return a;
}

const struct answer *answer_get(struct types *t, const struct trace_site *site)
{
	while (t->answers.n <= site->id)
		*vec_add(&t->answers) = NULL;
	if (!t->answers.at[site->id])
		t->answers.at[site->id] = answer_make(t, site);
	return t->answers.at[site->id];
}
