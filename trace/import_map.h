/* Which PM byte a virtual address in a pmemcheck log means: of a registered file, or of memory that
 * no file was registered for. Says what the trace must be told when something new appears. */
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
	VEC(struct import_range) registered; /* a later one hides an earlier one */
	VEC(struct import_range) memory;     /* grows upwards when touched nearby */
	VEC(struct import_file) files;       /* file number 1 is at index 0 */
};

/* What a call has changed. */
struct import_news {
	uint32_t file; /* 0: nothing is new */
	bool is_new_file, is_new_size;
	struct import_range range; /* newly mapped; len_bytes 0: none */
};

void import_map_release(struct import_map *m);

int import_map_register(struct import_map *m, const char *path, const struct import_range *range,
			struct import_news *news, struct error *err);

/* PM address of va and how many bytes are contiguous from there, in a registered file or in memory
 * known so far. */
bool import_map_find(const struct import_map *m, uint64_t va, uint64_t *addr, uint64_t *len_bytes);

/* How far it is from va, which is not known, to an address that is; huge if there is none. */
uint64_t import_map_gap(const struct import_map *m, uint64_t va);

/* Makes memory for a va that import_map_find() does not know. */
int import_map_add_memory(struct import_map *m, uint64_t va, struct import_news *news,
			  struct error *err);

#endif
