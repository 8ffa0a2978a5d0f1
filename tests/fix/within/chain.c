/* A macro stores a link and then what leads to it, and persists only the second: it gets the same for the first. The name, which is flushed before, waits for the same fence. */
#include "tests/fix/fences/pool.h"

struct entry {
	char name[64];
	uint64_t next;
	uint64_t pad[7];
};

struct chain {
	uint64_t first, pad[7];
	struct entry at[8];
};

static void write_back(const void *p, size_t n)
{
	for (const char *line = (const char *)((uintptr_t)p & ~(uintptr_t)63); line < (const char *)p + n; line += 64)
		flush_line(line);
}

static void save(const void *p, size_t n)
{
	write_back(p, n);
	fence();
}

#define CHAIN_PUSH(c, i)                                                    \
	do {                                                                \
		(c)->at[i].next = ~(c)->first;                              \
		/* FIX: save(&(c)->at[i].next, sizeof((c)->at[i].next)); */ \
		(c)->first = (i) + 1;                                       \
		save(&(c)->first, sizeof((c)->first));                      \
	} while (0)

static void chain_add(struct chain *c, uint64_t i, int letter)
{
	memset(c->at[i].name, letter, sizeof(c->at[i].name));
	write_back(c->at[i].name, sizeof(c->at[i].name));
	CHAIN_PUSH(c, i);
}

static int is_whole(const struct chain *c)
{
	for (uint64_t i = c->first; i; i = ~c->at[i - 1].next)
		if (i > 8 || !c->at[i - 1].name[0])
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	struct chain *c = pool_open(argv[1]);
	uint64_t n = 0;
	int letter;

	if (argc > 2)
		return !is_whole(c);
	while ((letter = asked()) && n < 8) {
		chain_add(c, n++, letter);
		answer("added\n");
	}
	return 0;
}
