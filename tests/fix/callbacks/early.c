/* The statement that has a callback fill the body also says that the body is there: a flush after it would come too late, so that it stays in the callback. */
#include "tests/fix/fences/pool.h"

struct page {
	uint64_t len, pad[7];
	char body[64];
};

typedef size_t (*fill_fn)(char *body, size_t room);

static void save(const void *p, size_t n)
{
	for (const char *line = (const char *)((uintptr_t)p & ~(uintptr_t)63); line < (const char *)p + n; line += 64)
		flush_line(line);
	fence();
}

static void page_write(struct page *p, fill_fn fill)
{
	p->len = fill(p->body, sizeof(p->body));
	save(&p->len, sizeof(p->len));
}

static size_t stars(char *body, size_t room)
{
	memset(body, '*', room);
	/* FIX: save(body, room); */
	return room;
}

int main(int argc, char **argv)
{
	struct page *p = pool_open(argv[1]);

	if (argc > 2)
		return p->len && p->body[p->len - 1] != '*';
	while (asked()) {
		page_write(p, stars);
		answer("written\n");
	}
	return 0;
}
