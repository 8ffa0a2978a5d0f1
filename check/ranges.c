/* A set of bytes as a sorted array of ranges. Adding a range in the middle moves the ranges behind
 * it, which is fast enough for the sizes seen. */
#include "check/ranges.h"

#include <string.h>

#include "pmtrace.h"

/* The index of the first range that ends after addr. */
static size_t find(const struct ranges *r, uint64_t addr)
{
	size_t low = 0, high = r->list.n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (r->list.at[mid].to <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void replace(struct ranges *r, size_t at, size_t nold, const struct range *fresh,
		    size_t nfresh)
{
	size_t rest = r->list.n - at - nold;

	vec_reserve(&r->list, r->list.n + nfresh);
	memmove(r->list.at + at + nfresh, r->list.at + at + nold, rest * sizeof *fresh);
	if (nfresh)
		memcpy(r->list.at + at, fresh, nfresh * sizeof *fresh);
	r->list.n = at + nfresh + rest;
}

struct range range_in_file(uint64_t addr, uint64_t len_bytes)
{
	uint64_t end = PMT_ADDR(PMT_FILE(addr) + 1, 0);

	return (struct range){ addr, len_bytes < end - addr ? addr + len_bytes : end };
}

void ranges_release(struct ranges *r)
{
	vec_release(&r->list);
}

void ranges_add(struct ranges *r, uint64_t addr, uint64_t len_bytes)
{
	struct range all = { addr, addr + len_bytes };
	size_t first = find(r, addr ? addr - 1 : 0), last = first;

	if (len_bytes == 0)
		return;
	for (; last < r->list.n && r->list.at[last].from <= all.to; last++) {
		if (r->list.at[last].from < all.from)
			all.from = r->list.at[last].from;
		if (r->list.at[last].to > all.to)
			all.to = r->list.at[last].to;
	}
	replace(r, first, last - first, &all, 1);
}

void ranges_remove(struct ranges *r, uint64_t addr, uint64_t len_bytes)
{
	uint64_t to = addr + len_bytes;
	size_t first = find(r, addr), last = first, n = 0;
	struct range rest[2];

	if (r->list.n == 0)
		return;
	for (; last < r->list.n && r->list.at[last].from < to; last++) {
		if (r->list.at[last].from < addr)
			rest[n++] = (struct range){ r->list.at[last].from, addr };
		if (r->list.at[last].to > to)
			rest[n++] = (struct range){ to, r->list.at[last].to };
	}
	if (last > first)
		replace(r, first, last - first, rest, n);
}

bool ranges_cover(const struct ranges *r, uint64_t addr, uint64_t len_bytes)
{
	size_t i = find(r, addr);

	return i < r->list.n && r->list.at[i].from <= addr && addr + len_bytes <= r->list.at[i].to;
}

bool ranges_touch(const struct ranges *r, uint64_t addr, uint64_t len_bytes)
{
	size_t i = find(r, addr);

	return i < r->list.n && r->list.at[i].from < addr + len_bytes;
}

const struct range *ranges_find(const struct ranges *r, uint64_t addr)
{
	size_t i = find(r, addr);

	return i < r->list.n ? &r->list.at[i] : NULL;
}

uint64_t ranges_mask(const struct ranges *r, uint64_t addr, uint32_t len_bytes)
{
	uint64_t mask = 0, byte = addr;

	for (size_t i = find(r, addr); i < r->list.n && r->list.at[i].from < addr + len_bytes;
	     i++) {
		if (byte < r->list.at[i].from)
			byte = r->list.at[i].from;
		for (; byte < r->list.at[i].to && byte < addr + len_bytes; byte++)
			mask |= (uint64_t)1 << (byte - addr);
	}
	return mask;
}
