/* Sets of crash states that wait or are kept: narrowings and sparse sets stand for the same states as bit sets do, and counts are right. Lines have up to 200
 * contents, so that a line's bits take several words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <cmocka.h>

#include "crash/states/narrowing.h"
#include "crash/states/sparse.h"

#define NLINES 300u

static uint64_t g_seed = 1;

static uint32_t some(uint32_t n)
{
	g_seed = g_seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(g_seed >> 33) % n;
}

static void make_lines(struct state_set *s)
{
	static const uint32_t ncontents[] = { 1, 2, 2, 3, 7, 63, 64, 65, 128, 200 };

	*s = (struct state_set){ .line_bytes = 64 };
	for (uint32_t i = 0; i < NLINES; i++) {
		uint32_t n = ncontents[some(sizeof ncontents / sizeof *ncontents)];

		*vec_add(&s->lines) = (struct state_line){ .addr = i * 64u, .ncontents = n, .words = (n + 63) / 64, .set = s->nwords };
		s->nwords += (n + 63) / 64;
	}
}

/* Takes some contents of a line away, never the newest. */
static void thin(const struct state_line *l, uint64_t *set)
{
	for (uint32_t c = 0; c + 1 < l->ncontents; c++)
		if (some(2))
			bit_put(set + l->set, c, false);
}

static void same_bits(const struct state_set *s, const uint64_t *a, const uint64_t *b)
{
	assert_memory_equal(a, b, s->nwords * sizeof *a);
}

static void same_count(const struct state_set *s, const uint64_t *set)
{
	struct big all_n = { 0 }, one_by_one = { 0 }, n = { 0 }, left = { 0 };
	uint64_t *all = states_all(s);
	char *a, *b, *c;

	big_set(&one_by_one, 1);
	for (size_t i = 0; i < s->lines.n; i++)
		big_multiply(&one_by_one, states_left(&s->lines.at[i], set));
	states_count(s, all, &all_n);
	states_count(s, set, &n);
	states_count_left(s, set, &all_n, &left);
	a = big_string(&one_by_one);
	b = big_string(&n);
	c = big_string(&left);
	assert_string_equal(b, a);
	assert_string_equal(c, a);
	assert_int_equal(big_parse(&n, a), 0);
	free(b);
	b = big_string(&n);
	assert_string_equal(b, a);
	free(a);
	free(b);
	free(c);
	free(all);
	big_release(&all_n);
	big_release(&one_by_one);
	big_release(&n);
	big_release(&left);
}

static void test_counts(void **state)
{
	struct state_set s;
	uint64_t *set, *newest;

	(void)state;
	make_lines(&s);
	set = states_all(&s);
	newest = states_newest(&s);
	same_count(&s, set);
	same_count(&s, newest);
	for (int i = 0; i < 400; i++) { /* from few to most lines */
		thin(&s.lines.at[some(NLINES)], set);
		same_count(&s, set);
	}
	free(set);
	free(newest);
	states_release(&s);
}

static void test_numbers(void **state)
{
	static const char *const same[] = { "0", "1", "999999999", "1000000000", "123456789000000000000000001" };
	struct big n = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		char *text;

		assert_int_equal(big_parse(&n, same[i]), 0);
		text = big_string(&n);
		assert_string_equal(text, same[i]);
		free(text);
	}
	assert_int_equal(big_parse(&n, "000000000000"), 0);
	assert_int_equal(n.n, 0);
	assert_int_equal(big_parse(&n, ""), -1);
	assert_int_equal(big_parse(&n, "12x"), -1);
	big_release(&n);
}

/* Two sets that share their first narrowings, one of which goes before the other. */
static void test_narrowings(void **state)
{
	struct narrowing *chain = NULL, *other;
	struct state_set s;
	uint64_t *is, *want;

	(void)state;
	make_lines(&s);
	want = states_all(&s);
	for (int i = 0; i < 1000; i++) {
		const size_t line = some(NLINES);
		const struct state_line *l = &s.lines.at[line];
		struct narrowing *next = narrowing_new(&s, chain, line);

		narrowing_drop(chain);
		chain = next;
		thin(l, want);
		memcpy(chain->left, want + l->set, l->words * sizeof *want);
		other = narrowing_new(&s, chain, line); /* to nothing */
		narrowing_drop(other);
	}
	is = states_all(&s);
	narrowing_apply(&s, chain, is);
	same_bits(&s, is, want);
	narrowing_drop(chain);
	narrowing_drop(NULL);
	free(is);
	free(want);
	states_release(&s);
}

static void sparse_is(const struct state_set *s, const uint64_t *set, size_t most)
{
	uint64_t *is = xcalloc(s->nwords, sizeof *is);
	struct sparse_set p = { 0 };

	sparse_take_shorter(&p, s, set);
	assert_true(p.parts.n <= most);
	sparse_expand(&p, s, is);
	same_bits(s, is, set);
	sparse_take(&p, s, set, SPARSE_NEWEST);
	memset(is, 0xff, s->nwords * sizeof *is);
	sparse_expand(&p, s, is);
	same_bits(s, is, set);
	sparse_release(&p);
	free(is);
}

static void test_sparse(void **state)
{
	struct state_set s;
	uint64_t *all, *newest;

	(void)state;
	make_lines(&s);
	all = states_all(&s);
	newest = states_newest(&s);
	sparse_is(&s, all, 0);
	sparse_is(&s, newest, 0);
	for (uint32_t i = 1; i <= 20; i++) {
		const struct state_line *l = &s.lines.at[some(NLINES)];

		thin(&s.lines.at[some(NLINES)], all);
		bit_put(newest + l->set, some(l->ncontents), true);
		sparse_is(&s, all, i);
		sparse_is(&s, newest, i);
	}
	free(all);
	free(newest);
	states_release(&s);
}

static bool include_bits(const struct state_set *s, const uint64_t *a, const uint64_t *b)
{
	for (size_t w = 0; w < s->nwords; w++)
		if (b[w] & ~a[w])
			return false;
	return true;
}

static void test_include(void **state)
{
	size_t yes = 0, no = 0;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct sparse_set p = { 0 }, q = { 0 };
		struct state_set s;
		uint64_t *a, *b;

		make_lines(&s);
		a = states_newest(&s);
		b = states_newest(&s);
		for (int k = 0; k < 4; k++) {
			const struct state_line *l = &s.lines.at[some(NLINES)];
			uint32_t c = some(l->ncontents);

			bit_put(a + l->set, c, true);
			if (some(4))
				bit_put(b + l->set, some(6) ? c : some(l->ncontents), true);
		}
		sparse_take(&p, &s, a, SPARSE_NEWEST);
		sparse_take(&q, &s, b, SPARSE_NEWEST);
		assert_int_equal(sparse_include(&p, &s, &q), include_bits(&s, a, b));
		assert_int_equal(sparse_include(&q, &s, &p), include_bits(&s, b, a));
		yes += include_bits(&s, a, b);
		no += !include_bits(&s, a, b);
		sparse_release(&p);
		sparse_release(&q);
		free(a);
		free(b);
		states_release(&s);
	}
	assert_true(yes > 20 && no > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts), cmocka_unit_test(test_numbers), cmocka_unit_test(test_narrowings),
		cmocka_unit_test(test_sparse), cmocka_unit_test(test_include),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
