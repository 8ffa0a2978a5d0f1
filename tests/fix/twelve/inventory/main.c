/* main.c - command line of the inventory: POOL audit | POOL OPERATION... */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inventory.h"

static int audit(PMEMobjpool *pop)
{
	TOID(struct warehouse) wh = POBJ_ROOT(pop, struct warehouse);
	uint32_t per_aisle[INV_AISLES] = { 0 }, n_items = 0;
	uint64_t on_hand = 0;
	int bad = 0;

	for (TOID(struct item) it = D_RO(wh)->items; !TOID_IS_NULL(it); it = D_RO(it)->next) {
		uint32_t reserved = 0;

		for (TOID(struct order) o = D_RO(wh)->orders; !TOID_IS_NULL(o); o = D_RO(o)->next) {
			if (TOID_EQUALS(D_RO(o)->item, it))
				reserved += D_RO(o)->units;
			if (D_RO(o)->id >= D_RO(wh)->next_order)
				bad = 1;
		}
		printf("%s: aisle %u, %u shelved, %u reserved\n", D_RO(it)->sku, D_RO(it)->aisle, D_RO(it)->shelved,
			D_RO(it)->reserved);
		if (reserved != D_RO(it)->reserved || D_RO(it)->aisle >= INV_AISLES) {
			fprintf(stderr, "%s: orders hold %u units\n", D_RO(it)->sku, reserved);
			return 1;
		}
		per_aisle[D_RO(it)->aisle]++;
		on_hand += (uint64_t)D_RO(it)->shelved + D_RO(it)->reserved;
		n_items++;
	}
	if (n_items != D_RO(wh)->n_items || on_hand != D_RO(wh)->on_hand) {
		fprintf(stderr, "%u items with %lu units, but %u and %lu on the books\n", n_items, (unsigned long)on_hand,
			D_RO(wh)->n_items, (unsigned long)D_RO(wh)->on_hand);
		bad = 1;
	}
	if (memcmp(per_aisle, D_RO(wh)->per_aisle, sizeof(per_aisle)) != 0) {
		fprintf(stderr, "aisle counts are off\n");
		bad = 1;
	}
	return bad;
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	struct stat st;
	int rc = 0, there;

	if (argc < 3) {
		fprintf(stderr, "usage: %s POOL audit | POOL (add SKU AISLE | restock SKU N | reserve SKU N | "
			"move SKU AISLE | cancel ID | ship ID)...\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	there = stat(argv[1], &st) == 0 && st.st_size > 0;
	if (strcmp(argv[2], "audit") == 0 && !there) {
		puts("nothing there yet");
		return 0;
	}
	pop = there ? pmemobj_open(argv[1], INV_LAYOUT) : pmemobj_create(argv[1], INV_LAYOUT, PMEMOBJ_MIN_POOL, 0644);
	if (!pop) {
		fprintf(stderr, "%s: %s\n", argv[1], pmemobj_errormsg());
		return 1;
	}
	if (strcmp(argv[2], "audit") == 0) {
		rc = audit(pop);
		pmemobj_close(pop);
		return rc;
	}
	for (int i = 2; rc == 0 && i < argc; i++) {
		const char *op = argv[i], *a = i + 1 < argc ? argv[++i] : "";

		if (strcmp(op, "cancel") == 0)
			rc = inv_cancel(pop, number(a));
		else if (strcmp(op, "ship") == 0)
			rc = inv_ship(pop, number(a));
		else if (++i < argc && strcmp(op, "add") == 0)
			rc = inv_add_item(pop, a, number(argv[i]));
		else if (i < argc && strcmp(op, "restock") == 0)
			rc = inv_restock(pop, a, number(argv[i]));
		else if (i < argc && strcmp(op, "reserve") == 0)
			rc = inv_reserve(pop, a, number(argv[i]));
		else if (i < argc && strcmp(op, "move") == 0)
			rc = inv_relocate(pop, a, number(argv[i]));
		else {
			errno = EINVAL;
			rc = -1;
		}
		if (rc != 0)
			perror(op);
		else
			printf("%s %s: done\n", op, a);
	}
	pmemobj_close(pop);
	return rc != 0;
}
