/* A message with a header: magic, version, length and Fletcher's checksum of what follows, then records. The bug: a record that renames, in a message of version 2. */
#include "parser.h"

#define HEADER_BYTES 10

struct volume {
	uint64_t size;
	uint64_t nrecords __attribute__((aligned(64)));
	char name[16] __attribute__((aligned(64)));
	char old_name[16] __attribute__((aligned(64)));
};

static uint16_t fletcher(const uint8_t *bytes, size_t len)
{
	unsigned a = 1, b = 0;

	for (size_t i = 0; i < len; i++) {
		a = (a + bytes[i]) % 255;
		b = (b + a) % 255;
	}
	return (uint16_t)(b << 8 | a);
}

static void record_apply(struct volume *v, unsigned version, const uint8_t *r)
{
	switch (r[0]) {
	case 'S':
		v->size = (uint64_t)r[1] << 8 | r[2];
		persist(&v->size, 8);
		break;
	case 'R':
		if (version == 2) {
			memcpy(v->old_name, v->name, sizeof v->name); /* BUG: missing-flush */
			persist_if_correct(v->old_name, sizeof v->old_name);
		}
		memcpy(v->name, r + 1, 3);
		persist(v->name, sizeof v->name);
		break;
	}
	v->nrecords++;
	persist(&v->nrecords, 8);
}

int main(int argc, char **argv)
{
	FILE *in = argc == 3 ? fopen(argv[2], "rb") : NULL;
	struct volume *v;
	uint8_t m[64];
	uint16_t version, len, sum;
	size_t got;

	if (!in)
		return 2;
	got = fread(m, 1, sizeof m, in);
	fclose(in);
	v = pool_open(argv[1], sizeof *v);
	if (got < HEADER_BYTES || memcmp(m, "PMV!", 4) != 0)
		return 1;
	memcpy(&version, m + 4, 2);
	memcpy(&len, m + 6, 2);
	memcpy(&sum, m + 8, 2);
	if (version == 0 || version > 3 || len > got - HEADER_BYTES)
		return 1;
	if (fletcher(m + HEADER_BYTES, len) != sum)
		return 1;
	for (size_t at = 0; at + 4 <= len; at += 4)
		record_apply(v, version, m + HEADER_BYTES + at);
	return 0;
}
