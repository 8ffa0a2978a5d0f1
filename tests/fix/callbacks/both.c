/* Two callbacks change the cell that they are given, and nobody flushes it: the call is what they have in common. */
#include "tests/fix/fences/pool.h"

struct cell {
	uint64_t value, changes;
};

struct cells {
	struct cell at[8];
};

typedef void (*change_fn)(struct cell *c, uint64_t by);

static void save(const void *p, size_t n)
{
	for (const char *line = (const char *)((uintptr_t)p & ~(uintptr_t)63); line < (const char *)p + n; line += 64)
		flush_line(line);
	fence();
}

static void cells_change(struct cells *all, unsigned i, change_fn change, uint64_t by)
{
	struct cell *c = &all->at[i];

	change(c, by);
	/* FIX: save(c, sizeof(*c)); */
}

static void cells_clear(struct cells *all, unsigned i)
{
	all->at[i].value = 0;
	save(&all->at[i].value, sizeof(all->at[i].value));
}

static void add(struct cell *c, uint64_t by)
{
	c->value += by;
	c->changes++;
}

static void set(struct cell *c, uint64_t to)
{
	c->value = to;
}

int main(int argc, char **argv)
{
	struct cells *all = pool_open(argv[1]);
	int kind;

	if (argc > 2)
		return 0;
	while ((kind = asked())) {
		if (kind == 'a')
			cells_change(all, 1, add, 2);
		else if (kind == 's')
			cells_change(all, 5, set, 7);
		else
			cells_clear(all, 5);
		answer("changed\n");
	}
	return 0;
}
