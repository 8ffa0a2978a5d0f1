/* Words of a new pool that nobody has stored to. Their 0 is a value if the program has acknowledged the pool with it: then a plain store replaces one
 * value by another, and nothing tells the loss of the store from a crash before it. Broken, the 0 is published by the link that leads to it, in the
 * same operation: it is the lack of a value.
 *	fresh POOL run [broken]
 *	fresh POOL recover */
#include "pm.h"

struct pool {
	LINE volatile uint64_t limit;
	LINE volatile uint64_t magic;
	LINE volatile uint64_t served;
	LINE volatile uint64_t last;
	LINE volatile uint64_t head;
	LINE volatile uint64_t node;
};

static void put(volatile uint64_t *word, uint64_t value)
{
	*word = value;
	pm_persist(word, sizeof *word);
}

static void acknowledge(const char *what)
{
	puts(what);
	fflush(stdout);
}

static void recover(const struct pool *p)
{
	if (!p->magic)
		return;
	printf("%lu %lu %lu\n", p->limit, p->served, p->last);
	if (p->head)
		printf("%lu\n", p->node); /* RACE: broken */
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);
	int is_broken = argc > 3;

	if (strcmp(argv[2], "recover") == 0) {
		recover(p);
		return 0;
	}
	put(&p->limit, 100);
	put(&p->magic, 1);
	acknowledge("ready");
	for (uint64_t i = 1; i < 4; i++) {
		put(&p->served, i);
		acknowledge("served");
	}
	put(&p->last, 7);
	acknowledge("last");
	put(is_broken ? &p->head : &p->node, 1);
	put(is_broken ? &p->node : &p->head, 1);
	acknowledge("linked");
	return 0;
}
