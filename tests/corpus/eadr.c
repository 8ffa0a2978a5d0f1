/* CHECK: --platform eadr */
/* Caches that survive: a store needs no flush. */
#include "corpus.h"

static void plain(struct pm *p)
{
	p->a = 1;
	memset(p->text, 'x', sizeof p->text);
}

static void useless_flush(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a); /* BUG: flush-clean */
	fence();
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, plain, useless_flush);
}
