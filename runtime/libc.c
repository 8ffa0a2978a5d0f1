/* Own functions for bytes and strings. They have the names that the compiler, libgcc's unwinder and
 * our own code use. They are bound inside this library before it is linked with the functions that
 * the program may see (runtime.mk). The C library's functions may contain detours, or the program
 * may have replaced them. Ours are simple: nothing here handles much data. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t __attribute__((may_alias, aligned(1))) word;

/* ---- bytes ---- */

void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if ((uintptr_t)t - (uintptr_t)f < n) { /* the ranges overlap: copy from the end */
		while (n > 0) {
			n--;
			t[n] = f[n];
		}
		return to;
	}
	for (; n >= sizeof(word); n -= sizeof(word), t += sizeof(word), f += sizeof(word))
		*(word *)t = *(const word *)f;
	while (n-- > 0)
		*t++ = *f++;
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	return memmove(to, from, n);
}

void *memset(void *to, int c, size_t n)
{
	unsigned char *t = to;
	const uint64_t eight = (unsigned char)c * 0x0101010101010101u;

	for (; n >= sizeof(word); n -= sizeof(word), t += sizeof(word))
		*(word *)t = eight;
	while (n-- > 0)
		*t++ = (unsigned char)c;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
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

/* Finds a byte in memory. The name is in parentheses, as others below, because glibc 2.43 has
 * macros of these names. */
void *(memchr)(const void *s, int c, size_t n)
{
	for (const unsigned char *x = s; n > 0; n--, x++)
		if (*x == (unsigned char)c)
			return (void *)x;
	return NULL;
}

/* ---- strings ---- */

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++)
		b++;
	return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n > 0; n--, a++, b++)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

char *strcpy(char *restrict to, const char *restrict from)
{
	return memmove(to, from, strlen(from) + 1);
}

char *(strchr)(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)s;
}

char *(strrchr)(const char *s, int c)
{
	const char *found = NULL;

	do
		if (*s == (char)c)
			found = s;
	while (*s++);
	return (char *)found;
}

size_t strspn(const char *s, const char *set)
{
	size_t n = 0;

	while (s[n] && strchr(set, s[n]))
		n++;
	return n;
}

size_t strcspn(const char *s, const char *set)
{
	size_t n = 0;

	while (s[n] && !strchr(set, s[n]))
		n++;
	return n;
}
