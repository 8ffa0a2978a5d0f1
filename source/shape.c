/* Names the fields on the way to the stored bytes, from each struct that contains the bytes. For a
 * store to log.entry[].key, these are key in struct entry, and entry[].key in struct log. If the
 * index of an array is unknown, so is the beginning of the struct that contains the array: the
 * level of that struct has the stride of the array, because the struct begins an unknown number of
 * strides further back. */
#include "source/shape.h"

#include <stdio.h>
#include <string.h>

struct path {
	char text[256];
	size_t len;
};

static void path_add(struct path *p, const char *text)
{
	int n = snprintf(p->text + p->len, sizeof p->text - p->len, "%s", text);

	p->len += (size_t)n < sizeof p->text - p->len ? (size_t)n : sizeof p->text - p->len - 1;
}

static void path_add_name(struct path *p, const char *name)
{
	if (!name)
		return;
	if (p->len)
		path_add(p, ".");
	path_add(p, name);
}

/* Gives the field's name; for a base class, the name of the class. */
static const char *field_name(const struct layout_field *f)
{
	if (f->name)
		return f->name;
	return f->type->name ? f->type->name : "(unnamed)";
}

/* Adds the range of fields that the stored bytes touch, such as "a..c". Used if the bytes are no
 * single part of the target. */
static void path_add_span(struct path *p, const struct layout *target, uint64_t offset,
			  uint64_t size_bytes, bool is_inner)
{
	const struct layout_field *first = NULL, *last = NULL;

	if (target->kind == LAYOUT_ARRAY) {
		path_add(p, "[]");
		return;
	}
	if (target->kind == LAYOUT_UNION ||
	    (is_inner && offset == 0 && size_bytes >= target->size_bytes))
		return;
	for (size_t i = 0; i < target->nfields; i++) {
		const struct layout_field *f = &target->fields[i];

		if (f->offset < offset + size_bytes && offset < f->offset + f->size_bytes) {
			first = first ? first : f;
			last = f;
		}
	}
	if (!first)
		return;
	path_add_name(p, field_name(first));
	if (last != first) {
		path_add(p, "..");
		path_add(p, field_name(last));
	}
}

static uint32_t path_name(struct names *names, const struct place *p, uint32_t from,
			  uint64_t offset, uint64_t size_bytes)
{
	struct path path = { .len = 0 };

	for (uint32_t i = from; i < p->nsteps; i++)
		if (p->step[i].in->kind == LAYOUT_ARRAY)
			path_add(&path, "[]");
		else
			path_add_name(&path, p->step[i].in->fields[p->step[i].index].name);
	path_add_span(&path, p->target, offset, size_bytes, from < p->nsteps);
	return names_add(names, path.text);
}

static bool is_level(const struct layout *l)
{
	return (l->kind == LAYOUT_STRUCT || l->kind == LAYOUT_UNION) && l->name;
}

static void add_level(struct names *names, struct shape *out, const struct layout *l,
		      struct shape_level *pending)
{
	if (out->n == SHAPE_MAX_LEVELS)
		return;
	pending->type = names_add(names, l->name);
	pending->layout = l;
	out->level[out->n++] = *pending;
	*pending = (struct shape_level){ 0 };
}

/* Adds an array of unknown index to the pending level. If the level has such an array already, both
 * together count as one array with the smaller stride. */
static void add_term(struct shape_level *pending, const struct layout *array)
{
	uint64_t stride = array->element->size_bytes ? array->element->size_bytes : 1,
		 count = array->count;

	if (!pending->stride) {
		pending->stride = stride;
		pending->count = count;
		return;
	}
	if (pending->count && count)
		pending->count += (count - 1) * (stride / pending->stride);
	else
		pending->count = 0;
}

void shape_make(struct names *names, const struct place *p, uint64_t offset, uint64_t size_bytes,
		struct shape *out)
{
	struct shape_level pending = { .back_bytes = offset };

	out->n = 0;
	if (is_level(p->target)) {
		pending.field = path_name(names, p, p->nsteps, offset, size_bytes);
		add_level(names, out, p->target, &pending);
	}
	for (uint32_t i = p->nsteps; i-- > 0;) {
		const struct place_step *s = &p->step[i];

		if (s->in->kind == LAYOUT_ARRAY && s->index == PLACE_ANY_INDEX)
			add_term(&pending, s->in);
		pending.back_bytes += step_offset(s);
		if (!is_level(s->in))
			continue;
		pending.field = path_name(names, p, i, offset, size_bytes);
		add_level(names, out, s->in, &pending);
	}
	if (out->n == 0) { /* an array of numbers, or a struct without a name */
		pending.field = path_name(names, p, 0, offset, size_bytes);
		pending.type = names_add(names, p->root->name ? p->root->name : "(unnamed)");
		pending.layout = p->root;
		out->n = 1;
		out->level[0] = pending;
	}
}

/* ---- paths with indices ---- */

/* Adds the indices of the elements, "[3]" or "[3..5]"; adds nothing for the bytes of a text. */
static void path_add_index(struct path *p, const struct layout *array, uint64_t first,
			   uint64_t last)
{
	char text[64];

	if (array->element && array->element->kind == LAYOUT_SCALAR &&
	    array->element->size_bytes == 1)
		return;
	if (first == last)
		snprintf(text, sizeof text, "[%llu]", (unsigned long long)first);
	else
		snprintf(text, sizeof text, "[%llu..%llu]", (unsigned long long)first,
			 (unsigned long long)last);
	path_add(p, text);
}

static void path_add_elements(struct path *p, const struct layout *array, uint64_t offset,
			      uint64_t size_bytes)
{
	const uint64_t each =
		array->element && array->element->size_bytes ? array->element->size_bytes : 1;

	path_add_index(p, array, offset / each,
		       (offset + (size_bytes ? size_bytes : 1) - 1) / each);
}

static void path_add_step(struct path *p, const struct place_step *s)
{
	if (s->in->kind == LAYOUT_ARRAY)
		path_add_index(p, s->in, s->index, s->index);
	else
		path_add_name(p, s->in->fields[s->index].name);
}

char *shape_indexed(const struct layout *l, uint64_t at_bytes, const struct layout *part,
		    uint64_t offset, uint64_t size_bytes, const char *like)
{
	struct place whole = { .root = l, .target = l, .extra_bytes = at_bytes },
		     p = { .root = part, .target = part };
	struct path plain = { .len = 0 }, path = { .len = 0 };

	if (l != part && !place_reach(&whole, part))
		return NULL;
	offset = place_descend(&p, offset, size_bytes);
	for (uint32_t i = 0; i < whole.nsteps; i++)
		path_add_step(&path, &whole.step[i]);
	for (uint32_t i = 0; i < p.nsteps; i++) {
		path_add_step(&path, &p.step[i]);
		if (p.step[i].in->kind == LAYOUT_ARRAY)
			path_add(&plain, "[]");
		else
			path_add_name(&plain, p.step[i].in->fields[p.step[i].index].name);
	}
	path_add_span(&plain, p.target, offset, size_bytes, p.nsteps > 0);
	if (p.target->kind == LAYOUT_ARRAY)
		path_add_elements(&path, p.target, offset, size_bytes);
	else
		path_add_span(&path, p.target, offset, size_bytes, p.nsteps > 0);
	return !like || strcmp(plain.text, like) == 0 ? xstrdup(path.text) : NULL;
}
