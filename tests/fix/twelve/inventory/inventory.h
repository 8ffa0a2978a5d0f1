/* inventory.h - warehouse stock and open orders in a libpmemobj pool */
#ifndef INVENTORY_H
#define INVENTORY_H

#include <libpmemobj.h>
#include <stdint.h>

#define INV_LAYOUT "inventory"
#define INV_AISLES 8
#define SKU_LEN 16

POBJ_LAYOUT_BEGIN(inventory);
POBJ_LAYOUT_ROOT(inventory, struct warehouse);
POBJ_LAYOUT_TOID(inventory, struct item);
POBJ_LAYOUT_TOID(inventory, struct order);
POBJ_LAYOUT_END(inventory);

struct item {
	TOID(struct item) next;
	char sku[SKU_LEN];
	uint32_t aisle;
	uint32_t shelved;	/* units that can be sold */
	uint32_t reserved;	/* units in open orders */
};

struct order {
	TOID(struct order) next;
	TOID(struct item) item;
	uint32_t id;
	uint32_t units;
};

struct warehouse {
	TOID(struct item) items;
	TOID(struct order) orders;
	uint32_t n_items;
	uint32_t next_order;
	uint64_t on_hand;	/* shelved and reserved units of all items */
	uint32_t per_aisle[INV_AISLES];	/* how many items have their place there */
};

/* All return 0, or -1 with errno set. */
int inv_add_item(PMEMobjpool *pop, const char *sku, uint32_t aisle);
int inv_restock(PMEMobjpool *pop, const char *sku, uint32_t units);
int inv_reserve(PMEMobjpool *pop, const char *sku, uint32_t units);
int inv_cancel(PMEMobjpool *pop, uint32_t id);
int inv_ship(PMEMobjpool *pop, uint32_t id);
int inv_relocate(PMEMobjpool *pop, const char *sku, uint32_t aisle);

#endif
