/* A handle in volatile memory leads to the persistent index: what callers pass is not what is stored to, so nobody gets a copy. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tests/fix/ways/machine.h"

struct super {
	long free_head, ntaken;
};
struct handle {
	struct super *super;
	long active;
};

static void keep(const void *from, unsigned long len)
{
	for (unsigned long at = (unsigned long)from & ~63ul; at < (unsigned long)from + len; at += 64)
		MACHINE_FLUSH(at);
	MACHINE_FENCE();
}

static long take(struct handle *h)
{
	struct super *s = h->super;

	s->free_head++; /* stack: put0 */
	h->active = s->free_head;
	return h->active;
}

static long append(struct handle *h)
{
	if (h->active < 0)
		return -1;
	return take(h); /* stack: put1 */
}

static long put(struct handle *h)
{
	return append(h); /* stack: put2 */
}

static long drop(struct handle *h)
{
	h->super->ntaken--;
	keep(&h->super->ntaken, sizeof(h->super->ntaken));
	return append(h);
}

int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDWR);
	struct handle h = { mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), 0 };

	printf("%ld\n", put(&h)); /* stack: put3 */
	printf("%ld\n", drop(&h));
	return 0;
}
