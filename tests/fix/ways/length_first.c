/* The length comes first; a wrapper of a wrapper, of another name, that fences. */
#include <stddef.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

struct root {
	uint64_t a, b;
	char name[100];
};

static void put(size_t len, const void *from)
{
	uintptr_t at = (uintptr_t)from & ~(uintptr_t)63;
	const uintptr_t end = (uintptr_t)from + len;

	while (at < end) {
		MACHINE_FLUSH(at);
		at += 64;
	}
}

static inline void done(void)
{
	MACHINE_FENCE();
}

static void keep_part(size_t len, const void *from)
{
	put(len, from);
	done();
}

void keep(size_t len, const void *from);
void keep(size_t len, const void *from)
{
	if (len == 0)
		return;
	keep_part(len, from);
}

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
	keep(sizeof r->a, &r->a);
}

void stores(struct root *r);
void stores(struct root *r)
{
	r->b = 1; /* BUG: missing-flush-fence */
}
