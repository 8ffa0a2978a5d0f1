/* The work on a pool, as a shared object that habits loads. */
#include "plugin.h"

#include "pool.h"

static void first(struct pool *p)
{
	pool_first(p);
}

static void second(struct pool *p)
{
	pool_second(p);
}

static int wrong(struct pool *p)
{
	return pool_wrong(p);
}

extern const struct plugin plugin;
const struct plugin plugin = { first, second, wrong };
