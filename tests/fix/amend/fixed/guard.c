/* Every flush stands under a test of one flag. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

extern bool is_persistent;

static inline void pm_persist(const char *addr, size_t len)
{
	for (const char *end = addr + len; addr < end + 63; addr += 64)
		__asm__ volatile("clwb %0" : : "m"(*addr));
	__asm__ volatile("sfence" : : : "memory");
}

struct item {
	long key, flags;
	char data[200];
};

void item_set_key(struct item *it, long key);
void item_set_key(struct item *it, long key)
{
	it->key = key;
	if (is_persistent)
		pm_persist((char *)&it->key, sizeof(it->key));
}

void item_set_data(struct item *it, const char *data);
void item_set_data(struct item *it, const char *data)
{
	strcpy(it->data, data); /* BUG: missing-flush */
	if (is_persistent)
		pm_persist((char *)it, sizeof(*it));
}
