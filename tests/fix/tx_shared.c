/* Functions that transactions call, and others, too. */
#include <libpmemobj.h>
#include <string.h>

struct entry {
	uint64_t key, value;
	char text[32];
	struct entry *next;
};

/* for scratch entries, too, which are not persistent */
static void entry_fill(struct entry *e, uint64_t key)
{
	if (e->key != key)
		e->key = key;
}

/* called outside, with a persist of the caller; the caller knows the range */
void entry_set(struct entry *e, uint64_t value)
{
	e->value = value;
}

/* declared elsewhere, perhaps; all calls that there are come from transactions */
void entry_clear(struct entry *e)
{
	memset(e->text, 0, sizeof(e->text));
}

/* where it stores, no argument tells */
static void entry_end(struct entry *e)
{
	if (e->next)
		e->next->value = 0;
}

/* called through a pointer */
static void entry_hook(struct entry *e)
{
	e->key = 1;
}

void (*const entry_hooks[])(struct entry *) = { entry_hook };

uint64_t entry_sum(uint64_t key)
{
	struct entry scratch = { 0 };

	entry_fill(&scratch, key);
	entry_end(&scratch);
	return scratch.key + scratch.value;
}

void entry_reset(PMEMobjpool *pop, struct entry *e)
{
	entry_set(e, 0);
	pmemobj_persist(pop, &e->value, sizeof(e->value));
}

void entry_change(PMEMobjpool *pop, struct entry *e, uint64_t value)
{
	TX_BEGIN(pop) {
		entry_fill(e, value); /* BUG: tx-missing-add in entry_fill */
		entry_set(e, value); /* BUG: tx-missing-add in entry_set */
		entry_clear(e); /* BUG: tx-missing-add in entry_clear */
		entry_end(e); /* BUG: tx-missing-add in entry_end */
		entry_hooks[0](e); /* BUG: tx-missing-add in entry_hook */ /* entry_hook() */
	} TX_END
}
