/* Translates a virtual address of a pmemcheck log into a PM address: in a registered file, or in
 * memory for which no file was registered. Each call also says what is new and must become an
 * event. */
#ifndef TRACE_IMPORT_MAP_H
#define TRACE_IMPORT_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/vec.h"

struct import_range {
	uint64_t va, len_bytes, offset;
	uint32_t file;
};

struct import_file {
	char *path;
	uint64_t size_bytes;
	bool is_memory;
};

struct import_map {
	VEC(struct import_range) registered; /* a later range hides an earlier one */
	/* one range per place; a store close above extends it */
	VEC(struct import_range) memory;
	VEC(struct import_file) files; /* file number n is at index n - 1 */
};

/* What a call added. */
struct import_news {
	uint32_t file; /* 0 if nothing is new */
	bool is_new_file, is_new_size;
	struct import_range range; /* mapped by this call; len_bytes is 0 if nothing was */
};

void import_map_release(struct import_map *m);

int import_map_register(struct import_map *m, const char *path, const struct import_range *range,
			struct import_news *news, struct error *err);

/* Gives the PM address of va and how many bytes follow contiguously, in a registered file or in
 * known memory. False if va is unknown. */
bool import_map_find(const struct import_map *m, uint64_t va, uint64_t *addr, uint64_t *len_bytes);

/* Gives the distance from va, which is unknown, to the next known address; UINT64_MAX if none
 * follows. */
uint64_t import_map_gap(const struct import_map *m, uint64_t va);

/* Adds memory around a va that import_map_find() does not know. */
int import_map_add_memory(struct import_map *m, uint64_t va, struct import_news *news,
			  struct error *err);

#endif
