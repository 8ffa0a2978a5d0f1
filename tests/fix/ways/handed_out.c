/* Functions that another one hands out, by what the machine keeps; and members that hold them, whether they are called or not. */
#include <stddef.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

typedef void (*persist_fn)(const void *p, size_t n);
typedef void (*wait_fn)(void);

struct root {
	uint64_t a, b, c;
	uint64_t many[16];
};

struct map {
	int has_caches;
	struct root *root;
	persist_fn persist;
	wait_fn wait;
};

static void wait_all(void)
{
	MACHINE_FENCE();
}

static void persist_lines(const void *p, size_t n)
{
	for (uintptr_t at = (uintptr_t)p & ~(uintptr_t)63; at < (uintptr_t)p + n; at += 64)
		MACHINE_FLUSH(at);
	wait_all();
}

static void persist_nothing(const void *p, size_t n)
{
	(void)p;
	(void)n;
	wait_all();
}

static persist_fn map_persist(const struct map *m)
{
	return m->has_caches ? persist_lines : persist_nothing;
}

static wait_fn map_wait(const struct map *m)
{
	(void)m;
	return wait_all;
}

void opens(struct map *m);
void opens(struct map *m)
{
	m->persist = map_persist(m);
	m->wait = map_wait(m);
}

void correct(struct map *m);
void correct(struct map *m)
{
	m->root->a = 1;
	m->persist(&m->root->a, sizeof m->root->a);
}

void stores(struct map *m);
void stores(struct map *m)
{
	m->root->b = 1; /* BUG: missing-flush-fence */
}
