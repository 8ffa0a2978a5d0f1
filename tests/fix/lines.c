/* Intrinsics only: what may cross a line needs a loop. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

struct root {
	uint64_t a;
	char text[200];
};

void one(struct root *r);
void one(struct root *r)
{
	r->a = 1; /* BUG: missing-flush-fence */
}

void many(struct root *r, size_t n);
void many(struct root *r, size_t n)
{
	if (n < 200)
		memset(r->text, 1, n); /* BUG: missing-flush-fence */
}

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 2;
	_mm_clwb(&r->a);
	_mm_sfence();
}
