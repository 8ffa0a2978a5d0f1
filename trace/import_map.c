/* Translates virtual addresses of a pmemcheck log into PM addresses. There are few ranges, so they
 * are searched one by one. */
#include "trace/import_map.h"

#include <inttypes.h>
#include <string.h>

#include "pmtrace.h"

#define MEMORY_GRAIN_BYTES ((uint64_t)1 << 20)
/* a store at most this far above known memory extends it */
#define MEMORY_REACH_BYTES ((uint64_t)64 << 20)
#define OFFSET_LIMIT ((uint64_t)1 << PMT_OFFSET_BITS)
#define FILE_LIMIT (1u << (64 - PMT_OFFSET_BITS))

void import_map_release(struct import_map *m)
{
	size_t i;

	for (i = 0; i < m->files.n; i++)
		free(m->files.at[i].path);
	vec_release(&m->files);
	vec_release(&m->registered);
	vec_release(&m->memory);
}

static int file_add(struct import_map *m, char *path, bool is_memory, uint32_t *file,
		    struct error *err)
{
	if (m->files.n + 1 >= FILE_LIMIT) {
		free(path);
		return error_set(err, "more than %u files", FILE_LIMIT - 1);
	}
	*vec_add(&m->files) = (struct import_file){ .path = path, .is_memory = is_memory };
	*file = (uint32_t)m->files.n;
	return 0;
}

static uint32_t file_find(const struct import_map *m, const char *path)
{
	uint32_t i;

	for (i = 0; i < m->files.n; i++)
		if (!m->files.at[i].is_memory && strcmp(m->files.at[i].path, path) == 0)
			return i + 1;
	return 0;
}

static void file_grow(struct import_map *m, struct import_news *news, uint64_t size_bytes)
{
	struct import_file *f = &m->files.at[news->file - 1];

	if (size_bytes > f->size_bytes) {
		f->size_bytes = size_bytes;
		news->is_new_size = true;
	}
}

static bool range_is_known(const struct import_map *m, const struct import_range *r)
{
	size_t i;

	for (i = m->registered.n; i-- > 0;) {
		const struct import_range *known = &m->registered.at[i];

		if (known->va == r->va && known->len_bytes == r->len_bytes)
			return known->file == r->file && known->offset == r->offset;
		if (known->va < r->va + r->len_bytes && r->va < known->va + known->len_bytes)
			return false; /* a later registration hides this part of it */
	}
	return false;
}

int import_map_register(struct import_map *m, const char *path, const struct import_range *range,
			struct import_news *news, struct error *err)
{
	struct import_range r = *range;

	*news = (struct import_news){ 0 };
	if (r.va + r.len_bytes < r.va || r.offset >= OFFSET_LIMIT ||
	    r.len_bytes >= OFFSET_LIMIT - r.offset)
		return error_set(err, "a file cannot be that large");
	r.file = file_find(m, path);
	if (!r.file) {
		if (file_add(m, xstrdup(path), false, &r.file, err) < 0)
			return -1;
		news->is_new_file = true;
	}
	news->file = r.file;
	file_grow(m, news, r.offset + r.len_bytes);
	if (!range_is_known(m, &r) && r.len_bytes) {
		*vec_add(&m->registered) = r;
		news->range = r;
	}
	return 0;
}

static bool range_find(const struct import_range *r, uint64_t va, uint64_t *addr,
		       uint64_t *len_bytes)
{
	if (va < r->va || va - r->va >= r->len_bytes)
		return false;
	*addr = PMT_ADDR(r->file, r->offset + (va - r->va));
	*len_bytes = r->len_bytes - (va - r->va);
	return true;
}

/* Shortens *len_bytes, which counts from va, so that it ends where the range `hiding` begins. */
static void range_clip(const struct import_range *hiding, uint64_t va, uint64_t *len_bytes)
{
	if (hiding->va > va && hiding->va - va < *len_bytes)
		*len_bytes = hiding->va - va;
}

bool import_map_find(const struct import_map *m, uint64_t va, uint64_t *addr, uint64_t *len_bytes)
{
	bool found = false;
	size_t i, j;

	for (i = m->registered.n; i > 0 && !found; i--)
		found = range_find(&m->registered.at[i - 1], va, addr, len_bytes);
	for (j = 0; j < m->memory.n && !found; j++)
		found = range_find(&m->memory.at[j], va, addr, len_bytes);
	if (found)
		for (; i < m->registered.n; i++)
			range_clip(&m->registered.at[i], va, len_bytes);
	return found;
}

uint64_t import_map_gap(const struct import_map *m, uint64_t va)
{
	uint64_t gap = UINT64_MAX;
	size_t i;

	for (i = 0; i < m->registered.n; i++)
		range_clip(&m->registered.at[i], va, &gap);
	for (i = 0; i < m->memory.n; i++)
		range_clip(&m->memory.at[i], va, &gap);
	return gap;
}

static uint64_t grain_end(uint64_t va)
{
	return (va | (MEMORY_GRAIN_BYTES - 1)) + 1;
}

/* Gives the begin of the next known memory above va. */
static uint64_t memory_above(const struct import_map *m, uint64_t va)
{
	uint64_t above = UINT64_MAX;
	size_t i;

	for (i = 0; i < m->memory.n; i++)
		if (m->memory.at[i].va > va && m->memory.at[i].va < above)
			above = m->memory.at[i].va;
	return above;
}

static struct import_range *memory_below(struct import_map *m, uint64_t va)
{
	struct import_range *best = NULL;

	for (size_t i = 0; i < m->memory.n; i++) {
		struct import_range *r = &m->memory.at[i];

		if (r->va <= va && va - r->va - r->len_bytes < MEMORY_REACH_BYTES &&
		    va - r->va < OFFSET_LIMIT / 2 && (!best || r->va > best->va))
			best = r;
	}
	return best;
}

int import_map_add_memory(struct import_map *m, uint64_t va, struct import_news *news,
			  struct error *err)
{
	uint64_t start = va & ~(MEMORY_GRAIN_BYTES - 1), end = grain_end(va), old_end;
	struct import_range *r = memory_below(m, va);
	uint32_t file;

	*news = (struct import_news){ 0 };
	if (end < start || memory_above(m, va) < end)
		return error_set(err, "the address is impossible");
	if (!r) {
		if (file_add(m, xasprintf("memory@0x%" PRIx64, start), true, &file, err) < 0)
			return -1;
		news->is_new_file = true;
		r = vec_add(&m->memory);
		*r = (struct import_range){ .va = start, .file = file };
	}
	old_end = r->va + r->len_bytes;
	r->len_bytes = end - r->va;
	news->file = r->file;
	news->range = (struct import_range){ old_end, end - old_end, old_end - r->va, r->file };
	file_grow(m, news, r->len_bytes);
	return 0;
}
