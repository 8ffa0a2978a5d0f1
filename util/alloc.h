/* Allocates memory, and never returns NULL: if memory is out, pmend ends with a message. */
#ifndef UTIL_ALLOC_H
#define UTIL_ALLOC_H

#include <stddef.h>

/* Says that memory is out and exits with 3. */
_Noreturn void alloc_die(void);

void *xmalloc(size_t len_bytes) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t len_bytes) __attribute__((malloc, returns_nonnull));
/* Reallocates p to n elements of len_bytes each; the product is checked for overflow. */
void *xrealloc(void *p, size_t n, size_t len_bytes) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), malloc, returns_nonnull));

/* Many small allocations that are freed together. Zero-initialised is empty. */
struct arena {
	struct arena_block *blocks;
	char *next, *end;
	size_t total_bytes;
};

/* Allocates memory in the arena, aligned to 8 bytes. */
void *arena_alloc(struct arena *a, size_t len_bytes) __attribute__((returns_nonnull));
/* Copies the bytes into the arena and adds a NUL. */
char *arena_string(struct arena *a, const void *bytes, size_t len_bytes);
char *arena_text(struct arena *a, const char *text); /* copies the text; NULL stays NULL */
void arena_release(struct arena *a);

#endif
