/* The file's own functions around intrinsics come before these. */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

struct root {
	uint64_t a, b[40];
};

static inline void persist(const void *p, size_t len)
{
	for (uintptr_t at = (uintptr_t)p & ~63ul; at < (uintptr_t)p + len; at += 64)
		_mm_clwb((void *)at);
	_mm_sfence();
}

/* Not the line of what it is given. */
static void flush_head(const void *p)
{
	_mm_clwb((char *)p - 64);
}

void stores(struct root *r, unsigned n)
{
	r->a = n; /* BUG: missing-flush-fence */
	persist(&r->a, sizeof r->a);
	persist(r->b, sizeof r->b);
	flush_head(r->b);
	flush_head(r->b + 8);
	for (unsigned i = 1; i < n; i++) {
		r->b[i] = i; /* BUG: missing-flush-fence */
		_mm_clwb(&r->b[i]);
	}
	_mm_sfence();
}
