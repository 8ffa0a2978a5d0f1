/* Flushes of memory that no crash spares: the heap, the stack, globals, copies of a file. */
#include "corpus.h"

static uint64_t g_counter = 1;

static void heap(struct pm *p)
{
	uint64_t *copy = malloc(64);

	CHECK(copy);
	*copy = 1;
	flush_line(copy); /* BUG: flush-volatile */
	p->a = *copy;
	flush_line(&p->a);
	fence();
	free(copy);
}

static void stack(struct pm *p)
{
	volatile uint64_t copy = 2;

	p->a = copy;
	flush_line_alt((void *)&copy); /* BUG: flush-volatile */
	flush_line(&p->a);
	fence();
}

/* The fence has nothing to wait for either, but that is the same mistake. */
static void global(struct pm *p)
{
	(void)p;
	g_counter++;
	flush_line_now(&g_counter); /* BUG: flush-volatile */
	fence();
}

static char g_path[4096];

static void private_mapping(struct pm *p)
{
	int fd = open(g_path, O_RDWR);
	char *copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	(void)p;
	CHECK(copy != MAP_FAILED);
	copy[0] = 1;
	flush_line(copy); /* BUG: flush-volatile */
	fence();
	CHECK(munmap(copy, 4096) == 0 && close(fd) == 0);
}

/* A file that is not ours to judge, as the semaphores of glibc: nobody said that it is volatile. */
static void unlinked_file(struct pm *p)
{
	char path[4200];
	uint64_t *data;
	int fd;

	(void)p;
	snprintf(path, sizeof path, "%s.gone", g_path);
	fd = open(path, O_RDWR | O_CREAT, 0666);
	CHECK(fd >= 0 && ftruncate(fd, 8192) == 0 && unlink(path) == 0);
	data = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(data != MAP_FAILED && munmap((char *)data + 4096, 4096) == 0);
	*data = 1;
	flush_line(data);
	data = mremap(data, 4096, 16384, MREMAP_MAYMOVE);
	CHECK(data != MAP_FAILED);
	*data = 2;
	flush_line(data);
	CHECK(munmap(data, 16384) == 0 && close(fd) == 0);
}

static void persistent(struct pm *p)
{
	p->a = 1;
	persist(&p->a, 8);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	snprintf(g_path, sizeof g_path, "%s", argv[1]);
	return RUN_CASES(argv, heap, stack, global, private_mapping, unlinked_file, persistent);
}
