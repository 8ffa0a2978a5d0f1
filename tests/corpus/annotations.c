/* What is volatile by intent, and trusted code, yields nothing. */
#include "corpus.h"

static void ignored(struct pm *p)
{
	PMEND_IGNORE(&p->a, 8);
	p->a = 1;
	p->c = 2; /* BUG: missing-flush-fence */
}

static void ignored_afterwards(struct pm *p)
{
	p->a = 1;
	PMEND_IGNORE(&p->a, sizeof p->a);
}

static void ignored_in_part(struct pm *p)
{
	volatile size_t len_bytes = 32;
	char text[32] = "thirty-two bytes";

	PMEND_IGNORE(p->text, 8);
	memcpy(p->text, text, len_bytes); /* BUG: missing-flush-fence */
}

static void ignored_and_flushed(struct pm *p)
{
	PMEND_IGNORE(&p->a, 8);
	p->a = 1;
	persist(&p->a, 8);
}

static void trusted(struct pm *p)
{
	PMEND_SKIP_CHECK_BEGIN();
	p->a = 1;
	p->c = 2;
	flush_line(&p->c);
	flush_line(&p->c);
	fence();
	fence();
	PMEND_SKIP_CHECK_BEGIN();
	p->d = 3;
	PMEND_SKIP_CHECK_END();
	p->b = 4;
	PMEND_ASSERT_DURABLE(&p->a, 8);
	PMEND_SKIP_CHECK_END();
}

static void trusted_only_in_part(struct pm *p)
{
	PMEND_SKIP_CHECK_BEGIN();
	p->a = 1;
	PMEND_SKIP_CHECK_END();
	p->c = 2; /* BUG: missing-flush */
	fence(); /* WARNING: redundant-fence */
}

/* Skipped code still flushes. */
static void persisted_by_trusted_code(struct pm *p)
{
	p->a = 1;
	PMEND_SKIP_CHECK_BEGIN();
	flush_line(&p->a);
	fence();
	PMEND_SKIP_CHECK_END();
	PMEND_ASSERT_DURABLE(&p->a, 8);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, ignored, ignored_afterwards, ignored_in_part, ignored_and_flushed, trusted, trusted_only_in_part,
			 persisted_by_trusted_code);
}
