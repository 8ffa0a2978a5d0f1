/* Callbacks flush what they change, as one of them does: those that do not are changed, and not the function that calls them. */
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
	/* FIX: save(c, sizeof(*c)); */
}

static void set(struct cell *c, uint64_t to)
{
	c->value = to;
	/* FIX: save(&c->value, sizeof(c->value)); */
}

static void halve(struct cell *c, uint64_t by)
{
	c->value /= by;
	save(&c->value, sizeof(c->value));
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
		else if (kind == 'h')
			cells_change(all, 5, halve, 2);
		else
			cells_clear(all, 5);
		answer("changed\n");
	}
	return 0;
}
