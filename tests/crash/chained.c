/* Between the flushes of a key and of a value, and the link to both, a fence is missing: each of the two stores may be lost. `chained run POOL N` makes a pool. Its recovery,
 * `chained check POOL N`, first reads N words, of which a crash may lose each, and ends at the first that is lost: so each of them is one more run. */
#include "pm.h"

#define NWORDS_MAX 400

struct word {
	_Alignas(LINE_BYTES) uint64_t is_there;
};

struct pool {
	_Alignas(LINE_BYTES) uint64_t key;
	_Alignas(LINE_BYTES) uint64_t value;
	_Alignas(LINE_BYTES) uint64_t notes[3];
	_Alignas(LINE_BYTES) uint64_t link;
	struct word words[NWORDS_MAX];
};

static void run(struct pool *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p->words[i].is_there = 1;
	p->key = 1;
	p->value = 2;
	for (uint64_t i = 0; i < 3; i++) {
		p->notes[i] = 1;
		persist(p->notes, sizeof p->notes);
	}
	flush(&p->key, sizeof p->key);
	flush(&p->value, sizeof p->value);
	p->link = 3;
	persist(&p->link, sizeof p->link);
	printf("linked\n");
	fflush(stdout);
	persist(p, sizeof *p);
}

int main(int argc, char **argv)
{
	const size_t n = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	struct pool *p;

	CHECK(argc == 4 && n <= NWORDS_MAX);
	if (strcmp(argv[1], "run") == 0) {
		run(pool_create(argv[2], sizeof *p), n);
		return 0;
	}
	p = pool_open(argv[2], sizeof *p);
	if (!p)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!p->words[i].is_there)
			return 0;
	CHECK(!p->link || p->key == 1);
	CHECK(!p->link || p->value == 2);
	return 0;
}
