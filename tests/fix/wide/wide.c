/* wide POOL [check]: an ordering bug where a crash can leave very many states. Twelve notes are flushed and not fenced when the record is made valid, so each may be lost or
 * not; recovery reads them all and copes with any. The value that the record has is not flushed: recovery does not cope with a valid record without it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

enum { NOTES = 12, RECORDS = 4 };

struct line {
	uint64_t word;
	char rest[56];
};

struct pool {
	struct line valid, value[RECORDS], note[RECORDS][NOTES];
};

static void flush(const void *p)
{
	flush_line(p);
}

static void record(struct pool *p, uint64_t i)
{
	for (int k = 0; k < NOTES; k++) {
		p->note[i][k].word = i + 1;
		flush(&p->note[i][k]);
	}
	p->value[i].word = i + 42;
	p->valid.word = i + 1;
	flush(&p->valid);
	fence();
}

static int check(const struct pool *p)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < RECORDS; i++)
		for (int k = 0; k < NOTES; k++)
			sum += p->note[i][k].word == i + 1;
	for (uint64_t i = 0; i < p->valid.word; i++)
		if (p->value[i].word != i + 42)
			return 3;
	return sum > RECORDS * NOTES;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	struct pool *p;

	if (fd < 0 || ftruncate(fd, sizeof *p) < 0)
		return 2;
	p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 2;
	if (argc > 2 && strcmp(argv[2], "check") == 0)
		return check(p);
	for (uint64_t i = 0; i < RECORDS; i++)
		record(p, i);
	return 0;
}
