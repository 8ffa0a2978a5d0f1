/* Transactions around stores that must become durable together, for programs on libpmemobj. */
#ifndef REPAIR_TX_TX_H
#define REPAIR_TX_TX_H

#include <stdbool.h>
#include <stddef.h>

struct repair;
struct repair_cure;

void transactions_new(struct repair *r);
void transactions_free(struct repair *r);
void tx_forget(struct repair *r); /* an earlier plan */

/* For a bug whose cure is one. -1 with a reason. */
int tx_plan(struct repair *r, size_t bug, const struct repair_cure *c, const char **why);
/* Is it about stores inside a transaction, which must log them? Then no flush mends it. */
bool tx_is_wanted(struct repair *r, size_t bug);
int tx_plan_add(struct repair *r, size_t bug, const char **why);
/* A log that repeats what was logged before: in a loop, it is done once. -1 with a reason. */
int tx_plan_again(struct repair *r, size_t bug, const char **why);
void tx_settle(struct repair *r); /* which can be written; flushes that they make unnecessary go */
void tx_finish(struct repair *r); /* once all fixes are edits */

#endif
