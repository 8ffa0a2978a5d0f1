/* Ranks the findings of oracles by what recovery does with the data. */
#ifndef ACCOUNT_RANKING_H
#define ACCOUNT_RANKING_H

#include "crash/setup/crash_setup.h"

/* Notes, for each durability bug of an unfinished report, whether recovery reads the bytes,
 * overwrites them first, or never touches them. It is no failure if that is unknown; -1 with err:
 * recovery could not be run. */
int ranking_tell(struct crash_setup *s, const char *trace, struct report *r, struct error *err);

/* Corrects the notes of ranking_tell() after the exploration: bytes that the run on the final state
 * does not read may be read in other runs. */
void ranking_settle(const struct crash_setup *s, const struct crash_result *c, struct report *r);

/* Demotes findings about files that recovery rebuilds: in all states, it cuts the data off before
 * it reads it, so the data need not be durable. Only if a whole exploration was run lazily. */
void ranking_demote_rebuilt(const struct crash_setup *s, const struct plan *p,
			    const struct crash_result *c, struct report *r);

/* Drops findings that the runs show to be no bugs: a store outside a transaction that recovery
 * makes again before reading it; a mark whose loss changes nothing. A mark whose loss changes
 * something is a bug. Only if a whole exploration was run lazily. */
int ranking_excuse(const struct crash_setup *s, const struct plan *p, const struct crash_result *c,
		   struct report *r, struct error *err);

#endif
