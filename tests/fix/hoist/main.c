/* Functions that work on volatile and on persistent memory. The marks are the call stacks of bugs: name, and how far out. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cells.h"

/* HIPPOCRATES, listing 3.5 */
static void update(char *addr, int idx, char value)
{
	addr[idx] = value; /* stack: listing0 later0 */
}

static void modify(char *addr, int n)
{
	update(addr, n + 3, 'x'); /* stack: listing1 later1 */
	if (n > 100)
		addr[0] = 'n';
}

static void listing(char *pm)
{
	char in_volatile_memory[16];

	for (int i = 0; i < 10; i++)
		modify(in_volatile_memory, i);
	modify(pm, 1); /* stack: listing2 */
	printf("%c\n", in_volatile_memory[4]);
}

/* Another bug shares the copies. */
static int later(char *pm)
{
	modify(pm, 2); /* stack: later2 */
	return 0;
}

static long depth(struct cell *c, int n)
{
	c->key = n; /* stack: deep0 */
	return n ? depth(c + 1, n - 1) : 0;
}

static void both_depths(struct cell *pm)
{
	struct cell cells[4];

	depth(cells, 3);
	depth(pm, 0); /* stack: deep1 */
}

static void by_pointer(struct cell *c)
{
	c->value = 1; /* stack: pointer0 */
}

static void (*const operation)(struct cell *c) = by_pointer;

static void both_pointers(struct cell *pm)
{
	struct cell cell;

	operation(&cell);
	operation(pm); /* stack: pointer1 */
}

static void any_number(struct cell *c, ...)
{
	va_list ap;

	va_start(ap, c);
	c->key = va_arg(ap, long); /* stack: any0 */
	va_end(ap);
}

static void both_any(struct cell *pm)
{
	struct cell cell;

	any_number(&cell, 4l);
	any_number(pm, 5l); /* stack: any1 */
}

static void counted(struct cell *c)
{
	static long calls;

	c->key = ++calls; /* stack: count0 */
}

static void both_counted(struct cell *pm)
{
	struct cell cell;

	counted(&cell);
	counted(pm); /* stack: count1 */
}

static void swap_some(struct cell *pm)
{
	struct cell cell = { 1, 2, "" };

	cell_swap(&cell);
	cell_swap(pm); /* stack: swap1 swapped1 */
}

/* One caller does not know what it has: the function itself is changed, for the other one, too. */
static void mark(struct cell *c, long value)
{
	if (value)
		c->value = value; /* stack: either0 sure0 */
}

int main(int argc, char **argv)
{
	struct cell *pm, cell = { 0 };
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;

	if (fd < 0 || ftruncate(fd, 8192) < 0)
		return 2;
	pm = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pm == MAP_FAILED)
		return 2;
	pm_flush(pm, 0);
	pm_fence();
	listing(pm[0].text); /* stack: listing3 */
	later(pm[2].text); /* stack: later3 */
	if (argc > 5) {
		later(pm[3].text); /* as good as the call in later() itself, which is nearer */
		mark(&cell, 3);
	}
	both_depths(&pm[4]); /* stack: deep2 */
	both_pointers(&pm[6]); /* stack: pointer2 */
	both_any(&pm[8]); /* stack: any2 */
	both_counted(&pm[10]); /* stack: count2 */
	swap_some(&pm[12]); /* stack: swap2 swapped2 */
	cell_fill(&cell, 7);
	cell_fill(&pm[14], 8); /* stack: fill2 loop2 */
	cell_label(&cell, "volatile");
	cell_label(&pm[16], "persistent"); /* stack: label2 */
	if (cell_label(&pm[18], "twice")) /* stack: again2 */
		return 3;
	mark(argc == 2 ? &pm[20] : &cell, 1); /* stack: either1 */
	mark(&pm[22], 2); /* stack: sure1 */
	printf("%ld %s %ld\n", cell.key, cell.text, pm[12].key);
	return 0;
}
