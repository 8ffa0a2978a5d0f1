/* A log of entries with a bug of order: the fourth entry is flushed, but its fence comes after the count that makes it valid.
 *
 *	ledger POOL run       appends five entries
 *	ledger POOL check     fails if an entry that counts is not whole */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine.h"

struct entry {
	uint64_t id;
	char text[48];
	uint64_t sum;
};

struct ledger {
	_Alignas(64) uint64_t count;
	_Alignas(64) struct entry entry[8];
};

static void append(struct ledger *l, uint64_t i)
{
	struct entry *e = &l->entry[i];

	e->id = i + 1;
	strcpy(e->text, "an entry");
	e->sum = ~e->id;
	flush_line(e);
	if (i != 3)
		fence();
	l->count = i + 1; /* BUG: ordering */
	flush_line(l);
	fence();
}

static int check(const struct ledger *l)
{
	for (uint64_t i = 0; i < l->count; i++)
		if (l->entry[i].sum != ~(i + 1))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	struct ledger *l;

	if (fd < 0 || ftruncate(fd, 4096) < 0)
		return 2;
	l = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (l == MAP_FAILED)
		return 2;
	if (strcmp(argv[2], "check") == 0)
		return check(l);
	for (uint64_t i = 0; i < 5; i++)
		append(l, i);
	return 0;
}
