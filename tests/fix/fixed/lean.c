/* Fences that a new flush leans on, and others: one that makes durable what was stored in between may come too late. And one flush of two ranges from the same place. */
#include <libpmem.h>
#include <string.h>

enum { NAME = 64 };

struct record {
	long len, sum;
	long pad[6];
	char name[2][NAME];
};

struct log {
	long used;
};

void uses(struct record *r);
void uses(struct record *r)
{
	r->len = 1;
	pmem_flush(&r->len, sizeof(r->len));
	r->sum = 1;
	pmem_flush(&r->sum, sizeof(r->sum));
	pmem_drain();
}

/* `used` says that the record is there: the sum must be durable before. */
void append(struct log *g, struct record *r, long len);
void append(struct log *g, struct record *r, long len)
{
	r->len = len;
	pmem_persist(&r->len, sizeof(r->len));
	r->sum = len * 7; /* BUG: missing-flush */
	pmem_persist(&r->sum, sizeof(r->sum));
	g->used += len;
	pmem_persist(&g->used, sizeof(g->used));
}

static void seal(struct record *r)
{
	r->sum = r->len * 7;
	pmem_persist(&r->sum, sizeof(r->sum));
}

void append_sealed(struct log *g, struct record *r, long len);
void append_sealed(struct log *g, struct record *r, long len)
{
	r->len = len;
	pmem_persist(&r->len, sizeof(r->len));
	seal(r); /* BUG: missing-flush in seal */
	g->used += len;
	pmem_persist(&g->used, sizeof(g->used));
}

/* The same object: one update. */
void change(struct record *r, long len);
void change(struct record *r, long len)
{
	r->name[0][0] = 0; /* BUG: missing-flush */
	pmem_flush(&r->name[0][0], sizeof(r->name[0][0]));
	r->len = len;
	pmem_persist(&r->len, sizeof(r->len));
}

/* A bare fence waits for all that was flushed before. */
void both(struct log *g, struct record *r, long len);
void both(struct log *g, struct record *r, long len)
{
	r->sum = len; /* BUG: missing-flush */
	pmem_flush(&r->sum, sizeof(r->sum));
	g->used = len;
	pmem_flush(&g->used, sizeof(g->used));
	pmem_drain();
}

void name_it(struct record *r, const char *name);
void name_it(struct record *r, const char *name)
{
	char *to = r->name[1];

	memset(to, 0, NAME); /* BUG: missing-flush-fence */
	strncpy(to, name, NAME - 1); /* BUG: missing-flush-fence */
	pmem_persist(to, NAME);
}
