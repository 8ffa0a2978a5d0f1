/* PMEND_ASSERT_DURABLE: the program says what must be durable where. All of it is, in the end. */
#include "corpus.h"

static void too_early(struct pm *p)
{
	p->a = 1;
	PMEND_ASSERT_DURABLE(&p->a, 8); /* BUG: assert-durable */
	flush_line(&p->a);
	PMEND_ASSERT_DURABLE(&p->a, 8); /* BUG: assert-durable */
	fence();
	PMEND_ASSERT_DURABLE(&p->a, 8);
}

static void only_these_bytes_count(struct pm *p)
{
	p->a = 1;
	persist(&p->a, 8);
	p->b = 2;
	PMEND_ASSERT_DURABLE(&p->a, 8);
	PMEND_ASSERT_DURABLE(&p->a, 16); /* BUG: assert-durable */
	PMEND_ASSERT_DURABLE(&p->c, 8);
	persist(&p->b, 8);
}

static void one_of_many_lines(struct pm *p)
{
	memset(p->text, 'x', sizeof p->text);
	persist(p->text, sizeof p->text);
	p->text[200] = 'y';
	PMEND_ASSERT_DURABLE(p->text, sizeof p->text); /* BUG: assert-durable */
	persist(p->text + 200, 1);
	PMEND_ASSERT_DURABLE(p->text, sizeof p->text);
}

static void never_stored_to(struct pm *p)
{
	PMEND_ASSERT_DURABLE(p, sizeof *p);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, too_early, only_these_bytes_count, one_of_many_lines, never_stored_to);
}
