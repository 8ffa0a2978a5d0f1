/* Flushes behind a loop, of one thing that it stored. */
#include <libpmem.h>
#include <string.h>

struct row {
	long key, state;
	char text[120];
};
struct table {
	struct row row[16];
	long order[16];
	long used;
};

/* Of the last element. */
void table_reset(struct table *t, size_t n);
void table_reset(struct table *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		t->row[i].state = 0; /* BUG: missing-flush */
	}
	pmem_persist(&t->row[n - 1], sizeof(t->row[n - 1]));
	t->used = 0;
	pmem_persist(&t->used, sizeof(t->used));
}

/* By a pointer that is set once more. */
void table_mark(struct table *t, size_t n);
void table_mark(struct table *t, size_t n)
{
	struct row *r;

	for (size_t i = 0; i < n; i++) {
		r = &t->row[t->order[i]];
		r->state = 2; /* BUG: missing-flush */
	}
	r = &t->row[t->order[n - 1]];
	pmem_persist(r, sizeof(*r));
	t->used = (long)n;
	pmem_persist(&t->used, sizeof(t->used));
}

/* Of the element behind the last one. */
void table_key(struct table *t, size_t n);
void table_key(struct table *t, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		t->row[i].key = 5; /* BUG: missing-flush */
	}
	pmem_persist(&t->row[i], sizeof(t->row[i]));
}

/* Of the last number, where all can be flushed at once. */
void numbers_clear(long *number, size_t n);
void numbers_clear(long *number, size_t n)
{
	for (size_t i = 0; i < n; i++)
		number[i] = 0; /* BUG: missing-flush */
	pmem_persist(&number[n - 1], sizeof(number[n - 1]));
}

/* Not so here: that flush is for what was stored before the loop. */
void table_begin(struct table *t, struct row *first, size_t n);
void table_begin(struct table *t, struct row *first, size_t n)
{
	struct row *r = first;

	r->key = 1;
	for (size_t i = 0; i < n; i++) {
		r = &t->row[i];
		strcpy(r->text, "row"); /* BUG: missing-flush */
	}
	r = first;
	pmem_persist(r, sizeof(*r));
}
