/* A runner with PM files of known content, for tests of crash/run/runner.h. */
#ifndef TESTS_UNIT_RUNNER_FIXTURE_H
#define TESTS_UNIT_RUNNER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crash/run/runner_internal.h"

#define POOL_BYTES (1u << 20)
#define TARGET "build/tests/crash/target"
#define TARGET_STATIC "build/tests/crash/target_static"
#define TARGET_BAD "build/tests/crash/target_bad"     /* its constructor crashes */
/* calls a function that does not exist */
#define MISSING_LIBRARY "build/tests/crash/missing_library.so"
#define THREAD_LIBRARY "build/tests/crash/thread_library.so" /* its constructor starts a thread */
#define BAD_LIBRARY "build/tests/crash/bad_library.so" /* its constructor crashes */
#define RUNTIME "build/libexec/pmend/libpmend_rt.so"

/* How often and how long to wait for another process: a minute, which only limits how long a
 * failure takes. */
enum { WAITS = 6000, WAIT_US = 10000 };

struct world {
	char folder[64]; /* with the user's pools pool1, pool2, … */
	struct crash_image image;
	struct state_set set;
	struct runner_options o;
	struct runner *r;
	struct run_result result; /* of the last command */
	struct error err;
};

/* Makes npools files of the given size (0: POOL_BYTES); each has its number at offset 0, and 100 +
 * its number at offset 8192. */
void world_init(struct world *w, uint32_t npools, uint64_t size_bytes);
void world_start(struct world *w); /* makes the runner with the options w->o */
void world_release(struct world *w);
void world_load(struct world *w);
/* Runs a command (printf format) in the current run; -1 if that failed. */
int world_run(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same in a new run. */
#define world_run_new(w, ...) (runner_begin((w)->r, NULL, false), world_run(w, __VA_ARGS__))
void world_add_line(struct world *w, uint32_t file, uint64_t offset, uint32_t ncontents, uint8_t first_value);
bool process_is_alive(pid_t pid);
pid_t read_pid(const char *path); /* waits for the file and reads a process number */

#define assert_output(w, text) assert_string_equal((w)->result.output, text)
#define assert_exit(w, status)                                \
	do {                                                  \
		assert_int_equal((w)->result.end, RUN_EXITED); \
		assert_int_equal((w)->result.code, status);    \
	} while (0)

#endif
