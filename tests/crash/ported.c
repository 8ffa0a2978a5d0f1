/* What an amd64 program relies on inside a line, and arm64 does not give. `ported run POOL` works, `ported NAME POOL` recovers and checks one case, and `ported dump POOL`
 * prints what there is of the first. Marks are those of --platform arm64; on amd64 only `sequence` is wrong. */
#include "pm.h"

struct pool {
	_Alignas(64) volatile uint64_t value;
	volatile uint64_t is_valid; /* flag */
	_Alignas(64) volatile uint64_t fenced;
	volatile uint64_t is_fenced;
	_Alignas(64) volatile uint64_t words[7];
	volatile uint64_t nwords;
	_Alignas(64) volatile uint8_t bytes[56];
	volatile uint64_t nbytes;
	_Alignas(64) volatile uint8_t loose[56];
	volatile uint64_t nloose;
	_Alignas(64) volatile uint64_t first; /* sequence */
	volatile uint64_t second;
	_Alignas(64) volatile uint64_t other;
	_Alignas(64) volatile uint64_t left; /* two */
	volatile uint64_t right;
	volatile uint64_t is_both;
	_Alignas(64) volatile uint64_t work; /* again */
	_Alignas(64) volatile uint64_t result;
	volatile uint64_t is_done;
};

static void run_flag(struct pool *p)
{
	PMEND_OP_BEGIN("flag");
	p->value = 42;	 /* BUG: flag: porting lost */ /* BUG: dump: porting lost */
	p->is_valid = 1; /* BUG: flag: porting survived */ /* BUG: dump: porting survived */
	persist((void *)&p->value, 16);
	PMEND_OP_END("flag");
	p->fenced = 42;
	_mm_sfence();
	p->is_fenced = 1;
	persist((void *)&p->fenced, 16);
}

static void run_many(struct pool *p)
{
	for (uint64_t i = 0; i < 7; i++)
		p->words[i] = i + 1; /* BUG: words: porting lost */
	p->nwords = 7;		     /* BUG: words: porting survived */
	persist((void *)p->words, 64);
	for (uint8_t i = 0; i < 56; i++)
		p->bytes[i] = i + 1;
	_mm_sfence();
	p->nbytes = 56;
	persist((void *)p->bytes, 64);
	for (uint8_t i = 0; i < 56; i++)
		p->loose[i] = i + 1; /* BUG: loose: porting lost */
	p->nloose = 56;		     /* BUG: loose: porting survived */
	persist((void *)p->loose, 64);
}

static void run_others(struct pool *p)
{
	p->first = 1; /* BUG: sequence: ordering lost */
	p->second = 1; /* BUG: sequence: ordering lost */
	p->other = 1; /* BUG: sequence: ordering survived */
	persist((void *)&p->other, 8);
	persist((void *)&p->first, 16);
	p->left = 1;
	p->right = 1;
	p->is_both = 1;
	persist((void *)&p->left, 24);
	p->work = 1;
	persist((void *)&p->work, 8);
}

/* Its own crash is as bad: BUG lines of `again` are found with --failures 2. */
static void again(struct pool *p)
{
	if (p->work && !p->is_done) {
		p->result = 5;	/* BUG: again: porting lost */
		p->is_done = 1; /* BUG: again: porting survived */
		persist((void *)&p->result, 16);
	}
	CHECK(!p->is_done || p->result == 5);
}

int main(int argc, char **argv)
{
	const char *name = argc == 3 ? argv[1] : "";
	struct pool *p;

	if (strcmp(name, "run") == 0) {
		p = pool_create(argv[2], sizeof *p);
		run_flag(p);
		run_many(p);
		run_others(p);
		return 0;
	}
	p = argc == 3 ? pool_open(argv[2], sizeof *p) : NULL;
	if (strcmp(name, "dump") == 0)
		printf("%d\n", p && p->is_valid ? (int)p->value : -1);
	if (!p)
		return 0;
	if (strcmp(name, "flag") == 0)
		CHECK(!p->is_valid || p->value == 42);
	else if (strcmp(name, "fenced") == 0)
		CHECK(!p->is_fenced || p->fenced == 42);
	else if (strcmp(name, "words") == 0)
		CHECK(!p->nwords || p->words[3] == 4);
	else if (strcmp(name, "bytes") == 0)
		CHECK(!p->nbytes || *(volatile uint64_t *)&p->bytes[48] == 0x3837363534333231);
	else if (strcmp(name, "loose") == 0)
		CHECK(!p->nloose || *(volatile uint32_t *)&p->loose[48] == 0x34333231);
	else if (strcmp(name, "sequence") == 0)
		CHECK(!p->other || p->first);
	else if (strcmp(name, "two") == 0)
		CHECK(!p->is_both || (p->left && p->right));
	else if (strcmp(name, "again") == 0)
		again(p);
	return 0;
}
