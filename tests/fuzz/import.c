/* No log makes `pmend import` crash, and what it accepts becomes a trace that can be read as a whole. */
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/sample.h"
#include "trace/import.h"

static void import_run(const uint8_t *data, size_t size)
{
	char log[64], trace[64];
	struct import_result result;
	struct error err = { "" };
	struct trace_event ev;
	struct trace *t;
	int in = memory_file(data, size, log), out = memory_file("", 0, trace);

	if (import_pmemcheck(log, trace, &result, &err) < 0) {
		FUZZ_EXPECT(err.msg[0] != '\0');
	} else {
		FUZZ_EXPECT(trace_open(&t, trace, &err) == 0);
		while (trace_next(t, &ev))
			;
		FUZZ_EXPECT(!trace_damage(t) && trace_nfiles(t) >= result.nfiles);
		trace_close(t);
		fuzz_trace_read(trace);
	}
	close(in);
	close(out);
}

const struct fuzz_target fuzz_import = { .name = "import", .flags = "-max_len=2048", .run = import_run };
