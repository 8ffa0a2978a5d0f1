/* What tells one exploration from another. */
#ifndef DISTRIBUTE_SHARD_FINGERPRINT_H
#define DISTRIBUTE_SHARD_FINGERPRINT_H

#include "crash/setup/crash_setup.h"
#include "util/values.h"

/* Equal for parts that belong together: the same trace, options, files that recovery's commands
 * name (not those of the plan), number of parts and version of pmend. checks: of `pmend test`, how
 * the execution is judged; NULL: it is not. free() it; NULL with err. */
char *fingerprint_of(const struct crash_setup *s, uint32_t nparts, const struct plan *p,
		     const struct word_list *checks, struct error *err);
/* Of any text; free() it. */
char *fingerprint_text(const char *text, size_t len);

#endif
