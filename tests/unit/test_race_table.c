/* Workers judge in the order in which failure points were claimed, whoever is faster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "crash/races/race_table.h"

#define WORKERS 3u
#define POINTS 60u

static const struct race_entry key = { .pc = 1, .site = 2 };

static void test_found_by_key(void **state)
{
	struct race_table *j = race_table_new(1);
	struct race_entry other = key;

	(void)state;
	assert_null(race_table_find(j, &key));
	race_table_get(j, &key)->state = 3;
	other.kind = 1;
	assert_null(race_table_find(j, &other));
	assert_ptr_not_equal(race_table_get(j, &other), race_table_get(j, &key));
	assert_int_equal(race_table_find(j, &key)->state, 3);
	race_table_free(j);
}

static void test_final(void **state)
{
	struct race_entry j = key;

	(void)state;
	assert_false(race_entry_is_final(&j));
	j.tries = RACE_TRIES;
	assert_true(race_entry_is_final(&j));
	j = key;
	j.is_closed = 1;
	assert_true(race_entry_is_final(&j));
}

static void test_nobody_waits_for_ever(void **state)
{
	struct race_table *j = race_table_new(2);
	uint32_t is_stopped = 1;

	(void)state;
	race_table_begin(j, 0, 1); /* the other has claimed nothing yet: it may get a lower number */
	assert_false(race_table_wait(j, 0, &is_stopped));
	is_stopped = 0;
	race_table_begin(j, 1, 2);
	assert_true(race_table_wait(j, 0, &is_stopped));
	race_table_begin(j, 0, 3);
	assert_true(race_table_wait(j, 1, &is_stopped));
	race_table_begin(j, 1, UINT64_MAX);
	assert_true(race_table_wait(j, 0, &is_stopped));
	race_table_free(j);
}

/* Each notes in turn that it was there; one that finds another number than that of the point before it was too early or too late. */
static void work(struct race_table *j, uint32_t worker, uint32_t *next)
{
	static const uint32_t never;

	for (;;) {
		uint32_t n = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);

		race_table_begin(j, worker, n);
		if (n > POINTS)
			break;
		usleep(n * 7919 % 5 * 300);
		if (!race_table_wait(j, worker, &never) || race_table_get(j, &key)->tries + 1 != n)
			_exit(1);
		race_table_get(j, &key)->tries = n;
	}
	race_table_begin(j, worker, UINT64_MAX);
	_exit(0);
}

static void test_in_turn(void **state)
{
	struct race_table *j = race_table_new(WORKERS + 1);
	struct race_entry counter = { .pc = 9 };
	uint32_t *next;
	int status;

	(void)state;
	race_table_begin(j, WORKERS, UINT64_MAX); /* ourselves */
	race_table_get(j, &key);
	next = &race_table_get(j, &counter)->state; /* shared memory */
	*next = 1;
	for (uint32_t i = 0; i < WORKERS; i++)
		if (fork() == 0)
			work(j, i, next);
	for (uint32_t i = 0; i < WORKERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(race_table_find(j, &key)->tries, POINTS);
	race_table_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_by_key),
		cmocka_unit_test(test_final),
		cmocka_unit_test(test_nobody_waits_for_ever),
		cmocka_unit_test(test_in_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
