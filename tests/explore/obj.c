/* Two libpmemobj programs: obj POOL FILE [transaction]. One forgets to persist its second update, the other to add a field to its transaction. */
#include <fcntl.h>
#include <libpmemobj.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct root {
	uint64_t records;
	_Alignas(64) uint64_t last;
	_Alignas(64) uint64_t total;
};

static void obj(PMEMobjpool *pop, struct root *r, const unsigned char *in)
{
	if (memcmp(in, "OBJ1", 4) != 0)
		return;
	r->records++;
	pmemobj_persist(pop, &r->records, sizeof r->records);
	if (in[4] == 0x77 && in[5] == in[6] + 1)
		r->last = in[4]; /* BUG: missing-flush */ /* closing the pool fences */
}

static void transaction(PMEMobjpool *pop, struct root *r, const unsigned char *in)
{
	if (in[0] != 'T' || in[1] + in[2] != 300 || (in[3] ^ in[1]) != 0x5a)
		return;
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&r->records, sizeof r->records);
		r->records += in[4];
		if (in[4] == 0xc3)
			r->total = in[4]; /* BUG: tx-missing-add */ /* BUG: missing-flush */
	} TX_END
}

int main(int argc, char **argv)
{
	unsigned char in[16] = { 0 };
	PMEMobjpool *pop;
	int fd;

	if (argc < 3)
		return 2;
	fd = open(argv[2], O_RDONLY);
	pop = pmemobj_create(argv[1], "explore", PMEMOBJ_MIN_POOL, 0666);
	if (fd < 0 || !pop || read(fd, in, sizeof in) < 8)
		return 2;
	(argc > 3 ? transaction : obj)(pop, pmemobj_direct(pmemobj_root(pop, sizeof(struct root))), in);
	pmemobj_close(pop);
	return 0;
}
