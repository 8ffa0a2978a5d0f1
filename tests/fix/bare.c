/* A file that shows no way to flush or to fence, and uses no library that has one: the patch brings its own. */
#ifndef BARE_C
#define BARE_C
#include <stdint.h>
#ifdef __linux__
#include <stddef.h>
#endif

struct root {
	uint64_t a, b;
	char name[200];
};

void one(struct root *r);
void one(struct root *r)
{
	r->a = 1; /* BUG: missing-flush-fence */
}

void many(struct root *r, const struct root *from);
void many(struct root *r, const struct root *from)
{
	*r = *from; /* BUG: missing-flush-fence */
	if (r->a)
		r->b = 3; /* BUG: missing-flush-fence */
}

uint64_t inside(struct root *r);
uint64_t inside(struct root *r)
{
	uint64_t n = 0;

	while ((r->a = n) < 3) /* BUG: missing-flush-fence, left: the flush */
		n++;
	return n;
}
#endif
