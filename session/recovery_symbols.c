/* Finds the function at an address of a recovery run. The objects that its process had loaded are in the result of the exploration. */
#include "session/recovery_symbols.h"

size_t recovery_symbols(const struct crash_result *c, enum recovery_part part, struct symbols *symbols, uint64_t pc, bool is_return,
			const struct symbol **list)
{
	for (size_t k = 0; k < c->objects[part].n; k++)
		if (pc - c->objects[part].at[k].va < c->objects[part].at[k].len_bytes)
			return symbols_find(symbols, &c->objects[part].at[k], pc, is_return, list);
	return 0;
}
