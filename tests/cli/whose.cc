// A list of records in persistent memory, by std::atomic and std::copy. One bug: the count is published before its record is written back.
//	whose POOL run|check
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

struct record {
	std::atomic<uint64_t> key;
	char text[56];
};

struct pool {
	alignas(64) std::atomic<uint64_t> count;
	alignas(64) record records[16];
};

static void write_back(const void *p)
{
	flush_line(p);
	fence();
}

static void push(pool *p, uint64_t key, const char *text)
{
	uint64_t n = p->count.load();
	record *r = &p->records[n];

	std::copy(text, text + 8, r->text);
	r->key.store(key, std::memory_order_relaxed); /* LOST */
	p->count.store(n + 1, std::memory_order_release); /* SURVIVED */
	write_back(&p->count);
	write_back(r);
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	pool *p;

	if (argc < 3 || fd < 0 || ftruncate(fd, sizeof *p) < 0)
		return 2;
	p = static_cast<pool *>(mmap(nullptr, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	for (uint64_t i = 1; !strcmp(argv[2], "run") && i <= 3; i++)
		push(p, i, "the text");
	for (uint64_t i = 0; !strcmp(argv[2], "check") && i < p->count; i++)
		if (p->records[i].key != i + 1)
			abort();
	return 0;
}
