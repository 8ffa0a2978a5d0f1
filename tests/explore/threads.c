/* Threads whose mistake needs an input and an order: FILE POOL broken|correct|dies. The file must begin with "note"; then a second thread copies what the
 * first one stores. If nobody changes them, the first is done before the second begins. With "dies", the second one aborts if it is not. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pm.h"

struct pool {
	_Alignas(64) volatile uint64_t data;
	_Alignas(64) volatile uint64_t copy;
};

static struct pool *pool;
static int is_correct, dies;
static volatile int is_done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *store(void *arg)
{
	for (uint64_t i = 1; i <= 3; i++) {
		pthread_mutex_lock(&lock);
		pool->data = 1000 * i; /* BUG: unpersisted-read */
		if (is_correct)
			persist((const void *)&pool->data);
		pthread_mutex_unlock(&lock);
		if (!is_correct)
			persist((const void *)&pool->data);
	}
	is_done = 1;
	return arg;
}

static void *load(void *arg)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		pool->copy = pool->data;
		persist((const void *)&pool->copy);
		pthread_mutex_unlock(&lock);
		if (dies && !is_done)
			abort();
	}
	return arg;
}

static void run(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, store, NULL);
	pthread_create(&b, NULL, load, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

int main(int argc, char **argv)
{
	int fd = argc == 4 ? open(argv[2], O_RDWR | O_CREAT, 0666) : -1;
	FILE *in = argc == 4 ? fopen(argv[1], "r") : NULL;
	char text[4] = "";

	if (fd < 0 || !in || ftruncate(fd, 4096) < 0 || fread(text, 1, 4, in) != 4)
		return 2;
	pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	is_correct = strcmp(argv[3], "broken") != 0;
	dies = strcmp(argv[3], "dies") == 0;
	if (text[0] == 'n' && text[1] == 'o' && text[2] == 't' && text[3] == 'e')
		run();
	return 0;
}
