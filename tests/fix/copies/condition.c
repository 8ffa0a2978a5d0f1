/* What is stored under a condition is flushed under it: others flush behind the call, and know that there is something. */
#include <fcntl.h>
#include <sys/mman.h>

#include "tests/fix/ways/machine.h"

struct item {
	struct item *next, *prev;
	long key;
};

static void keep(const void *from, unsigned long len)
{
	for (unsigned long at = (unsigned long)from & ~63ul; at < (unsigned long)from + len; at += 64)
		MACHINE_FLUSH(at);
	MACHINE_FENCE();
}

static void link_back(struct item *it)
{
	if (it->next)
		it->next->prev = it; /* stack: test0 */
}

static void link_early(struct item *it)
{
	if (!it->next)
		return;
	it->next->prev = it; /* stack: early0 */
}

/* Its pointer is another one when it returns. */
static void cut(struct item *it)
{
	it->next->prev = 0; /* stack: gone0 */
	it->next = 0;
}

/* Here the caller can. */
static void set_key(struct item *it, long key)
{
	it->key = key; /* stack: key0 */
}

static void add(struct item *it)
{
	link_back(it); /* stack: test1 */
	link_early(it); /* stack: early1 */
	cut(it); /* stack: gone1 */
	set_key(it, 3); /* stack: key1 */
}

static void add_first(struct item *it, struct item *first)
{
	it->next = first;
	link_back(it);
	keep(&it->next->prev, sizeof(it->next->prev));
	link_early(it);
	keep(&it->next->prev, sizeof(it->next->prev));
	cut(it);
	keep(&first->prev, sizeof(first->prev));
	set_key(it, 4);
	keep(&it->key, sizeof(it->key));
}

int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDWR);
	struct item *all = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	add_first(&all[0], &all[1]);
	add(&all[2]); /* stack: test2 early2 gone2 key2 */
	return 0;
}
