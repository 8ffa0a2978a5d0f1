/* Untyped handles, and transactions without macros: begin, commit and end are called, here and in functions around them. */
#include <libpmemobj.h>
#include <stddef.h>
#include <string.h>

struct record {
	uint64_t id, length;
	char text[64];
};

struct table {
	PMEMoid records[16];
	uint64_t nrecords;
};

int table_add(PMEMobjpool *pop, struct table *t, uint64_t id)
{
	if (pmemobj_tx_begin(pop, NULL, TX_PARAM_NONE))
		return -1;
	if (t->nrecords == 16) {
		pmemobj_tx_abort(ENOSPC);
		pmemobj_tx_end();
		return -1;
	}
	pmemobj_tx_add_range_direct(&t->records[t->nrecords], sizeof(t->records[t->nrecords]));
	t->records[t->nrecords] = pmemobj_tx_zalloc(sizeof(struct record), 1); /* BUG: tx-missing-add */
	pmemobj_tx_add_range_direct(&t->nrecords, sizeof(t->nrecords));
	t->nrecords++;
	((struct record *)pmemobj_direct(t->records[t->nrecords - 1]))->id = id;
	pmemobj_tx_commit();
	return pmemobj_tx_end();
}

int record_set(PMEMobjpool *pop, PMEMoid oid, const char *text)
{
	struct record *r = pmemobj_direct(oid);

	if (pmemobj_tx_begin(pop, NULL, TX_PARAM_NONE))
		return -1;
	pmemobj_tx_add_range(oid, offsetof(struct record, text), sizeof(r->text));
	strncpy(r->text, text, sizeof(r->text));
	pmemobj_tx_add_range(oid, offsetof(struct record, length), sizeof(r->length));
	r->length = strlen(text); /* BUG: tx-missing-add */
	pmemobj_tx_commit();
	return pmemobj_tx_end();
}

static int tx_open(PMEMobjpool *pop)
{
	return pmemobj_tx_begin(pop, NULL, TX_PARAM_NONE);
}

static int tx_close(void)
{
	pmemobj_tx_commit();
	return pmemobj_tx_end();
}

int table_clear(PMEMobjpool *pop, struct table *t)
{
	if (tx_open(pop))
		return -1;
	pmemobj_tx_add_range_direct(t, sizeof(*t));
	t->nrecords = 0; /* BUG: missing-flush-fence */
	memset(t->records, 0, sizeof(t->records)); /* BUG: tx-missing-add */
	return tx_close();
}
