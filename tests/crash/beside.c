/* A page of words, of which two are stored again and again, in turn. Recovery reads all of it in every way that a program may load something, and the
 * two with instructions that have read many others before, one of them by loads that begin in the word before it: most reads are of what lies beside
 * something undecided. The mapping goes on where the file has ended: there, the same instructions fault, and the program must see that as it always does.
 *
 *	PROG POOL run N | PROG POOL recover		status 1: something that was loaded is wrong */
#include <signal.h>
#include <stdbool.h>

#include "pm.h"

enum { WORDS = 64, WORD = 40, OTHER = 54 /* those that change */, POOL_BYTES = 4096 };

static uint64_t pattern(uint32_t i)
{
	return (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
}

static void wrong(const char *what, uint64_t is, uint64_t wanted)
{
	printf("%s: %lx, not %lx\n", what, is, wanted);
	exit(1);
}

#define EXPECT(what, is, wanted) do { if ((uint64_t)(is) != (uint64_t)(wanted)) wrong(what, (uint64_t)(is), (uint64_t)(wanted)); } while (0)

#include "loads.h" /* this architecture's */

static __attribute__((noinline)) uint64_t sum(const uint64_t *p, uint32_t n)
{
	uint64_t s = 0;

	for (uint32_t i = 0; i < n; i++)
		s = s * 31 + p[i];
	return s;
}

/* Half of a word, and half of the next. */
static __attribute__((noinline)) uint64_t straddle(const uint64_t *p, uint32_t i)
{
	uint64_t v;

	LOAD_HALVES(v, p + i);
	return v;
}

static const void *volatile g_address;

/* Puts memory there: the load goes on. */
static void note_fault(int sig, siginfo_t *si, void *context)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)sig, (void)context;
	g_address = si->si_addr;
	CHECK(mmap((void *)((uint64_t)si->si_addr & ~(page - 1)), page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
}

/* Behind the file's last page. */
static void load_beyond(const uint64_t *p)
{
	const struct sigaction a = { .sa_sigaction = note_fault, .sa_flags = SA_SIGINFO };
	const char *beyond = (const char *)p + sysconf(_SC_PAGESIZE);

	sigaction(SIGBUS, &a, NULL);
	EXPECT("a load where there was no file", straddle((const uint64_t *)beyond, 0), 0);
	EXPECT("where it faulted", g_address, beyond + 4);
}

/* NULL: there is no pool yet. Else a mapping that is one page longer. */
static const uint64_t *open_longer(const char *path)
{
	void *p = pool_open(path, POOL_BYTES);
	int fd = open(path, O_RDWR);

	if (p) {
		munmap(p, POOL_BYTES);
		p = mmap(NULL, POOL_BYTES + (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		CHECK(p != MAP_FAILED);
	}
	if (fd >= 0)
		close(fd);
	return p;
}

static int recover(const uint64_t *p)
{
	uint64_t wanted = 0;

	if (p[WORDS - 1] != pattern(WORDS - 1))
		return 0; /* not made yet */
	for (uint32_t i = 0; i < WORD - 2; i++) {
		load_all(p, i);
		wanted = wanted * 31 + pattern(i);
	}
	EXPECT("sum", sum(p, WORD - 2), wanted);
	wanted = (wanted * 31 + pattern(WORD - 2)) * 31 + pattern(WORD - 1);
	wanted = sum(p, WORD + 1) - wanted * 31; /* now the same loop reads the word */
	if (wanted > 1000000)
		return 1;
	for (uint32_t i = WORD + 1; i < OTHER - 1; i++)
		EXPECT("a load across words", straddle(p, i), pattern(i) >> 32 | pattern(i + 1) << 32);
	wanted = straddle(p, OTHER - 1) >> 32;
	load_beyond(p);
	return wanted <= 1000000 ? 0 : 1;
}

int main(int argc, char **argv)
{
	const bool is_recovery = argc > 2 && strcmp(argv[2], "recover") == 0;
	const uint64_t *opened = is_recovery ? open_longer(argv[1]) : NULL;
	uint64_t *p;

	if (is_recovery)
		return opened ? recover(opened) : 0;
	if (argc < 4)
		return 3;
	p = pool_create(argv[1], POOL_BYTES);
	for (uint32_t i = 0; i < WORDS - 1; i++)
		p[i] = i == WORD || i == OTHER ? 0 : pattern(i);
	persist(p, WORDS * sizeof *p);
	p[WORDS - 1] = pattern(WORDS - 1);
	persist(&p[WORDS - 1], sizeof *p);
	for (long i = 1; i <= atol(argv[3]); i++) {
		uint64_t *word = &p[i % 2 ? WORD : OTHER];

		*(volatile uint64_t *)word = (uint64_t)i;
		persist(word, sizeof *word);
	}
	return 0;
}
