/* A macro that is a statement cannot go into an expression. */
#include <stddef.h>
#include <stdint.h>

void write_back(const void *addr, size_t len);

#define PERSIST(addr, len)            \
	do {                          \
		write_back(addr, len); \
	} while (0)

void store(uint64_t *p);
void store(uint64_t *p)
{
	if ((*p = 5)) /* BUG: missing-flush-fence, left: no expression */
		PERSIST(p, sizeof *p);
	*p = 6; /* BUG: missing-flush-fence */
	PERSIST(p, sizeof *p);
}

/* Only computes: what forms.c stores before it calls this needs no flush before. */
uint64_t mix(uint64_t a);
uint64_t mix(uint64_t a)
{
	uint64_t sum = a;

	for (unsigned i = 0; i < 8; i++)
		sum = sum * 31 + i;
	return sum;
}
