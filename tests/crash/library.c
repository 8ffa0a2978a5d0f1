/* Recovery that reads PM with every function of the C library that reads memory or strings, thousands of times, beside a line that stays undecided: every one of
 * them faults, and gets detours. What each gives must be what it gives for a copy in ordinary memory.
 *
 *	PROG POOL run N | PROG POOL recover		status 1: a function gave something else */
#include <wchar.h>

#include "pm.h"

enum { TEXT = 1024, POOL_BYTES = 4096, OUT = 1024 };

struct pool {
	uint64_t round;		/* counts; flushed, and read by recovery */
	char pad[56];
	uint64_t scratch[8];	/* never flushed, never read */
	char text[TEXT];	/* what is read */
	char between[512];	/* functions that read whole vectors do not come to what follows */
	uint64_t last[8];	/* never flushed, never read */
};

static char g_copy[TEXT], g_out[2][OUT];

static void wrong(const char *function, size_t at, size_t n)
{
	printf("%s is wrong at %zu for %zu bytes\n", function, at, n);
	exit(1);
}

/* x: an expression with the text in `s` and a buffer in `out`; the same for both? */
#define SAME(name, type, x) do { \
		type got[2]; \
		for (int k = 0; k < 2; k++) { \
			const char *s = (k ? g_copy : text) + at; \
			char *out = g_out[k]; \
			__asm__ volatile("" : "+r"(s), "+r"(out) : : "memory"); \
			got[k] = (type)(x); \
		} \
		if (got[0] != got[1] || memcmp(g_out[0], g_out[1], OUT) != 0) \
			wrong(name, at, n); \
	} while (0)

/* A place in the text, as a distance. */
#define AT(p) ((p) ? (const char *)(p) - s : -1)

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static void read_bytes(const char *text, size_t at, size_t n)
{
	static const char zero[OUT];

	SAME("memcpy", long, (memcpy(out, s, n), 0));
	SAME("memmove up", long, (memmove(out + 1, s, n), 0));
	SAME("memmove down", long, (memmove(out, s, n), 0));
	SAME("mempcpy", long, (char *)mempcpy(out, s, n) - out);
	SAME("memccpy", long, memccpy(out, s, 'x', n) != NULL);
	SAME("memcmp", int, sign(memcmp(s, g_copy + at, n)));
	SAME("memcmp, other", int, sign(memcmp(zero, s, n)));
	SAME("bcmp", int, bcmp(s, zero, n) != 0);
	SAME("memchr", long, AT(memchr(s, 'q', n)));
	SAME("memrchr", long, AT(memrchr(s, 'b', n)));
	SAME("rawmemchr", long, AT(rawmemchr(s, 0)));
	SAME("memmem", long, AT(memmem(s, n, "cd", 2)));
	SAME("wmemchr", long, AT(wmemchr((const wchar_t *)s, 7, n / 4)));
	SAME("wmemcmp", int, sign(wmemcmp((const wchar_t *)s, (const wchar_t *)zero, n / 4)));
	SAME("wcsnlen", long, (long)wcsnlen((const wchar_t *)s, n / 4));
}

static void read_string(const char *text, size_t at, size_t n)
{
	char *rest;

	SAME("strlen", long, (long)strlen(s));
	SAME("strnlen", long, (long)strnlen(s, n));
	SAME("strcpy", long, (strcpy(out, s), 0));
	SAME("stpcpy", long, stpcpy(out, s) - out);
	SAME("strncpy", long, (strncpy(out, s, n), 0));
	SAME("stpncpy", long, stpncpy(out, s, n) - out);
	SAME("strcat", long, (out[0] = 0, strcat(out, s), 0));
	SAME("strncat", long, (out[0] = 0, strncat(out, s, n), 0));
	SAME("strcmp", int, sign(strcmp(s, g_copy + at)));
	SAME("strcmp, other", int, sign(strcmp("abcd", s)));
	SAME("strncmp", int, sign(strncmp(s, g_copy + at, n)));
	SAME("strcasecmp", int, sign(strcasecmp(s, g_copy + at)));
	SAME("strncasecmp", int, sign(strncasecmp(g_copy + at, s, n)));
	SAME("strcoll", int, sign(strcoll(s, g_copy + at)));
	SAME("strchr", long, AT(strchr(s, 'q')));
	SAME("strrchr", long, AT(strrchr(s, 'b')));
	SAME("strchrnul", long, AT(strchrnul(s, 'z')));
	SAME("strstr", long, AT(strstr(s, "def")));
	SAME("strcasestr", long, AT(strcasestr(s, "DEF")));
	SAME("strspn", long, (long)strspn(s, "abcdefgh"));
	SAME("strcspn", long, (long)strcspn(s, "xyz"));
	SAME("strpbrk", long, AT(strpbrk(s, "klm")));
	SAME("strtok_r", long, (strcpy(out, s), strtok_r(out, "e", &rest) != NULL));
	SAME("strdup", long, (rest = strdup(s), memcpy(out, rest, strlen(s)), free(rest), 0));
	SAME("strndup", long, (rest = strndup(s, n), memcpy(out, rest, strlen(rest)), free(rest), 0));
	SAME("wcslen", long, n % 4 == 0 && at % 4 == 0 ? (long)wcslen((const wchar_t *)g_copy) : 0);
	SAME("strtol", long, strtol(s, NULL, 36));
	SAME("snprintf", long, snprintf(out, OUT, "%s", s));
}

static int recover(const struct pool *p)
{
	const uint64_t round = p->round;

	if (round == 0)
		return 0;
	for (size_t i = 0; i < TEXT; i++)
		g_copy[i] = ((volatile const char *)p->text)[i];
	for (size_t n = 0; n < 300; n = n < 40 ? n + 1 : n + 37)
		for (size_t at = 0; at < 64; at += 13)
			read_bytes(p->text, at, n);
	for (size_t at = 0; at + 1 < TEXT - 64; at += at < 128 ? 5 : 61)
		read_string(p->text, at, at % 70);
	printf("%lu\n", round);
	return 0;
}

/* Strings of all lengths up to 150. */
static void text_make(char *text)
{
	size_t n = 0, len = 1;

	for (size_t i = 0; i < TEXT; i++, n++) {
		text[i] = (char)("abcdefghijklmnopqrstuvw"[(i * 7 + n) % 23]);
		if (n == len || i == TEXT - 1) {
			text[i] = 0;
			n = 0;
			len = (len * 2 + 3) % 150;
		}
	}
}

int main(int argc, char **argv)
{
	struct pool *p;

	if (argc > 2 && strcmp(argv[2], "recover") == 0)
		return (p = pool_open(argv[1], POOL_BYTES)) ? recover(p) : 0;
	if (argc < 4)
		return 3;
	p = pool_create(argv[1], POOL_BYTES);
	text_make(p->text);
	persist(p->text, TEXT);
	for (uint64_t i = 1; i <= strtoul(argv[3], NULL, 10); i++) {
		*(volatile uint64_t *)&p->scratch[i % 8] = i;
		*(volatile uint64_t *)&p->last[i % 8] = i;
		*(volatile uint64_t *)&p->round = i;
		persist(&p->round, sizeof p->round);
	}
	return 0;
}
