/* One recording, several situations, each on lines of its own and with a checker of its own: `cases run POOL` works, `cases NAME POOL` checks one of
 * them; `cases halves POOL` does one of them on a pool that is there. A line that a crash loses, or that survives it, is marked with the case, the kind of bug and its role. */
#include "pm.h"

#define NDIRTY 1000 /* lines */
#define NROUNDS 5
#define NLOOSE 7

struct pool {
	_Alignas(64) uint64_t data[8 * NROUNDS]; /* ordering */
	_Alignas(64) uint64_t flag;
	_Alignas(64) uint64_t lost; /* never flushed */
	_Alignas(64) uint64_t lost_flag;
	_Alignas(64) uint64_t left; /* atomicity */
	_Alignas(64) uint64_t right;
	_Alignas(64) uint64_t shared[8]; /* the last is the commit word of this line */
	_Alignas(64) uint64_t loose[8 * NLOOSE];
	_Alignas(64) uint64_t committed; /* how many of the dirty lines count */
	_Alignas(64) uint64_t dirty[8 * NDIRTY];
};

static void run_ordering(struct pool *p)
{
	for (uint64_t i = 0; i < NROUNDS; i++) {
		p->data[8 * i] = i + 1; /* BUG: ordering: ordering lost */
		p->flag = i + 1;	/* BUG: ordering: ordering survived */
		persist(&p->flag, sizeof p->flag);
		persist(&p->data[8 * i], sizeof *p->data);
	}
}

static void check_ordering(struct pool *p)
{
	if (p->flag > 0 && p->data[8 * (p->flag - 1)] != p->flag) {
		fputs("the flag is set, the data is not there\n", stderr);
		abort();
	}
}

static void run_flush(struct pool *p)
{
	p->lost = 7; /* BUG: flush: missing-flush lost */
	fence();
	p->lost_flag = 1; /* BUG: flush: missing-flush survived */
	persist(&p->lost_flag, sizeof p->lost_flag);
}

static void check_flush(struct pool *p)
{
	CHECK(!p->lost_flag || p->lost == 7);
}

static void run_atomicity(struct pool *p)
{
	p->left = 5; /* BUG: atomicity: atomicity survived */
	persist(&p->left, sizeof p->left);
	p->right = 5; /* BUG: atomicity: atomicity lost */
	persist(&p->right, sizeof p->right);
}

static void check_atomicity(struct pool *p)
{
	CHECK(p->left == p->right);
}

/* Eight stores to one line, nothing in between. */
static void run_shared(struct pool *p)
{
	for (uint64_t i = 0; i < 8; i++)
		p->shared[i] = i + 1;
	persist(p->shared, sizeof p->shared);
}

static void check_shared(struct pool *p)
{
	volatile uint64_t *commit = &p->shared[7];

	CHECK(*commit == 0 || *commit == 8);
}

/* A checker that reads everything, and fails in a single state. */
static void run_loose(struct pool *p)
{
	for (uint64_t i = 0; i < NLOOSE; i++)
		p->loose[8 * i] = 1;
	persist(p->loose, sizeof p->loose);
}

static void check_loose(struct pool *p)
{
	volatile uint64_t *loose = p->loose;
	uint64_t number = 0;

	for (uint64_t i = 0; i < NLOOSE; i++)
		number |= loose[8 * i] << i;
	CHECK(number != 1u << 3);
}

/* As it should be. The lines beyond stay dirty, and nobody needs them. */
static void run_commit(struct pool *p)
{
	for (uint64_t i = 0; i < NDIRTY; i++)
		p->dirty[8 * i] = i + 1;
	for (uint64_t i = 0; i < 3; i++) {
		persist(&p->dirty[8 * i], sizeof *p->dirty);
		p->committed = i + 1;
		persist(&p->committed, sizeof p->committed);
	}
}

static void check_commit(struct pool *p)
{
	for (uint64_t i = 0; i < p->committed; i++)
		CHECK(p->dirty[8 * i] == i + 1);
}

static const struct {
	const char *name;
	void (*run)(struct pool *p), (*check)(struct pool *p);
} cases[] = {
	{ "ordering", run_ordering, check_ordering },
	{ "flush", run_flush, check_flush },
	{ "atomicity", run_atomicity, check_atomicity },
	{ "shared", run_shared, check_shared },
	{ "loose", run_loose, check_loose },
	{ "commit", run_commit, check_commit },
};
#define NCASES (sizeof cases / sizeof *cases)

/* Takes a file that is not there yet, but no empty one. */
static void check_creation(const char *path)
{
	const int fd = open(path, O_RDONLY); /* to look at it would be no recovery */
	struct stat st;

	if (fd < 0) {
		CHECK(errno == ENOENT);
		return;
	}
	CHECK(fstat(fd, &st) == 0 && st.st_size > 0);
}

int main(int argc, char **argv)
{
	struct pool *p;

	CHECK(argc == 3);
	if (strcmp(argv[1], "run") == 0) {
		p = pool_create(argv[2], sizeof *p); /* BUG: creation: recovery-failure crash */
		for (size_t i = 0; i < NCASES; i++)
			cases[i].run(p);
		CHECK(write(STDOUT_FILENO, "one\ntwo\n", 8) == 8); /* lines in a bunch */
		return 0;
	}
	if (strcmp(argv[1], "creation") == 0) {
		check_creation(argv[2]);
		return 0;
	}
	p = pool_open(argv[2], sizeof *p);
	if (strcmp(argv[1], "halves") == 0) {
		CHECK(p != NULL);
		run_atomicity(p);
		return 0;
	}
	for (size_t i = 0; i < NCASES; i++)
		if (strcmp(argv[1], cases[i].name) == 0) {
			if (p)
				cases[i].check(p);
			return 0;
		}
	CHECK(strcmp(argv[1], "none") == 0);
	return 0;
}
