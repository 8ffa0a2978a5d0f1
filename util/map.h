/* A hash map from 64-bit numbers to pointers. A struct that is all zeros is an empty map. NULL
 * cannot be stored: it means "not there". */
#ifndef UTIL_MAP_H
#define UTIL_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map {
	struct map_slot {
		uint64_t key;
		void *value;
	} * slots;
	size_t n, room; /* room is a power of two, or 0 */
};

void *map_get(const struct map *m, uint64_t key);
void map_set(struct map *m, uint64_t key, void *value);
void map_add(struct map *m, const struct map *more); /* adds all entries of the other map */
void map_release(struct map *m);                     /* frees the table, not the values */

#endif
