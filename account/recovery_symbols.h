/* Names for addresses in the processes of recovery. The objects that they had loaded are in the
 * result of the exploration. */
#ifndef ACCOUNT_RECOVERY_SYMBOLS_H
#define ACCOUNT_RECOVERY_SYMBOLS_H

#include "crash/crash.h"
#include "trace/symbols.h"

/* Functions at an address of a command of recovery, as symbols_find(); 0: nothing is known. */
static inline size_t recovery_symbols(const struct crash_result *c, enum recovery_part part,
				      struct symbols *symbols, uint64_t pc, bool is_return,
				      const struct symbol **list)
{
	for (size_t k = 0; k < c->objects[part].n; k++)
		if (pc - c->objects[part].at[k].va < c->objects[part].at[k].len_bytes)
			return symbols_find(symbols, &c->objects[part].at[k], pc, is_return, list);
	return 0;
}

#endif
