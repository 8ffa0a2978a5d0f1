/* FNV-1a, then mixed so that all bits count. It must not change: reports and baselines hold ids
 * that are made of it. */
#include "util/hash.h"

uint64_t hash_text(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 33;
}
