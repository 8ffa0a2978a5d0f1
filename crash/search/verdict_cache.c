/* Remembers verdicts by what a crash at the failure point can leave. The key is a hash of presence,
 * size and content of the files with everything lost, and of each line's other contents. */
#include "crash/search/verdict_cache.h"

#include <string.h>

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint64_t mix_bytes(uint64_t h, const uint8_t *bytes, size_t n)
{
	uint64_t word;

	for (; n >= sizeof word; n -= sizeof word, bytes += sizeof word) {
		memcpy(&word, bytes, sizeof word);
		h = mix(h, word);
	}
	for (; n > 0; n--)
		h = mix(h, *bytes++);
	return h;
}

/* Hashes a file. A page that was written with zeros counts like one that was never written. */
static uint64_t mix_file(uint64_t h, const struct crash_file *f)
{
	static const uint8_t zeros[IMAGE_PAGE_BYTES];

	h = mix(mix(h, f->exists), f->size_bytes);
	for (uint64_t at = 0; at < f->room; at += IMAGE_PAGE_BYTES) {
		uint64_t page = at / IMAGE_PAGE_BYTES,
			 n = f->room - at < IMAGE_PAGE_BYTES ? f->room - at : IMAGE_PAGE_BYTES;

		if (f->touched[page / 64] >> page % 64 & 1 && memcmp(f->bytes + at, zeros, n) != 0)
			h = mix_bytes(mix(h, page), f->bytes + at, n);
	}
	return h;
}

uint64_t verdict_cache_key(const struct state_set *s, const struct crash_image *im,
			   const struct allowed *allowed, uint64_t operation)
{
	uint64_t h = mix(1, operation);

	for (size_t i = 0; i < im->files.n; i++)
		if (im->files.at[i].path)
			h = mix_file(mix(h, i), &im->files.at[i]);
	for (size_t i = 0; i < s->lines.n; i++) {
		const struct state_line *l = &s->lines.at[i];

		h = mix(mix(h, l->addr), l->ncontents);
		h = mix_bytes(h, state_content(s, l, 0), (size_t)l->ncontents * s->line_bytes);
	}
	for (size_t i = 0; allowed && i < allowed->hashes.n; i++)
		h = mix(h, allowed->hashes.at[i]);
	return h;
}

int verdict_cache_get(const struct verdict_cache *c, uint64_t key)
{
	return (int)(uintptr_t)map_get(&c->verdicts, key) - 1;
}

void verdict_cache_set(struct verdict_cache *c, uint64_t key, int verdict)
{
	map_set(&c->verdicts, key, (void *)(uintptr_t)(verdict + 1));
}

void verdict_cache_release(struct verdict_cache *c)
{
	map_release(&c->verdicts);
}
