/* Causes in the use of transactions: stores that a transaction does not undo, and transactions that nobody ends. */
#ifndef SESSION_CAUSES_TRANSACTIONS_H
#define SESSION_CAUSES_TRANSACTIONS_H

#include "report/bug.h"
#include "session/causes/bonds.h"
#include "session/causes/facts.h"
#include "session/locate.h"

struct complaints;

/* What the oracles of transactions say of a trace, each time. Wants facts about its places. */
struct complaints *complaints_hear(const struct trace *t, struct facts *f);
/* With these facts: lists under them what follows from them. What a crash showed and a transaction explains is told as that, even if nobody asked for the check. */
void complaints_explain(struct complaints *c, struct report *r, struct locator *l,
			const struct facts *f, struct bonds *bonds);
void complaints_free(struct complaints *c);

#endif
