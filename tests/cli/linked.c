/* Functions of the C library store to persistent memory for this program. None of these stores is flushed. The C library may be linked in. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

#define BYTES 65536

static void copy(char *to, const char *from, size_t n)
{
	memcpy(to, from, n); /* BUG */
}

static void *work(void *arg)
{
	memset(arg, 7, (size_t)getpid() % 100 + 3000); /* BUG */
	fence();
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	char *pool, *other = malloc(8192);
	pthread_t thread;

	if (argc < 2 || fd < 0 || ftruncate(fd, BYTES) < 0)
		return 2;
	pool = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pool == MAP_FAILED)
		return 2;
	memset(other, argc, 8192);
	copy(pool, other, 20 + (size_t)argc);
	copy(pool + 4096, other, 4000 + (size_t)argc);
	strcpy(pool + 16384, argv[1]); /* BUG */
	sprintf(pool + 20480, "%d %s", argc, argv[1]); /* BUG */
	fence();
	if (pthread_create(&thread, NULL, work, pool + 32768) != 0)
		return 2;
	pthread_join(thread, NULL);
	return 0;
}
