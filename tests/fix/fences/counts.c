/* Two operations are answered too early. The fence behind the answer also completes what is counted there, so that it stays beside the new one. */
#include "tests/fix/fences/pool.h"

struct tally {
	uint64_t up, pad1[7];
	uint64_t down, pad2[7];
	uint64_t answers;
};

static void wb(const void *p)
{
	flush_line(p);
}

static void settle(void)
{
	fence();
}

static void go_up(struct tally *t)
{
	t->up++;
	wb(&t->up);
}

static void go_down(struct tally *t)
{
	t->down++;
	wb(&t->down);
}

static void serve(struct tally *t)
{
	int kind = asked();

	while (kind) {
		if (kind == 'u')
			go_up(t);
		else
			go_down(t);
		/* FIX: settle(); */
		answer("moved\n");
		t->answers++;
		wb(&t->answers);
		kind = asked();
		settle();
	}
}

int main(int argc, char **argv)
{
	struct tally *t = pool_open(argv[1]);

	if (argc > 2)
		return 0;
	serve(t);
	return 0;
}
