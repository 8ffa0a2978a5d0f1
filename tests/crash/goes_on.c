/* A table whose bug shows only when the program goes on after recovery: `goes_on WAY POOL [OPS [FIRST]]`. Each line of OPS is a key to put; FIRST is the line to begin with.
 *
 *   good       puts each key into the next free slot, and says so when the slot, its sign and the number of the next one are durable
 *   bad        says so before the number is durable: after a crash, it goes on in a slot that is taken
 *   annotated  as bad, with PMEND_OP_BEGIN and PMEND_OP_END instead of output
 *   recover    each slot that is taken has a key
 *   mend       the same, and counts them in the pool, which nobody reads
 *   full       all keys are there: true only after the program went on to its end
 *   dies       dies of a signal where a slot is free whose turn it is not
 *   dump       prints the keys that are there, each once */
#include "pm.h"

#define KEYS 4u

struct pool {
	_Alignas(64) uint64_t next;
	_Alignas(64) uint64_t ntaken;
	_Alignas(64) struct { _Alignas(64) uint64_t key; uint64_t is_taken; } slot[2 * KEYS];
};

static void say(const char *word)
{
	CHECK(write(STDOUT_FILENO, word, strlen(word)) == (ssize_t)strlen(word));
}

static void fill(struct pool *p, uint64_t slot, uint64_t key)
{
	p->slot[slot].key = key;
	persist(&p->slot[slot], sizeof p->slot[slot]);
	p->slot[slot].is_taken = 1;
	persist(&p->slot[slot], sizeof p->slot[slot]);
}

static void put_well(struct pool *p, uint64_t key)
{
	fill(p, p->next, key);
	p->next++;
	persist(&p->next, sizeof p->next);
	say("put\n");
}

static void put_badly(struct pool *p, uint64_t key)
{
	fill(p, p->next, key);
	p->next++; /* BUG: goes: lost */
	say("put\n");
	persist(&p->next, sizeof p->next);
}

static void put_annotated(struct pool *p, uint64_t key)
{
	PMEND_OP_BEGIN("put");
	fill(p, p->next, key);
	p->next++; /* BUG: annotated: lost */
	PMEND_OP_END("put");
	persist(&p->next, sizeof p->next);
}

static void run(struct pool *p, const char *ops, int first, void (*put)(struct pool *p, uint64_t key))
{
	FILE *f = fopen(ops, "r");
	unsigned key;

	CHECK(f);
	for (int line = 1; fscanf(f, "%u", &key) == 1; line++)
		if (line >= first)
			put(p, key);
	fclose(f);
}

static uint64_t count(const struct pool *p, uint64_t key)
{
	uint64_t n = 0;

	for (uint64_t i = 0; p && i < 2 * KEYS; i++)
		n += p->slot[i].is_taken && p->slot[i].key == key;
	return n;
}

static void check(const struct pool *p, const char *way)
{
	for (uint64_t i = 0; p && i < 2 * KEYS; i++) {
		CHECK(!p->slot[i].is_taken || p->slot[i].key > 0);
		if (strcmp(way, "dies") == 0 && i < p->next && !p->slot[i].is_taken)
			abort();
	}
	for (uint64_t key = 1; key <= KEYS; key++) {
		CHECK(strcmp(way, "full") != 0 || count(p, key) > 0);
		if (strcmp(way, "dump") == 0 && count(p, key) > 0)
			printf("%d\n", (int)key);
	}
}

static void mend(struct pool *p)
{
	uint64_t n = 0;

	for (uint64_t i = 0; p && i < 2 * KEYS; i++)
		n += p->slot[i].is_taken;
	if (n == 0 || p->ntaken == n)
		return;
	p->ntaken = n;
	persist(&p->ntaken, sizeof p->ntaken);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*put)(struct pool *p, uint64_t key);
	} ways[] = { { "good", put_well }, { "bad", put_badly }, { "annotated", put_annotated } };

	CHECK(argc >= 3);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strcmp(argv[1], ways[i].name) == 0) {
			CHECK(argc >= 4);
			run(pool_create(argv[2], sizeof(struct pool)), argv[3], argc > 4 ? atoi(argv[4]) : 1, ways[i].put);
			return 0;
		}
	check(pool_open(argv[2], sizeof(struct pool)), argv[1]);
	if (strcmp(argv[1], "mend") == 0)
		mend(pool_open(argv[2], sizeof(struct pool)));
	return 0;
}
