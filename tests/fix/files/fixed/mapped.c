/* An index in a mapped file, with a helper that syncs a range, and a log beside it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct index {
	uint64_t n;
	uint64_t entries[1000];
};

static void to_disk(const void *at, size_t n)
{
	const uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095;

	msync((void *)page, (uintptr_t)at + n - page, MS_SYNC);
}

static int sync_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY), result;

	if (fd < 0)
		return -1;
	result = fsync(fd);
	close(fd);
	return result;
}

static int add(struct index *x, int log, uint64_t value)
{
	char line[30];

	snprintf(line, sizeof line, "%llu\n", (unsigned long long)value);
	if (write(log, line, strlen(line)) != (ssize_t)strlen(line))
		return -1;
	if (fsync(log) < 0)
		return -1;
	x->entries[x->n] = value;
	to_disk(&x->entries[x->n], sizeof(uint64_t));
	x->n++;
	to_disk(&x->n, sizeof x->n);
	return 0;
}

int main(int argc, char **argv)
{
	struct index *x;
	int log, fd;

	if (argc != 2 || chdir(argv[1]) < 0)
		return 2;
	fd = open("index", O_RDWR | O_CREAT, 0644);
	log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (fd < 0 || log < 0 || ftruncate(fd, sizeof *x) < 0 || fsync(fd) < 0 ||
	    sync_folder(".") < 0)
		return 2;
	x = mmap(NULL, sizeof *x, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (x == MAP_FAILED)
		return 2;
	return add(x, log, 7) < 0 || add(x, log, 8) < 0;
}
