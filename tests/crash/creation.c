/* Recovery fails until the pool is made, which takes many failure points. Whoever looks at all of them first does not come to the bug of the first operation, which
 * begins right after that, for a long time. `creation run POOL` makes the pool, `creation check POOL` reads all of it: exit status 1 where it is not made, 2 where
 * a value is missing, 3 where a limit of the heap is: only in one place of the stretch of failure points that else fail alike. */
#include "pm.h"

#define NCELLS 100
#define NVALUES 8

struct cell {
	_Alignas(LINE_BYTES) uint64_t kind;
};

struct value {
	_Alignas(LINE_BYTES) uint64_t number;
	_Alignas(LINE_BYTES) uint64_t is_set;
};

struct pool {
	struct cell cells[NCELLS];
	_Alignas(LINE_BYTES) uint64_t limit;
	_Alignas(LINE_BYTES) uint64_t has_limit;
	_Alignas(LINE_BYTES) uint64_t is_made;
	struct value values[NVALUES];
};

static void set_limit(struct pool *p)
{
	p->limit = NCELLS; /* BUG: limit: ordering lost */
	p->has_limit = 1; /* BUG: limit: ordering survived */
	persist(&p->has_limit, sizeof p->has_limit);
	persist(&p->limit, sizeof p->limit);
}

static void make(struct pool *p)
{
	for (int i = 0; i < NCELLS; i++) {
		p->cells[i].kind = 1;
		persist(&p->cells[i], sizeof p->cells[i]);
		if (i == NCELLS / 2 + 3)
			set_limit(p);
	}
	p->is_made = 1;
	persist(&p->is_made, sizeof p->is_made);
}

static void set(struct value *v, uint64_t number)
{
	v->number = number;
	persist(&v->number, sizeof v->number);
	v->is_set = 1;
	persist(&v->is_set, sizeof v->is_set);
}

static void set_first(struct value *v)
{
	v->number = 1; /* BUG: value: ordering lost */
	v->is_set = 1; /* BUG: value: ordering survived */
	persist(&v->is_set, sizeof v->is_set);
	persist(&v->number, sizeof v->number);
}

static int run(const char *path)
{
	struct pool *p = pool_create(path, sizeof *p);

	make(p);
	set_first(&p->values[0]);
	for (uint64_t i = 1; i < NVALUES; i++)
		set(&p->values[i], i + 1);
	return 0;
}

static int check(const struct pool *p)
{
	if (p->has_limit && p->limit != NCELLS)
		return 3;
	if (!p->is_made)
		return 1;
	for (uint64_t i = 0; i < NVALUES; i++)
		if (p->values[i].is_set && p->values[i].number != i + 1)
			return 2;
	return 0;
}

int main(int argc, char **argv)
{
	const struct pool *p;

	if (argc != 3)
		return 4;
	if (strcmp(argv[1], "run") == 0)
		return run(argv[2]);
	p = pool_open(argv[2], sizeof *p);
	return p ? check(p) : 0;
}
