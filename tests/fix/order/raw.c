/* A program that knows only flushes and fences: an entry that must be durable before it is counted, which a barrier mends, and two words that
 * change together, which none does. */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

struct pool {
	uint64_t a;
	char pad1[56];
	uint64_t b;
	char pad2[56];
	uint64_t count;
	char pad3[56];
	uint64_t values[8];
};

static void flush(const void *p)
{
	flush_line(p);
}

static void append(struct pool *p, uint64_t value)
{
	p->values[p->count] = value;
	p->count++;
	flush(&p->values[p->count - 1]);
	flush(&p->count);
	fence();
}

static void set(struct pool *p, uint64_t value)
{
	p->a = value;
	flush(&p->a);
	fence();
	p->b = value;
	flush(&p->b);
	fence();
}

static int check(const struct pool *p)
{
	for (uint64_t i = 0; i < p->count; i++)
		if (!p->values[i])
			return 1;
	return p->a != p->b;
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0666);
	struct pool *p;

	if (fd < 0 || ftruncate(fd, 4096) != 0)
		return 2;
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (argc == 3 && strcmp(argv[2], "check") == 0)
		return check(p);
	append(p, 5);
	if (write(STDOUT_FILENO, "appended\n", 9) < 0)
		return 2;
	set(p, 1);
	return write(STDOUT_FILENO, "set\n", 4) < 0;
}
