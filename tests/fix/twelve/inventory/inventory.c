/* inventory.c - warehouse stock and open orders in a libpmemobj pool */
#include <errno.h>
#include <string.h>

#include "inventory.h"

static TOID(struct item) find_item(TOID(struct warehouse) wh, const char *sku)
{
	TOID(struct item) it = D_RO(wh)->items;

	while (!TOID_IS_NULL(it) && strncmp(D_RO(it)->sku, sku, SKU_LEN) != 0)
		it = D_RO(it)->next;
	return it;
}

/* The order, and the order before it in the list (null for the first). */
static TOID(struct order) find_order(TOID(struct warehouse) wh, uint32_t id, TOID(struct order) *prev)
{
	TOID(struct order) o = D_RO(wh)->orders;

	*prev = TOID_NULL(struct order);
	while (!TOID_IS_NULL(o) && D_RO(o)->id != id) {
		*prev = o;
		o = D_RO(o)->next;
	}
	return o;
}

/* Account for units that come or leave. Call inside a transaction. */
static void adjust_on_hand(TOID(struct warehouse) wh, int64_t delta)
{
	TX_ADD_FIELD(wh, on_hand);
	D_RW(wh)->on_hand += (uint64_t)delta;
}

/* The caller has added both counters to its transaction. */
static void move_units(uint32_t *from, uint32_t *to, uint32_t units)
{
	*from -= units;
	*to += units;
}

static void drop_order(TOID(struct warehouse) wh, TOID(struct order) prev, TOID(struct order) o)
{
	if (TOID_IS_NULL(prev))
		TX_SET(wh, orders, D_RO(o)->next);
	else
		TX_SET(prev, next, D_RO(o)->next);
	TX_FREE(o);
}

int inv_add_item(PMEMobjpool *pop, const char *sku, uint32_t aisle)
{
	TOID(struct warehouse) wh = POBJ_ROOT(pop, struct warehouse);
	int rc = 0;

	if (aisle >= INV_AISLES || strlen(sku) >= SKU_LEN || !TOID_IS_NULL(find_item(wh, sku))) {
		errno = EINVAL;
		return -1;
	}
	TX_BEGIN(pop) {
		TOID(struct item) it = TX_ZNEW(struct item);

		strcpy(D_RW(it)->sku, sku);
		D_RW(it)->aisle = aisle;
		D_RW(it)->next = D_RO(wh)->items;
		TX_SET(wh, items, it);
		TX_SET(wh, n_items, D_RO(wh)->n_items + 1);
		TX_ADD_FIELD(wh, per_aisle);
		D_RW(wh)->per_aisle[aisle]++;
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}

int inv_restock(PMEMobjpool *pop, const char *sku, uint32_t units)
{
	TOID(struct warehouse) wh = POBJ_ROOT(pop, struct warehouse);
	TOID(struct item) it = find_item(wh, sku);
	int rc = 0;

	if (TOID_IS_NULL(it)) {
		errno = ENOENT;
		return -1;
	}
	TX_BEGIN(pop) {
		TX_SET(it, shelved, D_RO(it)->shelved + units);
		adjust_on_hand(wh, units);
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}

int inv_reserve(PMEMobjpool *pop, const char *sku, uint32_t units)
{
	TOID(struct warehouse) wh = POBJ_ROOT(pop, struct warehouse);
	TOID(struct item) it = find_item(wh, sku);
	int rc = 0;

	if (TOID_IS_NULL(it) || D_RO(it)->shelved < units) {
		errno = TOID_IS_NULL(it) ? ENOENT : ENOSPC;
		return -1;
	}
	TX_BEGIN(pop) {
		TOID(struct order) o = TX_NEW(struct order);

		D_RW(o)->item = it;
		D_RW(o)->units = units;
		D_RW(o)->id = D_RO(wh)->next_order;
		D_RW(o)->next = D_RO(wh)->orders;

		TX_ADD_FIELD(wh, orders);
		D_RW(wh)->orders = o;
		TX_ADD_FIELD(wh, next_order);
		D_RW(wh)->next_order++;

		TX_ADD(it);
		move_units(&D_RW(it)->shelved, &D_RW(it)->reserved, units);
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}

int inv_cancel(PMEMobjpool *pop, uint32_t id)
{
	TOID(struct warehouse) wh = POBJ_ROOT(pop, struct warehouse);
	TOID(struct order) prev, o = find_order(wh, id, &prev);
	int rc = 0;

	if (TOID_IS_NULL(o)) {
		errno = ENOENT;
		return -1;
	}
	TX_BEGIN(pop) {
		TOID(struct item) it = D_RO(o)->item;

		TX_ADD(it);
		move_units(&D_RW(it)->reserved, &D_RW(it)->shelved, D_RO(o)->units);
		drop_order(wh, prev, o);
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}

int inv_ship(PMEMobjpool *pop, uint32_t id)
{
	TOID(struct warehouse) wh = POBJ_ROOT(pop, struct warehouse);
	TOID(struct order) prev, o = find_order(wh, id, &prev);
	int rc = 0;

	if (TOID_IS_NULL(o)) {
		errno = ENOENT;
		return -1;
	}
	TX_BEGIN(pop) {
		TOID(struct item) it = D_RO(o)->item;
		uint32_t units = D_RO(o)->units;

		TX_ADD_FIELD(it, reserved);
		D_RW(it)->reserved -= units;
		adjust_on_hand(wh, -(int64_t)units);
		drop_order(wh, prev, o);
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}

int inv_relocate(PMEMobjpool *pop, const char *sku, uint32_t aisle)
{
	TOID(struct warehouse) wh = POBJ_ROOT(pop, struct warehouse);
	TOID(struct item) it = find_item(wh, sku);
	int rc = 0;

	if (TOID_IS_NULL(it) || aisle >= INV_AISLES) {
		errno = EINVAL;
		return -1;
	}
	TX_BEGIN(pop) {
		TX_ADD_FIELD(wh, per_aisle);
		D_RW(wh)->per_aisle[D_RO(it)->aisle]--;
		D_RW(wh)->per_aisle[aisle]++;
		TX_SET(it, aisle, aisle);
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}
