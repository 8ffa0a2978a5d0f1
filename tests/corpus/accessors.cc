/* Accessors of C++ classes: the line that calls them is meant. */
#include "accessors.h"

#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

extern "C" {
#include "tests/machine.h"
}

static void persist(const account *a)
{
	for (uintptr_t line = (uintptr_t)a; line < (uintptr_t)(a + 1); line += 64)
		flush_line(line);
	fence();
}

[[gnu::noinline]] static void right(account *a)
{
	new (a) account(1, 10);
	a->set_balance(11);
	a->limit = 12;
	persist(a);
}

[[gnu::noinline]] static void construct(account *a)
{
	new (a) account(2, 20); /* BUG: missing-flush-fence */
}

[[gnu::noinline]] static void set(account *a)
{
	a->set_balance(30); /* BUG: missing-flush-fence */
}

[[gnu::noinline]] static void assign(account *a)
{
	a->limit = 40; /* BUG: missing-flush-fence */
}

/* Three callers of one template: two of one instance, one of another. */
[[gnu::noinline]] static void set_first(pair<uint64_t> *p)
{
	p->set(1, 2); /* BUG: missing-flush-fence */
}

[[gnu::noinline]] static void set_second(pair<uint64_t> *p)
{
	p->set(3, 4); /* BUG: missing-flush-fence */
}

[[gnu::noinline]] static void set_other(pair<uint32_t> *p)
{
	p->set(5, 6); /* BUG: missing-flush-fence */
}

int main(int argc, char **argv)
{
	const int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;
	account *a;

	if (fd < 0 || ftruncate(fd, 4096) != 0)
		return 1;
	a = static_cast<account *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	if (a == MAP_FAILED)
		return 1;
	right(&a[0]);
	construct(&a[1]);
	set(&a[2]);
	assign(&a[3]);
	set_first(reinterpret_cast<pair<uint64_t> *>(&a[4]));
	set_second(reinterpret_cast<pair<uint64_t> *>(&a[5]));
	set_other(reinterpret_cast<pair<uint32_t> *>(&a[6]));
	return 0;
}
