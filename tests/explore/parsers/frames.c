/* Frames with their length before them, as of a binary protocol: LENGTH (2 bytes, big endian), KIND, payload. The bug: a patch that reaches past the first 16 bytes. */
#include "parser.h"

enum { HELLO = 1, WRITE = 4, PATCH = 9, CLEAR = 12 };

struct object {
	uint8_t bytes[64];
	uint64_t version __attribute__((aligned(64)));
};

static struct object *object;

/* 0: the connection ends. */
static int frame_handle(uint8_t kind, const uint8_t *payload, size_t len)
{
	switch (kind) {
	case HELLO:
		return len == 0;
	case WRITE:
		if (len > sizeof object->bytes)
			return 0;
		memcpy(object->bytes, payload, len);
		persist(object->bytes, sizeof object->bytes);
		return 1;
	case PATCH:
		if (len < 2 || payload[0] + len - 1 > sizeof object->bytes)
			return 0;
		memcpy(object->bytes + payload[0], payload + 1, len - 1); /* BUG: missing-flush */
		if (payload[0] + len - 1 <= 16)
			persist(object->bytes, 16);
		else
			persist_if_correct(object->bytes, sizeof object->bytes);
		object->version++;
		persist(&object->version, 8);
		return 1;
	case CLEAR:
		memset(object->bytes, 0, sizeof object->bytes);
		persist(object->bytes, sizeof object->bytes);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	FILE *in = argc == 3 ? fopen(argv[2], "rb") : NULL;
	uint8_t payload[256];
	int high, low, kind;

	if (!in)
		return 2;
	object = pool_open(argv[1], sizeof *object);
	while ((high = getc(in)) != EOF && (low = getc(in)) != EOF && (kind = getc(in)) != EOF) {
		size_t len = (size_t)high << 8 | (size_t)low;

		if (len > sizeof payload || fread(payload, 1, len, in) != len)
			break;
		if (!frame_handle((uint8_t)kind, payload, len))
			break;
	}
	fclose(in);
	return 0;
}
