/* Ranks what the execution shows by what recovery does with it. */
#ifndef ACCOUNT_RANKING_H
#define ACCOUNT_RANKING_H

#include "crash/setup/crash_setup.h"

/* For each durability bug of a report that is not finished: whether recovery reads the bytes,
 * overwrites them first, or never touches them. That it cannot be told is no failure; -1 with err:
 * recovery could not be run. */
int ranking_tell(struct crash_setup *s, const char *trace, struct report *r, struct error *err);

/* After the exploration: those of which the run on the final state reads nothing may be read in
 * others. */
void ranking_settle(const struct crash_setup *s, const struct crash_result *c, struct report *r);

/* What recovery cuts off before it reads it, in all states, need not be durable: a file that it
 * rebuilds. Only if all of an exploration was run lazily. */
void ranking_demote_rebuilt(const struct crash_setup *s, const struct plan *p,
			    const struct crash_result *c, struct report *r);

/* Drops what the runs show to be no bug: a store outside a transaction that recovery makes again
 * before it reads it; a mark whose loss changes nothing. A mark whose loss changes something is a
 * bug. Only if all of an exploration was run lazily. */
int ranking_excuse(const struct crash_setup *s, const struct plan *p, const struct crash_result *c,
		   struct report *r, struct error *err);

#endif
