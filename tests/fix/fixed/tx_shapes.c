/* Statements of many shapes around the store; and a function that looks at what logging says, with labels to leave by. */
#include <libpmemobj.h>
#include <string.h>

struct item {
	uint64_t a, b;
	struct {
		uint64_t x, y;
	} sub[4];
	char name[400];
	PMEMoid next;
};

TOID_DECLARE(struct item, 1);

static inline void stat_inc(uint64_t *p)
{
	pmemobj_tx_add_range_direct(p, sizeof(*p));
	(*p)++;
}

void shapes(PMEMobjpool *pop, TOID(struct item) o, int which, struct item value, const char *name, size_t len)
{
	TX_BEGIN(pop) {
		switch (which) {
		case 1:
			pmemobj_tx_add_range_direct(&D_RW(o)->a, sizeof(D_RW(o)->a));
			D_RW(o)->a = 1; /* BUG: tx-missing-add */
			break;
		case 2: pmemobj_tx_add_range_direct(&D_RW(o)->b, sizeof(D_RW(o)->b)); D_RW(o)->b = 1; break; /* BUG: tx-missing-add */
		default:
			/* the new value,
			 * whatever it is */
			pmemobj_tx_add_range_direct(D_RW(o), sizeof(*D_RW(o)));
			*D_RW(o) = value; /* BUG: tx-missing-add */
		}
	} TX_END
	TX_BEGIN(pop) {
		uint64_t *p = &D_RW(o)->a;

		pmemobj_tx_add_range_direct(p, sizeof(*p));
		*p += 1; /* BUG: tx-missing-add */
		pmemobj_tx_add_range_direct(&D_RW(o)->b, sizeof(which));
		memcpy(&D_RW(o)->b, &which, sizeof(which)); /* BUG: tx-missing-add */
		pmemobj_tx_add_range_direct(D_RW(o)->name, len);
		memcpy(D_RW(o)->name, name, len); /* BUG: tx-missing-add */
		pmemobj_tx_add_range_direct(&D_RW(o)->sub[which].x, sizeof(D_RW(o)->sub[which].x));
		D_RW(o)->sub[which].x = 1; /* BUG: tx-missing-add */
		pmemobj_tx_add_range_direct(&D_RW(o)->sub[which].y, sizeof(D_RW(o)->sub[which].y));
		D_RW(o)->sub[which].y = 2; /* BUG: tx-missing-add */
	} TX_END
}

void more(PMEMobjpool *pop, struct item *i, int n)
{
	TX_BEGIN(pop) {
		struct item *it = i;

		do {
			pmemobj_tx_add_range_direct(&it->a, sizeof(it->a));
			it->a = 0; /* BUG: tx-missing-add */
			it = pmemobj_direct(it->next);
		} while (it);
		if (n == 1) {
			pmemobj_tx_add_range_direct(&i->a, sizeof(i->a));
			i->a = 1; /* BUG: tx-missing-add */
		} else if (n == 2) {
			pmemobj_tx_add_range_direct(&i->b, sizeof(i->b));
			i->b = 1; /* BUG: tx-missing-add */
		} else {
			pmemobj_tx_add_range_direct(&i->a, sizeof(i->a));
			i->a = n ? 1 : 2; /* BUG: tx-missing-add */
			pmemobj_tx_add_range_direct(&i->b, sizeof(i->b));
			i->b = i->a; /* BUG: tx-missing-add */
		}
		stat_inc(&i->b); /* BUG: tx-missing-add in stat_inc */
		n ? (i->a = 3) : 0; /* BUG: tx-missing-add, left: part of a condition */
	} TX_END
}

int goto_style(PMEMobjpool *pop, struct item *i)
{
	int err;

	err = pmemobj_tx_begin(pop, NULL, TX_PARAM_NONE);
	if (err)
		goto out;
	err = pmemobj_tx_add_range_direct(&i->a, sizeof(i->a));
	if (err)
		goto abort;
	i->a = 1;
	err = pmemobj_tx_add_range_direct(&i->b, sizeof(i->b));
	if (err)
		goto abort;
	i->b = 1; /* BUG: tx-missing-add */
	pmemobj_tx_commit();
abort:
	(void)pmemobj_tx_end();
out:
	return err;
}
