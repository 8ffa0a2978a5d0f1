/* Causes in the use of transactions: stores that a transaction does not undo, and transactions that
 * nobody ends. */
#ifndef ACCOUNT_CAUSES_TRANSACTIONS_H
#define ACCOUNT_CAUSES_TRANSACTIONS_H

#include "report/bug.h"
#include "account/causes/bonds.h"
#include "account/causes/facts.h"
#include "source/locate.h"

struct tx_findings;

/* What the oracles of transactions say of a trace, each time. Wants facts about its places. */
struct tx_findings *tx_findings_collect(const struct trace *t, struct facts *f);
/* With these facts: lists under them what follows from them. What a crash showed and a transaction
 * explains is told as that, even if nobody asked for the check. */
void tx_findings_explain(struct tx_findings *c, struct report *r, struct locator *l,
			 const struct facts *f, struct bonds *bonds);
void tx_findings_free(struct tx_findings *c);

#endif
