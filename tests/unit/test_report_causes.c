/* Findings that are listed under their cause, in one report and in several that become one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/bug.h"
#include "report/causes.h"
#include "report/format.h"
#include "tests/unit/report_sample.h"
#include "util/alloc.h"

/* Three findings, and a fourth of its own. */
static struct report *folded(bool is_folded)
{
	struct report *r = report_new();

	for (uint32_t line = 3; line <= 8; line += line == 4 ? 4 : 1) {
		struct bug_frame frame = sample_frame("update", line);

		sample_add(r, line == 8 ? "ordering" : "missing-flush", &frame, 1);
	}
	sample_add(r, "atomicity", &(struct bug_frame){ .function = "other", .file = "other.c", .line = 1 }, 1);
	assert_int_equal(report_ndrafts(r), 4);
	if (is_folded) {
		assert_true(report_explain(r, 2, 1));
		assert_true(report_explain(r, 1, 0)); /* with all that it has itself */
		assert_false(report_explain(r, 2, 0));
		assert_int_equal(report_cause(r, 2), 0);
		assert_int_equal(report_cause(r, 3), 3);
	}
	report_finish(r);
	return r;
}

static const struct bug *bug_of_line(const struct report *r, uint32_t line)
{
	for (size_t i = 0; i < report_nbugs(r); i++)
		if (bug_frame(report_bug(r, i))->line == line)
			return report_bug(r, i);
	return NULL;
}

/* Those of the cause, in the order of the report; each has the id that it would have alone. */
static void check_folded(const struct report *r, const struct report *alone)
{
	const struct bug *cause = bug_of_line(r, 3), *other = bug_of_line(r, 1);

	assert_int_equal(report_nbugs(r), 2);
	assert_int_equal(report_count(r, BUG_CORRECTNESS), 2);
	assert_int_equal(cause->nconsequences, 2);
	assert_int_equal(other->nconsequences, 0);
	assert_string_equal(cause->id, bug_of_line(alone, 3)->id);
	for (size_t i = 0; i < 2; i++) {
		const struct bug *same = bug_of_line(alone, bug_frame(&cause->consequences[i])->line);

		assert_string_equal(cause->consequences[i].id, same->id);
		assert_string_equal(cause->consequences[i].kind, same->kind);
	}
	assert_true(strcmp(cause->consequences[0].id, cause->consequences[1].id) < 0);
}

/* A finding takes what is listed under it along, and its crash. */
static void a_consequence_is_a_finding_again(void **state)
{
	struct bug_crash crash = { .failure_point = 7, .outcome = "exit status 1" };
	struct report *r = report_new();

	(void)state;
	for (uint32_t line = 3; line <= 5; line++) {
		struct bug_frame frame = sample_frame("update", line);

		sample_add(r, "missing-flush", &frame, 1);
	}
	((struct bug *)report_draft(r, 1))->crash = &crash;
	assert_true(report_explain(r, 2, 1));
	report_lend_crash(r, 0, 1);
	assert_true(report_explain(r, 1, 0));
	assert_int_equal(report_draft(r, 0)->crash->failure_point, 7);
	report_unexplain(r, 1);
	assert_null(report_draft(r, 0)->crash);
	assert_int_equal(report_cause(r, 1), 1);
	assert_int_equal(report_cause(r, 2), 1);
	report_finish(r);
	assert_int_equal(report_nbugs(r), 2);
	report_free(r);
}

static void consequences_are_listed_under_their_cause(void **state)
{
	struct report *r = folded(true), *alone = folded(false), *back;
	const struct report_format *format;
	struct error err;
	char *text;

	(void)state;
	check_folded(r, alone);
	for (format = report_formats; format->name; format++) {
		text = sample_render(r, format->name, &(struct report_options){ 0 });
		assert_non_null(strstr(text, strcmp(format->name, "json") == 0 ? "\"consequences\": [" : "same cause"));
		assert_non_null(strstr(text, "ordering"));
		if (strcmp(format->name, "json") == 0)
			sample_write("r.json", text);
		free(text);
	}
	back = report_read("r.json", &err);
	assert_non_null(back);
	check_folded(back, alone);
	report_unfold(back);
	assert_int_equal(report_nbugs(back), 4);
	assert_int_equal(bug_of_line(back, 3)->nconsequences, 0);
	assert_int_equal(report_norigins(back), 4);
	assert_true(report_origin_cause(back, report_nbugs(back) - 1) < 4 && report_origin_cause(back, 0) == REPORT_NO_CAUSE);
	report_free(back);
	report_free(alone);
	report_free(r);
}

/* A finding in each of these lines, in this order; all but the first are listed under it. Behind line 9, flushes are short. */
static struct report *group(const uint32_t *lines, const char *platform)
{
	struct report *r = report_new();

	report_set_platform(r, platform);
	for (size_t i = 0; lines[i]; i++) {
		struct bug_frame frame = sample_frame("update", lines[i]);

		sample_add(r, lines[i] > 9 ? "short-flush" : "missing-flush", &frame, 1);
		if (i > 0)
			report_explain(r, i, 0);
	}
	return r;
}

#define GROUP(...) (const uint32_t[]){ __VA_ARGS__, 0 }

/* "3(4 5) 6()": each finding with what is listed under it, by line. */
static void check_groups(struct report *r, const char *want)
{
	char text[256] = "";

	report_finish(r);
	for (uint32_t line = 1; line < 100; line++) {
		const struct bug *b = bug_of_line(r, line);

		if (!b)
			continue;
		sprintf(text + strlen(text), "%s%u(", *text ? " " : "", line);
		for (uint32_t below = 1; below < 100; below++)
			for (size_t k = 0; k < b->nconsequences; k++)
				if (bug_frame(&b->consequences[k])->line == below)
					sprintf(text + strlen(text), "%s%u", text[strlen(text) - 1] == '(' ? "" : " ", below);
		strcat(text, ")");
	}
	assert_string_equal(text, want);
	report_free(r);
}

static void add_platform(struct report *r, const uint32_t *lines, const char *platform)
{
	struct report *other = group(lines, platform);

	report_merge(r, other);
	report_free(other);
}

/* By way of a report that is written and read again, as an exploration does. */
static void add_run(struct report *r, const uint32_t *lines)
{
	struct report *other = group(lines, "x86-adr"), *back;
	struct error err;
	char *text;

	report_finish(other);
	text = sample_render(other, "json", &(struct report_options){ 0 });
	sample_write("r.json", text);
	back = report_read("r.json", &err);
	assert_non_null(back);
	report_add_run(r, back, &(struct bug_input){ .file = "input", .command = "command", .size = 1 });
	report_free(back);
	report_free(other);
	free(text);
}

static const struct {
	const uint32_t *groups[4];
	const char *want;
} merges[] = {
	{ { GROUP(3, 4), GROUP(3, 4) }, "3(4)" },
	{ { GROUP(3, 4), GROUP(4, 3) }, "3(4)" },     /* the first one tells which is the cause */
	{ { GROUP(3, 4), GROUP(3) }, "3(4)" },
	{ { GROUP(3, 4), GROUP(4) }, "3() 4()" },     /* alone, it may be a bug of its own */
	{ { GROUP(4), GROUP(3, 4) }, "3() 4()" },
	{ { GROUP(3, 4), GROUP(3, 4, 5) }, "3(4 5)" },
	{ { GROUP(3, 4), GROUP(6, 4) }, "3() 4() 6()" },
	{ { GROUP(3, 4), GROUP(6, 3) }, "3(4) 6()" },
	{ { GROUP(3, 4, 5), GROUP(4, 5), GROUP(5, 4) }, "3() 4() 5()" },
	{ { GROUP(4, 5), GROUP(3, 4, 5), GROUP(3, 5) }, "3() 4() 5()" },
	{ { GROUP(3, 4, 5), GROUP(5, 6), GROUP(3, 4) }, "3(4) 5(6)" },
	{ { GROUP(10, 4), GROUP(11, 4, 5) }, "10(4) 11(5)" }, /* by a call, and by its helper */
	{ { GROUP(10, 4), GROUP(3, 4) }, "3() 4() 10()" },
	{ { GROUP(10, 4), GROUP(4) }, "4() 10()" },
};

static void reports_with_causes_become_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) {
		struct report *platforms = group(merges[i].groups[0], "first"), *runs = report_new();

		add_run(runs, merges[i].groups[0]);
		for (size_t k = 1; merges[i].groups[k]; k++) {
			add_platform(platforms, merges[i].groups[k], "another");
			add_run(runs, merges[i].groups[k]);
		}
		check_groups(platforms, merges[i].want);
		check_groups(runs, merges[i].want);
	}
}

/* Each rendering tells a warning from a bug of the same kind, and why it is one. */
static void check_renderings(const struct report *r, const char *id)
{
	static const struct {
		const char *format, *parts[4];
	} rows[] = {
		{ "text", { "Only a warning: nobody reads it.", "app.log", "It may have the same cause as finding ", "1 bug, 1 warning" } },
		{ "sarif", { "\"level\": \"warning\"", "\"level\": \"error\"", "\"undecidedBy\": \"app.log\"", "\"reason\": \"nobody reads it\"" } },
		{ "html", { "data-severity=\"warning\"", "<span class=\"badge warning\">1 warning</span>", "Only a warning: nobody reads it", "1 warning</span>" } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = sample_render(r, rows[i].format, &(struct report_options){ 0 });

		for (size_t k = 0; k < COUNT(rows[i].parts); k++)
			if (!strstr(text, rows[i].parts[k]))
				fail_msg("%s is not in the %s", rows[i].parts[k], rows[i].format);
		assert_non_null(strstr(text, id));
		free(text);
	}
}

static void check_doubts(const struct report *r)
{
	const struct bug *doubted = NULL, *shared = NULL;

	for (size_t i = 0; i < report_nbugs(r); i++) {
		if (report_bug(r, i)->severity == BUG_WARNING)
			doubted = report_bug(r, i);
		if (report_bug(r, i)->may_share_cause[0])
			shared = report_bug(r, i);
	}
	assert_int_equal(report_nbugs(r), 2);
	assert_non_null(doubted);
	assert_non_null(shared);
	assert_string_equal(doubted->reason, "nobody reads it");
	assert_string_equal(doubted->undecided_by, "app.log");
	assert_string_equal(shared->may_share_cause, doubted->id);
	check_renderings(r, doubted->id);
}

static void doubts_are_written_and_read_again(void **state)
{
	struct report *r = report_new(), *back, *run = report_new();
	struct bug_frame frames[] = { sample_frame("update", 3), sample_frame("update", 4) };
	struct error err;
	char *text;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		sample_add(r, "missing-flush", &frames[i], 1);
	report_demote(r, 0, "nobody reads it", "app.log");
	report_may_share(r, 1, 0);
	report_finish(r);
	check_doubts(r);
	text = sample_render(r, "json", &(struct report_options){ 0 });
	sample_write("r.json", text);
	back = report_read("r.json", &err);
	assert_non_null(back);
	check_doubts(back);
	report_add_run(run, back, NULL);
	report_finish(run);
	check_doubts(run);
	report_free(run);
	report_free(back);
	report_free(r);
	free(text);
}

static void check_takes_all(const struct report *r)
{
	static const struct {
		const char *format, *part;
	} rows[] = {
		{ "text", "The same cause explains 1 more finding:" },
		{ "text", "Together with the other bugs of this report, it explains 1 more finding:" },
		{ "sarif", "the same cause, with the other bugs of the report: missing-flush" },
		{ "html", "Together with the other bugs of this report, it explains 1 more" },
		{ "json", "\"takes_all\": true" },
	};

	assert_int_equal(report_nbugs(r), 1);
	assert_int_equal(bug_nconsequences(report_bug(r, 0), false), 1);
	assert_int_equal(bug_nconsequences(report_bug(r, 0), true), 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = sample_render(r, rows[i].format, &(struct report_options){ 0 });

		if (!strstr(text, rows[i].part))
			fail_msg("%s is not in the %s", rows[i].part, rows[i].format);
		free(text);
	}
}

/* What takes more than its cause is told apart, and is so when it is read again. When it is counted, it
 * takes nothing. */
static void what_takes_all_causes_is_told(void **state)
{
	struct bug_frame frames[] = { sample_frame("update", 3), sample_frame("update", 4),
				      sample_frame("update", 5) };
	struct report *r = report_new(), *back, *counted = report_new();
	struct error err;
	char *text;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		sample_add(r, "missing-flush", &frames[i], 1);
	report_explain(r, 1, 0);
	report_explain(r, 2, 0);
	report_takes_all(r, 2);
	report_finish(r);
	check_takes_all(r);
	text = sample_render(r, "json", &(struct report_options){ 0 });
	sample_write("r.json", text);
	back = report_read("r.json", &err);
	assert_non_null(back);
	check_takes_all(back);
	sample_add(counted, "missing-flush", &frames[0], 1);
	sample_add(counted, "missing-flush", &frames[2], 1);
	report_takes_all(counted, 1);
	report_finish(counted);
	assert_int_equal(report_nbugs(counted), 2);
	assert_false(report_bug(counted, 0)->takes_all || report_bug(counted, 1)->takes_all);
	report_free(counted);
	report_free(back);
	report_free(r);
	free(text);
}

/* Two runs, of which one demotes the finding, in both orders. */
static void check_one_doubt(const char *kind, enum bug_severity severity, const char *reason)
{
	struct bug_frame frame = sample_frame("update", 3);

	for (int first = 0; first < 2; first++) {
		struct report *r = report_new();

		for (int i = 0; i < 2; i++) {
			struct report *one = report_new();

			sample_add(one, kind, &frame, 1);
			if (i == first)
				report_demote(one, 0, "nobody reads it", NULL);
			report_finish(one);
			report_add_run(r, one, NULL);
			report_free(one);
		}
		report_finish(r);
		assert_int_equal(report_bug(r, 0)->severity, severity);
		assert_true(!report_bug(r, 0)->reason == !reason);
		report_free(r);
	}
}

/* What is doubtful in one run is a bug if another one shows it without doubt. But what may be needed in one run is no waste. */
static void a_bug_of_one_run_is_a_bug(void **state)
{
	(void)state;
	check_one_doubt("missing-flush", BUG_CORRECTNESS, NULL);
	check_one_doubt("redundant-fence", BUG_WARNING, "nobody reads it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(consequences_are_listed_under_their_cause),
		cmocka_unit_test(a_consequence_is_a_finding_again),
		cmocka_unit_test(reports_with_causes_become_one),
		cmocka_unit_test(doubts_are_written_and_read_again),
		cmocka_unit_test(what_takes_all_causes_is_told),
		cmocka_unit_test(a_bug_of_one_run_is_a_bug),
	};

	return cmocka_run_group_tests(tests, sample_folder_make, sample_folder_remove);
}
