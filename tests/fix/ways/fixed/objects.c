/* One function makes one kind of object durable; nothing else is there for it. */
#include <stddef.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

struct node {
	uint64_t key, value, more[30];
};

static void node_save(const struct node *n)
{
	for (const char *p = (const char *)((uintptr_t)n & ~(uintptr_t)63); p < (const char *)(n + 1); p += 64)
		MACHINE_FLUSH(p);
	MACHINE_FENCE();
}

void correct(struct node *n);
void correct(struct node *n)
{
	n->key = 1;
	node_save(n);
}

void nodes(struct node *n, uint64_t v);
void nodes(struct node *n, uint64_t v)
{
	n->value = v; /* BUG: missing-flush-fence */
	node_save(n);
}

void both(struct node *n, uint64_t v);
void both(struct node *n, uint64_t v)
{
	n->key = v; /* BUG: missing-flush-fence */
	n->more[2] = v; /* BUG: missing-flush-fence */
	node_save(n);
}
