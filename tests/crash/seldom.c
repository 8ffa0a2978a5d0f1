/* Two bugs at the same lines. No operation has a fence between an entry's flush and the count; the last one does not even flush its entry. `seldom run POOL` makes the
 * pool, `seldom check POOL` reads the last entry. */
#include "pm.h"

#define NENTRIES 300

struct entry {
	_Alignas(LINE_BYTES) uint64_t key;
};

struct pool {
	_Alignas(LINE_BYTES) uint64_t count;
	struct entry entries[NENTRIES];
};

static void run(struct pool *p)
{
	for (uint64_t i = 0; i < NENTRIES; i++) {
		p->entries[i].key = i + 1;
		if (i + 1 < NENTRIES)
			flush(&p->entries[i], sizeof p->entries[i]);
		p->count = i + 1;
		persist(&p->count, sizeof p->count);
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
	CHECK(p->count == 0 || p->entries[p->count - 1].key == p->count);
	return 0;
}
