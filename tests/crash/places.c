/* A pool that holds an address, and is mostly a hole. Correct: the address is stored and flushed before the flag. What recovery finds depends on where it runs: whether the address is free,
 * and how much room the images have.
 *
 *   places POOL run|follow|beside|taken|same|fill|write */
#include <dlfcn.h>

#include "pm.h"

#define POOL_BYTES ((size_t)100 << 20)
#define FILL_BYTES ((size_t)90 << 20)
#define PAGE_BYTES 4096

struct pool {
	uint64_t is_valid;
	char pad[LINE_BYTES - 8];
	uint64_t *value; /* an address */
	char pad2[LINE_BYTES - 8];
	uint64_t data;
	uint64_t functions; /* of the C library */
};

/* A number for which of its functions the C library took. */
static uint64_t functions(void)
{
	static const char *const names[] = { "memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strcmp", "strchr", "strcspn", "strstr", "strncpy" };
	uint64_t h = 0;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char *at = dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), *f = dlsym(dlopen("libc.so.6", RTLD_NOW), names[i]);

		CHECK(at && f);
		h = h * 31 + (uint64_t)(f - at);
	}
	return h;
}

static void run(struct pool *p)
{
	p->data = 42;
	p->functions = functions();
	p->value = &p->data;
	persist(&p->value, sizeof p->value);
	persist(&p->data, 2 * sizeof p->data);
	p->is_valid = 1;
	persist(&p->is_valid, sizeof p->is_valid);
}

/* Something else is mapped where the pool was. */
static void take_address(const char *path)
{
	struct pool p = { 0 };
	int fd = open(path, O_RDONLY);

	if (fd < 0 || pread(fd, &p, sizeof p, 0) != sizeof p || !p.value)
		return;
	close(fd);
	CHECK(mmap((void *)((uintptr_t)p.value & ~(uintptr_t)(PAGE_BYTES - 1)), PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != MAP_FAILED);
}

static void write_all(const char *path)
{
	static char bytes[1 << 20];
	int fd = open(path, O_RDWR);

	memset(bytes, 1, sizeof bytes);
	for (size_t at = PAGE_BYTES; at < FILL_BYTES; at += sizeof bytes)
		CHECK(pwrite(fd, bytes, sizeof bytes, (off_t)at) == sizeof bytes);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *way;
	struct pool *p;

	CHECK(argc == 3);
	way = argv[2];
	if (strcmp(way, "taken") == 0 || strcmp(way, "beside") == 0)
		take_address(argv[1]);
	p = pool_create(argv[1], POOL_BYTES);
	if (strcmp(way, "run") == 0) {
		run(p);
		return 0;
	}
	if (!p->is_valid)
		return 0;
	CHECK(p->data == 42);
	if (strcmp(way, "follow") == 0 || strcmp(way, "taken") == 0)
		CHECK(*p->value == 42);
	if (strcmp(way, "same") == 0)
		CHECK(p->functions == functions());
	if (strcmp(way, "fill") == 0)
		memset((char *)p + PAGE_BYTES, 1, FILL_BYTES);
	if (strcmp(way, "write") == 0)
		write_all(argv[1]);
	return 0;
}
