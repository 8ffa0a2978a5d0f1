/* Keeps the pool with all expressions of the run, and computes with values of any width. */
#include "valgrind/tracer/value/value.h"

struct expr_pool *g_pool;

struct val val_cut(struct val v, UInt from_bits, UInt low, UInt n)
{
	return expr_extract(g_pool, from_bits, v, low, n);
}

Bool wide_is_symbolic(const struct wide *w)
{
	return w->part[0].id || w->part[1].id || w->part[2].id || w->part[3].id;
}
