/* Numbers places by what the user sees of them: function, file and line, from the shown frame
 * outwards. One statement may have several instructions. */
#include "account/causes/classes.h"

#include "report/bug.h"
#include "util/map.h"

#define FNV_PRIME 0x100000001b3u

static uint64_t hash_text(uint64_t h, const char *text)
{
	for (text = text ? text : "?"; *text; text++)
		h = (h ^ (uint8_t)*text) * FNV_PRIME;
	return (h ^ 0xff) * FNV_PRIME;
}

static const char *called(const struct frame *list, size_t shown)
{
	const struct bug_frame f = bug_frame_of(list[shown].symbol),
			       inside = shown ? bug_frame_of(list[shown - 1].symbol) : f;

	return bug_frame_called(&inside, &f);
}

/* Hashes what the user sees of a site. A frame without a line is identified by its instruction. */
static uint64_t key_of(struct locator *l, const struct trace_site *site)
{
	const struct frame *list;
	const size_t n = locate_stack(l, site, &list);
	uint64_t h = 0xcbf29ce484222325u;

	const size_t shown = n ? locate_place(l, list, n) : 0;

	for (size_t i = shown; i < n; i++) {
		const struct symbol *s = list[i].symbol;

		h = hash_text(hash_text(h, s->function), s->file);
		h = (h ^ (s->line ? s->line : s->offset)) * FNV_PRIME;
	}
	return n ? hash_text(h, called(list, shown)) : 0;
}

void classes_find(struct classes *c, const struct facts *f, struct locator *l)
{
	struct map numbers = { 0 };

	for (size_t i = 0; i < f->known.n; i++) {
		const uint64_t key = f->known.at[i] ? key_of(l, f->known.at[i]) : 0;
		uint32_t number = key ? (uint32_t)(uintptr_t)map_get(&numbers, key) : 0;

		if (f->known.at[i] && !number) {
			number = ++c->n;
			if (key)
				map_set(&numbers, key, (void *)(uintptr_t)number);
		}
		*vec_add(&c->by_site) = number;
	}
	map_release(&numbers);
}

void classes_release(struct classes *c)
{
	vec_release(&c->by_site);
}

uint32_t classes_of(const struct classes *c, uint32_t site)
{
	return site < c->by_site.n ? c->by_site.at[site] : 0;
}
