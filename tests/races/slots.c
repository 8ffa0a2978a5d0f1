/* Tables in memory that an allocator hands out undefined: only what tells whether a slot is used is cleared. Lookups read the value first. Right where the value is not used unless the
 * slot is; wrong where a slot is used that has no value.
 *	slots POOL run [broken]		with `broken`, one slot of each table is used without a value
 *	slots POOL recover HOW		what is done with values: print | length | pointer | compare | magic | silent */
#include <stdlib.h>
#include <valgrind/memcheck.h>

#include "pm.h"

#define SLOTS 4
#define GONE UINT64_MAX /* a tombstone */
#define MAGIC 0x50d1f00d

struct slot {
	volatile uint64_t key, value;
};

struct nested {
	volatile uint32_t in_use;
	struct {
		volatile uint32_t kind;
		volatile uint64_t at;
	} inner;
};

struct tables {
	struct slot array[SLOTS], hash[SLOTS];
	struct nested nested[SLOTS];
};

struct pool {
	LINE volatile uint64_t is_there, numbers[SLOTS];
	LINE struct tables tables;
};

static void store(volatile uint64_t *to, uint64_t value)
{
	*to = value;
	pm_persist((void *)to, 8);
}

static void allocate(struct pool *p)
{
	struct tables *t = &p->tables;

	VALGRIND_MAKE_MEM_UNDEFINED(t, sizeof *t);
	for (int i = 0; i < SLOTS; i++) {
		t->array[i].key = t->hash[i].key = 0;
		t->nested[i].in_use = 0;
	}
	pm_persist(t, sizeof *t);
	store(&p->is_there, 1);
}

static void insert(struct pool *p, int i, int is_broken)
{
	struct tables *t = &p->tables;

	if (!is_broken) {
		store(&t->array[i].value, (uint64_t)i + 1);
		t->nested[i].inner.kind = MAGIC;
		store(&t->nested[i].inner.at, (uint64_t)i);
		pm_persist((void *)&t->nested[i].inner.kind, 4);
	}
	store(&t->array[i].key, (uint64_t)i + 10);
	t->nested[i].in_use = 1;
	pm_persist((void *)&t->nested[i].in_use, 4);
	if (!is_broken)
		store(&t->hash[i].value, (uint64_t)i + 1);
	store(&t->hash[i].key, (uint64_t)i + 20);
	if (i == 0)
		store(&t->hash[i].key, GONE);
}

static const char *g_how;

/* Of a slot that is in use. */
static void use(struct pool *p, uint64_t value)
{
	static const char text[] = "abcdefgh";

	if (strcmp(g_how, "print") == 0)
		printf("%lu\n", value);
	else if (strcmp(g_how, "length") == 0)
		printf("%.*s\n", (int)(value & 7), text);
	else if (strcmp(g_how, "pointer") == 0)
		printf("%lu\n", p->numbers[value]);
	else if (strcmp(g_how, "compare") == 0 && value > SLOTS)
		exit(1);
}

static void recover(struct pool *p)
{
	struct tables *t = &p->tables;

	for (int i = 0; i < SLOTS; i++) {
		uint64_t value = t->array[i].value; /* UNINITIALISED: used, budget */
		uint64_t key = t->array[i].key;

		if (key)
			use(p, value);
	}
	for (int i = 0; i < SLOTS; i++) {
		uint64_t value = t->hash[i].value; /* UNINITIALISED: used, budget */
		uint64_t key = t->hash[i].key;

		if (key && key != GONE)
			use(p, value);
	}
	for (int i = 0; i < SLOTS; i++) {
		uint64_t at = t->nested[i].inner.at; /* UNINITIALISED: used, budget */
		uint32_t kind = t->nested[i].inner.kind; /* UNINITIALISED: magic, budget */
		uint32_t in_use = t->nested[i].in_use;

		if (in_use && strcmp(g_how, "magic") != 0)
			use(p, at);
		else if (in_use && kind == MAGIC)
			puts("of our kind");
	}
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);

	g_how = argc > 3 ? argv[3] : "";
	if (strcmp(argv[2], "recover") == 0) {
		if (p->is_there)
			recover(p);
		return 0;
	}
	allocate(p);
	for (int i = 0; i + 1 < SLOTS; i++)
		insert(p, i, argc > 3 && i == 2);
	return 0;
}
