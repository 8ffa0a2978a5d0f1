/* libpmem as it should be used. */
#include <libpmem.h>

#include "corpus.h"

#define MANY_BYTES (16 * 1024)

int main(int argc, char **argv)
{
	static char text[MANY_BYTES];
	size_t len_bytes;
	int is_pmem;
	char *p;

	CHECK(argc == 2);
	p = pmem_map_file(argv[1], POOL_BYTES, PMEM_FILE_CREATE, 0666, &len_bytes, &is_pmem);
	CHECK(p && is_pmem && len_bytes == POOL_BYTES);
	memset(text, 'x', sizeof text);

	p[100] = 1;
	pmem_persist(p + 100, 1);
	strcpy(p + 120, "across two lines");
	pmem_persist(p + 120, 17);
	pmem_memcpy_persist(p + 1001, text, 777);
	pmem_memmove_persist(p + 1101, p + 1001, 777);
	pmem_memset_persist(p + 4096, 0, MANY_BYTES);
	pmem_memcpy_nodrain(p + 4096, text, MANY_BYTES);
	pmem_memset_nodrain(p + 4096 + MANY_BYTES, 'y', 100);
	pmem_memset_nodrain(p + 2 * MANY_BYTES + 5, 'z', MANY_BYTES - 5);
	pmem_memmove_nodrain(p + 3 * MANY_BYTES, p + 2 * MANY_BYTES, 1001);
	pmem_drain();
	pmem_memcpy(p, text, 64, PMEM_F_MEM_TEMPORAL);
	pmem_memset(p, 0, 4096, PMEM_F_MEM_NONTEMPORAL);
	pmem_memcpy(p, text, 100, PMEM_F_MEM_NOFLUSH);
	pmem_persist(p, 100);
	p[200] = 2;
	CHECK(pmem_msync(p + 200, 1) == 0);
	CHECK(pmem_unmap(p, len_bytes) == 0);
	return 0;
}
