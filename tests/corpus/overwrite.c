/* CHECK: --with overwrite */
/* Values that are overwritten before they were durable. */
#include "corpus.h"

#define STORE(where, value) (*(volatile __typeof__(where) *)&(where) = (value))

static void overwritten_at_once(struct pm *p)
{
	STORE(p->a, 1); /* BUG: overwrite-unpersisted */
	STORE(p->a, 2);
	persist(&p->a, 8);
}

static void persisted_in_between(struct pm *p)
{
	STORE(p->a, 1);
	persist(&p->a, 8);
	STORE(p->a, 2);
	persist(&p->a, 8);
}

static void flushed_but_not_fenced(struct pm *p)
{
	STORE(p->a, 1); /* BUG: overwrite-unpersisted */
	flush_line(&p->a);
	STORE(p->a, 2);
	persist(&p->a, 8);
}

static void partly(struct pm *p)
{
	STORE(p->a, 1); /* BUG: overwrite-unpersisted */
	*((volatile char *)&p->a + 3) = 2;
	persist(&p->a, 8);
}

static void neighbours(struct pm *p)
{
	STORE(p->a, 1);
	STORE(p->b, 2);
	persist(&p->a, 16);
}

static void by_a_copy(struct pm *p)
{
	volatile size_t len_bytes = 40;
	char text[40] = "forty bytes";

	p->text[7] = 'x'; /* BUG: overwrite-unpersisted */
	memcpy(p->text, text, len_bytes);
	persist(p->text, len_bytes);
}

static void volatile_by_intent(struct pm *p)
{
	PMEND_IGNORE(&p->a, 8);
	STORE(p->a, 1);
	STORE(p->a, 2);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, overwritten_at_once, persisted_in_between, flushed_but_not_fenced, partly, neighbours, by_a_copy,
			 volatile_by_intent);
}
