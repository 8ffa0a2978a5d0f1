/* Names for addresses in the processes of recovery. */
#ifndef SESSION_RECOVERY_SYMBOLS_H
#define SESSION_RECOVERY_SYMBOLS_H

#include "crash/crash.h"
#include "trace/symbols.h"

/* Functions at an address of a command of recovery, as symbols_find(); 0: nothing is known. */
size_t recovery_symbols(const struct crash_result *c, enum recovery_part part, struct symbols *symbols, uint64_t pc, bool is_return,
			const struct symbol **list);

#endif
