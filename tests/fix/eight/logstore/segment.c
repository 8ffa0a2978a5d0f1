/* segment.c - records, one behind the other */
#include <string.h>

#include "pm.h"
#include "store.h"

static uint32_t record_crc(const struct record *r)
{
	uint32_t crc = 0x811c9dc5u ^ (uint32_t)r->number;

	for (uint32_t i = 0; i < r->len; i++)
		crc = (crc ^ (unsigned char)r->data[i]) * 0x01000193u;
	return crc;
}

static uint32_t record_size(uint32_t len)
{
	return (uint32_t)(sizeof(struct record) + len + 7) & ~7u;
}

static void record_fill(struct record *r, uint64_t number, const char *data, uint32_t len)
{
	r->len = len;
	r->number = number;
	memcpy(r->data, data, len);
}

static void record_seal(struct record *r)
{
	r->crc = record_crc(r);
}

struct record *segment_append(struct segment *g, uint64_t number, const char *data)
{
	uint32_t len = (uint32_t)strlen(data), size = record_size(len);
	struct record *r = (struct record *)(g->data + g->used);

	if (g->used + size > SEGMENT_BYTES)
		return NULL;
	record_fill(r, number, data, len);
	record_seal(r);
	pm_persist(r, size);
	g->used += size;
	pm_persist(&g->used, sizeof(g->used));
	return r;
}

const struct record *segment_record(const struct segment *g, uint32_t offset)
{
	const struct record *r = (const struct record *)(g->data + offset);

	if (g->used > SEGMENT_BYTES || offset + sizeof(*r) > g->used || r->len > g->used - offset - sizeof(*r) || r->crc != record_crc(r))
		return NULL;
	return r;
}

void segment_reset(struct segment *g)
{
	g->used = 0;
	pm_persist(&g->used, sizeof(g->used));
}
