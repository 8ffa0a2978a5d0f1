/* catalog.c - which record has which name */
#include <stdio.h>
#include <string.h>

#include "pm.h"
#include "store.h"

static uint32_t segment_of(const struct store *s, const struct record *r)
{
	return (uint32_t)(((const char *)r - (const char *)s->segments) / sizeof(struct segment));
}

static void entry_fill(struct entry *e, const char *name, uint64_t number, uint32_t segment, uint32_t offset)
{
	e->number = number;
	e->segment = segment;
	e->offset = offset;
	strncpy(e->name, name, sizeof(e->name) - 1);
}

/* The caller fences. */
static void entry_retire(struct entry *e)
{
	e->is_live = 0;
	pm_flush(&e->is_live, sizeof(e->is_live));
}

struct entry *catalog_find(struct store *s, const char *name)
{
	for (int i = 0; i < NENTRIES; i++)
		if (s->entries[i].is_live && strcmp(s->entries[i].name, name) == 0)
			return &s->entries[i];
	return NULL;
}

int catalog_add(struct store *s, const char *name, const struct record *r)
{
	uint32_t segment = segment_of(s, r);

	for (int i = 0; i < NENTRIES; i++) {
		struct entry *e = &s->entries[i];

		if (e->is_live)
			continue;
		memset(e->name, 0, sizeof(e->name));
		entry_fill(e, name, r->number, segment, (uint32_t)((const char *)r - s->segments[segment].data));
		pm_persist(e, sizeof(*e));
		e->is_live = 1;
		pm_persist(&e->is_live, sizeof(e->is_live));
		return 0;
	}
	return -1;
}

void catalog_remove(struct entry *e)
{
	entry_retire(e);
	pm_fence();
}

void catalog_remove_segment(struct store *s, uint32_t segment)
{
	for (int i = 0; i < NENTRIES; i++)
		if (s->entries[i].is_live && s->entries[i].segment == segment)
			entry_retire(&s->entries[i]);
	pm_fence();
}

int catalog_check(const struct store *s)
{
	for (int i = 0; i < NENTRIES; i++) {
		const struct entry *e = &s->entries[i];
		const struct record *r;

		if (!e->is_live)
			continue;
		r = e->is_live == 1 && e->segment < NSEGMENTS ? segment_record(&s->segments[e->segment], e->offset) : NULL;
		if (!r || r->number != e->number || !e->name[0]) {
			fprintf(stderr, "logstore: entry %d has no record\n", i);
			return 1;
		}
		printf("%s: %.*s\n", e->name, (int)r->len, r->data);
	}
	return 0;
}
