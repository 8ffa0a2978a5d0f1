/* No suppression file makes pmend crash, and one that pmend writes itself hides exactly what it is written for. */
#include <string.h>
#include <unistd.h>

#include "report/filter.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/sample.h"

/* Two bugs of one function, whose name is the input's beginning: names of C++ hold any sign. */
static struct report *report_make(const char *name)
{
	struct bug_frame frames[] = { { .function = name, .file = "a/b.c", .line = 3 }, { .function = "main", .file = "a/b.c", .line = 9 } };
	struct bug_location l = { .role = "store", .frames = frames, .nframes = 2 };
	struct bug b = { .kind = "missing-flush", .message = name, .locations = &l, .nlocations = 1 };
	struct report *r = report_new();

	report_add(r, &b);
	frames[0].line = 4;
	report_add(r, &b);
	report_finish(r);
	return r;
}

static struct suppressions *load(const void *text, size_t len_bytes, struct error *err)
{
	struct suppressions *s = suppressions_new();
	char path[64];
	int fd = memory_file(text, len_bytes, path), result = suppressions_load(s, path, err);

	close(fd);
	if (result == 0)
		return s;
	suppressions_free(s);
	return NULL;
}

static void generate(struct report *r)
{
	struct suppressions *s;
	struct error err;
	size_t len_bytes;
	char *text;
	FILE *f = open_memstream(&text, &len_bytes);

	suppressions_generate(f, r);
	fclose(f);
	s = load(text, len_bytes, &err);
	FUZZ_EXPECT(s);
	report_suppress(r, s);
	FUZZ_EXPECT(report_nbugs(r) == 0);
	suppressions_free(s);
	free(text);
}

static void suppress_run(const uint8_t *data, size_t size)
{
	struct error err = { "" };
	struct suppressions *s = load(data, size, &err);
	char name[33] = "";
	struct report *r;

	memcpy(name, data, size < 32 ? size : 32);
	r = report_make(name);
	if (s) {
		for (size_t i = 0; i < report_nbugs(r); i++)
			suppressions_match(s, report_bug(r, i));
		report_suppress(r, s);
		suppressions_free(s);
	} else {
		FUZZ_EXPECT(err.msg[0] != '\0');
	}
	report_free(r);
	r = report_make(name);
	generate(r);
	report_free(r);
}

const struct fuzz_target fuzz_suppress = { .name = "suppress", .flags = "-max_len=1024", .run = suppress_run };
