/* A callback fills a part of a record, the caller the rest, and nobody flushes it: the caller does, once, before the count that makes it valid. */
#include "tests/fix/fences/pool.h"

struct record {
	uint64_t number, sum;
	char body[112];
};

struct book {
	uint64_t n, pad[7];
	struct record at[8];
};

typedef void (*fill_fn)(char *body, size_t room);

static void save(const void *p, size_t n)
{
	for (const char *line = (const char *)((uintptr_t)p & ~(uintptr_t)63); line < (const char *)p + n; line += 64)
		flush_line(line);
	fence();
}

static uint64_t sum_of(const char *body, size_t n)
{
	uint64_t sum = 7;

	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + (unsigned char)body[i];
	return sum;
}

static void book_add(struct book *b, fill_fn fill)
{
	struct record *r = &b->at[b->n];

	r->number = b->n;
	fill(r->body, sizeof(r->body));
	r->sum = sum_of(r->body, sizeof(r->body));
	/* FIX: save(r, sizeof(*r)); */
	b->n++;
	save(&b->n, sizeof(b->n));
}

static void stars(char *body, size_t room)
{
	memset(body, '*', room);
	body[room - 1] = 0;
}

static int is_whole(const struct book *b)
{
	for (uint64_t i = 0; i < b->n; i++)
		if (b->at[i].number != i || b->at[i].sum != sum_of(b->at[i].body, sizeof(b->at[i].body)))
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	struct book *b = pool_open(argv[1]);

	if (argc > 2)
		return !is_whole(b);
	while (asked()) {
		book_add(b, stars);
		answer("added\n");
	}
	return 0;
}
