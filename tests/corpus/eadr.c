/* CHECK: --platform eadr */
/* Caches that survive: a store needs no flush, a non-temporal one still needs a fence. */
#include "corpus.h"

static void plain(struct pm *p)
{
	p->a = 1;
	memset(p->text, 'x', sizeof p->text);
}

static void non_temporal(struct pm *p)
{
	_mm_stream_si64((long long *)&p->a, 1); /* BUG: missing-fence */
}

static void non_temporal_fenced(struct pm *p)
{
	_mm_stream_si64((long long *)&p->a, 1);
	_mm_sfence();
}

static void useless_flush(struct pm *p)
{
	p->a = 1;
	_mm_clwb(&p->a); /* BUG: flush-clean */
	_mm_sfence();
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, plain, non_temporal, non_temporal_fenced, useless_flush);
}
