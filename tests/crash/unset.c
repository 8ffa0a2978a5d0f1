/* A mark that is set once and never flushed, in a log of many entries: recovery fails at each failure point after that, for one bug. `unset run POOL` makes the pool,
 * `unset check POOL` reads the first entries and the mark. */
#include "pm.h"

#define NENTRIES 300

struct entry {
	_Alignas(LINE_BYTES) uint64_t key;
};

struct pool {
	_Alignas(LINE_BYTES) uint64_t is_used;
	struct entry entries[NENTRIES];
};

static void run(struct pool *p)
{
	for (uint64_t i = 0; i < NENTRIES; i++) {
		p->entries[i].key = i + 1; /* BUG: mark: missing-flush survived */
		persist(&p->entries[i], sizeof p->entries[i]);
		if (i == 0)
			p->is_used = 1; /* BUG: mark: missing-flush lost */
	}
}

int main(int argc, char **argv)
{
	struct pool *p;

	if (argc != 3)
		return 3;
	if (strcmp(argv[1], "run") == 0) {
		run(pool_create(argv[2], sizeof *p));
		return 0;
	}
	p = pool_open(argv[2], sizeof *p);
	if (!p)
		return 0;
	CHECK(p->is_used || !p->entries[1].key);
	for (uint64_t i = 0; i < NENTRIES && p->entries[i].key; i++)
		CHECK(p->entries[i].key == i + 1);
	return 0;
}
