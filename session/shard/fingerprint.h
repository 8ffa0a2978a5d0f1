/* What tells one exploration from another. */
#ifndef SESSION_SHARD_FINGERPRINT_H
#define SESSION_SHARD_FINGERPRINT_H

#include "session/crash_setup.h"

/* Equal for parts that belong together: the same trace, options, programs of recovery, number of parts and version of pmend. free() it; NULL with err. */
char *fingerprint_of(const struct crash_setup *s, uint32_t nparts, const char *trace, struct error *err);

#endif
