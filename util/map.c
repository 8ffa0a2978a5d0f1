/* A hash map from 64-bit numbers to pointers: open addressing with linear probing, at most half
 * full. Nothing is ever removed. */
#include "util/map.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/error.h"

static struct map_slot *slot_find(const struct map *m, uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15u;
	size_t i = (h ^ h >> 32) & (m->room - 1);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->room - 1);
	return &m->slots[i];
}

void *map_get(const struct map *m, uint64_t key)
{
	return m->room ? slot_find(m, key)->value : NULL;
}

static void map_grow(struct map *m)
{
	struct map old = *m;
	size_t i;

	m->room = old.room ? 2 * old.room : 64;
	m->slots = xcalloc(m->room, sizeof *m->slots);
	for (i = 0; i < old.room; i++)
		if (old.slots[i].value)
			*slot_find(m, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

void map_set(struct map *m, uint64_t key, void *value)
{
	struct map_slot *slot;

	if (!value)
		BUG("NULL in a map");
	if (2 * (m->n + 1) > m->room)
		map_grow(m);
	slot = slot_find(m, key);
	if (!slot->value)
		m->n++;
	*slot = (struct map_slot){ key, value };
}

void map_add(struct map *m, const struct map *more)
{
	for (size_t i = 0; i < more->room; i++)
		if (more->slots[i].value)
			map_set(m, more->slots[i].key, more->slots[i].value);
}

void map_release(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}
