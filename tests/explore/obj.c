/* A libpmemobj program whose second update forgets to persist: obj POOL FILE. */
#include <fcntl.h>
#include <libpmemobj.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct root {
	uint64_t records;
	_Alignas(64) uint64_t last;
};

static void obj(PMEMobjpool *pop, struct root *r, const unsigned char *in)
{
	if (memcmp(in, "OBJ1", 4) != 0)
		return;
	r->records++;
	pmemobj_persist(pop, &r->records, sizeof r->records);
	if (in[4] == 0x77 && in[5] == in[6] + 1)
		r->last = in[4]; /* BUG: missing-flush-fence */
}

int main(int argc, char **argv)
{
	unsigned char in[16] = { 0 };
	PMEMobjpool *pop;
	int fd;

	if (argc != 3)
		return 2;
	fd = open(argv[2], O_RDONLY);
	pop = pmemobj_create(argv[1], "explore", PMEMOBJ_MIN_POOL, 0666);
	if (fd < 0 || !pop || read(fd, in, sizeof in) < 8)
		return 2;
	obj(pop, pmemobj_direct(pmemobj_root(pop, sizeof(struct root))), in);
	pmemobj_close(pop);
	return 0;
}
