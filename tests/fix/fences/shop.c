/* Macros, and a loop that fences when the next one asks: the fence moves before the answer. */
#include "tests/fix/fences/pool.h"

#define WB(p) flush_line(p)
#define BARRIER() fence()

struct shop {
	uint64_t stock, pad[7];
	uint64_t sold;
};

static void buy(struct shop *s, uint64_t n)
{
	s->stock += n;
	WB(&s->stock);
}

static void sell(struct shop *s)
{
	s->sold++;
	WB(&s->sold);
}

static void order(struct shop *s, int kind)
{
	if (kind == 'b')
		buy(s, 3);
	else
		sell(s);
}

static void serve(struct shop *s)
{
	for (;;) {
		int kind = asked();

		// GOES: what was ordered before is on its way
		BARRIER(); // GOES
		if (!kind)
			break;
		order(s, kind);
		/* FIX: BARRIER(); */
		answer("done\n");
	}
}

int main(int argc, char **argv)
{
	struct shop *s = pool_open(argv[1]);

	if (argc > 2)
		return s->sold > s->stock;
	serve(s);
	return 0;
}
