/* libpmem: what the file uses is followed; an intrinsic is not, though it is declared. */
#include <libpmem.h>
#include <stdint.h>
#include <string.h>

struct root {
	uint64_t a, b;
	char text[200];
};

void persisting(struct root *r, const char *s);
void persisting(struct root *r, const char *s)
{
	strcpy(r->text, s); /* BUG: missing-flush */
	pmem_drain();
	r->b = 2;
	pmem_persist(&r->b, sizeof r->b);
	r->a = 1; /* BUG: missing-flush-fence */
}
