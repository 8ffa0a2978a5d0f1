/* Ends pmend when memory runs out, in whatever library. xmalloc() does that only for our own code;
 * libdw, jansson and the C library would continue with missing data, and the report would be wrong
 * without a message. All allocation functions are here, including free(): if the user preloads an
 * allocator for the program under test, it must not get memory that it did not allocate. Sanitizers
 * have their own allocator. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "util/alloc.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)

/* Declares the C library's allocator by its other names, which this file does not replace. */
void *__libc_malloc(size_t len_bytes);
void *__libc_calloc(size_t n, size_t len_bytes);
void *__libc_realloc(void *p, size_t len_bytes);
void *__libc_memalign(size_t alignment, size_t len_bytes);
void __libc_free(void *p);

static void *need(void *p)
{
	if (!p)
		alloc_die();
	return p;
}

void *malloc(size_t len_bytes)
{
	return need(__libc_malloc(len_bytes));
}

void *calloc(size_t n, size_t len_bytes)
{
	return need(__libc_calloc(n, len_bytes));
}

void *realloc(void *p, size_t len_bytes)
{
	void *moved = __libc_realloc(p, len_bytes);

	return len_bytes ? need(moved) : moved; /* with length 0, realloc() is free() */
}

void *reallocarray(void *p, size_t n, size_t len_bytes)
{
	size_t all_bytes;

	if (__builtin_mul_overflow(n, len_bytes, &all_bytes))
		alloc_die();
	return realloc(p, all_bytes);
}

void *aligned_alloc(size_t alignment, size_t len_bytes)
{
	return need(__libc_memalign(alignment, len_bytes));
}

void *memalign(size_t alignment, size_t len_bytes)
{
	return need(__libc_memalign(alignment, len_bytes));
}

int posix_memalign(void **p, size_t alignment, size_t len_bytes)
{
	if (alignment % sizeof(void *) || !alignment || (alignment & (alignment - 1)))
		return EINVAL;
	*p = need(__libc_memalign(alignment, len_bytes));
	return 0;
}

void free(void *p)
{
	__libc_free(p);
}

#endif
