/* CHECK: --platform msync */
/* Files on an ordinary disk: only a synchronous msync or fsync makes data durable, whole pages of it. */
#include "corpus.h"

#define PAGE_BYTES 4096

struct page {
	_Alignas(PAGE_BYTES) volatile uint64_t a;
	volatile uint64_t b;
};

int main(int argc, char **argv)
{
	struct page *p;

	CHECK(argc == 2);
	p = pool_map(argv[1]);

	p[0].a = 1; /* synced */
	p[1].a = 1; /* BUG: missing-flush-fence */
	p[2].a = 1;
	p[2].b = 2; /* a page is synced as a whole */
	CHECK(msync(&p[0], PAGE_BYTES, MS_SYNC) == 0);
	CHECK(msync(&p[2], 1, MS_SYNC) == 0);

	p[3].a = 1; /* BUG: missing-flush-fence */
	CHECK(msync(&p[3], PAGE_BYTES, MS_ASYNC) == 0);

	p[0].b = 1; /* BUG: missing-flush-fence */
	return 0;
}
