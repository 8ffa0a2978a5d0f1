/* Syncs that cover less than they are given: what shorts.c has for flushes, by msync. The helper or the call is the finding. And syncs that are meant to cover no more.
 * run.py says how they are marked.
 *
 *	PROG POOL CASE		creates the pool and runs a case */
#include "pm.h"

enum { PAGE = 4096, PAGES = 6 };

struct part {
	char bytes[PAGES * PAGE];
};

struct pool {
	char flag[PAGE];
	struct part x, y;
};

static int fd;

static char *page_of(const void *p)
{
	return (char *)((uintptr_t)p & ~(uintptr_t)(PAGE - 1));
}

/* ---- helpers ---- */

/* The end is rounded down. */
static __attribute__((noinline)) void sync_down(const void *p, size_t len_bytes)
{
	char *from = page_of(p), *to = page_of((const char *)p + len_bytes);

	if (to > from)
		msync(from, (size_t)(to - from), MS_SYNC); /* BUG: down: short-flush flush */
}

/* One page of several. */
static __attribute__((noinline)) void sync_first(const void *p, size_t len_bytes)
{
	(void)len_bytes;
	msync(page_of(p), PAGE, MS_SYNC); /* BUG: first: short-flush flush */
}

/* The pointer never advances. */
static __attribute__((noinline)) void sync_stuck(const void *p, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i += PAGE)
		msync(page_of(p), 1, MS_SYNC); /* BUG: stuck: short-flush flush */
}

static __attribute__((noinline)) void sync_all(const void *p, size_t len_bytes)
{
	msync(page_of(p), (size_t)((const char *)p - page_of(p)) + len_bytes, MS_SYNC);
}

/* Page by page. */
static __attribute__((noinline)) void sync_pages(const void *p, size_t len_bytes)
{
	for (char *at = page_of(p); at < (const char *)p + len_bytes; at += PAGE)
		msync(at, PAGE, MS_SYNC);
}

static void publish(struct pool *p)
{
	p->flag[0] = 1;
	msync(p->flag, PAGE, MS_SYNC);
}

/* ---- cases ---- */

static void two_calls(struct pool *p, void (*sync_it)(const void *, size_t))
{
	memset(p->x.bytes, 'x', 2 * PAGE + 800);
	sync_it(p->x.bytes, 2 * PAGE + 800);
	memset(p->y.bytes + PAGE, 'y', PAGE + 1000);
	sync_it(p->y.bytes + PAGE, PAGE + 1000);
	publish(p);
}

static void down_run(struct pool *p)
{
	two_calls(p, sync_down);
}

static void first_run(struct pool *p)
{
	two_calls(p, sync_first);
}

static void stuck_run(struct pool *p)
{
	two_calls(p, sync_stuck);
}

static void right_run(struct pool *p)
{
	two_calls(p, sync_all);
}

static void pages_run(struct pool *p)
{
	two_calls(p, sync_pages);
}

/* Nobody is between the store and msync. */
static void call_run(struct pool *p)
{
	memset(p->x.bytes, 'x', 2 * PAGE + 800);
	msync(p->x.bytes, 2 * PAGE, MS_SYNC); /* BUG: call: short-flush flush */
	publish(p);
}

static __attribute__((noinline)) void fill(struct part *r)
{
	memset(r->bytes, 'r', 2 * PAGE + 8);
	sync_all(r, sizeof(r)); /* BUG: pointer: short-flush flush */
}

static void pointer_run(struct pool *p)
{
	fill(&p->x);
	publish(p);
}

/* The begin first, and the rest by another call. */
static void header_run(struct pool *p)
{
	memset(p->x.bytes, 'x', 3 * PAGE);
	sync_all(p->x.bytes, PAGE);
	sync_all(p->x.bytes + PAGE, 2 * PAGE);
	publish(p);
}

/* The rest by fsync. */
static void fsync_run(struct pool *p)
{
	memset(p->x.bytes, 'x', 3 * PAGE);
	sync_first(p->x.bytes, PAGE);
	fsync(fd);
	publish(p);
}

/* Another page, of another statement, is forgotten. */
static void forgotten_run(struct pool *p)
{
	p->x.bytes[PAGE] = 2; /* BUG: forgotten: missing-flush-fence store */
	memset(p->x.bytes, 'x', 100);
	sync_all(p->x.bytes, 100);
	publish(p);
}

static const struct {
	const char *name;
	void (*run)(struct pool *p);
} cases[] = {
	{ "down", down_run },	{ "first", first_run },	    { "stuck", stuck_run },   { "right", right_run }, { "pages", pages_run },
	{ "call", call_run },	{ "pointer", pointer_run }, { "header", header_run }, { "fsync", fsync_run }, { "forgotten", forgotten_run },
};

int main(int argc, char **argv)
{
	struct pool *p = pool_create(argv[1], sizeof *p);

	fd = open(argv[1], O_RDWR);
	for (size_t i = 0; argc > 2 && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(cases[i].name, argv[2]) == 0)
			cases[i].run(p);
	return 0;
}
