/* Allocation that cannot fail. */
#include "util/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BLOCK_BYTES ((size_t)64 << 10)

struct arena_block {
	struct arena_block *older;
};

static _Noreturn void out_of_memory(void)
{
	fputs("pmend: out of memory\n", stderr);
	abort();
}

void *xmalloc(size_t len_bytes)
{
	void *p = malloc(len_bytes ? len_bytes : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xcalloc(size_t n, size_t len_bytes)
{
	void *p = calloc(n ? n : 1, len_bytes ? len_bytes : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xrealloc(void *p, size_t n, size_t len_bytes)
{
	if (n == 0 || len_bytes == 0)
		n = len_bytes = 1;
	p = reallocarray(p, n, len_bytes);
	if (!p)
		out_of_memory();
	return p;
}

char *xstrdup(const char *s)
{
	size_t len = strlen(s) + 1;

	return memcpy(xmalloc(len), s, len);
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *s;
	int n;

	va_start(args, fmt);
	n = vasprintf(&s, fmt, args);
	va_end(args);
	if (n < 0)
		out_of_memory();
	return s;
}

void *arena_alloc(struct arena *a, size_t len_bytes)
{
	struct arena_block *block;
	size_t room;
	void *p;

	len_bytes = (len_bytes + 7) & ~(size_t)7;
	if (!a->blocks || len_bytes > (size_t)(a->end - a->next)) {
		room = len_bytes > ARENA_BLOCK_BYTES ? len_bytes : ARENA_BLOCK_BYTES;
		block = xmalloc(sizeof *block + room);
		block->older = a->blocks;
		a->blocks = block;
		a->next = (char *)(block + 1);
		a->end = a->next + room;
	}
	p = a->next;
	a->next += len_bytes;
	return p;
}

char *arena_string(struct arena *a, const void *bytes, size_t len_bytes)
{
	char *s = arena_alloc(a, len_bytes + 1);

	if (len_bytes)
		memcpy(s, bytes, len_bytes);
	s[len_bytes] = '\0';
	return s;
}

void arena_release(struct arena *a)
{
	struct arena_block *block, *older;

	for (block = a->blocks; block; block = older) {
		older = block->older;
		free(block);
	}
	*a = (struct arena){ 0 };
}
