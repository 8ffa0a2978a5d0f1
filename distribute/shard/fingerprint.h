/* Makes fingerprints: hashes by which parts of the same exploration are recognised. */
#ifndef DISTRIBUTE_SHARD_FINGERPRINT_H
#define DISTRIBUTE_SHARD_FINGERPRINT_H

#include "crash/setup/crash_setup.h"
#include "util/values.h"

/* Makes the fingerprint of an exploration. It is equal for all parts of one exploration: they have
 * the same trace, options, number of parts, version of pmend, and files that recovery's commands
 * name (without PM files). checks: how `pmend test` checks the execution, or NULL. free() it; NULL
 * with err. */
char *fingerprint_of(const struct crash_setup *s, uint32_t nparts, const struct plan *p,
		     const struct word_list *checks, struct error *err);
/* Makes the fingerprint of a text; free() it. */
char *fingerprint_text(const char *text, size_t len);

#endif
