/* Two words that change together, in a program that knows only flushes and fences. */
#include <fcntl.h>
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct pool {
	uint64_t a;
	char pad[56];
	uint64_t b;
};

static void persist(const void *p)
{
	_mm_clwb((void *)p);
	_mm_sfence();
}

static void set(struct pool *p, uint64_t value)
{
	p->a = value;
	persist(&p->a);
	p->b = value;
	persist(&p->b);
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0666);
	struct pool *p;

	if (fd < 0 || ftruncate(fd, 4096) != 0)
		return 2;
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (argc == 3 && strcmp(argv[2], "check") == 0)
		return p->a != p->b;
	set(p, 1);
	if (write(STDOUT_FILENO, "set\n", 4) < 0)
		return 2;
	set(p, 2);
	return 0;
}
