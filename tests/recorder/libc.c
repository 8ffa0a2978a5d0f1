/* glibc's copying functions in many sizes and alignments, each followed by a marker store. Whatever instructions they choose,
 * the replayed trace must equal the pool. Run with GLIBC_TUNABLES so that large copies go around the cache. */
#include "tests/recorder/expect.h"

#include <wchar.h>

static char *pool, *next;
static char source[300 << 10];

static char *take(size_t bytes)
{
	char *p = next;

	next += bytes + 24;
	return p;
}

/* What the function wrote lies in this range; then a store that ends it. */
static void wrote(char *p, size_t bytes)
{
	if (bytes)
		expect_cover("copy", p, bytes);
	STORE(p + bytes, 1, *(volatile char *)(p + bytes) = '|');
}

static void copies(size_t n, int skew)
{
	char *p;

	if (n == 0)
		return;
	p = take(n) + skew;
	memcpy(p, source + skew, n);
	wrote(p, n);
	p = take(n);
	memset(p, 'a' + skew, n);
	wrote(p, n);
	p = take(n + 16);
	memcpy(p, source, n);
	memmove(p + 9, p, n); /* overlaps upwards */
	memmove(p + 2, p + 9, n); /* and downwards */
	wrote(p, n + 9);
	p = take(n);
	mempcpy(p, source + 1, n);
	wrote(p, n);
}

static void strings(size_t n)
{
	static char text[5000];
	char *p;

	memset(text, 's', n);
	text[n] = 0;
	p = take(n + 1);
	strcpy(p, text);
	wrote(p, n + 1);
	p = take(n + 1);
	stpcpy(p, text);
	wrote(p, n + 1);
	p = take(n + 10);
	strncpy(p, text, n + 10);
	wrote(p, n + 10);
	p = take(2 * n + 1);
	strcpy(p, text);
	strcat(p, text);
	wrote(p, 2 * n + 1);
	p = take(n + 1);
	strncat(p, text, n / 2 + 1);
	wrote(p, n + 1);
	p = take(n + 1);
	memccpy(p, text, 0, n + 1);
	wrote(p, n + 1);
	p = take(n + 20);
	snprintf(p, n + 20, "%s %d", text, 12345);
	wrote(p, n + 20);
	p = take(4 * n + 16);
	p += -(uintptr_t)p & 3;
	wmemset((wchar_t *)p, L'w', n);
	wrote(p, 4 * n);
}

int main(int argc, char **argv)
{
	static const size_t small[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 96, 127, 128, 129, 200, 255, 256, 257, 511, 1000};

	CHECK(argc == 2);
	pool = next = pool_map(pool_path(argv[1], "pool"), 4 << 20);
	for (size_t i = 0; i < sizeof(source); i++)
		source[i] = (char)(i * 7 + i / 256 + 1);
	for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++) {
		copies(small[i], (int)i % 8);
		strings(small[i]);
	}
	copies(4095, 1);
	strings(4095);
	memcpy(take(100 << 10), source, 100 << 10); /* non-temporal, says the tunable */
	wrote(next - 24 - (100 << 10), 100 << 10);
	CHECK(next < pool + (4 << 20));
	return 0;
}
