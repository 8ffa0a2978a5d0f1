/* Two functions leave it to their caller to fence, which forgets it on the way that goes well. */
#include "tests/fix/fences/pool.h"

struct page {
	uint64_t text, sum, pad[6];
};

struct book {
	uint64_t pages, pad[7];
	uint64_t index[8];
	struct page page[8];
};

static void write_back(const void *p, size_t n)
{
	for (uintptr_t at = (uintptr_t)p & ~(uintptr_t)63; at < (uintptr_t)p + n; at += 64)
		flush_line((void *)at);
}

static void wait_for_it(void)
{
	fence();
}

/* Not waited for. */
static void page_fill(struct page *p, uint64_t text)
{
	p->text = text;
	p->sum = ~text;
	write_back(p, sizeof(*p));
}

/* Not waited for. */
static void index_put(struct book *b, uint64_t n, uint64_t text)
{
	b->index[n] = text;
	write_back(&b->index[n], sizeof(b->index[n]));
}

static int book_add(struct book *b, uint64_t text)
{
	int error = -1;

	if (b->pages == 8 || !text)
		goto out;
	page_fill(&b->page[b->pages], text);
	index_put(b, b->pages, text);
	/* FIX: wait_for_it(); */

	b->pages++;
	write_back(&b->pages, sizeof(b->pages));
	wait_for_it();
	error = 0;
out:
	return error;
}

int main(int argc, char **argv)
{
	struct book *b = pool_open(argv[1]);
	uint64_t i;

	for (i = 0; argc > 2 && i < b->pages; i++)
		if (b->page[i].sum != ~b->page[i].text || b->index[i] != b->page[i].text)
			return 1;
	if (argc > 2)
		return 0;
	for (i = 1; i < 4; i++)
		answer(book_add(b, i) == 0 ? "added\n" : "no\n");
	return 0;
}
