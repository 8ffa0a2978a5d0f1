/* Names for addresses in the processes of recovery. The result of the exploration has the objects
 * that they had loaded. */
#ifndef ACCOUNT_RECOVERY_SYMBOLS_H
#define ACCOUNT_RECOVERY_SYMBOLS_H

#include "crash/crash.h"
#include "trace/symbols.h"

/* Finds the functions at an address of a command of recovery, like symbols_find(); 0: unknown. */
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
