/* Hashes text: FNV-1a, whose result is then mixed so that each bit depends on all input. It must
 * never change, because the ids of bugs in reports and baselines are made from it. */
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
