/* Adds transactions around stores that must become durable together, and logs to existing
 * transactions. This is for programs that use libpmemobj. */
#ifndef REPAIR_TX_TX_H
#define REPAIR_TX_TX_H

#include <stdbool.h>
#include <stddef.h>

struct repair;
struct repair_cure;

void transactions_new(struct repair *r);
void transactions_free(struct repair *r);
void tx_forget(struct repair *r); /* Forgets an earlier plan. */

/* Plans a transaction for a bug whose cure is one. -1 with a reason. */
int tx_plan(struct repair *r, size_t bug, const struct repair_cure *c, const char **why);
/* Asks whether the bug is about stores inside a transaction. The transaction must log them, so no
 * flush fixes the bug. */
bool tx_is_wanted(struct repair *r, size_t bug);
int tx_plan_add(struct repair *r, size_t bug, const char **why);
/* Plans the removal of a log that repeats another one: a log of new memory is removed, a log in a
 * loop is done once. -1 with a reason. */
int tx_plan_again(struct repair *r, size_t bug, const char **why);
/* Decides which transactions can be written, and drops flushes that they make unnecessary. */
void tx_settle(struct repair *r);
void tx_finish(struct repair *r); /* after all fixes are edits */

#endif
