/* Finds for each store which field of which object it writes. answers.c knows what a site's stores
 * have in common; here the address adds the rest: where in a copied range it lies, and which
 * element of an array it is. */
#include "source/types.h"

#include <stdio.h>
#include <stdlib.h>

#include "source/dwarf_types.h"
#include "source/types_internal.h"
#include "util/hash.h"

/* The levels of an access to a part of a place. */
struct known_shape {
	const struct destination *destination;
	const struct layout *layout; /* used instead, for an object found by its address */
	uint64_t offset, size_bytes;
	struct shape shape;
	struct known_shape *next;
};

struct types *types_new(const struct types_options *options, struct symbols *symbols)
{
	struct types *t = xcalloc(1, sizeof *t);
	struct error err;

	t->symbols = symbols;
	t->dwarf = dwarf_types_new();
	if (options->libexec) {
		t->api = source_load(options->libexec, &err);
		if (!t->api)
			snprintf(t->problem, sizeof t->problem, "%s", err.msg);
	}
	if (t->api && options->build_dir) {
		t->build_dir = xstrdup(options->build_dir);
		*vec_add(&t->sources) =
			(struct sources){ NULL, t->api->typing->open(t->build_dir) };
	}
	return t;
}

void types_free(struct types *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->sources.n; i++) {
		if (t->sources.at[i].typing)
			t->api->typing->close(t->sources.at[i].typing);
		free(t->sources.at[i].folder);
	}
	dwarf_types_free(t->dwarf);
	vec_release(&t->sources);
	vec_release(&t->answers);
	vec_release(&t->runs);
	map_release(&t->destinations);
	map_release(&t->shapes);
	map_release(&t->threads);
	instances_release(&t->instances);
	names_release(&t->names);
	arena_release(&t->arena);
	free(t->build_dir);
	free(t);
}

static struct known_shape *shape_get(struct types *t, const struct destination *d,
				     const struct layout *layout, uint64_t offset,
				     uint64_t size_bytes)
{
	uint64_t h =
		hash_mix(hash_mix(hash_mix(hash_mix(2, (uintptr_t)d), (uintptr_t)layout), offset),
			 size_bytes);
	struct known_shape *first = map_get(&t->shapes, h), *k;
	struct place p;

	for (k = first; k; k = k->next)
		if (k->destination == d && k->layout == layout && k->offset == offset &&
		    k->size_bytes == size_bytes)
			return k;
	k = arena_alloc(&t->arena, sizeof *k);
	*k = (struct known_shape){ .destination = d,
				   .layout = layout,
				   .offset = offset,
				   .size_bytes = size_bytes,
				   .next = first };
	p = d ? d->place : (struct place){ .root = layout, .target = layout };
	offset += p.extra_bytes;
	p.extra_bytes = 0;
	place_ascend(&p, &offset, size_bytes);
	offset = place_descend(&p, offset, size_bytes);
	shape_make(&t->names, &p, offset, size_bytes, &k->shape);
	map_set(&t->shapes, h, k);
	return k;
}

/* Gives the address where a level's struct begins, if an array index on the way is unknown: from an
 * instance of it, or of a struct around it, whose beginning is known; else a guess. */
static uint64_t find_start(struct types *t, const struct shape *s, uint32_t level, uint64_t first,
			   bool *is_known)
{
	const struct shape_level *l = &s->level[level];
	uint64_t start, before = 0;
	uint32_t placed;

	*is_known = true;
	for (uint32_t i = level; i < s->n && (i == level || !s->level[i].stride); i++) {
		before += i > level ? s->level[i].back_bytes : 0;
		if (instances_known(&t->instances, s->level[i].type, first - before, l->stride,
				    l->count, &start))
			return start + before;
	}
	*is_known = false;
	/* adding may move the list */
	placed = instances_place(&t->instances, l->type, l->layout, first, l->stride, l->count);
	return t->instances.list.at[placed].start;
}

static void apply_shape(struct types *t, const struct shape *s, const struct trace_event *ev,
			struct typed *out)
{
	uint64_t at = ev->addr;
	bool is_known = true;
	uint32_t outermost = 0;

	out->n = s->n;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct shape_level *l = &s->level[i];

		at -= l->back_bytes;
		if (l->stride)
			at = find_start(t, s, i, at, &is_known);
		out->level[i] = (struct type_level){ .type = l->type,
						     .field = l->field,
						     .instance = at,
						     .is_placed = is_known,
						     .layout = l->layout };
		if (is_known && l->layout->kind != LAYOUT_SCALAR)
			outermost = instances_add(&t->instances, l->type, l->layout, at) + 1;
	}
	if (outermost && is_known)
		instances_mark(&t->instances, outermost - 1, ev->addr, ev->size_bytes);
}

/* Names a store through a pointer to a number by the object that earlier stores showed at that
 * address. False if none did. */
static bool apply_known(struct types *t, const struct trace_event *ev, struct typed *out)
{
	const struct instance *i = instances_at(&t->instances, ev->addr);

	if (!i || ev->addr < i->start)
		return false;
	apply_shape(t, &shape_get(t, NULL, i->layout, ev->addr - i->start, ev->size_bytes)->shape,
		    ev, out);
	return true;
}

/* Names a store by its call path. If it copies bytes of unknown type, the field is the distance
 * from the copy's beginning. */
static void apply_path(struct types *t, const struct answer *a, const struct trace_event *ev,
		       uint64_t low, struct typed *out)
{
	const struct shape_level *l = &a->shape.level[0];
	char field[32];

	if (!a->destination)
		instances_forget(&t->instances, ev->addr, ev->size_bytes);
	out->means = TYPE_BY_PATH;
	out->n = 1;
	out->level[0] =
		(struct type_level){ .type = l->type,
				     .field = l->field,
				     .instance = ev->addr & ~(uint64_t)(PMT_LINE_BYTES - 1) };
	if (!a->is_spread)
		return;
	snprintf(field, sizeof field, "+%llu", (unsigned long long)(ev->addr - low));
	out->level[0].field = names_add(&t->names, field);
	out->level[0].instance = low;
}

static void type_store(struct types *t, const struct trace_event *ev, struct typed *out,
		       bool is_learning)
{
	const struct answer *a = answer_get(t, ev->site);
	uint64_t low = run_step(t, ev, a->is_spread ? a->destination : NULL, is_learning);

	out->means = a->means;
	if (!a->destination) {
		apply_path(t, a, ev, low, out);
		return;
	}
	if (is_learning && a->is_spread)
		return; /* where the run began is known at its end */
	if (a->destination->place.root->kind == LAYOUT_SCALAR) {
		if (!apply_known(t, ev, out))
			apply_path(t, a, ev, low, out);
		return;
	}
	apply_shape(
		t,
		a->is_spread
			? &shape_get(t, a->destination, NULL, ev->addr - low, ev->size_bytes)->shape
			: &a->shape,
		ev, out);
}

void types_learn(struct types *t, const struct trace_event *ev)
{
	struct typed ignored;

	if (trace_is_store(ev->kind))
		type_store(t, ev, &ignored, true);
	else
		run_break(t, ev);
}

void types_of(struct types *t, const struct trace_event *ev, struct typed *out)
{
	type_store(t, ev, out, false);
	t->counts[out->means]++;
}

const char *types_name(const struct types *t, uint32_t id)
{
	return t->names.list.at[id];
}

/* Gives the path to the bytes of an object. The path begins at the object that contains this one,
 * if one is known; *type is then the type of the containing object. NULL if the path without
 * indices is not `like`. */
static char *path_from(const struct types *t, const struct layout *layout, uint64_t start,
		       uint64_t addr, uint64_t size_bytes, const char *like, uint32_t *type)
{
	const struct instance *holder = instances_holder(&t->instances, layout, start);
	char *path = holder ? shape_indexed(holder->layout, start - holder->start, layout,
					    addr - start, size_bytes, like)
			    : NULL;

	if (path)
		*type = holder->type;
	return path ? path : shape_indexed(layout, 0, layout, addr - start, size_bytes, like);
}

char *types_path(const struct types *t, const struct type_level *l, uint64_t addr,
		 uint64_t size_bytes)
{
	const char *field = types_name(t, l->field);
	const struct instance *known =
		l->layout ? instances_covering(&t->instances, l->type, l->layout, addr) : NULL;
	uint32_t type = l->type;
	char *indexed = NULL, *text;

	if (!types_name(t, type) || !*types_name(t, type))
		return NULL;
	if (known && known->start != l->instance) /* the address decides which field it is */
		indexed = path_from(t, l->layout, known->start, addr, size_bytes, NULL, &type);
	else if (l->layout && l->is_placed && addr >= l->instance)
		indexed = path_from(t, l->layout, l->instance, addr, size_bytes, field ? field : "",
				    &type);
	field = indexed ? indexed : field;
	text = xasprintf("%s%s%s", types_name(t, type), field && *field && *field != '[' ? "." : "",
			 field ? field : "");
	free(indexed);
	return text;
}

uint64_t types_count(const struct types *t, enum type_means means)
{
	return t->counts[means];
}

const char *types_problem(const struct types *t)
{
	return t->problem[0] ? t->problem : NULL;
}
