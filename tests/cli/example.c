/* A program around an example of docs/findings.md, which is compiled as EXAMPLE, with the helpers that the page describes.
 * Usage: FILE runs the example; FILE KIND is the recovery for that kind. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flush.h"
#include "pmend.h"

struct pool {
	volatile uint64_t a, pad_a[7], b, pad_b[7], valid, pad_valid[7];
};

#define flush(p) flush_line(p)

__attribute__((unused)) static void persist(volatile void *p)
{
	flush(p);
	fence();
}

__attribute__((unused)) static int next_request(uint64_t *n)
{
	char line[2];

	*n = 0;
	if (read(0, line, sizeof line) != sizeof line)
		return 0;
	*n = (uint64_t)line[0];
	return 1;
}

__attribute__((unused)) static void answer(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		exit(1);
}

static void example(struct pool *p)
{
	uint64_t n = 0;

	(void)n;
	(void)p;
#include EXAMPLE
}

static int recover(const struct pool *p, const char *kind)
{
	if (strcmp(kind, "atomicity") == 0)
		return p->a != p->b;
	if (strcmp(kind, "cross-failure-race") == 0)
		return p->a > 1;
	return p->valid && !p->a;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	struct pool *p;

	if (fd < 0 || ftruncate(fd, sizeof *p) < 0)
		return perror("pool"), 2;
	p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return perror("mmap"), 2;
	if (argc > 2)
		return recover(p, argv[2]);
	example(p);
	return 0;
}
