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
	(*p)++;
}

void shapes(PMEMobjpool *pop, TOID(struct item) o, int which, struct item value, const char *name, size_t len)
{
	TX_BEGIN(pop) {
		switch (which) {
		case 1:
			D_RW(o)->a = 1; /* BUG: tx-missing-add */
			break;
		case 2: D_RW(o)->b = 1; break; /* BUG: tx-missing-add */
		default:
			/* the new value,
			 * whatever it is */
			*D_RW(o) = value; /* BUG: tx-missing-add */
		}
	} TX_END
	TX_BEGIN(pop) {
		uint64_t *p = &D_RW(o)->a;

		*p += 1; /* BUG: tx-missing-add */
		memcpy(&D_RW(o)->b, &which, sizeof(which)); /* BUG: tx-missing-add */
		memcpy(D_RW(o)->name, name, len); /* BUG: tx-missing-add */
		D_RW(o)->sub[which].x = 1; /* BUG: tx-missing-add */
		D_RW(o)->sub[which].y = 2; /* BUG: tx-missing-add */
	} TX_END
}

void more(PMEMobjpool *pop, struct item *i, int n)
{
	TX_BEGIN(pop) {
		struct item *it = i;

		do {
			it->a = 0; /* BUG: tx-missing-add */
			it = pmemobj_direct(it->next);
		} while (it);
		if (n == 1) {
			i->a = 1; /* BUG: tx-missing-add */
		} else if (n == 2)
			i->b = 1; /* BUG: tx-missing-add */
		else {
			i->a = n ? 1 : 2; /* BUG: tx-missing-add */
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
	i->b = 1; /* BUG: tx-missing-add */
	pmemobj_tx_commit();
abort:
	(void)pmemobj_tx_end();
out:
	return err;
}
