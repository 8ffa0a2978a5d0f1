/* Where each operation is durable when it returns, the fence stays in those that lack it, also if one would do for both where the answer is given. */
#include "tests/fix/fences/pool.h"

struct desk {
	uint64_t in, pad1[7];
	uint64_t out, pad2[7];
	uint64_t lost, pad3[7];
	uint64_t seen;
};

static void wb(const void *p)
{
	flush_line(p);
}

static void settle(void)
{
	fence();
}

static void take(struct desk *d)
{
	d->in++;
	wb(&d->in);
	settle();
}

static void give(struct desk *d)
{
	d->out++;
	wb(&d->out);
	/* FIX: settle(); */
}

static void drop(struct desk *d)
{
	d->lost++;
	wb(&d->lost);
	/* FIX: settle(); */
}

static void request(struct desk *d, int kind)
{
	if (kind == 't')
		take(d);
	else if (kind == 'g')
		give(d);
	else
		drop(d);
}

int main(int argc, char **argv)
{
	struct desk *d = pool_open(argv[1]);
	int kind;

	if (argc > 2)
		return 0;
	while ((kind = asked()) != 0) {
		request(d, kind);
		answer("yes\n");
	}
	d->seen = 4;
	wb(&d->seen);
	settle();
	return 0;
}
