/* Logs of what the same transaction has allocated: they go, if that is certain. */
#include <libpmemobj.h>
#include <string.h>

POBJ_LAYOUT_BEGIN(new);
POBJ_LAYOUT_TOID(new, struct order);
POBJ_LAYOUT_TOID(new, struct book);
POBJ_LAYOUT_END(new);

struct order {
	uint64_t id, units;
	char text[16], *rest;
	TOID(struct order) next;
};

struct book {
	TOID(struct order) first;
	uint64_t n;
};

void declared(PMEMobjpool *pop, TOID(struct book) b, uint64_t units);
void declared(PMEMobjpool *pop, TOID(struct book) b, uint64_t units)
{
	TX_BEGIN(pop) {
		TOID(struct order) o = TX_NEW(struct order);

		D_RW(o)->units = units;
		TX_ADD_FIELD(b, first);
		D_RW(b)->first = o;
	} TX_END
}

void assigned(PMEMobjpool *pop, TOID(struct book) b, uint64_t units);
void assigned(PMEMobjpool *pop, TOID(struct book) b, uint64_t units)
{
	TOID(struct order) o;

	TX_BEGIN(pop) {
		TX_ADD(b);
		o = TX_ZALLOC(struct order, sizeof(struct order) + units);
		D_RW(b)->first = o;

		D_RW(o)->id = D_RW(b)->n++;
		if (units > 3) {
			D_RW(o)->units = units;
			memset(D_RW(o)->text, 0, sizeof(D_RW(o)->text));
		}
	} TX_END
}

void by_pointer(PMEMobjpool *pop, struct book *b, uint64_t units);
void by_pointer(PMEMobjpool *pop, struct book *b, uint64_t units)
{
	TX_BEGIN(pop) {
		PMEMoid oid = pmemobj_tx_zalloc(sizeof(struct order), 1);
		struct order *p = pmemobj_direct(oid);

		p->units = units;
		for (int i = 0; i < 2; i++) {
			p->text[i] = 'a';
		}
		pmemobj_tx_add_range_direct(&b->n, sizeof b->n);
		b->n++;
	} TX_END
}

/* from another transaction */
void earlier(PMEMobjpool *pop, uint64_t units);
void earlier(PMEMobjpool *pop, uint64_t units)
{
	TOID(struct order) o;

	TX_BEGIN(pop) {
		o = TX_NEW(struct order);
	} TX_END
	TX_BEGIN(pop) {
		TX_ADD(o); /* BUG: tx-redundant-add, suggested: certainly allocated */
		D_RW(o)->units = units;
	} TX_END
}

/* it may be one that was there */
void either(PMEMobjpool *pop, TOID(struct book) b, uint64_t units);
void either(PMEMobjpool *pop, TOID(struct book) b, uint64_t units)
{
	TX_BEGIN(pop) {
		TOID(struct order) o = D_RO(b)->first;

		if (TOID_IS_NULL(o))
			o = TX_NEW(struct order);
		TX_ADD(o); /* BUG: tx-redundant-add, suggested: certainly allocated */
		D_RW(o)->units = units;
	} TX_END
}

/* allocated on one way only */
void sometimes(PMEMobjpool *pop, TOID(struct order) *from, uint64_t units);
void sometimes(PMEMobjpool *pop, TOID(struct order) *from, uint64_t units)
{
	TOID(struct order) o;

	memcpy(&o, from, sizeof o);
	TX_BEGIN(pop) {
		if (units > 3) {
			o = TX_NEW(struct order);
			D_RW(o)->id = 1;
		}
		TX_ADD(o); /* BUG: tx-redundant-add, suggested: certainly allocated */
		D_RW(o)->units = units;
	} TX_END
}

static void replace(TOID(struct order) *o, TOID(struct book) b)
{
	*o = D_RO(b)->first;
}

/* another function sets it */
void replaced(PMEMobjpool *pop, TOID(struct book) b, uint64_t units);
void replaced(PMEMobjpool *pop, TOID(struct book) b, uint64_t units)
{
	TX_BEGIN(pop) {
		TOID(struct order) o = TX_NEW(struct order);

		replace(&o, b);
		TX_ADD(o); /* BUG: tx-redundant-add, suggested: certainly allocated */
		D_RW(o)->units = units;
	} TX_END
}

/* other memory, which is found through it; a resize, which may keep what is there; memory that the commit does not flush */
void others(PMEMobjpool *pop, TOID(struct book) b, uint64_t units);
void others(PMEMobjpool *pop, TOID(struct book) b, uint64_t units)
{
	TX_BEGIN(pop) {
		TOID(struct order) o = TX_NEW(struct order), big = TX_REALLOC(D_RO(b)->first, 256), raw = TX_XALLOC(struct order, 64, POBJ_XALLOC_NO_FLUSH);

		D_RW(o)->next = D_RO(b)->first;
		D_RW(o)->rest = D_RW(D_RW(b)->first)->text;
		TX_ADD_FIELD_DIRECT(D_RW(D_RW(o)->next), units); /* BUG: tx-redundant-add, suggested: certainly allocated */
		D_RW(D_RW(o)->next)->units = units;
		pmemobj_tx_add_range_direct(&D_RW(o)->rest[1], 1); /* BUG: tx-redundant-add, suggested: certainly allocated */
		D_RW(o)->rest[1] = 'b';
		TX_ADD(big); /* BUG: tx-redundant-add, suggested: certainly allocated */
		D_RW(big)->units = units;
		TX_ADD(raw); /* BUG: tx-redundant-add, suggested: certainly allocated */
		D_RW(raw)->units = units;
	} TX_END
}
