/* The platforms: a row each. A new one is a new row, and litmus tests that say what it allows. */
#include "model/model.h"

#include <string.h>

static const struct platform x86_adr = {
	.name = "x86-adr",
	.help = "x86-64; caches are lost at a power failure: flush and fence",
	.line_bytes = 64,
	.has_flush = true,
};

static const struct platform eadr = {
	.name = "eadr",
	.help = "x86-64 whose caches survive (eADR, CXL global persistent flush): fence non-temporal stores",
	.line_bytes = 64,
	.is_cache_durable = true,
	.has_flush = true,
};

static const struct platform msync_sectors = {
	.name = "msync",
	.help = "a file in the page cache: durable when msync or fsync returns, torn at 512-byte sectors before",
	.line_bytes = 512,
};

const struct platform *const platforms[] = { &x86_adr, &eadr, &msync_sectors, NULL };

const struct platform *platform_find(const char *name)
{
	for (size_t i = 0; platforms[i]; i++)
		if (strcmp(platforms[i]->name, name) == 0)
			return platforms[i];
	return NULL;
}
