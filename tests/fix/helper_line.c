/* The same with a function that flushes a line. */
#include <immintrin.h>
#include <stdint.h>

struct root {
	uint64_t a, b[40];
};

static void flush_line(const void *p)
{
	_mm_clwb((void *)p);
}

static void flush_head(const void *p)
{
	_mm_clwb((char *)p - 64);
}

void stores(struct root *r, unsigned n)
{
	r->a = n; /* BUG: missing-flush-fence */
	flush_line(&r->b[n]);
	flush_head(&r->b[n]);
	flush_head(&r->b[0]);
	_mm_sfence();
}
