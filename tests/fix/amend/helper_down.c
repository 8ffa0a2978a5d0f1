/* A helper that steps from the address to the end, and not from where the first line begins. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LINE_SIZE 64

static inline void clean_line(const char *p)
{
	__asm__ volatile("clwb %0" : : "m"(*p));
}

static inline void wait_lines(void)
{
	__asm__ volatile("sfence" : : : "memory");
}

static inline void clean(const void *addr, size_t n)
{
	const char *end = (const char *)addr + n;

	for (const char *p = addr; p < end; p += LINE_SIZE)
		clean_line(p);
}

static inline void clean_and_wait(const void *addr, size_t n)
{
	clean(addr, n);
	wait_lines();
}

struct record {
	long id;
	char text[120];
};

void record_write(struct record *r, const char *text);
void record_write(struct record *r, const char *text)
{
	r->id++;
	strcpy(r->text, text); /* BUG: missing-flush */
	clean_and_wait(r, sizeof(*r));
}

void record_clear(struct record *r);
void record_clear(struct record *r)
{
	memset(r->text, 0, sizeof(r->text)); /* BUG: missing-flush */
	clean(r, sizeof(*r));
	wait_lines();
}
