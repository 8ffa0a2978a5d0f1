/* What a part may say: numbers that choose something are of the trace, texts are there. And what a part that goes on supposes about races. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crash/findings/findings.h"
#include "crash/part.h"

#define NSITES 4u
#define NPOINTS 9u

static const struct trace_site g_site;

static void plan_fill(struct plan *p)
{
	*p = (struct plan){ 0 };
	for (uint32_t i = 0; i < NSITES; i++)
		*vec_add(&p->sites) = i == 0 || i == 2 ? NULL : &g_site; /* the trace has no site 2 */
}

/* One of each finding. */
static void result_fill(struct crash_result *r)
{
	struct crash_bug bug = { .kind = "ordering", .point = 1, .outcome = strdup("exit status 1"), .state = strdup("1:1+40=0"), .at_site = 3 };
	struct race race = { .kind = RACE_UNDURABLE, .point = NPOINTS, .store = { 7, 1 }, .values = strdup("0x01 or 0x00"), .outcome = strdup("recovered") };
	struct race_turn *turn;

	*r = (struct crash_result){ .npoints = NPOINTS, .nshare = 5, .ndone = 5 };
	*vec_add(&bug.lost) = (struct crash_store){ 5, 1 };
	*vec_add(&bug.survived) = (struct crash_store){ 6, 3 };
	*vec_add(&r->bugs) = bug;
	*vec_add(&r->races) = race;
	turn = race_turns_add(&r->race_turns, 0, 2, false);
	*vec_add(&turn->changes) = (struct race_change){ { .pc = 1, .site = 1 }, { .pc = 1, .site = 1, .tries = 1 } };
	*vec_add(&r->first_crashes) = (struct first_crash){ .point = 3, .state = strdup("3") };
	*vec_add(&r->objects[PART_RECOVER]) = (struct trace_object){ .va = 4096, .len_bytes = 4096, .path = strdup("/bin/app"), .id = PART_RECOVER };
}

/* Over the wire and back. */
static bool is_sound(struct crash_result *r)
{
	struct crash_result back = { 0 };
	struct wire m = { 0 };
	struct plan p;
	bool sound;

	plan_fill(&p);
	part_pass(&m, r);
	m.is_received = true;
	part_pass(&m, &back);
	assert_false(m.is_bad);
	sound = part_is_sound(&back, &p);
	crash_result_release(&back);
	wire_release(&m);
	vec_release(&p.sites);
	return sound;
}

static void test_sound(void **state)
{
	struct crash_result r;

	(void)state;
	result_fill(&r);
	assert_true(is_sound(&r));
	crash_result_release(&r);
}

static void forget(char **text)
{
	free(*text);
	*text = NULL;
}

static void test_unsound(void **state)
{
	(void)state;
#define UNSOUND(change)                          \
	do {                                     \
		struct crash_result r;           \
						 \
		result_fill(&r);                 \
		change;                          \
		assert_false(is_sound(&r));      \
		crash_result_release(&r);        \
	} while (0)
	UNSOUND(r.bugs.at[0].lost.at[0].site = NSITES);
	UNSOUND(r.bugs.at[0].lost.at[0].site = 2);
	UNSOUND(r.bugs.at[0].survived.at[0].site = UINT32_MAX);
	UNSOUND(r.bugs.at[0].acknowledged.site = NSITES);
	UNSOUND(r.bugs.at[0].at_site = NSITES);
	UNSOUND(r.bugs.at[0].point = 0);
	UNSOUND(r.bugs.at[0].point = NPOINTS + 1);
	UNSOUND(forget(&r.bugs.at[0].state));
	UNSOUND(forget(&r.bugs.at[0].outcome));
	UNSOUND(r.races.at[0].store.site = NSITES);
	UNSOUND(r.races.at[0].commits[1].site = NSITES);
	UNSOUND(r.races.at[0].kind = RACE_UNINITIALISED + 1);
	UNSOUND(r.races.at[0].state = RACE_UNTRIED + 1);
	UNSOUND(r.races.at[0].point = 0);
	UNSOUND(forget(&r.races.at[0].values));
	UNSOUND(r.race_turns.at[0].point = NPOINTS + 1);
	UNSOUND(r.race_turns.at[0].changes.at[0].after.site = 3); /* another entry than before */
	UNSOUND(r.race_turns.at[0].changes.at[0].before.state = RACE_UNTRIED + 1);
	UNSOUND(r.first_crashes.at[0].point = 0);
	UNSOUND(forget(&r.first_crashes.at[0].state));
	UNSOUND(forget(&r.objects[PART_RECOVER].at[0].path));
	UNSOUND(r.objects[PART_RECOVER].at[0].len_bytes = UINT64_MAX);
	UNSOUND(r.objects[PART_RECOVER].at[0].id = 77);
	UNSOUND(r.ndone = 6);
#undef UNSOUND
}

static void turn_add(race_turns *t, uint64_t round, uint64_t point, uint32_t site, uint32_t tries)
{
	struct race_turn *turn = race_turns_add(t, round, point, false);

	*vec_add(&turn->changes) = (struct race_change){ { .pc = 1, .site = site, .tries = tries - 1 }, { .pc = 1, .site = site, .tries = tries } };
}

/* A lot knows the first rounds of those before it, in the order of failure points, and nothing of their further rounds. */
static void test_suppose(void **state)
{
	const struct race_entry one = { .pc = 1, .site = 1 }, two = { .pc = 1, .site = 2 };
	struct race_table *table = race_table_new(1);
	race_turns turns = { 0 };

	(void)state;
	turn_add(&turns, 1, 1, 2, 1);
	turn_add(&turns, 0, 5, 1, 2);
	turn_add(&turns, 0, 3, 1, 1);
	race_table_put(table, &(struct race_entry){ .pc = 9 });
	race_turns_suppose(&turns, 1, table);
	assert_int_equal(race_table_find(table, &one)->tries, 2);
	assert_null(race_table_find(table, &two));
	assert_null(race_table_find(table, &(struct race_entry){ .pc = 9 }));
	race_turns_suppose(&turns, UINT64_MAX, table);
	assert_int_equal(race_table_find(table, &two)->tries, 1);
	race_table_free(table);
	race_turns_release(&turns);
}

/* Which bug a guessed survivor stands for does not depend on who comes first. */
static void test_guesses(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct crash_result r = { 0 };

		for (int i = 0; i < 3; i++) {
			const int which = turn ? 2 - i : i;
			struct crash_bug b = { .kind = "ordering", .point = (uint64_t)which + 1, .count = 1, .state = strdup("s"), .is_survivor_guessed = which == 2 };

			*vec_add(&b.lost) = (struct crash_store){ 1, 1 };
			*vec_add(&b.survived) = (struct crash_store){ 2, (uint32_t)which + 2 };
			bug_merge(&r, &b);
		}
		assert_int_equal(r.bugs.n, 3);
		bugs_sort(&r);
		bugs_settle(&r);
		assert_int_equal(r.bugs.n, 2);
		assert_int_equal(r.bugs.at[0].count, 2);
		assert_int_equal(r.bugs.at[1].count, 1);
		crash_result_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sound), cmocka_unit_test(test_unsound), cmocka_unit_test(test_suppose), cmocka_unit_test(test_guesses) };

	return cmocka_run_group_tests_name("part", tests, NULL, NULL);
}
