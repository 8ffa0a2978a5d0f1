/* Lengths that leave out what was stored. */
#include <libpmem.h>
#include <stddef.h>
#include <string.h>

struct page {
	long id, version;
	char head[64];
	char tail[128];
};
struct message {
	long length;
	char text[];
};
struct shelf {
	struct page page[4];
	long n;
};

/* The size of the pointer. */
void page_clear(struct page *p);
void page_clear(struct page *p)
{
	p->id = 0;
	memset(p->tail, 0, sizeof(p->tail)); /* BUG: missing-flush */
	p->version = 1;
	pmem_persist(p, sizeof(p));
}

/* The part before the tail. */
void page_write(struct page *p, const char *text);
void page_write(struct page *p, const char *text)
{
	p->version++;
	strcpy(p->tail, text); /* BUG: missing-flush */
	pmem_flush(p, offsetof(struct page, tail));
	pmem_drain();
}

/* An element of an array; the wrong type. */
void shelf_write(struct shelf *s, size_t i, char c);
void shelf_write(struct shelf *s, size_t i, char c)
{
	s->page[i].tail[127] = c; /* BUG: missing-flush */
	pmem_persist(&s->page[i], sizeof(struct message));
}

/* What follows the structure. */
void message_write(struct message *m, const char *text, size_t n);
void message_write(struct message *m, const char *text, size_t n)
{
	m->length = (long)n;
	memcpy(m->text, text, n); /* BUG: missing-flush */
	pmem_persist(m, sizeof(*m));
}

/* The NUL; and bytes instead of elements. */
void name_write(char *to, const char *name, size_t n);
void name_write(char *to, const char *name, size_t n)
{
	memcpy(to, name, n + 1); /* BUG: missing-flush */
	pmem_persist(to, n);
}

void numbers_write(long *to, const long *from, size_t n);
void numbers_write(long *to, const long *from, size_t n)
{
	memcpy(to, from, n * sizeof(*to)); /* BUG: missing-flush */
	pmem_persist(to, n);
}

/* The caller flushes. */
static void page_fill(struct page *p, char c)
{
	memset(p->tail, c, sizeof(p->tail));
}

void page_fill_both(struct page *p, char c);
void page_fill_both(struct page *p, char c)
{
	page_fill(p, c); /* BUG: missing-flush in page_fill */
	pmem_persist(p, sizeof(p));
}

/* Not so here: that flush is for another member, and is right. */
void page_renew(struct page *p);
void page_renew(struct page *p)
{
	p->tail[100] = 1; /* BUG: missing-flush */
	p->version = 2;
	pmem_persist(&p->version, sizeof(p->version));
}

/* Nor here: the id is what it is for. */
void page_number(struct page *p, long id);
void page_number(struct page *p, long id)
{
	p->tail[9] = 1; /* BUG: missing-flush */
	p->id = id;
	pmem_persist(p, sizeof(p->id));
}

/* Nor here: how long it must be is the caller's to say. */
void page_use(struct page *p, size_t used);
void page_use(struct page *p, size_t used)
{
	p->tail[100] = 1; /* BUG: missing-flush */
	pmem_persist(p, used);
}

void page_use_size(struct page *p, size_t size);
void page_use_size(struct page *p, size_t size)
{
	p->tail[101] = 1; /* BUG: missing-flush */
	pmem_persist(p, size);
}

/* Nor here: it is another page by then. */
void page_next(struct page *p);
void page_next(struct page *p)
{
	p->tail[1] = 1; /* BUG: missing-flush */
	p++;
	pmem_persist(p, sizeof(p));
}
