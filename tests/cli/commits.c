/* A pool with two records, each with a commit variable: one is written with care, one is not. For tests of oracles. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmend.h"
#include "tests/machine.h"

struct record {
	_Alignas(64) volatile uint64_t data;
	_Alignas(64) volatile uint64_t is_valid;
};

static void persist(const volatile void *addr)
{
	flush_line(addr);
	fence();
}

static __attribute__((noinline)) void write_with_care(struct record *r)
{
	PMEND_COMMIT_VAR(&r->is_valid, sizeof r->is_valid);
	r->data = 1;
	persist(&r->data);
	r->is_valid = 1;
	persist(&r->is_valid);
}

static __attribute__((noinline)) void write_carelessly(struct record *r)
{
	PMEND_COMMIT_VAR(&r->is_valid, sizeof r->is_valid);
	r->data = 1; /* LOST */
	r->is_valid = 1; /* BUG */
	persist(&r->data);
	persist(&r->is_valid);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;
	struct record *r;

	if (fd < 0 || ftruncate(fd, 4096) != 0)
		return 1;
	r = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r == MAP_FAILED)
		return 1;
	write_with_care(&r[0]);
	write_carelessly(&r[1]);
	return 0;
}
