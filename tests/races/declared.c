/* What the program declares clean (pmemcheck's SET_CLEAN) or volatile by intent: losing it does not matter, whether recovery reads it or even fails without it.
 *	declared POOL run [bare]|recover [verify]
 *	declared POOL split|recover_split [verify]
 *	declared POOL mixed|recover_mixed
 * bare: without declarations. verify: recovery wants the words. split: one store is declared in two halves, of others only one half is. mixed: recovery fails if
 * what is declared is lost, and something else, too. */
#include <valgrind/valgrind.h>

#include "pm.h"

enum { PMC_SET_CLEAN = VG_USERREQ_TOOL_BASE('P', 'C') + 17 };

struct pool {
	struct { LINE volatile uint64_t word; } words[3];
	struct { LINE volatile uint64_t done; } end;
	struct { LINE uint64_t halves[2]; } both, one;
	struct { LINE uint64_t before[7], halves[2]; } across; /* two lines */
};

typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));

static void store_pair(uint64_t *halves)
{
	*(volatile pair *)halves = (pair){ 1, 1 }; /* UNFLUSHED: splitting */
}

static void set_clean(const void *addr, size_t len_bytes)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(PMC_SET_CLEAN, addr, len_bytes, 0, 0, 0);
}

static void split(struct pool *p)
{
	store_pair(p->both.halves);
	set_clean(&p->both.halves[0], 8);
	set_clean(&p->both.halves[1], 8);
	store_pair(p->one.halves);
	set_clean(&p->one.halves[0], 8);
	store_pair(p->across.halves);
	set_clean(&p->across.halves[0], 8);
	p->end.done = 1;
	pm_persist(&p->end, 8);
}

static void recover_split(const volatile struct pool *p, int wants_words)
{
	uint64_t sum;

	if (!p->end.done)
		return;
	sum = p->both.halves[0];
	sum += 2 * p->both.halves[1];
	sum += 4 * p->one.halves[0];
	sum += 8 * p->one.halves[1]; /* RACE: split */
	sum += 16 * p->across.halves[0];
	sum += 32 * p->across.halves[1]; /* RACE: split */
	if (wants_words && !p->across.halves[1])
		abort();
	printf("%lu\n", sum);
}

static void run(struct pool *p, int is_bare)
{
	if (!is_bare)
		PMEND_IGNORE(&p->words[1], 8);
	for (int i = 0; i < 2; i++)
		p->words[i].word = 1; /* UNFLUSHED: failing */
	if (!is_bare)
		VALGRIND_DO_CLIENT_REQUEST_STMT(PMC_SET_CLEAN, &p->words[0], 8, 0, 0, 0);
	p->end.done = 1;
	pm_persist(&p->end, 8);
}

static void mixed(struct pool *p)
{
	p->words[0].word = 1;
	set_clean(&p->words[0], 8);
	p->words[2].word = 1; /* UNFLUSHED: mixed */
	p->end.done = 1;
	pm_persist(&p->end, 8);
}

static void recover_mixed(const struct pool *p)
{
	if (p->end.done && !p->words[0].word && !p->words[2].word)
		abort();
}

static void recover(struct pool *p, int wants_words)
{
	uint64_t sum;

	if (!p->end.done)
		return;
	sum = p->words[0].word; /* RACE: bare */
	sum += 2 * p->words[1].word; /* RACE: bare */
	if (wants_words && sum != 3)
		abort();
	printf("%lu\n", sum);
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);

	if (strcmp(argv[2], "run") == 0)
		run(p, argc > 3);
	else if (strcmp(argv[2], "mixed") == 0)
		mixed(p);
	else if (strcmp(argv[2], "recover_mixed") == 0)
		recover_mixed(p);
	else if (strcmp(argv[2], "split") == 0)
		split(p);
	else if (strcmp(argv[2], "recover_split") == 0)
		recover_split(p, argc > 3);
	else
		recover(p, argc > 3);
	return 0;
}
