/* System calls in code that the program maps, moves or makes itself. They are caught as those of the C library are. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine.h"
#include "run.h"

#define TEXT(offset) { offset, { { 0, 4, 0x64636261 }, { 4, 4, 0x68676665 } } }
#define TEXT_DECISION(line) { line, 0, ALL, 3 }
#define FAR ((void *)0x300000000000ul) /* from every other mapping */

typedef long write_fn(int fd, const void *from, size_t n);
static const unsigned char code[] = WRITE_CODE;
static const size_t room = 1u << 16;

/* What is written first is PM; then anything else, without us. */
static int call_it(void *at)
{
	write_fn *f = (write_fn *)at;
	char *p = map_pool();

	return f(1, p, 8) == 8 && f(1, "!", 1) == 1 ? 0 : 1;
}

static int make_code(void *hint)
{
	char *at = mmap(hint, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return 1;
	memcpy(at + 64, code, sizeof code);
	if (mprotect(at, room, PROT_READ | PROT_EXEC) < 0)
		return 1;
	__builtin___clear_cache(at, at + room);
	return call_it(at + 64);
}

static int made(void)
{
	return make_code(NULL);
}

static int made_far(void)
{
	return make_code(FAR);
}

void *map_code(int flags)
{
	int fd = memfd_create("code", 0);
	void *at;

	if (fd < 0 || ftruncate(fd, 100) < 0 || pwrite(fd, code, sizeof code, 0) != sizeof code)
		return NULL;
	at = mmap(NULL, room, PROT_READ | PROT_EXEC, flags, fd, 0); /* longer than the file */
	return at == MAP_FAILED ? NULL : at;
}

static int mapped(void)
{
	void *at = map_code(MAP_PRIVATE);

	return at ? call_it(at) : 1;
}

const struct test code_tests[] = {
	{ "code-made", made, { TEXT(0) }, { TEXT_DECISION(0) }, "abcdefgh!" },
	{ "code-made-far", made_far, { TEXT(0) }, { TEXT_DECISION(0) }, "abcdefgh!" },
	{ "code-mapped", mapped, { TEXT(0) }, { TEXT_DECISION(0) }, "abcdefgh!" },
	{ 0 },
};
