/* A table in the manner of level hashing: entries with a flag that says that they are valid. */
#include <stdbool.h>

#include "main.h"

struct entry {
	uint64_t key;
	char pad1[56];
	uint64_t value;
	char pad2[56];
	uint64_t is_valid;
	char pad3[56];
};

struct root {
	struct entry entries[4];
};

static struct entry *find(struct root *root, uint64_t key, bool is_valid)
{
	for (int i = 0; i < 4; i++)
		if (root->entries[i].is_valid == is_valid && (!is_valid || root->entries[i].key == key))
			return &root->entries[i];
	return NULL;
}

static void insert(PMEMobjpool *pop, struct root *root, uint64_t key, uint64_t value)
{
	struct entry *new_entry = find(root, key, false);

	new_entry->key = key;
	new_entry->value = value;
	new_entry->is_valid = true;
	pmemobj_persist(pop, new_entry, sizeof *new_entry);
}

/* The new version is valid before the old one is not. */
static void replace(PMEMobjpool *pop, struct root *root, uint64_t old_key, uint64_t new_value)
{
	struct entry *old_entry = find(root, old_key, true), *new_entry = find(root, old_key, false);

	if (!old_entry)
		return;
	new_entry->key = old_key;
	new_entry->value = new_value;
	pmemobj_persist(pop, new_entry, sizeof *new_entry);
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&new_entry->is_valid, sizeof(new_entry->is_valid));
		new_entry->is_valid = true;
		pmemobj_tx_add_range_direct(&old_entry->is_valid, sizeof(old_entry->is_valid));
		old_entry->is_valid = false;
	} TX_ONABORT {
		abort();
	} TX_END
}

static void work(PMEMobjpool *pop)
{
	struct root *root = pmemobj_direct(pmemobj_root(pop, sizeof *root));

	insert(pop, root, 5, 50);
	done("inserted\n");
	replace(pop, root, 5, 51);
	done("replaced\n");
}

static const char *judge(PMEMobjpool *pop)
{
	const struct root *root = pmemobj_direct(pmemobj_root(pop, sizeof *root));
	int n = 0;

	for (int i = 0; i < 4; i++) {
		const struct entry *e = &root->entries[i];

		if (e->is_valid && (e->key != 5 || (e->value != 50 && e->value != 51)))
			return "a valid entry is incomplete";
		n += e->is_valid != 0;
	}
	return n > 1 ? "there are two versions of one key" : NULL;
}
