/* Guards the calls that the recorder adds for stores: code looks up the address in a byte table,
 * and calls only if PM may be there. So a store to volatile memory costs only a few host
 * instructions. */
#ifndef REC_GUARD_H
#define REC_GUARD_H

#include "valgrind/common/ir.h"
#include "valgrind/recorder/pm/pm.h"

/* A temporary that is the sum of another one and a constant. */
struct derived {
	IRTemp root;
	ULong offset; /* modulo 2^64 */
};

/* A lookup in g_granules, which serves all addresses up to GRANULE_REACH_BYTES away. */
struct look {
	struct derived at;
	IRExpr *granule;
};
#define MAX_LOOKS 8

/* What is known in a block. */
struct guards {
	struct derived *derived; /* by temporary */
	Int nderived;
	struct look looks[MAX_LOOKS];
	UInt nlooks;
};

void guards_init(struct guards *g, const IRSB *in);
void guards_note(struct guards *g, IRTemp tmp, const IRExpr *e); /* notes tmp = e */

/* Gives the byte of g_granules for an address, as 64 bits: nonzero if PM may be there. */
IRExpr *guard_granule(IRSB *sb, IRExpr *addr);
/* Gives a condition that is true if the address may be PM and the given condition, if any, is
 * true. */
IRExpr *guard_pm(struct guards *g, IRSB *sb, IRExpr *addr, IRExpr *condition);

#endif
