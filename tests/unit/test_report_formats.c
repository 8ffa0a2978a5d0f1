/* Every rendering of a report, and reading JSON back. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/bug.h"
#include "report/format.h"
#include "tests/unit/report_sample.h"
#include "util/alloc.h"

static struct bug_location place(const char *role, const struct bug_frame *frames, size_t n)
{
	return (struct bug_location){ .role = role, .frames = frames, .nframes = n };
}

static json_t *render_json(const struct report *r, const char *format, const struct report_options *o)
{
	char *text = sample_render(r, format, o);
	json_error_t why;
	json_t *top = json_loads(text, 0, &why);

	if (!top)
		fail_msg("%s: line %d: %s", format, why.line, why.text);
	free(text);
	return top;
}

static const json_t *member(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);

	if (!value)
		fail_msg("no \"%s\"", key);
	return value;
}

static const char *text_of(const json_t *o, const char *key)
{
	assert_true(json_is_string(member(o, key)));
	return json_string_value(member(o, key));
}

static const json_t *find(const json_t *list, const char *key, const char *value)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++)
		if (strcmp(text_of(json_array_get(list, i), key), value) == 0)
			return json_array_get(list, i);
	fail_msg("no \"%s\": \"%s\"", key, value);
	return NULL;
}

static void json_is_the_contract(void **state)
{
	struct report *r = sample_rich();
	json_t *top = render_json(r, "json", &sample_options);
	const json_t *b, *l, *frame;

	(void)state;
	assert_string_equal(text_of(top, "pmend"), PMEND_VERSION);
	assert_string_equal(text_of(top, "platform"), "x86-adr");
	assert_int_equal(json_array_size(member(top, "command")), 2);
	assert_int_equal(json_array_size(member(top, "bugs")), 4);
	b = find(member(top, "bugs"), "kind", "missing-flush");
	assert_int_equal(strlen(text_of(b, "id")), 16);
	assert_string_equal(text_of(b, "severity"), "correctness");
	assert_string_equal(text_of(b, "message"), "the store is lost");
	assert_int_equal(json_integer_value(member(b, "count")), 12);
	l = json_array_get(member(b, "locations"), 0);
	assert_string_equal(text_of(l, "role"), "store");
	assert_string_equal(text_of(l, "file"), "/home/u/src/app.c");
	assert_string_equal(text_of(l, "function"), "update");
	assert_int_equal(json_integer_value(member(l, "line")), 8);
	assert_int_equal(json_integer_value(member(l, "column")), 14);
	assert_int_equal(json_array_size(member(l, "stack")), 1);
	frame = json_array_get(member(l, "stack"), 0);
	assert_string_equal(text_of(frame, "function"), "main");
	assert_null(json_object_get(frame, "column")); /* unknown: left out */
	assert_int_equal(json_array_size(member(l, "internals")), 1);
	l = json_array_get(member(find(member(top, "bugs"), "kind", "redundant-fence"), "locations"), 0);
	assert_null(json_object_get(l, "file"));
	assert_int_equal(json_integer_value(member(l, "offset")), 0xabc);
	assert_int_equal(json_integer_value(member(member(top, "coverage"), "events")), 81234);
	assert_true(json_is_false(member(member(top, "coverage"), "complete")));
	assert_int_equal(json_integer_value(member(member(member(top, "coverage"), "depth"), "failure_points")), 90);
	assert_int_equal(json_integer_value(member(member(member(top, "coverage"), "depth"), "first_runs")), 15);
	json_decref(top);
	report_free(r);
}

static void json_reads_back_the_same(void **state)
{
	static const char *const formats[] = { "json", "text", "sarif", "html" };
	struct report *r = sample_rich(), *copy, *again;
	struct error err;
	char *json = sample_render(r, "json", &sample_options);
	size_t i;

	(void)state;
	sample_write("r.json", json);
	copy = report_read("r.json", &err);
	if (!copy)
		fail_msg("%s", err.msg);
	assert_int_equal(report_nbugs(copy), report_nbugs(r));
	assert_int_equal(report_bug(copy, 1)->nlocations, report_bug(r, 1)->nlocations);
	again = report_read("r.json", &err);
	for (i = 0; i < COUNT(formats); i++) {
		char *a = sample_render(copy, formats[i], &sample_options), *b = sample_render(again, formats[i], &sample_options);

		assert_string_equal(a, b);
		if (i == 0)
			assert_string_equal(a, json);
		free(a);
		free(b);
	}
	free(json);
	report_free(r);
	report_free(copy);
	report_free(again);
}

static void malformed_json_is_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "", "bad.json:1: not JSON" },
		{ "{ \"pmend\": \"1\",\n \"bugs\": [", "bad.json:2: not JSON" },
		{ "[]", "not a report of pmend" },
		{ "{\"bugs\": []}", "not a report of pmend" },
		{ "{\"pmend\": 3, \"bugs\": []}", "not a report of pmend" },
		{ "{\"pmend\": \"1\", \"bugs\": {}}", "not a report of pmend" },
		{ "{\"pmend\": \"1\", \"bugs\": [1]}", "bugs[0]" },
		{ "{\"pmend\": \"1\", \"bugs\": [{}]}", "bugs[0].kind: missing" },
		{ "{\"pmend\": \"1\", \"bugs\": [{\"kind\": 1}]}", "bugs[0].kind: not a string" },
		{ "{\"pmend\": \"1\", \"bugs\": [{\"kind\": \"k\", \"severity\": \"x\"}]}", "bugs[0].severity" },
		{ "{\"pmend\": \"1\", \"bugs\": [{\"kind\": \"k\", \"severity\": \"correctness\"}]}", "bugs[0].id: missing" },
		{ "{\"pmend\": \"1\", \"bugs\": [{\"kind\": \"k\", \"severity\": \"correctness\", \"id\": \"12345678901234567\"}]}",
		  "bugs[0].id: not 1 to 16" },
		{ "{\"pmend\": \"1\", \"bugs\": [{\"kind\": \"k\", \"severity\": \"correctness\", \"id\": \"1\", \"count\": -1}]}",
		  "bugs[0].count" },
		{ "{\"pmend\": \"1\", \"bugs\": [{\"kind\": \"k\", \"severity\": \"correctness\", \"id\": \"1\", \"locations\": [3]}]}",
		  "bugs[0].locations[0]" },
		{ "{\"pmend\": \"1\", \"bugs\": [{\"kind\": \"k\", \"severity\": \"correctness\", \"id\": \"1\","
		  "\"locations\": [{}, {\"line\": 4294967296}]}]}", "bugs[0].locations[1].line" },
		{ "{\"pmend\": \"1\", \"bugs\": [{\"kind\": \"k\", \"severity\": \"correctness\", \"id\": \"1\","
		  "\"locations\": [{\"stack\": [7]}]}]}", "bugs[0].locations[0].stack" },
		{ "{\"pmend\": \"1\", \"bugs\": [], \"coverage\": 1}", "coverage: not an object" },
		{ "{\"pmend\": \"1\", \"bugs\": [], \"command\": [1]}", "command" },
		{ "{\"pmend\": \"\\u0000\", \"bugs\": []}", "not JSON" },
	};
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		sample_write("bad.json", cases[i].text);
		assert_null(report_read("bad.json", &err));
		if (!strstr(err.msg, cases[i].error) || !strstr(err.msg, "bad.json"))
			fail_msg("case %zu: %s", i, err.msg);
	}
	assert_null(report_read("missing.json", &err));
	assert_non_null(strstr(err.msg, "cannot open missing.json"));
	assert_null(report_read("build", &err));
	assert_non_null(strstr(err.msg, "folder"));
}

static void json_of_a_newer_version_can_be_read(void **state)
{
	struct error err;
	struct report *r;

	(void)state;
	sample_write("new.json", "{\"pmend\": \"9.9\", \"new\": [], \"bugs\": [{\"id\": \"a\", \"kind\": \"new-kind\","
			       "\"severity\": \"performance\", \"crash\": {\"lost\": []}, \"locations\": [{\"role\": \"read\"}]}]}");
	r = report_read("new.json", &err);
	if (!r)
		fail_msg("%s", err.msg);
	assert_int_equal(report_nbugs(r), 1);
	assert_int_equal(report_bug(r, 0)->count, 1);
	report_free(r);
}

static void sarif_location_check(const json_t *location)
{
	const json_t *artifact = member(member(location, "physicalLocation"), "artifactLocation");
	const char *uri = text_of(artifact, "uri");

	assert_true(uri[0] != '\0' && uri[0] != '/');
	assert_int_equal(strspn(uri, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%/:"), strlen(uri));
	if (json_object_get(artifact, "uriBaseId"))
		assert_string_equal(text_of(artifact, "uriBaseId"), "%SRCROOT%");
	else
		assert_memory_equal(uri, "file:///", 8);
}

static void sarif_result_check(const json_t *rules, const json_t *result)
{
	const json_t *rule = json_array_get(rules, (size_t)json_integer_value(member(result, "ruleIndex")));
	const json_t *flows = json_object_get(result, "codeFlows"), *related = json_object_get(result, "relatedLocations");
	size_t i, k;

	assert_string_equal(text_of(rule, "id"), text_of(result, "ruleId"));
	assert_true(strcmp(text_of(result, "level"), "error") == 0 || strcmp(text_of(result, "level"), "warning") == 0);
	assert_true(strlen(text_of(member(result, "message"), "text")) > 0);
	assert_int_equal(json_array_size(member(result, "locations")), 1);
	sarif_location_check(json_array_get(member(result, "locations"), 0));
	assert_int_equal(strlen(text_of(member(result, "partialFingerprints"), "primaryLocationLineHash")), 16);
	for (i = 0; i < json_array_size(related); i++)
		sarif_location_check(json_array_get(related, i));
	for (i = 0; i < json_array_size(flows); i++) {
		const json_t *threads = member(json_array_get(flows, i), "threadFlows"), *steps;

		assert_int_equal(json_array_size(threads), 1);
		steps = member(json_array_get(threads, 0), "locations");
		assert_true(json_array_size(steps) > 0);
		for (k = 0; k < json_array_size(steps); k++)
			sarif_location_check(member(json_array_get(steps, k), "location"));
	}
}

static void sarif_has_what_is_required(void **state)
{
	struct report *r = sample_rich();
	json_t *top = render_json(r, "sarif", &sample_options);
	const json_t *run, *rules, *results, *result, *physical, *steps;
	size_t i;

	(void)state;
	assert_string_equal(text_of(top, "version"), "2.1.0");
	assert_non_null(strstr(text_of(top, "$schema"), "sarif-2.1.0"));
	assert_int_equal(json_array_size(member(top, "runs")), 1);
	run = json_array_get(member(top, "runs"), 0);
	assert_string_equal(text_of(member(member(run, "tool"), "driver"), "name"), "pmend");
	rules = member(member(member(run, "tool"), "driver"), "rules");
	for (i = 0; bug_kinds[i].name; i++) {
		const json_t *rule = json_array_get(rules, i);

		assert_string_equal(text_of(rule, "id"), bug_kinds[i].name);
		assert_true(strlen(text_of(member(rule, "shortDescription"), "text")) > 0);
		assert_true(strlen(text_of(member(rule, "fullDescription"), "text")) > 0);
		assert_true(strlen(text_of(member(rule, "help"), "text")) > 0);
		assert_true(strlen(text_of(member(rule, "defaultConfiguration"), "level")) > 0);
	}
	assert_int_equal(json_array_size(rules), i + 1); /* and the plug-in's */
	results = member(run, "results");
	assert_int_equal(json_array_size(results), 4);
	for (i = 0; i < 4; i++)
		sarif_result_check(rules, json_array_get(results, i));
	result = find(results, "ruleId", "missing-flush");
	physical = member(json_array_get(member(result, "locations"), 0), "physicalLocation");
	assert_string_equal(text_of(member(physical, "artifactLocation"), "uri"), "src/app.c");
	assert_string_equal(text_of(member(physical, "artifactLocation"), "uriBaseId"), "%SRCROOT%");
	assert_int_equal(json_integer_value(member(member(physical, "region"), "startLine")), 8);
	assert_int_equal(json_integer_value(member(member(physical, "region"), "startColumn")), 14);
	physical = member(json_array_get(member(result, "relatedLocations"), 0), "physicalLocation");
	assert_string_equal(text_of(member(physical, "artifactLocation"), "uri"), "file:///elsewhere/a%20b%23.c");
	steps = member(json_array_get(member(json_array_get(member(result, "codeFlows"), 0), "threadFlows"), 0), "locations");
	assert_int_equal(json_array_size(steps), 2);
	physical = member(member(json_array_get(steps, 0), "location"), "physicalLocation"); /* the outermost first */
	assert_int_equal(json_integer_value(member(member(physical, "region"), "startLine")), 3);
	assert_string_equal(text_of(member(member(run, "originalUriBaseIds"), "%SRCROOT%"), "uri"), "file:///home/u/");
	json_decref(top);
	report_free(r);
}

static void sarif_paths_are_normalised(void **state)
{
	static const struct {
		const char *file, *uri;
	} cases[] = {
		{ "/home/u/./a//b/../c.c", "a/c.c" }, { "/home/u2/c.c", "file:///home/u2/c.c" }, { "x/y.c", "x/y.c" },
		{ "../z.c", "file:///home/z.c" },     { "/../../q.c", "file:///q.c" },		 { "a:b.c", "a%3Ab.c" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct bug_frame frame = { .function = "f", .file = cases[i].file, .line = 1 };
		struct report *r = report_new();
		char *text, *want = xasprintf("\"uri\": \"%s\"", cases[i].uri);

		sample_add(r, "missing-flush", &frame, 1);
		report_finish(r);
		text = sample_render(r, "sarif", &sample_options);
		if (!strstr(text, want))
			fail_msg("%s: not %s", cases[i].file, want);
		free(text);
		free(want);
		report_free(r);
	}
}

/* docs/report.md has the sentence. */
static void depth_is_told_in_words(void **state)
{
	static const char *const formats[] = { "text", "html" };
	struct report *r = sample_rich();

	(void)state;
	for (size_t i = 0; i < COUNT(formats); i++) {
		char *text = sample_render(r, formats[i], &sample_options);

		assert_non_null(strstr(text, "Of 90 failure points, 40 were explored whole, 5 had as many runs as --sample allows, 20 had more than their first runs and have states left, "
					     "15 had only their first runs, 10 were not reached."));
		free(text);
	}
	report_free(r);
}

/* Two failing states of one bug: the first is told, and the runs are those after which the bug was known. */
static void runs_are_the_fewest(void **state)
{
	struct bug_frame frames[] = { sample_frame("update", 8) };
	struct bug_location l = place("lost", frames, 1);
	struct report *r = report_new();

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		struct bug_crash crash = { .failure_point = i + 1, .outcome = "exit status 1", .runs = 10 - i };

		report_add(r, &(struct bug){ .kind = "ordering", .message = "lost", .count = 1, .locations = &l, .nlocations = 1, .crash = &crash });
	}
	report_finish(r);
	assert_int_equal(report_nbugs(r), 1);
	assert_int_equal(report_bug(r, 0)->crash->runs, 8);
	assert_int_equal(report_bug(r, 0)->crash->failure_point, 1);
	report_free(r);
}

static void text_block_is_as_documented(void **state)
{
	struct bug_frame frames[] = { sample_frame("update", 8), sample_frame("main", 3) };
	struct bug_location l = place("store", frames, 2);
	struct report *r = report_new();
	char *text, *want;

	(void)state;
	sample_write("app.c", sample_source);
	frames[0].column = 14;
	report_set_platform(r, "x86-adr");
	report_set_coverage(r, &(struct report_coverage){ .events = 20, .is_complete = true });
	report_add(r, &(struct bug){ .kind = "missing-flush", .message = "never written back", .advice = "Flush it.", .count = 12,
				     .first_seq = 17, .locations = &l, .nlocations = 1 });
	report_finish(r);
	text = sample_render(r, "text", &sample_options);
	want = xasprintf("app.c:8: missing-flush: never written back\n"
			 "     7 | {\n"
			 "     8 | \tnode->value = v;\n"
			 "       | \t            ^\n"
			 "  store at update (app.c:8)\n"
			 "        by main (app.c:3)\n"
			 "  Flush it.\n"
			 "  seen 12 times, first at event 17; id %s\n"
			 "\n"
			 "1 bug, on x86-adr, in 20 events.\n", report_bug(r, 0)->id);
	assert_string_equal(text, want);
	free(text);
	text = sample_render(r, "text", &(struct report_options){ .quiet = true });
	assert_string_equal(text, "app.c:8: missing-flush: never written back\n");
	free(text);
	text = sample_render(r, "text", &(struct report_options){ .colour = true });
	assert_non_null(strstr(text, "\33[1;31mmissing-flush\33[0m"));
	free(text);
	free(want);
	report_free(r);
}

/* The user's frames up to main; a library's are one word; callers that two locations share are there once. */
static void text_is_short(void **state)
{
	const struct bug_frame library[] = { { .function = "__memmove_avx_unaligned_erms", .object = "/usr/lib/x86_64-linux-gnu/libc.so.6" },
					     { .function = "pmemobj_memcpy", .object = "/usr/lib/libpmemobj.so.1" } };
	const struct bug_frame lost[] = { library[0], library[1], sample_frame("put", 8), sample_frame("insert", 4), sample_frame("main", 3), sample_frame("_start", 0) };
	const struct bug_frame survived[] = { library[0], sample_frame("put", 9), sample_frame("insert", 4), sample_frame("main", 3), sample_frame("_start", 0) };
	const struct bug_frame flush[] = { sample_frame("callback", 1), library[1], sample_frame("walk", 2), sample_frame("main", 3) };
	const struct bug_location l[] = { { .role = "lost", .frames = lost, .nframes = COUNT(lost), .shown = 2 },
					  { .role = "survived", .frames = survived, .nframes = COUNT(survived), .shown = 1 },
					  { .role = "flush", .frames = flush, .nframes = COUNT(flush) } };
	struct report *r = report_new();
	char *text;

	(void)state;
	unlink("app.c");
	report_add(r, &(struct bug){ .kind = "ordering", .message = "lost", .locations = l, .nlocations = COUNT(l) });
	report_finish(r);
	text = sample_render(r, "text", &sample_options);
	assert_non_null(strstr(text, "ordering: lost\n"
				     "  lost at put (app.c:8), in libpmemobj: pmemobj_memcpy\n"
				     "       by insert (app.c:4)\n"
				     "       by main (app.c:3)\n"
				     "  survived at put (app.c:9), in libc: memmove, called as above\n"
				     "  flush at callback (app.c:1)\n"
				     "        by walk (app.c:2), in libpmemobj: pmemobj_memcpy, called as above\n"));
	free(text);
	text = sample_render(r, "text", &(struct report_options){ .cwd = "/home/u", .verbose = true });
	assert_non_null(strstr(text, "  survived at __memmove_avx_unaligned_erms (/usr/lib/x86_64-linux-gnu/libc.so.6+0x0)\n"
				     "           by put (app.c:9)\n"
				     "           by insert (app.c:4)\n"
				     "           by main (app.c:3)\n"
				     "           by _start"));
	assert_null(strstr(text, "as above"));
	free(text);
	report_free(r);
}

/* What --library names is folded, too. */
static void text_folds_named_libraries(void **state)
{
	const struct bug_frame frames[] = { sample_frame("put", 8), { .function = "wrap", .file = "third_party/w.c", .line = 5, .object = "/opt/app" }, sample_frame("main", 3) };
	const struct bug_location l = { .role = "store", .frames = frames, .nframes = COUNT(frames) };
	struct report *r = report_new();
	char *text;

	(void)state;
	report_add_library_glob(r, "third_party/*");
	report_add(r, &(struct bug){ .kind = "missing-flush", .message = "lost", .locations = &l, .nlocations = 1 });
	report_finish(r);
	text = sample_render(r, "text", &sample_options);
	assert_non_null(strstr(text, "  store at put (app.c:8)\n        by main (app.c:3), in wrap (third_party/w.c:5)\n"));
	free(text);
	report_free(r);
}

static void text_compares_dumps(void **state)
{
	struct report *r = sample_rich();
	char *text = sample_render(r, "text", &sample_options);

	(void)state;
	assert_non_null(strstr(text, "  After a crash at failure point 17, ./app dump {}: the dump differs.\n"
				     "  Operation 3, \"put<\\x1b>\" (annotated) and 1 more were in flight. 4 states are allowed; the first and the last:\n"
				     "    line 2:\n"
				     "    before:  b 2\n"
				     "    after:   (no such line)\n"
				     "    found:   </script>\\x1b[2J\\xff\n"
				     "    line 7:\n"
				     "    before:  (no such line)\n"
				     "    after:   c\n"
				     "             d\n"
				     "             ...\n"
				     "    found:   (an empty line)\n"
				     "    and 7 more differences\n"));
	free(text);
	text = sample_render(r, "text", &(struct report_options){ .verbose = true });
	assert_non_null(strstr(text, "             d\n             e\n"));
	free(text);
	report_free(r);
}

/* The last lines that recovery printed; where a dump is compared, it is not repeated. */
static void text_shows_the_end_of_the_output(void **state)
{
	const struct bug_crash crash = { .failure_point = 2, .outcome = "exit status 1", .command = "./app check {}", .output = "one\ntwo\nthree\nfour\x1b" };
	struct report *r = report_new();
	char *text;

	(void)state;
	report_add(r, &(struct bug){ .kind = "ordering", .message = "lost", .crash = &crash });
	report_finish(r);
	text = sample_render(r, "text", &sample_options);
	assert_non_null(strstr(text, "./app check {}: exit status 1. Its output ends with:\n    two\n    three\n    four\\x1b\n"));
	free(text);
	text = sample_render(r, "text", &(struct report_options){ .verbose = true });
	assert_non_null(strstr(text, "ends with:\n    one\n    two\n"));
	free(text);
	report_free(r);
}

static void caret_stands_below_its_character(void **state)
{
	struct bug_frame frame = sample_frame("f", 1);
	struct report *r = report_new();
	char *text;

	(void)state;
	sample_write("app.c", "\t\xc3\xa4\x01 = 1;\n"); /* bytes: tab, two of ä, a control, blank, = in column 6 */
	frame.column = 6;
	sample_add(r, "missing-flush", &frame, 1);
	frame.line = 2; /* beyond the end of the file: no excerpt, no crash */
	sample_add(r, "missing-flush", &frame, 1);
	report_finish(r);
	text = sample_render(r, "text", &sample_options);
	assert_non_null(strstr(text, "     1 | \t\xc3\xa4\\x01 = 1;\n       | \t      ^\n"));
	assert_null(strstr(text, "     2 |"));
	free(text);
	report_free(r);
}

static void text_says_how_to_get_lines(void **state)
{
	struct bug_frame own = { .function = "f", .object = "/home/u/app", .offset = 0x12 };
	struct bug_frame packaged = { .object = "/usr/lib/libx.so", .offset = 0x34 };
	struct report *r = report_new();
	char *text;

	(void)state;
	sample_add(r, "missing-flush", &own, 1);
	sample_add(r, "missing-fence", &packaged, 1);
	report_finish(r);
	text = sample_render(r, "text", &sample_options);
	assert_non_null(strstr(text, "app+0x12: missing-flush: lost\n"));
	assert_non_null(strstr(text, "/usr/lib/libx.so+0x34: missing-fence: lost\n"));
	assert_non_null(strstr(text, "No source lines for /usr/lib/libx.so, app: no debug information, or built again after the recording. To see them, compile with -g or install the -dbgsym"));
	free(text);
	report_free(r);
}

/* A program of Rust has lines, and the standard library that is linked into it has none. */
static void text_says_nothing_of_lines_that_are_there(void **state)
{
	struct bug_frame linked_in = { .function = "f", .object = "/home/u/app", .offset = 0x12 };
	struct bug_frame own = { .function = "g",
				 .file = "app.rs",
				 .line = 3,
				 .object = "/home/u/app",
				 .offset = 0x34 };
	struct report *r = report_new();
	char *text;

	(void)state;
	sample_add(r, "missing-flush", &linked_in, 1);
	sample_add(r, "missing-fence", &own, 1);
	report_finish(r);
	text = sample_render(r, "text", &sample_options);
	assert_non_null(strstr(text, "app+0x12: missing-flush: lost\n"));
	assert_null(strstr(text, "No source lines for"));
	free(text);
	report_free(r);
}

/* Nothing that a terminal obeys, and nothing that ends a line early. */
static void hostile_strings_are_harmless_in_text(void **state)
{
	struct report *r = sample_rich();
	char *text = sample_render(r, "text", &sample_options);
	const char *p;

	(void)state;
	for (p = text; *p; p++)
		assert_true((unsigned char)*p >= ' ' || *p == '\n' || *p == '\t');
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_null(strchr(text, '\xff'));
	assert_non_null(strstr(text, "\\xff\\x1b[2J"));
	free(text);
	report_free(r);
}

static int count_of(const char *text, const char *part)
{
	int n = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		n++;
	}
	return n;
}

static void hostile_strings_are_harmless_in_html(void **state)
{
	struct report *r = sample_rich();
	char *text = sample_render(r, "html", &sample_options);

	(void)state;
	assert_memory_equal(text, "<!DOCTYPE html>", 15);
	assert_int_equal(count_of(text, "<script"), 1); /* our own */
	assert_int_equal(count_of(text, "</script"), 1);
	assert_null(strstr(text, "my-plugin<b>"));
	assert_null(strstr(text, "\x1b"));
	assert_int_equal(count_of(text, "<pre"), count_of(text, "</pre>"));
	assert_null(strstr(text, "http://"));
	assert_non_null(strstr(text, "my-plugin&lt;b&gt;"));
	assert_non_null(strstr(text, "src/app.c:8"));
	assert_non_null(strstr(text, "app+0xabc"));
	free(text);
	report_free(r);
}

static void html_shows_the_source(void **state)
{
	struct bug_frame frame = sample_frame("update", 8);
	struct report *r = report_new();
	char *text;

	(void)state;
	sample_write("app.c", sample_source);
	sample_add(r, "missing-flush", &frame, 1);
	report_finish(r);
	text = sample_render(r, "html", &sample_options);
	assert_non_null(strstr(text, "<b class=\"bad\">1</b></span><span class=\"l\">8</span>\tnode-&gt;value = v;<span class=\"at bad\">1 store <b>missing: flush</b></span>\n"));
	free(text);
	report_free(r);
}

static void empty_report_renders(void **state)
{
	const struct report_format *format;
	struct report *r = report_new();
	char *text;

	(void)state;
	report_finish(r);
	for (format = report_formats; format->name; format++) {
		text = sample_render(r, format->name, &(struct report_options){ 0 });
		assert_true(strlen(text) > 0);
		free(text);
	}
	text = sample_render(r, "text", &(struct report_options){ .quiet = true });
	assert_string_equal(text, "");
	free(text);
	assert_null(report_format_find("xml"));
	report_free(r);
}

static void strange_sources_are_left_alone(void **state)
{
	static const char *const files[] = { "/dev/zero", "/dev/stdin", "build", "", "no-newline.c" };
	struct report *r = report_new();
	char *text;
	size_t i;

	(void)state;
	sample_write("no-newline.c", "last_line();");
	for (i = 0; i < COUNT(files); i++) {
		struct bug_frame frame = { .function = "f", .file = files[i], .line = 1 };

		sample_add(r, "missing-flush", &frame, 1);
	}
	report_finish(r);
	text = sample_render(r, "text", &sample_options);
	assert_non_null(strstr(text, "     1 | last_line();\n       | ^\n"));
	free(text);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_the_contract),
		cmocka_unit_test(json_reads_back_the_same),
		cmocka_unit_test(malformed_json_is_refused),
		cmocka_unit_test(json_of_a_newer_version_can_be_read),
		cmocka_unit_test(sarif_has_what_is_required),
		cmocka_unit_test(sarif_paths_are_normalised),
		cmocka_unit_test(text_block_is_as_documented),
		cmocka_unit_test(text_is_short),
		cmocka_unit_test(text_folds_named_libraries),
		cmocka_unit_test(text_compares_dumps),
		cmocka_unit_test(text_shows_the_end_of_the_output),
		cmocka_unit_test(depth_is_told_in_words),
		cmocka_unit_test(runs_are_the_fewest),
		cmocka_unit_test(caret_stands_below_its_character),
		cmocka_unit_test(text_says_how_to_get_lines),
		cmocka_unit_test(text_says_nothing_of_lines_that_are_there),
		cmocka_unit_test(hostile_strings_are_harmless_in_text),
		cmocka_unit_test(hostile_strings_are_harmless_in_html),
		cmocka_unit_test(html_shows_the_source),
		cmocka_unit_test(empty_report_renders),
		cmocka_unit_test(strange_sources_are_left_alone),
	};

	return cmocka_run_group_tests(tests, sample_folder_make, sample_folder_remove);
}
