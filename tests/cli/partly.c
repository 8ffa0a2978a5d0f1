/* A static program of which a part (PART) is compiled without -g: three of its functions store and do not flush. One line calls them all. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void put_first(volatile uint64_t *pool);
void put_second(volatile uint64_t *pool);
void put_third(volatile uint64_t *pool);

#ifdef PART

void put_first(volatile uint64_t *pool)
{
	pool[0] = 1;
}

void put_second(volatile uint64_t *pool)
{
	pool[8] = 1;
}

void put_third(volatile uint64_t *pool)
{
	pool[16] = 1;
}

#else

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	volatile uint64_t *pool;

	if (fd < 0 || ftruncate(fd, 4096) < 0)
		return 2;
	pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pool == MAP_FAILED)
		return 2;
	put_first(pool), put_second(pool), put_third(pool); /* BUG */
	return 0;
}

#endif
