/* A pool set: two parts, and a replica that libpmemobj keeps equal. The argument names its first part; the others lie beside. A pool set's
 * description cannot name paths with spaces, so it names them from the current folder. */
#include <libgen.h>
#include <libpmemobj.h>

#include "corpus.h"

#define PART_BYTES "5M"

static char *beside(const char *path, const char *suffix)
{
	char *name;

	CHECK(asprintf(&name, "/proc/self/cwd/%s%s", basename(strdup(path)), suffix) > 0);
	return name;
}

static char *set_write(const char *path)
{
	char *name = beside(path, ".set");
	FILE *f = fopen(name, "w");

	CHECK(f);
	fprintf(f, "PMEMPOOLSET\n" PART_BYTES " %s\n" PART_BYTES " %s\nREPLICA\n10M %s\n", beside(path, ""), beside(path, ".part"),
		beside(path, ".replica"));
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
	CHECK(chdir(dirname(strdup(argv[1]))) == 0);
	set = set_write(argv[1]);
	pop = pmemobj_create(set, "set", 0, 0666);
	CHECK(pop);
	use(pop, 2200000); /* reaches into the second part */
	pmemobj_close(pop);
	pop = pmemobj_open(set, "set");
	CHECK(pop);
	use(pop, 100);
	pmemobj_close(pop);
	return 0;
}
