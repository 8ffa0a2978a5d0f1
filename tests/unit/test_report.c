/* Reports: what is merged, ids, and what hides bugs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/bug.h"
#include "report/filter.h"
#include "report/format.h"
#include "tests/unit/report_sample.h"
#include "util/alloc.h"

static struct bug_location place(const char *role, const struct bug_frame *frames, size_t n)
{
	return (struct bug_location){ .role = role, .frames = frames, .nframes = n };
}

static const char *only_id(struct report *r)
{
	report_finish(r);
	assert_int_equal(report_nbugs(r), 1);
	return report_bug(r, 0)->id;
}

/* ---- merging ---- */

static void same_path_is_one_bug(void **state)
{
	struct bug_frame frames[] = { sample_frame("update", 8), sample_frame("main", 3) };
	struct bug_location l = place("store", frames, 2);
	struct report *r = report_new();

	(void)state;
	sample_add(r, "missing-flush", frames, 2);
	frames[0].offset++; /* another instruction of the same line */
	report_add(r, &(struct bug){ .kind = "missing-flush", .count = 4, .first_seq = 5, .locations = &l, .nlocations = 1 });
	report_finish(r);
	assert_int_equal(report_nbugs(r), 1);
	assert_int_equal(report_bug(r, 0)->count, 5);
	assert_int_equal(report_bug(r, 0)->first_seq, 5);
	assert_string_equal(report_bug(r, 0)->message, "lost");
	report_free(r);
}

static void other_line_or_kind_is_another(void **state)
{
	struct bug_frame first[] = { sample_frame("update", 8), sample_frame("main", 3) };
	struct bug_frame second[] = { sample_frame("update", 9), sample_frame("main", 4) };
	struct report *r = report_new();
	size_t i, k;

	(void)state;
	sample_add(r, "missing-flush", first, 2);
	sample_add(r, "missing-flush", second, 2);
	sample_add(r, "missing-fence", second, 2);
	report_finish(r);
	assert_int_equal(report_nbugs(r), 3);
	for (i = 0; i < 3; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(report_bug(r, i)->id, report_bug(r, k)->id);
	report_free(r);
}

/* ---- call paths ---- */

static struct report *two_callers(void)
{
	struct bug_frame first[] = { sample_frame("update", 8), sample_frame("main", 3) };
	struct bug_frame second[] = { sample_frame("update", 8), sample_frame("put", 5), sample_frame("main", 4) };
	struct bug_location l = place("store", second, 3);
	struct report *r = report_new();

	sample_add(r, "missing-flush", first, 2);
	report_add(r, &(struct bug){ .kind = "missing-flush", .count = 4, .first_seq = 5, .locations = &l, .nlocations = 1 });
	sample_add(r, "missing-flush", first, 2);
	report_finish(r);
	return r;
}

static void other_callers_are_paths_inside(void **state)
{
	struct report *r = two_callers();
	const struct bug *b = report_bug(r, 0);
	char *text = sample_render(r, "text", &sample_options);

	(void)state;
	assert_int_equal(report_nbugs(r), 1);
	assert_int_equal(b->count, 6);
	assert_int_equal(b->npaths, 2);
	assert_int_equal(b->paths[0].count, 2);
	assert_int_equal(b->paths[1].count, 4);
	assert_string_equal(b->paths[1].locations[0].frames[1].function, "put");
	assert_non_null(strstr(text, "  also by put (app.c:5), main (app.c:4), 4 times\n"));
	free(text);
	report_free(r);
}

static void stores_of_a_line_are_paths(void **state)
{
	struct bug_frame first = sample_frame("main", 8), second = sample_frame("main", 8);
	struct report *r = report_new();
	char *text;

	(void)state;
	first.column = 7;
	second.column = 17;
	sample_add(r, "missing-flush", &first, 1);
	sample_add(r, "missing-flush", &second, 1);
	sample_add(r, "missing-flush", &first, 1);
	report_finish(r);
	text = sample_render(r, "text", &sample_options);
	assert_int_equal(report_nbugs(r), 1);
	assert_int_equal(report_bug(r, 0)->count, 3);
	assert_int_equal(report_bug(r, 0)->npaths, 2);
	assert_non_null(strstr(text, "  also at column 17\n"));
	free(text);
	report_free(r);
}

/* Of two lost stores in one line, only the first one is flushed: its path has a location more. */
static void paths_have_locations_of_their_own(void **state)
{
	struct bug_frame first = sample_frame("main", 8), second = sample_frame("main", 8), flush = sample_frame("main", 9);
	struct bug_location two[] = { place("lost", &first, 1), place("flush", &flush, 1) }, one = place("lost", &second, 1);
	struct report *r = report_new(), *copy;
	struct error err;
	char *json;

	(void)state;
	second.column = 17;
	report_add(r, &(struct bug){ .kind = "ordering", .locations = two, .nlocations = 2 });
	report_add(r, &(struct bug){ .kind = "ordering", .locations = &one, .nlocations = 1 });
	report_finish(r);
	assert_int_equal(report_nbugs(r), 1);
	json = sample_render(r, "json", &sample_options);
	sample_write("base.json", json);
	copy = report_read("base.json", &err);
	if (!copy)
		fail_msg("%s", err.msg);
	assert_int_equal(report_bug(copy, 0)->npaths, 2);
	assert_int_equal(report_bug(copy, 0)->paths[1].nlocations, 1);
	report_unfold(copy);
	assert_int_equal(report_nbugs(copy), 2);
	assert_int_equal(report_bug(copy, 0)->nlocations + report_bug(copy, 1)->nlocations, 3);
	free(json);
	report_free(copy);
	report_free(r);
}

static void paths_survive_json_and_unfold(void **state)
{
	struct report *r = two_callers(), *copy;
	char *json = sample_render(r, "json", &sample_options);
	struct error err;

	(void)state;
	sample_write("base.json", json);
	copy = report_read("base.json", &err);
	if (!copy)
		fail_msg("%s", err.msg);
	assert_int_equal(report_nbugs(copy), 1);
	assert_int_equal(report_bug(copy, 0)->npaths, 2);
	report_unfold(copy);
	assert_int_equal(report_nbugs(copy), 2);
	assert_int_equal(report_bug(copy, 0)->count + report_bug(copy, 1)->count, 6);
	assert_string_equal(report_bug(copy, 0)->id, report_bug(copy, 1)->id);
	assert_false(bug_is_same_path(report_bug(copy, 0), report_bug(copy, 1)));
	assert_int_equal(report_norigins(copy), 1);
	assert_int_equal(report_origin(copy, 0), report_origin(copy, 1));
	assert_true(report_origin_cause(copy, 0) == REPORT_NO_CAUSE);
	free(json);
	report_free(copy);
	report_free(r);
}

/* ---- libraries and severities ---- */

static struct report *one_inside(void)
{
	struct bug_frame user = sample_frame("update", 8), inside = sample_frame("update", 9);
	struct bug_location a = place("store", &user, 1), b = place("flush", &inside, 1);
	struct report *r = report_new();

	report_add(r, &(struct bug){ .kind = "missing-flush", .locations = &a, .nlocations = 1 });
	report_add(r, &(struct bug){ .kind = "flush-clean", .severity = BUG_PERFORMANCE, .locations = &b, .nlocations = 1, .library = "libpmemobj" });
	report_finish(r);
	return r;
}

static void what_a_library_does_is_one_line(void **state)
{
	static const char *const formats[] = { "text", "sarif", "html" };
	struct report *r = one_inside();
	char *text;

	(void)state;
	report_fold(r);
	assert_int_equal(report_nbugs(r), 1);
	assert_int_equal(report_nfolded(r), 1);
	for (size_t i = 0; i < COUNT(formats); i++) {
		text = sample_render(r, formats[i], &sample_options);
		assert_non_null(strstr(text, "1 finding inside libpmemobj: --libraries shows it"));
		free(text);
	}
	report_free(r);
}

static void severity_leaves_what_is_worse(void **state)
{
	struct report *r = one_inside();
	char *text;

	(void)state;
	report_limit(r, BUG_PERFORMANCE);
	assert_int_equal(report_nbugs(r), 2);
	report_limit(r, BUG_CORRECTNESS);
	assert_int_equal(report_nbugs(r), 1);
	assert_string_equal(report_bug(r, 0)->kind, "missing-flush");
	text = sample_render(r, "text", &sample_options);
	assert_non_null(strstr(text, "1 bug (hidden by --severity: 1)"));
	free(text);
	report_free(r);
}

static void only_correctness_is_called_a_bug(void **state)
{
	static const struct {
		const char *kinds[4];
		const char *summary;
	} rows[] = {
		{ { 0 }, "No bugs found.\n" },
		{ { "redundant-flush" }, "0 bugs, 1 performance note.\n" },
		{ { "redundant-flush", "redundant-fence" }, "0 bugs, 2 performance notes.\n" },
		{ { "recovery-output" }, "0 bugs, 1 warning.\n" },
		{ { "porting", "recovery-output" }, "0 bugs, 1 porting note, 1 warning.\n" },
		{ { "ordering" }, "1 bug.\n" },
		{ { "ordering", "missing-flush" }, "2 bugs.\n" },
		{ { "ordering", "redundant-flush", "porting", "recovery-output" }, "1 bug, 1 performance note, 1 porting note, 1 warning.\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct report *r = report_new();
		const char *end;
		char *text;

		for (size_t k = 0; k < COUNT(rows[i].kinds) && rows[i].kinds[k]; k++)
			report_add(r, &(struct bug){ .kind = rows[i].kinds[k], .severity = bug_kind_find(rows[i].kinds[k])->severity, .message = "lost" });
		report_finish(r);
		text = sample_render(r, "text", &sample_options);
		end = strrchr(text, '\n') - (strlen(rows[i].summary) - 1);
		assert_true(end >= text);
		assert_string_equal(end, rows[i].summary);
		assert_true(end == text || end[-1] == '\n');
		free(text);
		report_free(r);
	}
}

static void a_part_looks_for_what_it_explores(void **state)
{
	static const struct {
		const char *command;
		bool is_said;
	} rows[] = { { "crash", false }, { "test", false }, { "check", true } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct report *r = report_new();

		report_set_coverage(r, &(struct report_coverage){ .events = 20, .why_incomplete = "so far" });
		report_set_shard(r, &(struct report_shard){ .index = 1, .of = 2, .command = rows[i].command, .fingerprint = "1", .trace = "t", .data = "" });
		report_finish(r);
		assert_int_equal(report_not_covered(r) != NULL, rows[i].is_said);
		report_free(r);
	}
}

static void all_reasons_are_kept(void **state)
{
	struct report *r = report_new(), *other = report_new();

	(void)state;
	report_set_coverage(r, &(struct report_coverage){ .events = 20, .why_incomplete = "one" });
	report_add_reason(r, "two");
	report_add_reason(r, "one");
	report_set_coverage(other, report_coverage(r));
	report_add_reason(other, "three; or four");
	assert_string_equal(report_coverage(r)->why_incomplete, "one; two");
	assert_int_equal(report_coverage(r)->nreasons, 2);
	assert_string_equal(report_coverage(other)->why_incomplete, "one; two; three; or four");
	assert_int_equal(report_coverage(other)->nreasons, 3);
	assert_string_equal(report_coverage(other)->reasons[2], "three; or four");
	report_free(other);
	report_free(r);
}

static void recursion_is_one_bug(void **state)
{
	struct bug_frame once[] = { sample_frame("insert", 8), sample_frame("main", 3) };
	struct bug_frame deep[] = { sample_frame("insert", 8), sample_frame("insert", 9),
				 sample_frame("insert", 10), sample_frame("main", 3) };
	struct bug_frame mutual[] = { sample_frame("insert", 8), sample_frame("split", 20),
				 sample_frame("insert", 9), sample_frame("main", 3) };
	struct report *r = report_new();

	(void)state;
	sample_add(r, "missing-flush", once, COUNT(once));
	sample_add(r, "missing-flush", deep, COUNT(deep));
	sample_add(r, "missing-flush", mutual, COUNT(mutual));
	report_finish(r);
	assert_int_equal(report_nbugs(r), 1);
	assert_int_equal(report_bug(r, 0)->count, 3);
	report_free(r);
}

static void library_internals_and_startup_do_not_divide(void **state)
{
	struct bug_frame a[] = { { .object = "/usr/lib/libpmem.so.1", .offset = 0x10 },
				 sample_frame("update", 8), sample_frame("main", 3),
				 { .object = "/usr/lib/libc.so.6", .offset = 0x20 } };
	struct bug_frame b[] = { { .object = "/usr/lib/libpmem.so.1", .offset = 0x99 },
				 sample_frame("update", 8), sample_frame("main", 3),
				 { .function = "__libc_start_main", .object = "/usr/lib/libc.so.6", .offset = 0x30 } };
	struct bug_location la = { .role = "store", .frames = a, .nframes = COUNT(a), .shown = 1 }, lb = { .role = "store", .frames = b, .nframes = COUNT(b), .shown = 1 };
	struct report *r = report_new();

	(void)state;
	report_add(r, &(struct bug){ .kind = "missing-fence", .locations = &la, .nlocations = 1 });
	report_add(r, &(struct bug){ .kind = "missing-fence", .locations = &lb, .nlocations = 1 });
	report_finish(r);
	assert_int_equal(report_nbugs(r), 1);
	report_free(r);
}

/* Adds a performance finding of a helper in persist.h, with this many callers in files of their own. */
static void add_helper(struct report *r, const char *kind, const char *caller_file, int ncallers)
{
	for (int i = 0; i < ncallers; i++) {
		struct bug_frame frames[] = { sample_frame("persist", 8), sample_frame("put", 20 + (uint32_t)i), sample_frame("main", 3) };
		struct bug_location l = place("flush", frames, COUNT(frames));

		frames[0].file = "/src/persist.h";
		frames[1].file = frames[2].file = caller_file;
		report_add(r, &(struct bug){ .kind = kind, .severity = BUG_PERFORMANCE, .locations = &l, .nlocations = 1 });
	}
}

static void library_of_flush_wrappers_is_suggested(void **state)
{
	static const struct {
		const char *caller_file;
		int ncallers;
		bool has_bug, has_other; /* a bug in the helper's file; as many findings elsewhere */
		bool is_suggested;
	} rows[] = {
		{ "/src/app.c", 3, false, false, true },
		{ "/src/app.c", 2, false, false, false },
		{ "/src/persist.h", 3, false, false, false },
		{ "/src/app.c", 3, true, false, false },
		{ "/src/app.c", 3, false, true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bug_frame own[] = { sample_frame("persist", 9), sample_frame("main", 3) }, other[] = { sample_frame("update", 5), sample_frame("main", 3) };
		struct bug_location l = place("store", own, 2), elsewhere = place("flush", other, 2);
		struct report *r = report_new();
		char *text;
		size_t len;
		FILE *f;

		own[0].file = "/src/persist.h";
		add_helper(r, "redundant-flush", rows[i].caller_file, rows[i].ncallers);
		if (rows[i].has_bug)
			report_add(r, &(struct bug){ .kind = "missing-flush", .severity = BUG_CORRECTNESS, .locations = &l, .nlocations = 1 });
		if (rows[i].has_other)
			report_add(r, &(struct bug){ .kind = "redundant-flush", .severity = BUG_PERFORMANCE, .locations = &elsewhere, .nlocations = 1 });
		report_finish(r);
		f = open_memstream(&text, &len);
		assert_non_null(f);
		report_text_summary(f, r, &(struct report_options){ 0 });
		fclose(f);
		assert_int_equal(strstr(text, "1 of 1 performance notes lies in functions that flush for their callers, on 3 call paths: "
					      "--library 'persist.h' names the lines that call them.\n") != NULL,
				 rows[i].is_suggested);
		assert_int_equal(strstr(text, "--library") != NULL, rows[i].is_suggested);
		free(text);
		report_free(r);
	}
}

/* The best evidence first, whatever the lines; then by id. */
static void sorted_by_evidence(void **state)
{
	static const struct bug_crash failed = { .failure_point = 3, .outcome = "signal 11", .command = "r" },
				      read = { .failure_point = 3, .outcome = "recovery read this" };
	static const struct {
		const char *kind;
		enum bug_severity severity;
		enum bug_use use;
		const struct bug_crash *crash;
	} rows[] = {
		{ "ordering", BUG_CORRECTNESS, BUG_USE_UNKNOWN, &failed },
		{ "recovery-failure", BUG_CORRECTNESS, BUG_USE_UNKNOWN, &failed },
		{ "cross-failure-race", BUG_CORRECTNESS, BUG_USE_UNKNOWN, &read },
		{ "missing-flush", BUG_CORRECTNESS, BUG_USE_UNKNOWN, NULL },
		{ "missing-fence", BUG_CORRECTNESS, BUG_USE_OVERWRITES, NULL },
		{ "missing-flush-fence", BUG_CORRECTNESS, BUG_USE_NONE, NULL },
		{ "flush-clean", BUG_PERFORMANCE, BUG_USE_UNKNOWN, NULL },
		{ "porting", BUG_PORTING, BUG_USE_UNKNOWN, &failed },
		{ "recovery-output", BUG_WARNING, BUG_USE_UNKNOWN, &failed },
	};
	struct report *r = report_new();

	(void)state;
	for (size_t i = COUNT(rows); i-- > 0;) {
		struct bug_frame frame = sample_frame("f", (uint32_t)(COUNT(rows) - i));
		struct bug_location l = place("store", &frame, 1);

		report_add(r, &(struct bug){ .kind = rows[i].kind, .severity = rows[i].severity, .use = rows[i].use, .crash = rows[i].crash, .locations = &l, .nlocations = 1 });
	}
	for (uint32_t line = 20; line < 24; line++) {
		struct bug_frame frame = sample_frame("f", line);

		sample_add(r, "tx-missing-add", &frame, 1);
	}
	report_finish(r);
	assert_int_equal(report_nbugs(r), COUNT(rows) + 4);
	for (size_t i = 0, row = 0; i < report_nbugs(r); i++) {
		const struct bug *b = report_bug(r, i);
		const bool is_tie = i >= 3 && i < 8; /* four of another kind stand beside the missing flush */

		if (!is_tie)
			assert_string_equal(b->kind, rows[row].kind);
		else if (i > 3)
			assert_true(strcmp(report_bug(r, i - 1)->id, b->id) < 0);
		row += !is_tie || i == 3;
	}
	assert_int_equal(report_count(r, BUG_CORRECTNESS), 10);
	assert_int_equal(report_count_unread(r), 2);
	report_free(r);
}

/* ---- ids ---- */

/* The id of the store in update() when the sources and lines are these. */
static void store_id(char id[17], const char *text, uint32_t line, uint32_t call_line, uint64_t slide)
{
	struct bug_frame frames[] = { sample_frame("update", line), sample_frame("main", call_line) };
	struct report *r = report_new();

	sample_write("app.c", text);
	frames[0].offset += slide;
	sample_add(r, "missing-flush", frames, 2);
	strcpy(id, only_id(r));
	report_free(r);
}

static void id_survives_edits_elsewhere(void **state)
{
	char before[17], moved[17], indented[17], changed[17];
	char *shifted = xasprintf("/* a new comment */\n\n%s", sample_source);

	(void)state;
	store_id(before, sample_source, 8, 3, 0);
	assert_int_equal(strlen(before), 16);
	assert_int_equal(strspn(before, "0123456789abcdef"), 16);
	store_id(moved, shifted, 10, 5, 0x40);
	assert_string_equal(before, moved);
	store_id(indented, "node->value  =\tv; \r\n", 1, 77, 0);
	store_id(changed, "\tnode->value = v + 1;\n", 1, 77, 0);
	assert_string_not_equal(before, changed);
	assert_string_equal(before, indented);
	free(shifted);
}

static void ids_of_equal_bugs_keep_their_order_when_lines_move(void **state)
{
	char before[2][17], after[2][17];
	uint32_t shift;

	(void)state;
	/* 9 and 10 become 10 and 11: as text, they would change places. */
	sample_write("app.c", "\n\n\n\n\n\n\n\nx;\nx;\nx;\n");
	for (shift = 0; shift < 2; shift++) {
		struct bug_frame first[] = { sample_frame("update", 9 + shift), sample_frame("main", 1) };
		struct bug_frame second[] = { sample_frame("update", 10 + shift), sample_frame("main", 1) };
		struct report *r = report_new();

		sample_add(r, "missing-flush", shift ? first : second, 2);
		sample_add(r, "missing-flush", shift ? second : first, 2);
		report_finish(r);
		assert_int_equal(report_nbugs(r), 2);
		for (size_t i = 0; i < 2; i++) {
			const size_t k = report_bug(r, i)->locations[0].frames[0].line - 9 - shift;

			assert_true(k < 2);
			strcpy(shift ? after[k] : before[k], report_bug(r, i)->id);
		}
		report_free(r);
	}
	assert_string_equal(before[0], after[0]);
	assert_string_equal(before[1], after[1]);
	assert_string_not_equal(before[0], before[1]);
}

static void id_without_source_counts_from_the_function(void **state)
{
	struct bug_frame a = { .function = "f", .file = "gone.c", .line = 12, .function_line = 10 };
	struct bug_frame moved = { .function = "f", .file = "gone.c", .line = 32, .function_line = 30 };
	struct bug_frame other = { .function = "f", .file = "gone.c", .line = 33, .function_line = 30 };
	struct report *ra = report_new(), *rm = report_new(), *ro = report_new();

	(void)state;
	sample_add(ra, "missing-flush", &a, 1);
	sample_add(rm, "missing-flush", &moved, 1);
	sample_add(ro, "missing-flush", &other, 1);
	assert_string_equal(only_id(ra), only_id(rm));
	assert_string_not_equal(only_id(ra), only_id(ro));
	report_free(ra);
	report_free(rm);
	report_free(ro);
}

static void source_is_found_in_given_folders(void **state)
{
	struct bug_frame frame = { .function = "f", .file = "sub.c", .line = 1 };
	struct report *r = report_new();
	char *text;

	(void)state;
	sample_write("build/sub.c", "\tsub_line();\n");
	report_add_folder(r, "/nowhere");
	report_add_folder(r, "build");
	sample_add(r, "missing-flush", &frame, 1);
	report_finish(r);
	text = sample_render(r, "text", &sample_options);
	assert_non_null(strstr(text, "sub_line"));
	free(text);
	report_free(r);
}

/* ---- what hides ---- */

/* Writes the block for bug number `only` of what --gen-suppressions gives. */
static void block_write(const struct report *r, size_t only)
{
	char *text = NULL, *block;
	size_t len, i;
	FILE *f = open_memstream(&text, &len);

	suppressions_generate(f, r);
	fclose(f);
	for (block = text, i = 0; i < only; i++)
		block = strstr(block, "\n}\n") + 3;
	strstr(block, "\n}\n")[3] = '\0';
	sample_write("one.supp", block);
	free(text);
}

static void generated_suppression_hides_exactly_its_bug(void **state)
{
	struct report *all = sample_rich();
	size_t i, k, n = report_nbugs(all);

	(void)state;
	for (i = 0; i < n; i++) {
		struct report *r = sample_rich();
		struct suppressions *s = suppressions_new();
		struct error err;

		block_write(r, i);
		if (suppressions_load(s, "one.supp", &err) < 0)
			fail_msg("%s", err.msg);
		report_suppress(r, s);
		assert_int_equal(report_nbugs(r), n - 1);
		for (k = 0; k < n - 1; k++)
			assert_string_equal(report_bug(r, k)->id, report_bug(all, k < i ? k : k + 1)->id);
		suppressions_free(s);
		report_free(r);
	}
	report_free(all);
}

static void suppression_patterns(void **state)
{
	static const struct {
		const char *block;
		bool hides; /* the missing-flush of sample_rich() */
	} cases[] = {
		{ "{\nkind: missing-*\n}\n", true },
		{ "{\nkind: missing\n}\n", false },
		{ "# comment\n\n  {  \r\n\tkind :missing-flush\t\r\n# inside\nfunction: upd*\n}\n", true },
		{ "{\nfunction: main\n}\n", false }, /* a caller */
		{ "{\ncaller: main\n}\n", true },
		{ "{\ncaller: update\n}\n", false },
		{ "{\nfile: app.c\n}\n", true },
		{ "{\nfile: */src/*\n}\n", true },
		{ "{\nfile: src/*\n}\n", false },
		{ "{\nlibrary: libpmem.so*\n}\n", true }, /* inside the place that is shown */
		{ "{\nlibrary: /usr/lib/*\n}\n", true },
		{ "{\nlibrary: libfoo*\n}\n", false },
		{ "{\nfunction: update\nkind: redundant-*\n}\n", false },
		{ "{\nkind: x\n}\n{\nkind: missing-flush\n}\n", true },
		{ "{\nid: 0\n}\n", false },
		{ "", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct report *r = sample_rich();
		struct suppressions *s = suppressions_new();
		struct error err;
		size_t k;
		bool found = false;

		sample_write("s.supp", cases[i].block);
		if (suppressions_load(s, "s.supp", &err) < 0)
			fail_msg("%s", err.msg);
		report_suppress(r, s);
		for (k = 0; k < report_nbugs(r); k++)
			found |= strcmp(report_bug(r, k)->kind, "missing-flush") == 0;
		if (found == cases[i].hides)
			fail_msg("%s", cases[i].block);
		suppressions_free(s);
		report_free(r);
	}
}

static void a_caller_hides_only_what_it_alone_reaches(void **state)
{
	static const struct {
		const char *block;
		size_t left;
	} cases[] = { { "{\ncaller: put\n}\n", 1 }, { "{\ncaller: main\n}\n", 0 }, { "{\nfunction: update\n}\n", 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct suppressions *s = suppressions_new();
		struct report *r = two_callers();
		struct error err;

		sample_write("s.supp", cases[i].block);
		if (suppressions_load(s, "s.supp", &err) < 0)
			fail_msg("%s", err.msg);
		report_suppress(r, s);
		assert_int_equal(report_nbugs(r), cases[i].left);
		suppressions_free(s);
		report_free(r);
	}
}

static void malformed_suppressions_say_where(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "kind: x\n", "s.supp:1: expected '{'" },
		{ "\n{\nkind: x\n", "s.supp:3: the block that begins at line 2 is not closed" },
		{ "{\nkind: x\n{\n", "s.supp:3: the block that begins at line 1 is not closed" },
		{ "{\n}\n", "s.supp:2: an empty block" },
		{ "{\nkind x\n}\n", "s.supp:2: expected 'KEY: PATTERN'" },
		{ "{\nkinds: x\n}\n", "s.supp:2: unknown key 'kinds' (there are: kind, function, file, library, caller, id)" },
		{ "{\nkind:\n}\n", "s.supp:2: 'kind' needs a pattern" },
		{ "{\nkind: a\nkind: b\n}\n", "s.supp:3: 'kind' is given twice" },
		{ "}\n", "s.supp:1: expected '{'" },
	};
	struct suppressions *s = suppressions_new();
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		sample_write("s.supp", cases[i].text);
		assert_int_equal(suppressions_load(s, "s.supp", &err), -1);
		if (strncmp(err.msg, cases[i].error, strlen(cases[i].error)) != 0)
			fail_msg("%s, not %s", err.msg, cases[i].error);
	}
	sample_write_bytes("s.supp", "{\nkind: a\0b\n}\n", 14);
	assert_int_equal(suppressions_load(s, "s.supp", &err), -1);
	assert_non_null(strstr(err.msg, "s.supp:2: a NUL byte"));
	assert_int_equal(suppressions_load(s, "missing.supp", &err), -1);
	assert_int_equal(suppressions_load(s, "build", &err), -1);
	suppressions_free(s);
}

static void baseline_leaves_what_is_new(void **state)
{
	struct bug_frame new_place = sample_frame("new_function", 2);
	struct report *old = sample_rich(), *r = report_new();
	struct baseline *b;
	struct error err;
	char *json = sample_render(old, "json", &sample_options), *text;
	size_t i;

	(void)state;
	sample_write("base.json", json);
	for (i = 0; i < report_nbugs(old); i++)
		report_add(r, report_bug(old, i));
	sample_add(r, "missing-flush", &new_place, 1);
	report_finish(r);
	assert_int_equal(report_nbugs(r), report_nbugs(old) + 1);
	b = baseline_open("base.json", &err);
	if (!b)
		fail_msg("%s", err.msg);
	report_subtract(r, b);
	assert_int_equal(report_nbugs(r), 1);
	assert_string_equal(bug_frame(report_bug(r, 0))->function, "new_function");
	text = sample_render(r, "text", &sample_options);
	assert_non_null(strstr(text, "hidden: 0 suppressed, 4 in the baseline"));
	free(text);
	baseline_close(b);
	sample_write("base.json", "{}");
	assert_null(baseline_open("base.json", &err));
	free(json);
	report_free(old);
	report_free(r);
}

/* What was a warning, and is a bug now, is new; what was a bug is known, as whatever it comes back. */
static void baseline_of_warnings(void **state)
{
	for (int was = BUG_CORRECTNESS; was < BUG_SEVERITIES; was++)
		for (int is = BUG_CORRECTNESS; is < BUG_SEVERITIES; is++) {
			struct report *old = report_new(), *r = report_new();
			struct baseline *b;
			struct error err;
			char *json;

			report_add(old, &(struct bug){ .kind = "missing-flush", .severity = (enum bug_severity)was, .message = "lost" });
			report_add(r, &(struct bug){ .kind = "missing-flush", .severity = (enum bug_severity)is, .message = "lost" });
			report_finish(old);
			report_finish(r);
			json = sample_render(old, "json", &sample_options);
			sample_write("base.json", json);
			b = baseline_open("base.json", &err);
			assert_non_null(b);
			report_subtract(r, b);
			assert_int_equal(report_nbugs(r), is < was);
			baseline_close(b);
			free(json);
			report_free(old);
			report_free(r);
		}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_path_is_one_bug),
		cmocka_unit_test(library_of_flush_wrappers_is_suggested),
		cmocka_unit_test(other_line_or_kind_is_another),
		cmocka_unit_test(other_callers_are_paths_inside),
		cmocka_unit_test(stores_of_a_line_are_paths),
		cmocka_unit_test(paths_have_locations_of_their_own),
		cmocka_unit_test(paths_survive_json_and_unfold),
		cmocka_unit_test(what_a_library_does_is_one_line),
		cmocka_unit_test(severity_leaves_what_is_worse),
		cmocka_unit_test(only_correctness_is_called_a_bug),
		cmocka_unit_test(a_part_looks_for_what_it_explores),
		cmocka_unit_test(all_reasons_are_kept),
		cmocka_unit_test(recursion_is_one_bug),
		cmocka_unit_test(library_internals_and_startup_do_not_divide),
		cmocka_unit_test(sorted_by_evidence),
		cmocka_unit_test(id_survives_edits_elsewhere),
		cmocka_unit_test(ids_of_equal_bugs_keep_their_order_when_lines_move),
		cmocka_unit_test(id_without_source_counts_from_the_function),
		cmocka_unit_test(source_is_found_in_given_folders),
		cmocka_unit_test(generated_suppression_hides_exactly_its_bug),
		cmocka_unit_test(suppression_patterns),
		cmocka_unit_test(a_caller_hides_only_what_it_alone_reaches),
		cmocka_unit_test(malformed_suppressions_say_where),
		cmocka_unit_test(baseline_leaves_what_is_new),
		cmocka_unit_test(baseline_of_warnings),
	};

	return cmocka_run_group_tests(tests, sample_folder_make, sample_folder_remove);
}
