/* A pool set: two parts, and a replica that libpmemobj keeps equal. They lie beside the file that the argument names. A pool set's
 * description cannot name paths with spaces, so it goes through a link. */
#include <libgen.h>
#include <libpmemobj.h>

#include "corpus.h"

#define PART_BYTES "5M"

static char folder[64]; /* a link to the pool's */

static char *in_folder(const char *name_in_it)
{
	char *name;

	CHECK(asprintf(&name, "%s/%s", folder, name_in_it) > 0);
	return name;
}

static char *set_write(void)
{
	char *name = in_folder("set");
	FILE *f = fopen(name, "w");

	CHECK(f);
	fprintf(f, "PMEMPOOLSET\n" PART_BYTES " %s\n" PART_BYTES " %s\nREPLICA\n10M %s\n", in_folder("part1"), in_folder("part2"),
		in_folder("replica"));
	CHECK(fclose(f) == 0);
	return name;
}

static void use(PMEMobjpool *pop, size_t len_bytes)
{
	char *text = pmemobj_direct(pmemobj_root(pop, 5000));

	pmemobj_memcpy_persist(pop, text, "in both replicas", 17);
	text[4000] = 1;
	pmemobj_persist(pop, text + 4000, 1);
	TX_BEGIN(pop)
	{
		TX_MEMSET(text + 100, 'x', 1000);
		((char *)pmemobj_direct(pmemobj_tx_alloc(len_bytes, 1)))[len_bytes - 1] = 1;
	}
	TX_ONABORT
	{
		CHECK(0);
	}
	TX_END
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	char *set;

	CHECK(argc == 2 && argv[1][0] == '/');
	snprintf(folder, sizeof folder, "/tmp/set-%d", (int)getpid());
	CHECK(symlink(dirname(strdup(argv[1])), folder) == 0);
	set = set_write();
	pop = pmemobj_create(set, "set", 0, 0666);
	if (!pop)
		fprintf(stderr, "%s\n", pmemobj_errormsg());
	CHECK(pop);
	use(pop, 2200000); /* reaches into the second part */
	pmemobj_close(pop);
	pop = pmemobj_open(set, "set");
	CHECK(pop);
	use(pop, 100);
	pmemobj_close(pop);
	unlink(folder);
	return 0;
}
