/* All that is fuzzed, as one libFuzzer program: `fuzz --target=NAME [FLAG]... CORPUS...`. `fuzz --targets` prints the table: a name and libFuzzer's flags a
 * line, from which run.py works. */
#include <string.h>

#include "tests/fuzz/fuzz.h"

static const struct fuzz_target *const targets[] = { &fuzz_reader, &fuzz_import, &fuzz_report, &fuzz_suppress, &fuzz_commands, &fuzz_bundle, &fuzz_part };
#define NTARGETS (sizeof targets / sizeof targets[0])

static const struct fuzz_target *g_target;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
int __lsan_is_turned_off(void);

_Noreturn static void print_targets(void)
{
	for (size_t i = 0; i < NTARGETS; i++)
		printf("%s %s\n", targets[i]->name, targets[i]->flags);
	exit(fflush(stdout) ? 1 : 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	for (int i = 1; i < *argc; i++) {
		if (strcmp((*argv)[i], "--targets") == 0)
			print_targets();
		for (size_t k = 0; k < NTARGETS; k++)
			if (strncmp((*argv)[i], "--target=", 9) == 0 && strcmp((*argv)[i] + 9, targets[k]->name) == 0)
				g_target = targets[k];
	}
	if (!g_target) {
		fputs("fuzz: --target=NAME is needed; --targets lists them\n", stderr);
		exit(2);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_target->run(data, size);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return g_target->mutate ? g_target->mutate(data, size, max_size, seed) : LLVMFuzzerMutate(data, size, max_size);
}

/* LeakSanitizer asks at the end. */
int __lsan_is_turned_off(void)
{
	return g_target && g_target->is_leaking;
}
