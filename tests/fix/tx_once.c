/* A function that remembers what it has logged in a transaction is used where the transaction uses it, and only there. */
#include <libpmemobj.h>
#include <string.h>

struct item {
	uint64_t price, stock;
	char name[48];
};

struct batch {
	struct item *seen[16];
	unsigned nseen;
};

static void touch(struct batch *b, struct item *it)
{
	for (unsigned i = 0; i < b->nseen; i++)
		if (b->seen[i] == it)
			return;
	TX_ADD_DIRECT(it);
	b->seen[b->nseen++] = it;
}

/* the whole, by the function, instead of the one member */
static void item_swap(struct batch *b, struct item *one, struct item *two)
{
	uint64_t price = one->price;

	touch(b, one);
	TX_ADD_FIELD_DIRECT(two, stock);
	two->price = price; /* BUG: tx-missing-add */
	two->stock--;
	one->price = 0;
}

static void item_sell(struct batch *b, struct item *it)
{
	touch(b, it);
	it->stock--;
	item_swap(b, it, it + 1);
}

int items_sell(PMEMobjpool *pop, struct item *items, unsigned n)
{
	struct batch b = { .nseen = 0 };
	int ret = 0;

	TX_BEGIN(pop) {
		for (unsigned i = 0; i + 1 < n; i++)
			item_sell(&b, &items[i]);
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}

/* what b remembers is about another transaction */
int item_rename(PMEMobjpool *pop, struct batch *b, struct item *it)
{
	int ret = 0;

	TX_BEGIN(pop) {
		memset(it->name, 0, sizeof(it->name)); /* BUG: tx-missing-add */
		b->nseen = 0;
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}
