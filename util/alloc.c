/* Allocates memory, and never returns NULL. An arena has many small allocations that are freed
 * together. An arena that has become large grows by 2 MiB at a time, so that it can use large
 * pages. */
#include "util/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_BLOCK_BYTES ((size_t)64 << 10)
/* the size of a large page; fewer pages mean fewer faults and fewer misses of the TLB */
#define ARENA_LARGE_BYTES ((size_t)2 << 20)

struct arena_block {
	struct arena_block *older;
};

void *xmalloc(size_t len_bytes)
{
	void *p = malloc(len_bytes ? len_bytes : 1);

	if (!p)
		alloc_die();
	return p;
}

void *xcalloc(size_t n, size_t len_bytes)
{
	void *p = calloc(n ? n : 1, len_bytes ? len_bytes : 1);

	if (!p)
		alloc_die();
	return p;
}

void *xrealloc(void *p, size_t n, size_t len_bytes)
{
	if (n == 0 || len_bytes == 0)
		n = len_bytes = 1;
	p = reallocarray(p, n, len_bytes);
	if (!p)
		alloc_die();
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
		alloc_die();
	return s;
}

/* Adds a block. It is a large page only if that is at most a quarter of what the arena has. */
static void arena_grow(struct arena *a, size_t len_bytes)
{
	size_t room = ARENA_BLOCK_BYTES;
	struct arena_block *block;

	if (a->total_bytes >= 4 * ARENA_LARGE_BYTES)
		room = ARENA_LARGE_BYTES;
	if (len_bytes + sizeof *block > room)
		room = len_bytes + sizeof *block;
	block = room == ARENA_LARGE_BYTES ? aligned_alloc(room, room) : malloc(room);
	if (!block)
		alloc_die();
	if (room == ARENA_LARGE_BYTES)
		madvise(block, room, MADV_HUGEPAGE);
	block->older = a->blocks;
	a->blocks = block;
	a->next = (char *)(block + 1);
	a->end = (char *)block + room;
	a->total_bytes += room;
}

void *arena_alloc(struct arena *a, size_t len_bytes)
{
	void *p;

	len_bytes = (len_bytes + 7) & ~(size_t)7;
	if (!a->blocks || len_bytes > (size_t)(a->end - a->next))
		arena_grow(a, len_bytes);
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

char *arena_text(struct arena *a, const char *text)
{
	return text ? arena_string(a, text, strlen(text)) : NULL;
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
