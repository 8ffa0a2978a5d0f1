/* Locks, caches and statistics in persistent memory, which somebody says that recovery never needs. */
#include <valgrind/valgrind.h>

#include "corpus.h"

#define SET(field, value) (*(volatile uint64_t *)&(field) = (value))

static void lock_and_unlock(struct pm *p)
{
	PMEND_IGNORE(&p->a, 8);
	for (int i = 0; i < 3; i++) {
		SET(p->a, 1); /* BUG: transient-in-pm */
		SET(p->a, 0);
	}
}

static void cache(struct pm *p)
{
	PMEND_IGNORE(p->text, sizeof p->text);
	for (uint64_t i = 0; i < 3 * sizeof p->text / 8; i++)
		((volatile uint64_t *)p->text)[i % (sizeof p->text / 8)] = i; /* BUG: transient-in-pm */
}

/* pmemcheck's way to say it, after each store. */
static void set_clean(struct pm *p)
{
	for (int i = 0; i < 4; i++) {
		SET(p->a, (uint64_t)i); /* BUG: transient-in-pm */
		VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ_TOOL_BASE('P', 'C') + 17, &p->a, 8, 0, 0, 0);
	}
}

/* The last value is not declared clean. */
static void set_clean_but_not_the_last(struct pm *p)
{
	for (int i = 0; i < 4; i++) {
		SET(p->a, (uint64_t)i); /* BUG: missing-flush-fence */
		if (i < 3)
			VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ_TOOL_BASE('P', 'C') + 17, &p->a, 8, 0, 0, 0);
	}
}

/* Not worth a word. */
static void set_once(struct pm *p)
{
	PMEND_IGNORE(&p->a, 8);
	PMEND_IGNORE(p->text, sizeof p->text);
	SET(p->a, 1);
	memset(p->text, 0, sizeof p->text);
}

static void written_back_after_all(struct pm *p)
{
	PMEND_IGNORE(&p->a, 8);
	SET(p->a, 1);
	SET(p->a, 2);
	persist(&p->a, 8);
	SET(p->a, 3);
}

/* It lies beside durable data, and is written back along with it. */
static void shares_a_line(struct pm *p)
{
	PMEND_IGNORE(&p->a, 8);
	for (uint64_t i = 0; i < 3; i++) {
		SET(p->a, i);
		SET(p->b, i);
		persist(&p->b, 8);
	}
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, lock_and_unlock, cache, set_clean, set_clean_but_not_the_last, set_once, written_back_after_all,
			 shares_a_line);
}
