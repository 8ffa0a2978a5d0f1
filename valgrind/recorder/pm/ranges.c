/* Keeps a list of the addresses that are PM now: mappings and parts of mappings, sorted by address.
 * A byte table of 64 KiB granules lets translated code exclude most addresses quickly; events.c
 * keeps the last range found. A separate, unsorted list has mappings of files that are neither PM
 * nor volatile; there are few. */
#include "valgrind/recorder/pm/pm_internal.h"

#include "pub_tool_aspacemgr.h"

UChar g_granules[GRANULES];

static struct range *g_ranges;
static UInt g_nranges, g_ranges_cap;
static const struct range *g_found; /* the range found last; NULL after any change */
struct hit g_hit;

static struct area *g_others;
static UInt g_nothers, g_others_cap;

static UInt range_after(Addr a) /* index of the first range that ends after a */
{
	UInt lo = 0, hi = g_nranges;

	while (lo < hi) {
		UInt mid = (lo + hi) / 2;

		if (g_ranges[mid].va + g_ranges[mid].len_bytes <= a)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct range *pm_find(Addr a)
{
	UInt i;

	if (LIKELY(g_found != NULL && a - g_found->va < g_found->len_bytes))
		return g_found;
	i = range_after(a);
	if (i == g_nranges || a < g_ranges[i].va)
		return NULL;
	g_found = &g_ranges[i];
	g_hit = (struct hit){ g_found->va, 0, g_found->addr };
	if (g_found->len_bytes >= PMT_STORE_MAX_BYTES)
		g_hit.room = g_found->len_bytes - PMT_STORE_MAX_BYTES + 1;
	return g_found;
}

Bool pm_addr(Addr a, ULong *addr)
{
	const struct range *r = pm_find(a);

	if (r == NULL)
		return False;
	*addr = r->addr + (a - r->va);
	return True;
}

void pm_each(Addr va, SizeT len, void (*f)(Addr va, ULong addr, SizeT len, void *arg), void *arg)
{
	Addr end = va + len;

	for (UInt i = range_after(va); i < g_nranges && g_ranges[i].va < end; i++) {
		const struct range *r = &g_ranges[i];
		Addr from = va > r->va ? va : r->va;
		Addr to = end < r->va + r->len_bytes ? end : r->va + r->len_bytes;

		f(from, r->addr + (from - r->va), to - from, arg);
	}
}

static void forget_hit(void)
{
	g_found = NULL;
	g_hit.room = 0;
}

static void mark_granules(void)
{
	VG_(memset)(g_granules, 0, sizeof g_granules);
	for (UInt i = 0; i < g_nranges; i++) {
		/* from a little before, because a store may begin outside and end in PM, and a
		 * guard may look that far */
		ULong g = (g_ranges[i].va - PMT_STORE_MAX_BYTES - GRANULE_REACH_BYTES) >>
			  GRANULE_SHIFT;
		ULong last = (g_ranges[i].va + g_ranges[i].len_bytes - 1 + GRANULE_REACH_BYTES) >>
			     GRANULE_SHIFT;

		if (last - g >= GRANULES) {
			VG_(memset)(g_granules, 1, sizeof g_granules);
			return;
		}
		for (; g <= last; g++)
			g_granules[g & (GRANULES - 1)] = 1;
	}
}

void range_insert(Addr va, SizeT len, ULong addr)
{
	UInt at = range_after(va);

	GROW(g_ranges, g_nranges, g_ranges_cap);
	VG_(memmove)(&g_ranges[at + 1], &g_ranges[at], (g_nranges - at) * sizeof *g_ranges);
	g_ranges[at] = (struct range){ va, len, addr };
	g_nranges++;
	forget_hit();
	mark_granules();
}

void range_remove(Addr va, SizeT len)
{
	Addr end = va + len;
	UInt i = range_after(va);

	if (i == g_nranges || g_ranges[i].va >= end)
		return;
	while (i < g_nranges && g_ranges[i].va < end) {
		struct range r = g_ranges[i];
		Addr r_end = r.va + r.len_bytes;

		VG_(memmove)
		(&g_ranges[i], &g_ranges[i + 1], (g_nranges - i - 1) * sizeof *g_ranges);
		g_nranges--;
		if (r.va < va) {
			range_insert(r.va, va - r.va, r.addr);
			i = range_after(va);
		}
		if (r_end > end)
			range_insert(end, r_end - end, r.addr + (end - r.va));
	}
	forget_hit();
	mark_granules();
}

Bool ranges_are_none(void)
{
	return g_nranges == 0;
}

/* ---- memory that is not PM ---- */

void other_insert(Addr va, SizeT len)
{
	if (len == 0)
		return;
	GROW(g_others, g_nothers, g_others_cap);
	g_others[g_nothers++] = (struct area){ va, len };
}

void other_remove(Addr va, SizeT len)
{
	Addr end = va + len;

	for (UInt i = 0; i < g_nothers;) {
		struct area o = g_others[i];
		Addr o_end = o.va + o.len_bytes;

		if (o.va >= end || va >= o_end) {
			i++;
			continue;
		}
		g_others[i] = g_others[--g_nothers];
		if (o.va < va)
			other_insert(o.va, va - o.va);
		if (end < o_end)
			other_insert(end, o_end - end);
	}
}

Bool other_has(Addr a)
{
	for (UInt i = 0; i < g_nothers; i++)
		if (a - g_others[i].va < g_others[i].len_bytes)
			return True;
	return False;
}

Bool pm_is_volatile(Addr a)
{
	const NSegment *seg = VG_(am_find_nsegment)(a);

	return seg != NULL && (seg->kind == SkAnonC || seg->kind == SkFileC) && !other_has(a) &&
	       pm_find(a) == NULL;
}
