/* The flush is in a loop, and so is all that the file has to flush with: one fence behind the loop, before the head moves. */
#include "tests/fix/fences/pool.h"

enum { SLOTS = 8 };

struct slot {
	uint64_t value, twice, pad[6];
};

struct ring {
	uint64_t head, pad[7];
	struct slot slot[SLOTS];
};

static void wb(const void *p)
{
	flush_line(p);
}

static void drain(void)
{
	fence();
}

static void push(struct ring *r, const uint64_t *values, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++) {
		struct slot *s = &r->slot[(r->head + i) % SLOTS];

		s->value = values[i];
		s->twice = 2 * values[i];
		wb(s);
	}
	/* FIX: drain(); */
	r->head += n;
	wb(&r->head);
	drain();
}

int main(int argc, char **argv)
{
	static const uint64_t values[] = { 3, 4 };
	struct ring *r = pool_open(argv[1]);
	uint64_t i;

	for (i = 0; argc > 2 && i < r->head; i++)
		if (!r->slot[i].value || r->slot[i].twice != 2 * r->slot[i].value)
			return 1;
	if (argc > 2)
		return 0;
	push(r, values, 2);
	answer("pushed\n");
	push(r, values, 1);
	answer("pushed\n");
	return 0;
}
