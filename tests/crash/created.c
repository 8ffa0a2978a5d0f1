/* A pool that is made step by step, with its magic number last: recovery refuses it until then. `created HOW POOL` makes it and adds an entry. HOW: "well"; "early", the
 * magic number is stored before the fields that it stands for are durable; "entry", the entry is published before it is durable. `created check POOL` is recovery. */
#include "pm.h"

#define NSLOTS 4
#define MAGIC 0x6d61676963u

struct pool {
	_Alignas(LINE_BYTES) uint64_t magic;
	_Alignas(LINE_BYTES) uint64_t version;
	_Alignas(LINE_BYTES) uint64_t nslots;
	_Alignas(LINE_BYTES) uint64_t slots[NSLOTS];
	_Alignas(LINE_BYTES) uint64_t entry;
	_Alignas(LINE_BYTES) uint64_t count;
};

static void initialise(struct pool *p, int is_early)
{
	p->version = 3; /* BUG: early: ordering lost */
	if (!is_early)
		persist(&p->version, sizeof p->version);
	p->nslots = NSLOTS;
	persist(&p->nslots, sizeof p->nslots);
	for (int i = 0; i < NSLOTS; i++)
		p->slots[i] = UINT64_MAX;
	persist(p->slots, sizeof p->slots);
	p->magic = MAGIC; /* BUG: early: ordering survived */ /* initialised */
	persist(&p->magic, sizeof p->magic);
	persist(&p->version, sizeof p->version);
}

static void add(struct pool *p, int is_early)
{
	p->entry = 7; /* BUG: entry: ordering lost */
	if (!is_early)
		persist(&p->entry, sizeof p->entry);
	p->count = 1; /* BUG: entry: ordering survived */
	persist(&p->count, sizeof p->count);
	persist(&p->entry, sizeof p->entry);
}

int main(int argc, char **argv)
{
	struct pool *p;

	if (argc != 3)
		return 3;
	if (strcmp(argv[1], "check") != 0) {
		p = pool_create(argv[2], sizeof *p);
		initialise(p, strcmp(argv[1], "early") == 0);
		add(p, strcmp(argv[1], "entry") == 0);
		return 0;
	}
	p = pool_open(argv[2], sizeof *p);
	CHECK(p);
	if (p->magic != MAGIC) {
		fputs("no magic number\n", stderr);
		return 2; /* another failure than those below */
	}
	CHECK(p->version == 3 && p->nslots == NSLOTS);
	CHECK(p->count == 0 || p->entry == 7);
	return 0;
}
