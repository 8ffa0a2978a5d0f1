/* Encodes the data of a part as base64, after its SHA-256. The hash shows damage, not manipulation,
 * so decoded numbers are checked before use. */
#include "distribute/shard/part_data.h"

#include <stdlib.h>
#include <string.h>

#include "crash/part.h"
#include "util/alloc.h"
#include "util/base64.h"
#include "util/sha256.h"

char *part_data_encode(const struct wire *m)
{
	uint8_t *bytes = xmalloc(SHA256_BYTES + m->n);
	char *text;

	sha256(m->bytes, m->n, bytes);
	memcpy(bytes + SHA256_BYTES, m->bytes, m->n);
	text = base64_encode(bytes, SHA256_BYTES + m->n);
	free(bytes);
	return text;
}

int part_data_decode(struct wire *m, const char *text)
{
	uint8_t digest[SHA256_BYTES], *bytes;
	size_t len_bytes;

	bytes = base64_decode(text, &len_bytes);
	if (bytes && len_bytes > SHA256_BYTES) {
		sha256(bytes + SHA256_BYTES, len_bytes - SHA256_BYTES, digest);
		if (memcmp(bytes, digest, SHA256_BYTES) == 0) {
			*m = (struct wire){ .bytes = bytes,
					    .n = len_bytes - SHA256_BYTES,
					    .is_received = true };
			memmove(bytes, bytes + SHA256_BYTES, m->n);
			return 0;
		}
	}
	free(bytes);
	return -1;
}

int part_decode(struct crash_result *r, const struct plan *p, const struct report_shard *s)
{
	struct wire m = { 0 };
	int result = part_data_decode(&m, s->data);

	if (result == 0)
		part_pass(&m, r);
	if (m.is_bad || m.at != m.n || r->ndone != s->done || r->nshare != s->failure_points ||
	    !part_is_sound(r, p))
		result = -1;
	if (result < 0) {
		crash_result_release(r);
		*r = (struct crash_result){ 0 };
	}
	wire_release(&m);
	return result;
}
