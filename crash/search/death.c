/* Finds the function in which a signal killed recovery. abort() and failed assertions die inside
 * the C library, so frames of libraries are skipped if a frame of the program follows. */
#include "crash/search/death.h"

#include "trace/owner.h"
#include "trace/symbols.h"

void deaths_release(struct deaths *d)
{
	if (d->symbols)
		symbols_free(d->symbols);
	map_release(&d->by_pc);
	map_release(&d->names);
	*d = (struct deaths){ 0 };
}

static const struct trace_object *object_of(const struct trace_object *list, size_t n, uint64_t pc)
{
	for (size_t i = 0; i < n; i++)
		if (pc - list[i].va < list[i].len_bytes)
			return &list[i];
	return NULL;
}

static uint64_t hash_text(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3u;
	return h;
}

static uint64_t name_of(struct deaths *d, const struct trace_object *object, uint64_t pc,
			bool is_return)
{
	uint64_t known = (uint64_t)map_get(&d->by_pc, pc);
	const struct symbol *list;

	if (known)
		return known;
	if (!d->symbols)
		d->symbols = symbols_new();
	symbols_find(d->symbols, object, pc, is_return, &list);
	/* never 0, which means unknown */
	known = (list->function ? hash_text(list->function) : pc) | 1;
	map_set(&d->by_pc, pc, (void *)known);
	if (list->function)
		map_set(&d->names, known, (void *)list->function);
	return known;
}

const char *deaths_name(const struct deaths *d, uint64_t site)
{
	return map_get(&d->names, site);
}

uint64_t deaths_find(struct deaths *d, const struct runner *r, const struct runner_command *c,
		     const struct run_result *result)
{
	const struct trace_object *objects;
	const size_t nobjects =
		c && result->signal_nframes > 0 ? runner_objects(r, c, &objects) : 0;
	size_t shown = SIZE_MAX;

	for (size_t i = 0; nobjects > 0 && i < result->signal_nframes; i++) {
		const struct trace_object *o =
			object_of(objects, nobjects, result->signal_stack[i]);
		const enum owner owner = o && o->path ? owner_of_object(o->path) : OWNER_RUNTIME;

		if (owner == OWNER_RUNTIME || owner == OWNER_PMEND)
			continue;
		if (shown == SIZE_MAX || owner == OWNER_USER)
			shown = i;
		if (owner == OWNER_USER)
			break;
	}
	if (shown == SIZE_MAX)
		return 0;
	return name_of(d, object_of(objects, nobjects, result->signal_stack[shown]),
		       result->signal_stack[shown], shown > 0);
}
