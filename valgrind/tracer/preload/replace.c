/* Replaces the C library's functions that compare and search strings and memory, in the traced
 * program, with plain loops. Then each byte is a branch of its own, which says more than vector
 * instructions. Functions that only move bytes stay, except for those that look for the end of a
 * string. */

#include <stddef.h>

#include "pub_tool_redir.h"
#include "valgrind.h"
#include "measured.h"
#include "pmpath.h"

#define REPLACES(name) VG_REPLACE_FUNCTION_EZU(20990, VG_Z_LIBC_SONAME, name)
typedef unsigned char byte;

#define LENGTH(name, params, limit) \
	size_t REPLACES(name) params; \
	size_t REPLACES(name) params \
	{ \
		size_t n = 0; \
\
		while (limit s[n]) \
			n++; \
		return measured(PMP_WORD_LENGTH, s, n, n); \
	}
LENGTH(strlen, (const char *s), )
LENGTH(strnlen, (const char *s, size_t max), n < max &&)

static int lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static int same(int c)
{
	return c;
}

/* Compares up to max bytes; strings end at their NUL. */
static inline __attribute__((always_inline)) int compare(const byte *a, const byte *b, size_t max,
							 int has_end, int (*fold)(int))
{
	for (size_t i = 0; i < max; i++) {
		int x = fold(a[i]), y = fold(b[i]);

		if (x != y)
			return x < y ? -1 : 1;
		if (has_end && x == 0)
			return 0;
	}
	return 0;
}

/* Whether all bytes are equal is asked as one question, so that a magic number or keyword needs one
 * answer. Where they differ is asked afterwards. */
#define ONE_QUESTION_MAX 64
#define PAGE_BYTES 4096

/* Compares up to the NUL of b, which is usually a constant. a may end earlier and is still read,
 * but not into another page. */
static inline __attribute__((always_inline)) int compare_strings(const byte *a, const byte *b,
								 size_t max, int (*fold)(int))
{
	byte differ = 0;
	size_t i = 0;

	for (; i < max && i < ONE_QUESTION_MAX; i++) {
		if (i && (size_t)(a + i) % PAGE_BYTES == 0)
			break;
		differ |= (byte)(fold(a[i]) ^ fold(b[i]));
		if (b[i] == 0) {
			if (differ == 0)
				return 0;
			break;
		}
	}
	if (i == max && differ == 0)
		return 0;
	VALGRIND_DO_CLIENT_REQUEST_STMT(PMP_REQ_COMPARED, a, b, max, 0, 0);
	return compare(a, b, max, 1, fold);
}

static int compare_all(const byte *a, const byte *b, size_t n)
{
	byte differ = 0;

	for (size_t i = 0; i < n && i < ONE_QUESTION_MAX; i++)
		differ |= (byte)(a[i] ^ b[i]);
	if (differ == 0 && n <= ONE_QUESTION_MAX)
		return 0;
	return compare(a, b, n, 0, same);
}

#define COMPARE_ALL(name) \
	int REPLACES(name)(const void *a, const void *b, size_t n); \
	int REPLACES(name)(const void *a, const void *b, size_t n) \
	{ \
		return compare_all(a, b, n); \
	}
COMPARE_ALL(memcmp)
COMPARE_ALL(bcmp)
COMPARE_ALL(__memcmpeq)

#define COMPARE(name, params, max, fold) \
	int REPLACES(name) params; \
	int REPLACES(name) params \
	{ \
		return compare_strings((const byte *)a, (const byte *)b, max, fold); \
	}
COMPARE(strcmp, (const char *a, const char *b), (size_t)-1, same)
COMPARE(strncmp, (const char *a, const char *b, size_t n), n, same)
COMPARE(strcasecmp, (const char *a, const char *b), (size_t)-1, lower)
COMPARE(strncasecmp, (const char *a, const char *b, size_t n), n, lower)

#define FIND(name, otherwise) \
	char *REPLACES(name)(const char *s, int c); \
	char *REPLACES(name)(const char *s, int c) \
	{ \
		for (; *s != (char)c; s++) \
			if (*s == '\0') \
				return otherwise; \
		return (char *)s; \
	}
FIND(strchr, NULL)
FIND(index, NULL)
FIND(strchrnul, (char *)s)

#define FIND_LAST(name) \
	char *REPLACES(name)(const char *s, int c); \
	char *REPLACES(name)(const char *s, int c) \
	{ \
		const char *found = NULL; \
\
		for (;; s++) { \
			if (*s == (char)c) \
				found = s; \
			if (*s == '\0') \
				return (char *)found; \
		} \
	}
FIND_LAST(strrchr)
FIND_LAST(rindex)

void *REPLACES(memchr)(const void *s, int c, size_t n);
void *REPLACES(memchr)(const void *s, int c, size_t n)
{
	const byte *p = s;

	for (size_t i = 0; i < n; i++)
		if (p[i] == (byte)c)
			return (void *)(p + i);
	return NULL;
}

void *REPLACES(memrchr)(const void *s, int c, size_t n);
void *REPLACES(memrchr)(const void *s, int c, size_t n)
{
	const byte *p = s;

	while (n-- > 0)
		if (p[n] == (byte)c)
			return (void *)(p + n);
	return NULL;
}

void *REPLACES(rawmemchr)(const void *s, int c);
void *REPLACES(rawmemchr)(const void *s, int c)
{
	const byte *p = s;

	while (*p != (byte)c)
		p++;
	return (void *)p;
}

static inline __attribute__((always_inline)) char *copy(char *to, const char *from)
{
	while ((*to = *from++) != '\0')
		to++;
	return to;
}

char *REPLACES(strcpy)(char *to, const char *from);
char *REPLACES(strcpy)(char *to, const char *from)
{
	copy(to, from);
	return to;
}

char *REPLACES(stpcpy)(char *to, const char *from);
char *REPLACES(stpcpy)(char *to, const char *from)
{
	return copy(to, from);
}

char *REPLACES(strcat)(char *to, const char *from);
char *REPLACES(strcat)(char *to, const char *from)
{
	char *end = to;

	while (*end)
		end++;
	copy(end, from);
	return to;
}

char *REPLACES(strncpy)(char *to, const char *from, size_t n);
char *REPLACES(strncpy)(char *to, const char *from, size_t n)
{
	size_t i = 0;

	for (; i < n && from[i]; i++)
		to[i] = from[i];
	for (; i < n; i++)
		to[i] = '\0';
	return to;
}

char *REPLACES(strncat)(char *to, const char *from, size_t n);
char *REPLACES(strncat)(char *to, const char *from, size_t n)
{
	char *end = to;
	size_t i = 0;

	while (*end)
		end++;
	for (; i < n && from[i]; i++)
		end[i] = from[i];
	end[i] = '\0';
	return to;
}

static size_t span(const char *s, const char *set, int is_in)
{
	size_t n = 0;

	for (; s[n]; n++) {
		const char *p = set;

		while (*p && *p != s[n])
			p++;
		if ((*p != '\0') != is_in)
			break;
	}
	return n;
}

size_t REPLACES(strspn)(const char *s, const char *set);
size_t REPLACES(strspn)(const char *s, const char *set)
{
	return span(s, set, 1);
}

size_t REPLACES(strcspn)(const char *s, const char *set);
size_t REPLACES(strcspn)(const char *s, const char *set)
{
	return span(s, set, 0);
}

char *REPLACES(strpbrk)(const char *s, const char *set);
char *REPLACES(strpbrk)(const char *s, const char *set)
{
	s += span(s, set, 0);
	return *s ? (char *)s : NULL;
}

char *REPLACES(strstr)(const char *s, const char *word);
char *REPLACES(strstr)(const char *s, const char *word)
{
	for (;; s++) {
		size_t n = 0;

		while (word[n] && s[n] == word[n])
			n++;
		if (word[n] == '\0')
			return (char *)s;
		if (s[n] == '\0')
			return NULL;
	}
}
