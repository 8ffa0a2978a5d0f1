/* Defines string functions that read exactly the bytes they need. Those of the C library read whole
 * vectors, up to the end of the page: they would read undecided bytes that have no effect. Calls of
 * the program come here because this library is preloaded. Calls inside the C library do not, nor
 * do our own (libc.c). Names in parentheses are macros in glibc 2.43. */
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t __attribute__((may_alias, aligned(1))) word;

static int compare(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n >= sizeof(word) && *(const word *)x == *(const word *)y; n -= sizeof(word)) {
		x += sizeof(word);
		y += sizeof(word);
	}
	for (; n > 0; n--, x++, y++)
		if (*x != *y)
			return *x < *y ? -1 : 1;
	return 0;
}

EXPORT int memcmp(const void *a, const void *b, size_t n)
{
	return compare(a, b, n);
}

EXPORT int bcmp(const void *a, const void *b, size_t n)
{
	return compare(a, b, n);
}

EXPORT void *(memchr)(const void *s, int c, size_t n)
{
	for (const unsigned char *x = s; n > 0; n--, x++)
		if (*x == (unsigned char)c)
			return (void *)x;
	return NULL;
}

EXPORT size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

EXPORT size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

EXPORT int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

EXPORT int strncmp(const char *a, const char *b, size_t n)
{
	for (; n > 0; n--, a++, b++)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

EXPORT char *(strchr)(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)s;
		if (!*s)
			return NULL;
	}
}
