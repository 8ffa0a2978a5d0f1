/* Finds causes in the use of transactions: stores that a transaction does not undo, and
 * transactions that are never ended. */
#ifndef ACCOUNT_CAUSES_TRANSACTIONS_H
#define ACCOUNT_CAUSES_TRANSACTIONS_H

#include "report/bug.h"
#include "account/causes/bonds.h"
#include "account/causes/facts.h"
#include "source/locate.h"

struct tx_findings;

/* Collects all occurrences of what the oracles of transactions find in a trace. Asks for facts
 * about their places. */
struct tx_findings *tx_findings_collect(const struct trace *t, struct facts *f);
/* Lists under the collected findings of transactions the findings that follow from them, by these
 * facts. If a transaction explains what a crash showed, it is reported even if the user did not ask
 * for that oracle. */
void tx_findings_explain(struct tx_findings *c, struct report *r, struct locator *l,
			 const struct facts *f, struct bonds *bonds);
void tx_findings_free(struct tx_findings *c);

#endif
