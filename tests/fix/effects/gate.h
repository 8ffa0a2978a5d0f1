/* An item that knows its neighbours, and how it is flushed. */
#include <stdint.h>

#include "tests/machine.h"

struct item;
struct ops {
	void (*fill)(struct item *it);
	void (*done)(void);
};

struct item {
	struct item *next, *prev;
	uint64_t key, count;
	const struct ops *ops;
};

static inline void write_back(const void *from, uint64_t len)
{
	for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + len; at += 64)
		flush_line((void *)at);
}

static inline void wait_for_pm(void)
{
	fence();
}

static inline void keep(const void *from, uint64_t len)
{
	write_back(from, len);
	wait_for_pm();
}

static inline void item_count(struct item *it)
{
	it->count++;
}
