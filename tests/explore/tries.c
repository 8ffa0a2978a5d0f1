/* Shows that chance does not lead to the bugs of programs.c: each case runs on 100,000 inputs of random bytes, in one process, and says how many got to its bug.
 *
 *	tries [SEED]      exits with 1 if any did
 *
 * Those of obj.c are not run here: obj needs "OBJ1", 0x77 and one byte that follows from another, 2^-48; transaction needs 4 bytes that are given or follow
 * from others, 2^-32. In 100,000 tries that is one chance in 40,000 at most. */
#include <setjmp.h>

static jmp_buf at_bug;
#define REACHED() longjmp(at_bug, 1)
int programs_main(int argc, char **argv);
#define main programs_main
#include "programs.c"
#undef main

#define TRIES 100000
#define TRY_BYTES 64

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dULL >> 32;
}

static unsigned case_try(void (*run)(void), uint64_t *state)
{
	volatile unsigned n = 0;

	for (volatile unsigned i = 0; i < TRIES; i++) {
		for (size_t k = 0; k < TRY_BYTES; k++)
			in[k] = (unsigned char)next_random(state);
		in[TRY_BYTES] = '\0';
		in_len = TRY_BYTES;
		if (setjmp(at_bug) == 0) {
			describe();
			run();
		} else {
			n++;
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	uint64_t state = argc > 1 ? strtoull(argv[1], NULL, 10) * 2 + 1 : 1;
	unsigned total = 0;

	pool = aligned_alloc(64, POOL_BYTES);
	if (!pool || !freopen("/dev/null", "w", stdout))
		return 2;
	memset(pool, 0, POOL_BYTES);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		unsigned n;

		if (cases[i].run == crashes || cases[i].run == correct)
			continue;
		n = case_try(cases[i].run, &state);
		fprintf(stderr, "%s: %u of %u\n", cases[i].name, n, TRIES);
		total += n;
	}
	return total != 0;
}
