/* See report_sample.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/report_sample.h"

const char sample_source[] = "int main(void)\n"
			     "{\n"
			     "\tupdate(1);\n"
			     "\tupdate(2);\n"
			     "}\n"
			     "void update(int v)\n"
			     "{\n"
			     "\tnode->value = v;\n"
			     "\tflush(node);\n"
			     "}\n";

const struct report_options sample_options = { .cwd = "/home/u" };

void sample_write_bytes(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

void sample_write(const char *path, const char *text)
{
	sample_write_bytes(path, text, strlen(text));
}

struct bug_frame sample_frame(const char *function, uint32_t line)
{
	return (struct bug_frame){
		.function = function, .file = "app.c", .line = line, .object = "/opt/app", .offset = 0x100 + line
	};
}

void sample_add(struct report *r, const char *kind, const struct bug_frame *frames, size_t n)
{
	struct bug_location l = { .role = "store", .frames = frames, .nframes = n };

	report_add(r, &(struct bug){ .kind = kind, .message = "lost", .first_seq = 9, .locations = &l, .nlocations = 1 });
}

char *sample_render(const struct report *r, const char *format, const struct report_options *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	report_format_find(format)->render(f, r, o);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(strlen(text), len);
	return text;
}

struct report *sample_rich(void)
{
	static const struct bug_frame store[] = {
		{ .function = "memcpy_nodrain", .object = "/usr/lib/libpmem.so.1", .offset = 0x1234 },
		{ .function = "update", .file = "/home/u/src/app.c", .line = 8, .column = 14, .object = "/home/u/app", .offset = 0x99,
		  .is_inlined = true, .function_line = 6 },
		{ .function = "main", .file = "/home/u/src/app.c", .line = 3, .object = "/home/u/app", .offset = 0x55,
		  .is_signal = true },
	};
	static const struct bug_frame flush[] = { { .function = "flush", .file = "/elsewhere/a b#.c", .line = 9 } };
	static const struct bug_frame stripped[] = { { .object = "/home/u/app", .offset = 0xabc } };
	static const struct bug_frame hostile[] = {
		{ .function = "\"<script>\\\n{0}[*]", .file = "/home/u/\xff\x1b[2J<&'\">.c", .line = 1, .column = 4000000000u }
	};
	static const struct bug_location two[] = { { .role = "store", .frames = store, .nframes = 3, .shown = 1 }, { .role = "flush", .frames = flush, .nframes = 1, .shown = 0 } };
	static const struct bug_location one[] = { { .role = "store", .frames = stripped, .nframes = 1, .shown = 0 } };
	static const struct bug_location bad[] = { { .role = "\x80role", .frames = hostile, .nframes = 1, .shown = 0 }, { .role = "fence", .frames = NULL, .nframes = 0, .shown = 0 } };
	static const struct bug_difference differences[] = { { 2, "b 2", NULL, "</script>\x1b[2J\xff" }, { 7, NULL, "c\nd\ne", "" } };
	static const struct bug_comparison comparison = { .operation = 3, .name = "put<\x1b>", .nflying = 2, .nallowed = 4, .before = "a 1\nb 2\n", .after = "a 1\nc\nd\ne\n",
							  .found = "a 1\n</script>\x1b[2J\xff\n", .list = differences, .n = 2, .ndifferences = 9 };
	static const struct bug_crash crash = { .failure_point = 17, .outcome = "the dump differs", .command = "./app dump {}", .comparison = &comparison };
	struct report *r = report_new();

	report_set_platform(r, "x86-adr");
	report_add_argument(r, "./app");
	report_add_argument(r, "x\xc3\x28");
	report_set_coverage(r, &(struct report_coverage){ .events = 81234, .why_incomplete = "the trace \x01 is cut off",
							  .depth = { .all = 90, .whole = 40, .sampled = 5, .deeper = 20, .first_runs = 15, .not_reached = 10 } });
	report_add(r, &(struct bug){ .kind = "missing-flush", .message = "the store is lost", .count = 12, .first_seq = 17,
				     .locations = two, .nlocations = 2 });
	report_add(r, &(struct bug){ .kind = "redundant-fence", .severity = BUG_PERFORMANCE, .message = "nothing to wait for",
				     .advice = "remove it", .locations = one, .nlocations = 1 });
	report_add(r, &(struct bug){ .kind = "my-plugin<b>", .message = "\xed\xa0\x80 </pre>\r\n\x1b]0;x\a \xe2\x80\xae {1}",
				     .count = UINT64_MAX, .locations = bad, .nlocations = 2 });
	report_add(r, &(struct bug){ .kind = "atomicity", .message = "no place at all", .crash = &crash });
	report_finish(r);
	return r;
}

int sample_folder_make(void **state)
{
	static char folder[] = "/tmp/test_report.XXXXXX";

	if (!mkdtemp(folder) || chdir(folder) < 0)
		return -1;
	*state = folder;
	mkdir("build", 0700);
	return 0;
}

int sample_folder_remove(void **state)
{
	static const char *const files[] = { "app.c", "build/sub.c", "r.json",	"bad.json", "new.json", "one.supp",
					     "s.supp", "base.json", "no-newline.c" };
	size_t i;

	for (i = 0; i < COUNT(files); i++)
		unlink(files[i]);
	rmdir("build");
	return chdir("/") < 0 || rmdir(*state) < 0 ? -1 : 0;
}
