/* Helpers that count lines from the address on; one cannot be mended. */
#include <stddef.h>
#include <string.h>

static unsigned long ncleaned;

static inline void clean_lines(const char *p, size_t n)
{
	size_t nlines = (n + ((size_t)p & 63) + 63) / 64;

	for (size_t i = 0; i < nlines; i++)
		__asm__ volatile("clwb %0" : : "m"(p[i * 64]));
	__asm__ volatile("sfence" : : : "memory");
}

static inline void clean_counted(const char *p, const size_t n)
{
	for (size_t i = 0; i < n; i += 64)
		__asm__ volatile("clwb %0" : : "m"(p[i]));
	__asm__ volatile("sfence" : : : "memory");
	ncleaned += n;
}

struct record {
	long id;
	char text[120];
};

void record_write(struct record *r, const char *text);
void record_write(struct record *r, const char *text)
{
	strcpy(r->text, text); /* BUG: missing-flush */
	clean_lines((const char *)r, sizeof(*r));
}

void record_count(struct record *r, const char *text);
void record_count(struct record *r, const char *text)
{
	strcpy(r->text, text); /* BUG: missing-flush, left: clean_counted leaves out the last line */
	clean_counted((const char *)r, sizeof(*r));
}
