/* The last store before the crash has nothing to do with the failure: recovery does not read it. `between run POOL` works, `between check POOL` checks. */
#include "pm.h"

struct pool {
	_Alignas(64) uint64_t cap; /* of the table */
	_Alignas(64) uint64_t table;
	_Alignas(64) uint64_t used; /* which nobody checks */
};

int main(int argc, char **argv)
{
	struct pool *p;

	CHECK(argc == 3);
	if (strcmp(argv[1], "check") == 0) {
		p = pool_open(argv[2], sizeof *p);
		CHECK(!p || p->cap == p->table);
		return 0;
	}
	p = pool_create(argv[2], sizeof *p);
	p->cap = 2; /* BUG: between: atomicity survived */
	p->used = 1;
	persist(&p->used, sizeof p->used);
	persist(&p->cap, sizeof p->cap);
	p->table = 2; /* BUG: between: atomicity lost */
	persist(&p->table, sizeof p->table);
	return 0;
}
