/* The guards of calls for stores: a look into a byte table by address, so that volatile stores cost
 * a few host instructions each. */
#ifndef REC_GUARD_H
#define REC_GUARD_H

#include "valgrind/common/ir.h"
#include "valgrind/recorder/pm/pm.h"

/* A temporary that is another one plus a constant. */
struct derived {
	IRTemp root;
	ULong offset; /* modulo 2^64 */
};

/* A look into g_granules serves for all addresses up to GRANULE_REACH_BYTES away. */
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
void guards_note(struct guards *g, IRTemp tmp, const IRExpr *e); /* tmp = e */

/* The byte of g_granules for an address, as 64 bits: nonzero if PM may be there. */
IRExpr *guard_granule(IRSB *sb, IRExpr *addr);
/* True if the address may be PM and, when there is one, the condition holds. */
IRExpr *guard_pm(struct guards *g, IRSB *sb, IRExpr *addr, IRExpr *condition);

#endif
