/* CHECK: --only performance */
/* Flushes of lines that several threads store to. Who flushes first depends on the order of threads, so a clean line proves nothing. */
#include "turns.h"

/* ---- whoever reads makes it durable first: in this order it is so already ---- */

static void *store(void *arg)
{
	struct pm *p = arg;

	ONCE(p->a) = 1;
	persist(&p->a, sizeof p->a);
	give_to(1);
	return NULL;
}

static void *flush_what_is_read(void *arg)
{
	struct pm *p = arg;

	await(1);
	persist(&p->a, sizeof p->a);
	p->c = ONCE(p->a);
	persist(&p->c, sizeof p->c);
	return NULL;
}

/* ---- the same, where the other thread comes later ---- */

static void *flush_first(void *arg)
{
	struct pm *p = arg;

	persist(&p->a, sizeof p->a);
	give_to(1);
	return NULL;
}

static void *store_later(void *arg)
{
	struct pm *p = arg;

	await(1);
	ONCE(p->a) = 1;
	persist(&p->a, sizeof p->a);
	return NULL;
}

/* ---- both have stored to the line, and one of them is sooner ---- */

static void *store_own(void *arg)
{
	struct pm *p = arg;

	ONCE(p->a) = 1;
	give_to(1);
	await(0);
	persist(&p->a, sizeof p->a);
	return NULL;
}

static void *store_other(void *arg)
{
	struct pm *p = arg;

	await(1);
	ONCE(p->b) = 1;
	persist(&p->b, sizeof p->b);
	give_to(0);
	return NULL;
}

/* ---- nobody else stores to the line, whatever the order ---- */

static void *flush_twice(void *arg)
{
	struct pm *p = arg;

	ONCE(p->d) = 1;
	persist(&p->d, sizeof p->d);
	flush_line(&p->d); /* BUG: flush-clean */
	fence();
	return NULL;
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* ---- what was durable before there was another thread ---- */

static void *flush_what_was_there(void *arg)
{
	struct pm *p = arg;

	flush_line(&p->c); /* BUG: flush-clean */
	fence();
	return NULL;
}

int main(int argc, char **argv)
{
	struct pm *p;

	CHECK(argc == 2);
	p = pool_map(argv[1]);
	TOGETHER(p++, store, flush_what_is_read);
	TOGETHER(p++, flush_first, store_later);
	TOGETHER(p++, store_own, store_other);
	TOGETHER(p++, flush_twice, do_nothing);
	p->c = 1;
	persist(&p->c, sizeof p->c);
	TOGETHER(p, flush_what_was_there, do_nothing);
	p->a = 1;
	persist(&p->a, sizeof p->a);
	flush_line(&p->a); /* BUG: flush-clean */
	fence();
	TOGETHER(p, store, do_nothing);
	return 0;
}
