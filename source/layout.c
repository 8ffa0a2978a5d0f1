/* Computes with layouts and places: where a field begins, and which part of an object is at an
 * offset. It needs neither libclang nor debug information. */
#include "source/layout.h"

#include <string.h>

uint64_t step_offset(const struct place_step *s)
{
	if (s->in->kind == LAYOUT_ARRAY)
		return s->index == PLACE_ANY_INDEX ? 0 : s->index * s->in->element->size_bytes;
	return s->in->fields[s->index].offset;
}

bool place_step(struct place *p, uint32_t index)
{
	const struct layout *in = p->target;

	if (p->nsteps == PLACE_MAX_STEPS ||
	    (in->kind == LAYOUT_ARRAY ? !in->element : index >= in->nfields))
		return false;
	p->step[p->nsteps++] = (struct place_step){ in, index };
	p->target = in->kind == LAYOUT_ARRAY ? in->element : in->fields[index].type;
	return true;
}

/* Asks whether both are layouts of the same type, perhaps read from two compilation units. */
static bool is_same(const struct layout *a, const struct layout *b)
{
	if (a == b)
		return true;
	if (a->kind != b->kind || a->size_bytes != b->size_bytes || !a->name || !b->name)
		return false;
	return strcmp(a->name, b->name) == 0;
}

uint64_t place_offset(const struct place *p)
{
	uint64_t offset = p->extra_bytes;

	for (uint32_t i = 0; i < p->nsteps; i++)
		offset += step_offset(&p->step[i]);
	return offset;
}

/* Gives the index of the first field that contains all the bytes; nfields if there is none. */
static uint32_t field_with(const struct layout *in, uint64_t offset, uint64_t size_bytes)
{
	for (uint32_t i = 0; i < in->nfields; i++) {
		const struct layout_field *f = &in->fields[i];

		if (f->offset <= offset && offset + size_bytes <= f->offset + f->size_bytes)
			return i;
		if (f->offset <= offset && f->type->kind == LAYOUT_ARRAY && !f->type->count &&
		    i + 1 == in->nfields)
			return i;
	}
	return (uint32_t)in->nfields;
}

bool place_reach(struct place *p, const struct layout *type)
{
	struct place at = *p;
	uint64_t offset = at.extra_bytes;

	at.extra_bytes = 0;
	while (offset || !is_same(at.target, type)) {
		uint32_t i = 0;

		if (at.target->kind == LAYOUT_ARRAY)
			i = at.target->element && at.target->element->size_bytes
				    ? (uint32_t)(offset / at.target->element->size_bytes)
				    : 0;
		else
			i = field_with(at.target, offset, 1);
		if (at.target->kind == LAYOUT_SCALAR || !place_step(&at, i))
			return false;
		offset -= step_offset(&at.step[at.nsteps - 1]);
	}
	at.is_exact = false;
	*p = at;
	return true;
}

bool place_join(struct place *outer, const struct place *inner)
{
	struct place p = *outer;

	if ((p.extra_bytes && !place_reach(&p, inner->root)) ||
	    p.nsteps + inner->nsteps > PLACE_MAX_STEPS)
		return false;
	if (!is_same(p.target, inner->root)) {
		/* a pointer to words or bytes that leads into another type: the address will say
		 * where */
		if (inner->nsteps || inner->root->kind != LAYOUT_SCALAR)
			return false;
		p.is_region = true;
		p.region_bytes = inner->region_bytes;
		p.extra_bytes = inner->extra_bytes;
		p.origin = inner->origin;
		*outer = p;
		return true;
	}
	for (uint32_t i = 0; i < inner->nsteps; i++)
		p.step[p.nsteps++] = inner->step[i];
	p.target = inner->nsteps ? inner->target : p.target;
	p.extra_bytes = inner->extra_bytes;
	p.is_region = inner->is_region;
	p.is_exact = inner->is_exact;
	p.ahead_bytes = inner->ahead_bytes;
	p.region_bytes = inner->region_bytes;
	p.origin = inner->origin;
	*outer = p;
	return true;
}

/* Asks whether the field shares no byte with another field. Bit-fields share bytes; a store to one
 * of them counts as a store to all of them. */
static bool is_alone(const struct layout *in, uint32_t index)
{
	const struct layout_field *f = &in->fields[index];

	if (in->kind == LAYOUT_UNION)
		return true;
	for (uint32_t i = 0; i < in->nfields; i++)
		if (i != index && in->fields[i].offset < f->offset + f->size_bytes &&
		    f->offset < in->fields[i].offset + in->fields[i].size_bytes)
			return false;
	return true;
}

/* Chooses a member of a union: the first in which the bytes are exactly one number; else the first
 * that contains the bytes. */
static uint32_t union_member(const struct place *p, uint64_t offset, uint64_t size_bytes)
{
	for (uint32_t i = 0; i < p->target->nfields; i++) {
		struct place at = *p;

		if (offset + size_bytes > p->target->fields[i].size_bytes || !place_step(&at, i))
			continue;
		if (place_descend(&at, offset, size_bytes) == 0 &&
		    at.target->kind == LAYOUT_SCALAR && at.target->size_bytes == size_bytes)
			return i;
	}
	return field_with(p->target, offset, size_bytes);
}

uint64_t place_descend(struct place *p, uint64_t offset, uint64_t size_bytes)
{
	while (p->target->kind != LAYOUT_SCALAR) {
		const struct layout *in = p->target;

		if (in->kind == LAYOUT_ARRAY) {
			uint64_t each = in->element ? in->element->size_bytes : 0;

			if (!each || offset % each + size_bytes > each ||
			    !place_step(p, (uint32_t)(offset / each)))
				break;
			offset %= each;
		} else {
			uint32_t i = in->kind == LAYOUT_UNION ? union_member(p, offset, size_bytes)
							      : field_with(in, offset, size_bytes);

			if (i == in->nfields || !is_alone(in, i) || !place_step(p, i))
				break;
			offset -= in->fields[i].offset;
		}
	}
	return offset;
}

/* Asks whether the struct ends with an array that has no bounds. */
static bool is_open(const struct layout *l)
{
	return l->nfields && l->fields[l->nfields - 1].size_bytes == 0;
}

void place_ascend(struct place *p, uint64_t *offset, uint64_t size_bytes)
{
	while (p->nsteps &&
	       ((int64_t)*offset < 0 ||
		(p->target->size_bytes && *offset + size_bytes > p->target->size_bytes))) {
		struct place_step *last = &p->step[p->nsteps - 1];

		if (last->in->kind == LAYOUT_ARRAY && (int64_t)*offset >= 0 &&
		    *offset / p->target->size_bytes ==
			    (*offset + size_bytes - 1) / p->target->size_bytes) {
			if (last->index != PLACE_ANY_INDEX)
				last->index += (uint32_t)(*offset / p->target->size_bytes);
			*offset %= p->target->size_bytes;
			break;
		}
		*offset += step_offset(last);
		p->target = last->in;
		p->nsteps--;
	}
	if (!p->nsteps && p->root->size_bytes && !is_open(p->root) && (int64_t)*offset >= 0)
		*offset %= p->root->size_bytes;
}
