/* A lock in the pool that recovery waits for. Where a crash leaves it to the first transfer, recovery waits for ever; where to the second, it gives up after a time that is
 * long for it, and copes. A bug that has nothing to do with the lock shows only at the end. `locked run POOL` makes transfers, `locked check POOL` takes the lock and
 * reads all of them. */
#include <time.h>

#include "pm.h"

#define NTRANSFERS 2
#define PATIENCE_NS 300000000

struct transfer {
	_Alignas(LINE_BYTES) uint64_t amount;
	_Alignas(LINE_BYTES) uint64_t is_noted;
	_Alignas(LINE_BYTES) uint64_t note;
};

struct pool {
	_Alignas(LINE_BYTES) volatile uint64_t owner; /* the number of a transfer; 0: nobody */
	struct transfer transfers[NTRANSFERS];
};

static void note(struct transfer *t, uint64_t i)
{
	t->note = i; /* BUG: note: ordering lost */
	t->is_noted = 1; /* BUG: note: ordering survived */
	persist(&t->is_noted, sizeof t->is_noted);
	persist(&t->note, sizeof t->note);
}

static void transfer(struct pool *p, uint64_t i)
{
	struct transfer *t = &p->transfers[i - 1];

	p->owner = i; /* BUG: lock: atomicity survived */
	persist((void *)&p->owner, sizeof p->owner);
	t->amount = i;
	persist(&t->amount, sizeof t->amount);
	p->owner = 0; /* BUG: lock: atomicity lost */
	persist((void *)&p->owner, sizeof p->owner);
}

static int run(const char *path)
{
	struct pool *p = pool_create(path, sizeof *p);

	for (uint64_t i = 1; i <= NTRANSFERS; i++)
		transfer(p, i);
	note(&p->transfers[0], 1);
	return 0;
}

static void take_lock(const struct pool *p)
{
	while (p->owner == 1)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	if (p->owner)
		nanosleep(&(struct timespec){ .tv_nsec = PATIENCE_NS }, NULL);
}

static int check(const struct pool *p)
{
	take_lock(p);
	for (uint64_t i = 1; i <= NTRANSFERS; i++) {
		const struct transfer *t = &p->transfers[i - 1];

		if (t->is_noted && t->note != i)
			return 1;
		if (t->amount > i)
			return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct pool *p;

	if (argc != 3)
		return 4;
	if (strcmp(argv[1], "run") == 0)
		return run(argv[2]);
	p = pool_open(argv[2], sizeof *p);
	return p ? check(p) : 0;
}
