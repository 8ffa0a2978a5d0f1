/* Transactions around stores that must become durable together, for programs on libpmemobj. */
#ifndef REPAIR_TX_TX_H
#define REPAIR_TX_TX_H

#include <stddef.h>

struct repair;

void transactions_new(struct repair *r);
void transactions_free(struct repair *r);
void tx_forget(struct repair *r); /* an earlier plan */

/* For a bug whose cure is one. -1 with a reason. */
int tx_plan(struct repair *r, size_t bug, const char **why);
void tx_settle(struct repair *r); /* which can be written; flushes that they make unnecessary go */
void tx_finish(struct repair *r); /* once all fixes are edits */

#endif
