/* Reads table records: nodes, sites, objects. A node or site belongs to the object that is mapped
 * at its pc when it is defined. Nothing in a record is trusted. */
#include "trace/tables.h"

#include <string.h>

#include "trace/owner.h"
#include "util/sysroot.h"

/* Linux's default limit of mappings per process (vm.max_map_count). */
#define MAX_OBJECTS 65536u

void tables_init(struct tables *t)
{
	*t = (struct tables){ 0 };
	*vec_add(&t->sites) = (struct site_slot){ 0 };
	*vec_add(&t->nodes) = NULL;
}

#define COPY_VEC(to, from) \
	do { \
		vec_reserve(to, (from)->n); \
		if ((from)->n) \
			memcpy((to)->at, (from)->at, (from)->n * sizeof *(to)->at); \
		(to)->n = (from)->n; \
	} while (0)

void tables_copy(struct tables *to, const struct tables *from)
{
	*to = (struct tables){ .encoder = from->encoder };
	COPY_VEC(&to->sites, &from->sites);
	COPY_VEC(&to->nodes, &from->nodes);
	COPY_VEC(&to->objects, &from->objects);
}

void tables_release(struct tables *t)
{
	vec_release(&t->sites);
	vec_release(&t->nodes);
	vec_release(&t->objects);
}

void tables_store_release(struct tables_store *s)
{
	vec_release(&s->objects);
	vec_release(&s->nodes);
	vec_release(&s->sites);
	arena_release(&s->arena);
}

const uint8_t *get_blob(const uint8_t **p, const uint8_t *end, uint32_t *len_bytes)
{
	uint64_t len = get_number(p);
	const uint8_t *bytes = *p;

	if (bytes > end || len > (uint64_t)(end - bytes))
		return NULL;
	*p += len;
	*len_bytes = (uint32_t)len;
	return bytes;
}

/* Gives the index of the first range that ends after va. */
static size_t object_index(const struct tables *t, uint64_t va)
{
	size_t low = 0, high = t->objects.n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (t->objects.at[mid].end > va)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static const struct trace_object *object_at(const struct tables *t, uint64_t pc)
{
	size_t i = object_index(t, pc);

	return i < t->objects.n && t->objects.at[i].start <= pc ? t->objects.at[i].object : NULL;
}

/* Puts an object, or nothing (NULL), at [start, end). A range that it covers in part keeps its
 * other part. */
static void set_range(struct tables *t, uint64_t start, uint64_t end,
		      const struct trace_object *object)
{
	size_t first = object_index(t, start), last = first, n = 0;
	struct object_range put[3];

	while (last < t->objects.n && t->objects.at[last].start < end)
		last++;
	if (first < last && t->objects.at[first].start < start) {
		put[n] = t->objects.at[first];
		put[n++].end = start;
	}
	if (object)
		put[n++] = (struct object_range){ .start = start, .end = end, .object = object };
	if (first < last && t->objects.at[last - 1].end > end) {
		put[n] = t->objects.at[last - 1];
		put[n++].start = end;
	}
	if (first == last && n == 0)
		return;
	vec_reserve(&t->objects, t->objects.n + n);
	memmove(t->objects.at + first + n, t->objects.at + last,
		(t->objects.n - last) * sizeof *put);
	memcpy(t->objects.at + first, put, n * sizeof *put);
	t->objects.n = t->objects.n - (last - first) + n;
}

static uint64_t range_end(uint64_t start, uint64_t len_bytes)
{
	return len_bytes > UINT64_MAX - start ? UINT64_MAX : start + len_bytes;
}

/* ---- Definitions. They are stored unless another cursor has stored them. ---- */

static const struct trace_object *store_object(struct tables_store *store, struct tables_met *met,
					       const struct trace_object *o, const uint8_t *path,
					       uint32_t path_len)
{
	const uint32_t number = met->nobjects++;
	struct trace_object *object;

	if (number < store->objects.n)
		return store->objects.at[number];
	object = arena_alloc(&store->arena, sizeof *object);
	*object = *o;
	object->path = arena_string(&store->arena, path, path_len);
	/* when recovery of a bundle is recorded, paths begin with the bundle's sysroot */
	object->path += strlen(object->path) - strlen(sysroot_own(object->path));
	object->owner = (uint8_t)(owner_of_object(object->path) + 1);
	object->id = number;
	*vec_add(&store->objects) = object;
	return object;
}

static const struct trace_node *store_node(struct tables_store *store, struct tables_met *met,
					   const struct trace_node *n)
{
	const uint32_t number = met->nnodes++;
	struct trace_node *node;

	if (number < store->nodes.n)
		return store->nodes.at[number];
	node = arena_alloc(&store->arena, sizeof *node);
	*node = *n;
	*vec_add(&store->nodes) = node;
	return node;
}

static const struct trace_site *store_site(struct tables_store *store, struct tables_met *met,
					   const struct trace_site *s)
{
	const uint32_t number = met->nsites++;
	struct trace_site *site;

	if (number < store->sites.n)
		return store->sites.at[number];
	site = arena_alloc(&store->arena, sizeof *site);
	*site = *s;
	site->id = number + 1;
	*vec_add(&store->sites) = site;
	return site;
}

/* ---- records ---- */

static const char *read_object(struct tables *t, struct tables_store *store, struct tables_met *met,
			       const uint8_t **p, const uint8_t *end)
{
	const struct trace_object *stored;
	struct trace_object object = { 0 };
	uint32_t id_len, path_len;
	const uint8_t *id, *path;

	object.va = get_number(p);
	object.len_bytes = get_number(p);
	object.offset = get_number(p);
	id = get_blob(p, end, &id_len);
	path = id ? get_blob(p, end, &path_len) : NULL;
	if (!path)
		return "an object's description is cut off";
	if (t->objects.n >= MAX_OBJECTS)
		return "there are more mapped objects than a process can have";
	object.build_id_len = id_len < sizeof object.build_id ? id_len : sizeof object.build_id;
	memcpy(object.build_id, id, object.build_id_len);
	stored = store_object(store, met, &object, path, path_len);
	if (object.len_bytes)
		set_range(t, object.va, range_end(object.va, object.len_bytes), stored);
	return NULL;
}

static const char *read_object_gone(struct tables *t, const uint8_t **p)
{
	uint64_t va = get_number(p);
	uint64_t len_bytes = get_number(p);

	if (t->objects.n >= MAX_OBJECTS)
		return "there are more mapped objects than a process can have";
	if (len_bytes)
		set_range(t, va, range_end(va, len_bytes), NULL);
	return NULL;
}

static const char *read_node(struct tables *t, struct tables_store *store, struct tables_met *met,
			     const uint8_t **p)
{
	uint64_t parent = get_number(p);
	uint64_t pc = t->encoder.last_node_pc + (uint64_t)get_signed(p);
	struct trace_node node;

	if (parent >> 1 >= t->nodes.n)
		return "a call path's parent is unknown";
	if (met->nnodes == UINT32_MAX)
		return "there are too many call paths";
	node = (struct trace_node){
		.parent = t->nodes.at[parent >> 1],
		.object = object_at(t, pc),
		.pc = pc,
		.is_signal = parent & 1,
	};
	*vec_add(&t->nodes) = store_node(store, met, &node);
	t->encoder.last_node_pc = pc;
	return NULL;
}

static const char *read_site(struct tables *t, struct tables_store *store, struct tables_met *met,
			     const uint8_t **p)
{
	uint64_t node = get_number(p);
	uint64_t pc = t->encoder.last_site_pc + (uint64_t)get_signed(p);
	uint8_t kind = *(*p)++;
	uint64_t size_bytes = get_number(p);
	struct trace_site site;

	if (node >= t->nodes.n)
		return "a site's call path is unknown";
	if (kind >= PMT_NKINDS || !trace_kinds[kind].name)
		return "an event kind is unknown";
	if (size_bytes >
	    (trace_kinds[kind].carries & PMT_HAS_VALUE ? PMT_STORE_MAX_BYTES : UINT32_MAX))
		return "a site's size is impossible";
	if (met->nsites == UINT32_MAX)
		return "there are too many sites";
	site = (struct trace_site){
		.node = t->nodes.at[node],
		.object = object_at(t, pc),
		.pc = pc,
		.size_bytes = (uint32_t)size_bytes,
		.kind = (enum pmt_kind)kind,
	};
	*vec_add(&t->sites) = (struct site_slot){
		.site = store_site(store, met, &site),
		.size_bytes = (uint32_t)size_bytes,
		.kind = kind,
		.carries = trace_kinds[kind].carries,
		.nargs = trace_kinds[kind].nargs,
	};
	t->encoder.last_site_pc = pc;
	return NULL;
}

const uint8_t *tables_read(struct tables *t, struct tables_store *store, struct tables_met *met,
			   const uint8_t *p, const uint8_t *end, const char **problem)
{
	switch (*p++ >> 2) {
	case PMT_TABLE_NODE: *problem = read_node(t, store, met, &p); break;
	case PMT_TABLE_SITE: *problem = read_site(t, store, met, &p); break;
	case PMT_TABLE_OBJECT: *problem = read_object(t, store, met, &p, end); break;
	case PMT_TABLE_OBJECT_GONE: *problem = read_object_gone(t, &p); break;
	default: *problem = "a record's type is unknown";
	}
	if (!*problem && p > end)
		*problem = "a record is cut off";
	return *problem ? NULL : p;
}
