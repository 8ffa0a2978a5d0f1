/* A fuzz target is a file with one struct; fuzz.c has the table. An input that makes it crash,
 * hang, leak or use much memory is a bug; FUZZ_EXPECT() says what else must hold. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct fuzz_target {
	/* also the name of its folder in seeds/, and of its dictionary if it has one */
	const char *name;
	const char *flags; /* options for libFuzzer */
	bool is_leaking;   /* leaks are expected */
	void (*run)(const uint8_t *data, size_t size);
	/* NULL: libFuzzer's own */
	size_t (*mutate)(uint8_t *data, size_t size, size_t max_size, unsigned seed);
};

extern const struct fuzz_target fuzz_reader, fuzz_import, fuzz_report, fuzz_suppress, fuzz_commands, fuzz_bundle, fuzz_part;

#define FUZZ_EXPECT(holds)                                                                                                                                  \
	do {                                                                                                                                                \
		if (!(holds)) {                                                                                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds);                                                                 \
			abort();                                                                                                                            \
		}                                                                                                                                           \
	} while (0)

/* libFuzzer's own mutation. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* reader.c: opens a trace and reads all of it. */
void fuzz_trace_read(const char *path);

#endif
