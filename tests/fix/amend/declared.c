/* What flushes is in a library without sources: its name says what it does. */
#include <stddef.h>
#include <string.h>

void nv_persist(const void *addr, size_t len);

struct item {
	long key, flags;
	char data[200];
};

void item_set_data(struct item *it, const char *data);
void item_set_data(struct item *it, const char *data)
{
	strcpy(it->data, data); /* BUG: missing-flush */
	it->flags = 1;
	nv_persist(it, sizeof(it));
}
