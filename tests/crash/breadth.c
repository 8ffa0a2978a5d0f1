/* Two bugs. One is in every operation, and has very many states that show it; the other is in the last operation only. Whoever looks at all states of the first before
 * he goes on does not come to the second for a long time. `breadth run POOL` makes the pool, `breadth check POOL` reads all of it: exit status 1 where a part of a
 * slot is missing, 2 where the total is. The total lies behind hints that nothing depends on. `breadth deep POOL` misses the total only where no hint is lost: one
 * state of very many, and not one that is tried early. */
#include "pm.h"

#define NSLOTS 12
#define NPARTS 6
#define NHINTS 5

struct part {
	_Alignas(LINE_BYTES) uint64_t number;
};

struct slot {
	struct part parts[NPARTS];
	_Alignas(LINE_BYTES) uint64_t is_set;
};

struct hint {
	_Alignas(LINE_BYTES) uint64_t guess;
};

struct summary {
	struct hint hints[NHINTS];
	_Alignas(LINE_BYTES) uint64_t total;
	_Alignas(LINE_BYTES) uint64_t is_valid;
};

struct pool {
	struct slot slots[NSLOTS];
	struct summary summary;
};

static void fill(struct slot *s, uint64_t number)
{
	for (int i = 0; i < NPARTS; i++)
		s->parts[i].number = number; /* BUG: parts: ordering lost */
	s->is_set = 1; /* BUG: parts: ordering survived */
	persist(&s->is_set, sizeof s->is_set);
	persist(s->parts, sizeof s->parts);
}

static void summarise(struct summary *s)
{
	for (int i = 0; i < NHINTS; i++)
		s->hints[i].guess = NSLOTS;
	s->total = NSLOTS; /* BUG: total: ordering lost */
	s->is_valid = 1; /* BUG: total: ordering survived */
	persist(&s->is_valid, sizeof s->is_valid);
	persist(s, sizeof *s);
}

static int run(const char *path)
{
	struct pool *p = pool_create(path, sizeof *p);

	for (int i = 0; i < NSLOTS; i++)
		fill(&p->slots[i], (uint64_t)i + 1);
	summarise(&p->summary);
	return 0;
}

static uint64_t count_missing(const struct slot *s)
{
	uint64_t n = 0;

	for (int i = 0; i < NPARTS; i++)
		n += s->parts[i].number == 0;
	return n;
}

static int check(const char *path, int is_deep)
{
	const struct pool *p = pool_open(path, sizeof *p);
	uint64_t missing = 0, guesses = 0;

	if (!p)
		return 0;
	for (int i = 0; i < NSLOTS; i++)
		if (p->slots[i].is_set)
			missing += count_missing(&p->slots[i]);
	if (missing) {
		fprintf(stderr, "parts are missing\n");
		return 1;
	}
	for (int i = 0; i < NHINTS; i++)
		guesses += p->summary.hints[i].guess;
	if (is_deep && guesses < NHINTS * NSLOTS)
		return 0;
	return p->summary.is_valid && p->summary.total == 0 ? 2 : 0;
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	return strcmp(argv[1], "run") == 0 ? run(argv[2]) : check(argv[2], strcmp(argv[1], "deep") == 0);
}
