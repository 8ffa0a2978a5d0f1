/* Defines the platforms, one row each, and what instructions do on them. To add one, add a row, and
 * litmus tests that say what it allows. */
#include "model/model.h"

#include <string.h>
#include <sys/mman.h>

static const struct platform x86_adr = {
	.name = "x86-adr",
	.isa = "amd64",
	.help = "x86-64; caches are lost at a power failure: flush and fence",
	.line_bytes = 64,
	.has_flush = true,
};

static const struct platform x86_intel = {
	.name = "x86-intel",
	.isa = "amd64",
	.help = "x86-adr on Intel processors: stores of 8 bytes inside a cache line are atomic",
	.line_bytes = 64,
	.has_flush = true,
	.units = UNITS_INTEL,
	.is_variant = true,
};

static const struct platform x86_amd = {
	.name = "x86-amd",
	.isa = "amd64",
	.help = "x86-adr on AMD processors: vector stores of 16 aligned bytes are atomic",
	.line_bytes = 64,
	.has_flush = true,
	.units = UNITS_AMD,
	.is_variant = true,
};

static const struct platform eadr = {
	.name = "eadr",
	.help = "caches survive (eADR, CXL global persistent flush): fence non-temporal stores",
	.line_bytes = 64,
	.is_cache_durable = true,
	.has_flush = true,
};

static const struct platform msync_sectors = {
	.name = "msync",
	.help = "a file in the page cache: durable when msync or fsync returns, torn at 512-byte sectors before",
	.line_bytes = 512,
	.is_page_cache = true,
};

static const struct platform arm64 = {
	.name = "arm64",
	.isa = "arm64",
	.help = "arm64; caches are lost at a power failure: dc cvap and dsb",
	.line_bytes = 64,
	.has_flush = true,
	.is_weak = true,
};

static const struct platform arm64_poc = {
	.name = "arm64-poc",
	.isa = "arm64",
	.help = "arm64 without a separate point of persistence: dc cvac is enough",
	.line_bytes = 64,
	.has_flush = true,
	.is_weak = true,
	.is_coherency_enough = true,
};

const struct platform *const platforms[] = { &x86_adr, &eadr,  &msync_sectors, &x86_intel,
					     &x86_amd, &arm64, &arm64_poc,     NULL };

const struct platform *platform_find(const char *name)
{
	for (size_t i = 0; platforms[i]; i++)
		if (strcmp(platforms[i]->name, name) == 0)
			return platforms[i];
	return NULL;
}

enum platform_flush platform_flush(const struct platform *p, enum pmt_kind kind)
{
	if (!p->has_flush || !trace_is_flush(kind))
		return FLUSH_NONE;
	if (kind == PMT_CLFLUSH)
		return p->is_weak ? FLUSH_AT_FENCE : FLUSH_NOW;
	if (kind == PMT_DC_CVAC || kind == PMT_DC_CIVAC)
		return p->is_weak && !p->is_coherency_enough ? FLUSH_SHORT : FLUSH_AT_FENCE;
	return FLUSH_AT_FENCE;
}

uint64_t platform_flushed(const struct trace_event *ev, uint64_t *len_bytes)
{
	*len_bytes = ev->size_bytes > PMT_LINE_BYTES && (ev->size_bytes & (ev->size_bytes - 1)) == 0
			     ? ev->size_bytes
			     : PMT_LINE_BYTES;
	return ev->addr & ~(*len_bytes - 1);
}

uint64_t platform_synced(const struct trace_event *ev, uint64_t *len_bytes)
{
	const uint64_t page = PMT_PAGE_BYTES - 1, start = ev->addr & ~page;

	*len_bytes = 0;
	if (!(ev->arg[1] & MS_SYNC))
		return start;
	*len_bytes = ev->arg[2] != MODEL_AS_RECORDED
			     ? PMT_LINE_BYTES
			     : ((ev->addr + ev->arg[0] + page) & ~page) - start;
	return ev->arg[2] != MODEL_AS_RECORDED ? ev->addr : start;
}

bool platform_is_store_barrier(const struct trace_event *ev)
{
	return (ev->kind == PMT_DMB || ev->kind == PMT_DSB) &&
	       (ev->arg[0] & 3) != PMT_BARRIER_LOADS;
}
