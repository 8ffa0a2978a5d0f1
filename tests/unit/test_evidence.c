/* Evidence of a report: JSON that is written is read again, what is malformed is refused or left out. And SHA-256, by which the page names its script. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/evidence.h"
#include "report/format.h"
#include "report/internal.h"
#include "util/sha256.h"

static void check_digest(const char *text, const char *want)
{
	uint8_t digest[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1];

	sha256(text, strlen(text), digest);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
	assert_string_equal(hex, want);
}

/* FIPS 180-4 and its examples: none, one and two blocks, and where the length needs one more. */
static void sha256_is_the_standards(void **state)
{
	(void)state;
	check_digest("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_digest("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	check_digest("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

static char row[2 * EVIDENCE_ROW_BYTES + 1], other[2 * EVIDENCE_ROW_BYTES + 1];

static struct report *sample(void)
{
	static const struct evidence_event events[] = {
		{ .seq = 7, .kind = "op-begin", .what = "put", .states = "d", .thread = 1 },
		{ .seq = 9, .skipped = 1, .kind = "store", .role = "lost", .field = "node.value", .what = "42", .states = "x", .function = "put", .file = "a.c", .line = 3,
		  .process = 1, .thread = 2, .row = 1, .offset = 72, .size_bytes = 8 },
	};
	static const struct evidence_field fields[] = { { 8, 8, "node.value" } };
	static const struct bug_frame lost[] = { { .function = "put", .file = "a.c", .line = 3 } };
	static const struct bug_value values[] = { { .bytes = "03" }, { .bytes = "02", .is_taken = true, .lost = lost, .nlost = 1 } };
	static const struct bug_choice choices[] = { { .read = { .function = "get", .file = "a.c", .line = 9, .text = "return n;" }, .by = "recover", .file = "/pool", .offset = 72,
						       .size_bytes = 1, .values = values, .nvalues = 2, .nall = 4 } };
	static const struct bug_crash crash = { .failure_point = 3, .choices = choices, .nchoices = 1, .nchoices_all = 7 };
	static const struct bug_input input = { .file = "in/2", .command = "./a in/2", .size = 4, .first = "in/1" };
	static const struct report_found found[] = { { 1, "in/0", 12, 0 }, { 2, "in/1", 0, 1 } };
	struct evidence e = { .events = events, .nevents = 2, .nrows = 1, .crash_seq = 12, .after = 2 };
	struct report *r = report_new();

	memset(row, '0', sizeof row - 1);
	memset(other, 'a', sizeof other - 1);
	e.rows[0] = (struct evidence_row){ .file = "/pool", .offset = 64, .durable = row, .newest = other, .found = row, .possible = { row, other }, .npossible = 2, .nall = 3,
					   .fields = fields, .nfields = 1 };
	report_add(r, &(struct bug){ .kind = "ordering", .message = "m", .crash = &crash, .input = &input });
	report_set_coverage(r, &(struct report_coverage){ .events = 1, .inputs = 9, .found = found, .nfound = 2, .nfound_all = 5 });
	report_finish(r);
	report_set_evidence(r, 0, &e);
	return r;
}

static char *json_of(const struct report *r)
{
	char *text = NULL;
	size_t len_bytes;
	FILE *f = open_memstream(&text, &len_bytes);

	report_json(f, r, &(struct report_options){ 0 });
	fclose(f);
	return text;
}

static struct report *read_text(const char *text)
{
	char path[] = "/tmp/test_evidence.XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	struct report *r;
	struct error err;

	fputs(text, f);
	fclose(f);
	r = report_read(path, &err);
	unlink(path);
	return r;
}

static void evidence_reads_back_the_same(void **state)
{
	struct report *r = sample(), *again;
	char *text = json_of(r), *second;

	(void)state;
	assert_non_null(strstr(text, "\"crash_before\": 12"));
	assert_non_null(strstr(text, "\"field\": \"node.value\""));
	assert_non_null(strstr(text, "\"choices_all\": 7"));
	assert_non_null(strstr(text, "\"values_all\": 4"));
	assert_non_null(strstr(text, "\"new_pm\": 12"));
	assert_non_null(strstr(text, "\"progress_left_out\": 3"));
	assert_non_null(strstr(text, "\"first\": \"in/1\""));
	again = read_text(text);
	assert_non_null(again);
	second = json_of(again);
	assert_string_equal(text, second);
	free(text);
	free(second);
	report_free(r);
	report_free(again);
}

#define ONE_BUG "{\"pmend\": \"1\", \"bugs\": [{\"id\": \"1\", \"kind\": \"k\", \"severity\": \"correctness\", "

static void malformed_evidence_is_refused_or_left_out(void **state)
{
	struct report *r;

	(void)state;
	assert_null(read_text(ONE_BUG "\"timeline\": 3}]}"));
	assert_null(read_text(ONE_BUG "\"timeline\": {\"events\": {}}}]}"));
	assert_null(read_text(ONE_BUG "\"memory\": {}}]}"));
	r = read_text(ONE_BUG "\"memory\": [{\"offset\": 0, \"durable\": \"12\", \"newest\": \"zz\", \"fields\": [{\"offset\": 60, \"size\": 8, \"name\": \"n\"}]}],"
			  "\"timeline\": {\"events\": [{\"event\": 1, \"kind\": \"store\", \"row\": 7, \"states\": \"dd\"}, 5]}}]}");
	assert_non_null(r);
	assert_null(report_bug(r, 0)->evidence->rows[0].durable);
	assert_null(report_bug(r, 0)->evidence->rows[0].newest);
	assert_int_equal(report_bug(r, 0)->evidence->rows[0].nfields, 0);
	assert_int_equal(report_bug(r, 0)->evidence->events[0].row, 0);
	assert_null(report_bug(r, 0)->evidence->events[0].states);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_is_the_standards),
		cmocka_unit_test(evidence_reads_back_the_same),
		cmocka_unit_test(malformed_evidence_is_refused_or_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
