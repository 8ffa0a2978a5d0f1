/* What dumps printed is kept in little room and found again, and compared line by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crash/search/dump_texts.h"
#include "account/dump_diff.h"

/* ---- texts ---- */

/* A dump of n lines, of which one has been counted up. */
static char *dump_of(int n, int changed)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (int i = 0; i < n; i++)
		fprintf(f, "key %d value %d\n", i, i < changed ? 1 : 0);
	fclose(f);
	return text;
}

static void texts_are_found_again(void **state)
{
	struct dump_texts t = { 0 };
	const int n = 300;
	char *text, *found;

	(void)state;
	for (int i = 0; i < n; i++) {
		text = dump_of(n, i);
		dump_texts_add(&t, (uint64_t)i + 1, text, strlen(text));
		dump_texts_add(&t, (uint64_t)i + 1, "another", 7); /* a known hash stays what it is */
		free(text);
	}
	for (int i = n; i-- > 0;) {
		text = dump_of(n, i);
		found = dump_texts_find(&t, (uint64_t)i + 1);
		assert_string_equal(found, text);
		free(found);
		free(text);
	}
	assert_null(dump_texts_find(&t, (uint64_t)n + 1));
	text = dump_of(n, 0);
	assert_true(t.kept_bytes < 8 * strlen(text)); /* not 300 times as much */
	free(text);
	dump_texts_release(&t);
	assert_null(dump_texts_find(&t, 1));
	dump_texts_release(&t);
}

static void texts_may_be_empty_and_hold_anything(void **state)
{
	struct dump_texts t = { 0 };
	char *found;

	(void)state;
	dump_texts_add(&t, 1, "", 0);
	dump_texts_add(&t, 2, "a\0b\xff", 4);
	dump_texts_add(&t, 3, "", 0);
	found = dump_texts_find(&t, 2);
	assert_string_equal(found, "a\xe2\x90\x80" "b\xff");
	free(found);
	found = dump_texts_find(&t, 3);
	assert_string_equal(found, "");
	free(found);
	dump_texts_release(&t);
}

/* ---- differences ---- */

static void expect_text(const char *got, const char *want)
{
	assert_int_equal(!got, !want);
	if (got)
		assert_string_equal(got, want);
}

static void expect_difference(const struct dump_diff *d, size_t i, uint32_t line, const char *before, const char *after, const char *found)
{
	assert_true(i < d->list.n);
	assert_int_equal(d->list.at[i].line, line);
	expect_text(d->list.at[i].before, before);
	expect_text(d->list.at[i].after, after);
	expect_text(d->list.at[i].found, found);
}

static void one_line_differs(void **state)
{
	struct dump_diff d;

	(void)state;
	dump_diff_make(&d, "a 1\nb 2\nc 3\n", "a 1\nb 5\nc 3\n", "a 1\nb 9\nc 3\n");
	assert_int_equal(d.ndifferences, 1);
	expect_difference(&d, 0, 2, "b 2", "b 5", "b 9");
	dump_diff_release(&d);
}

/* Recovery left a mix: one change is there, the other is not. */
static void a_mix_is_two_differences(void **state)
{
	struct dump_diff d;

	(void)state;
	dump_diff_make(&d, "n 1\nx\nsum 10", "n 2\nx\nsum 30", "n 2\nx\nsum 10");
	assert_int_equal(d.ndifferences, 2);
	expect_difference(&d, 0, 1, "n 1", "n 2", "n 2");
	expect_difference(&d, 1, 3, "sum 10", "sum 30", "sum 10");
	dump_diff_release(&d);
}

static void lines_come_and_go(void **state)
{
	struct dump_diff d;

	(void)state;
	dump_diff_make(&d, "a\nb\n", "a\nb\nc\n", "a\n");
	assert_int_equal(d.ndifferences, 1);
	expect_difference(&d, 0, 2, "b", "b\nc", NULL);
	dump_diff_release(&d);
	dump_diff_make(&d, "a\nc\n", "a\nb\nc\n", "a\nx\nb\nc\n");
	assert_int_equal(d.ndifferences, 1);
	expect_difference(&d, 0, 2, NULL, "b", "x\nb");
	dump_diff_release(&d);
	dump_diff_make(&d, "", "a\n", "b");
	assert_int_equal(d.ndifferences, 1);
	expect_difference(&d, 0, 1, NULL, "a", "b");
	dump_diff_release(&d);
}

static void one_state_may_be_all_that_is_known(void **state)
{
	struct dump_diff d;

	(void)state;
	dump_diff_make(&d, "a\nb\n", NULL, "a\nc\n");
	assert_int_equal(d.ndifferences, 1);
	expect_difference(&d, 0, 2, "b", NULL, "c");
	dump_diff_release(&d);
	dump_diff_make(&d, NULL, NULL, "a\n");
	assert_int_equal(d.ndifferences, 0);
	dump_diff_release(&d);
	dump_diff_make(&d, "a\n", NULL, "a\n");
	assert_int_equal(d.ndifferences, 0);
	dump_diff_release(&d);
}

/* A line of a megabyte: what is shown is where it differs, and little of it. */
static void long_lines_are_shortened(void **state)
{
	const size_t len = 1 << 20;
	char *before = malloc(len + 1), *found = malloc(len + 1);
	struct dump_diff d;

	(void)state;
	memset(before, 'x', len);
	before[len] = '\0';
	memcpy(found, before, len + 1);
	found[len / 2] = '!';
	dump_diff_make(&d, before, NULL, found);
	assert_int_equal(d.ndifferences, 1);
	assert_true(strlen(d.list.at[0].found) < 300);
	assert_non_null(strchr(d.list.at[0].found, '!'));
	assert_null(strchr(d.list.at[0].before, '!'));
	dump_diff_release(&d);
	free(before);
	free(found);
}

/* More lines than are matched with each other, all of them different: one difference. And many differences: the first ones. */
static void much_may_differ(void **state)
{
	char *zeros = dump_of(5000, 0), *ones = dump_of(5000, 5000), *before = NULL, *found = NULL;
	struct dump_diff d;
	size_t len;
	FILE *f;

	(void)state;
	dump_diff_make(&d, zeros, NULL, ones);
	assert_int_equal(d.ndifferences, 1);
	dump_diff_release(&d);
	f = open_memstream(&before, &len);
	for (int i = 0; i < 40; i++)
		fprintf(f, "same %d\nold\n", i);
	fclose(f);
	f = open_memstream(&found, &len);
	for (int i = 0; i < 40; i++)
		fprintf(f, "same %d\nnew\n", i);
	fclose(f);
	dump_diff_make(&d, before, NULL, found);
	assert_int_equal(d.ndifferences, 40);
	assert_int_equal(d.list.n, 8);
	expect_difference(&d, 7, 16, "old", NULL, "new");
	dump_diff_release(&d);
	free(zeros);
	free(ones);
	free(before);
	free(found);
}

static void excerpts_begin_before_the_difference(void **state)
{
	char *text = dump_of(5000, 0), *excerpt;

	(void)state;
	excerpt = dump_diff_excerpt(text, 3000);
	assert_true(strlen(excerpt) < 4300);
	assert_non_null(strstr(excerpt, "[... 49839 bytes left out ...]\nkey 2997 value 0\nkey 2998"));
	assert_non_null(strstr(excerpt, "bytes left out ...]\n"));
	assert_null(strstr(excerpt, "key 2996 "));
	free(excerpt);
	excerpt = dump_diff_excerpt("a\nb\n", 1);
	assert_string_equal(excerpt, "a\nb\n");
	free(excerpt);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_found_again),
		cmocka_unit_test(texts_may_be_empty_and_hold_anything),
		cmocka_unit_test(one_line_differs),
		cmocka_unit_test(a_mix_is_two_differences),
		cmocka_unit_test(lines_come_and_go),
		cmocka_unit_test(one_state_may_be_all_that_is_known),
		cmocka_unit_test(long_lines_are_shortened),
		cmocka_unit_test(much_may_differ),
		cmocka_unit_test(excerpts_begin_before_the_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
