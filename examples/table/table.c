/* The table. With -DFORGET_FLUSH, a crash can keep the count and lose the row. */
#include "table.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../flush.h"

struct table *table_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0644);
	void *t = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (ftruncate(fd, sizeof(struct table)) == 0)
		t = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return t == MAP_FAILED ? NULL : t;
}

void table_close(struct table *t)
{
	munmap(t, sizeof *t);
}

bool table_put(struct table *t, uint64_t key, uint64_t value)
{
	struct row *row = &t->row[t->count];

	if (t->count == TABLE_ROWS)
		return false;
	row->key = key;
	row->value = value;
#ifndef FORGET_FLUSH
	flush_line(row);
	fence();
#endif
	t->count++;
	flush_line(&t->count);
	fence();
	return true;
}

void table_print(const struct table *t)
{
	for (uint64_t i = 0; i < t->count; i++)
		printf("%llu=%llu\n", (unsigned long long)t->row[i].key,
		       (unsigned long long)t->row[i].value);
}
