/* A cursor in volatile memory, that of the caller or of the program, over slots that are persistent. And one function that does serve both. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tests/fix/ways/machine.h"

struct slot {
	long number, size;
};
struct cursor {
	struct slot *slots, *at;
};

static struct cursor everywhere;

static void keep(const void *from, unsigned long len)
{
	for (unsigned long at = (unsigned long)from & ~63ul; at < (unsigned long)from + len; at += 64)
		MACHINE_FLUSH(at);
	MACHINE_FENCE();
}

static void write_slot(struct cursor *c, long number)
{
	c->at->number = number; /* stack: slot0 */
	keep(&c->at->number, sizeof c->at->number);
	c->at++;
}

static void write_two(struct cursor *c, long number)
{
	write_slot(c, number); /* stack: slot1 */
	write_slot(c, number + 1);
}

static long set_size(struct slot *s, long size)
{
	long old = s->size;

	s->size = size; /* stack: size0 */
	return old;
}

static long set_size_pm(struct slot *s, long size)
{
	long old = s->size;

	s->size = size; /* stack: size0 */
	keep(&s->size, sizeof s->size);
	return old;
}

static void resize(struct slot *s)
{
	struct slot before = { 0, 0 };

	set_size(&before, 3);
	set_size_pm(s, before.size + 4); /* stack: size1 */
}

int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDWR);
	struct cursor own;

	everywhere.slots = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	everywhere.at = everywhere.slots;
	own = everywhere;
	write_two(&everywhere, 1); /* stack: slot2 */
	write_two(&own, 3);
	resize(own.slots); /* stack: size2 */
	keep(everywhere.slots, 0);
	printf("%ld\n", own.slots->number);
	return 0;
}
