/* Helpers with one argument: the line at an address, by other names; one kind of object. */
#include <stddef.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

struct node {
	uint64_t key, value, more[30];
};

struct head {
	struct node *first;
	uint64_t count;
};

static void put_line(const char *p)
{
	MACHINE_FLUSH(p);
}

static inline void settle(void)
{
	MACHINE_FENCE();
}

static void node_save(const struct node *n)
{
	const char *p = (const char *)n;

	for (size_t i = 0; i <= sizeof *n; i += 64)
		put_line(p + i);
	settle();
}

void correct(struct head *h, struct node *n);
void correct(struct head *h, struct node *n)
{
	n->key = 1;
	node_save(n);
	h->count = 1;
	put_line((const char *)&h->count);
	settle();
}

void nodes(struct node *n, uint64_t v);
void nodes(struct node *n, uint64_t v)
{
	n->value = v; /* BUG: missing-flush-fence */
	put_line((const char *)&n->value);
	settle();
}

void heads(struct head *h, struct node *n);
void heads(struct head *h, struct node *n)
{
	h->first = n; /* BUG: missing-flush-fence */
	put_line((const char *)&h->first);
	settle();
}

void late(struct head *h);
void late(struct head *h)
{
	h->count = 2; /* BUG: missing-flush */
	put_line((const char *)&h->count);
	settle();
}
