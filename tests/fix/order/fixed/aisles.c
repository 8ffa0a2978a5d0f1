/* Elements of an array by typed handles, and persists inside a new transaction that its commit makes needless. */
#include <libpmemobj.h>

POBJ_LAYOUT_BEGIN(aisles);
POBJ_LAYOUT_TOID(aisles, struct item);
POBJ_LAYOUT_TOID(aisles, struct hall);
POBJ_LAYOUT_END(aisles);

struct item {
	uint32_t aisle, shelved, reserved;
	char text[20];
};

struct hall {
	uint32_t per_aisle[8], seen[8];
	uint32_t n, open;
};

int enter(PMEMobjpool *pop, TOID(struct hall) hall, uint32_t aisle)
{
	int rc = 0;

	TX_BEGIN(pop) {
		TX_ADD_FIELD(hall, per_aisle);
		D_RW(hall)->per_aisle[aisle]++;
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}

int empty(PMEMobjpool *pop, TOID(struct item) it)
{
	int rc = 0;

	TX_BEGIN(pop) {
		TX_ADD(it);
		D_RW(it)->shelved = D_RW(it)->reserved = 0;
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}

/* neither of two elements is a part of the other; the file logs this array as a whole */
int relocate(PMEMobjpool *pop, TOID(struct hall) hall, TOID(struct item) it, uint32_t aisle)
{
	int rc = 0;

	if (aisle >= 8)
		return -1;
	TX_BEGIN(pop) {
		TX_ADD_FIELD(hall, per_aisle);
		D_RW(hall)->per_aisle[D_RO(it)->aisle] -= 1; /* TX */
		D_RW(hall)->per_aisle[aisle] += 1; /* TX */
		TX_ADD_FIELD(it, aisle);
		D_RW(it)->aisle = aisle; /* TX */
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}

/* the file logs no such array, but whole objects */
int look(PMEMobjpool *pop, TOID(struct hall) hall, TOID(struct item) it, uint32_t aisle)
{
	int rc = 0;

	if (aisle >= 8)
		return -1;
	TX_BEGIN(pop) {
		TX_ADD(hall);
		D_RW(hall)->seen[D_RO(it)->aisle] = 0; /* TX */
		D_RW(hall)->seen[aisle] = 1; /* TX */
		TX_ADD_FIELD(it, aisle);
		D_RW(it)->aisle = aisle; /* TX */
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}

/* what is logged as a whole is written back as a whole */
int both(PMEMobjpool *pop, TOID(struct hall) hall, TOID(struct item) it, uint32_t n)
{
	int rc = 0;

	if (n == 0)
		return -1;
	TX_BEGIN(pop) {
		TX_ADD(it);
		D_RW(it)->reserved = n; /* TX */
		D_RW(it)->shelved -= n; /* TX */
		TX_ADD_FIELD(hall, n);
		D_RW(hall)->n = n; /* TX */
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}

/* the persist is for more than what is logged: it stays */
int opened(PMEMobjpool *pop, TOID(struct hall) hall, TOID(struct item) it, uint32_t n)
{
	int rc = 0;

	if (n == 0)
		return -1;
	D_RW(hall)->open = 1;
	TX_BEGIN(pop) {
		TX_ADD_FIELD(hall, n);
		D_RW(hall)->n = n; /* TX */
		pmemobj_persist(pop, &D_RW(hall)->n, 2 * sizeof(uint32_t));
		TX_ADD_FIELD(it, shelved);
		D_RW(it)->shelved = n; /* TX */
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}

/* it comes there without the log, too: it stays */
int maybe(PMEMobjpool *pop, TOID(struct hall) hall, TOID(struct item) it, uint32_t aisle)
{
	int rc = 0;

	if (aisle == 0)
		return -1;
	D_RW(hall)->seen[0] = aisle;
	TX_BEGIN(pop) {
		TX_ADD(it);
		D_RW(it)->aisle = aisle; /* TX */
		if (aisle < 8) {
			TX_ADD(hall);
			D_RW(hall)->seen[aisle] = 1; /* TX */
			D_RW(hall)->seen[aisle - 1] = 1; /* TX */
		}
		pmemobj_persist(pop, D_RW(hall)->seen, sizeof(D_RO(hall)->seen));
		D_RW(it)->text[0] = 'a'; /* TX */
	} TX_ONABORT {
		rc = -1;
	} TX_END
	return rc;
}
