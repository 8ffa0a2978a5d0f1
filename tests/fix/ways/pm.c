/* What the other files of this folder call; nothing is wrong here. */
#include <stddef.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

void keep(const void *from, size_t len);
void keep(const void *from, size_t len)
{
	for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + len; at += 64)
		MACHINE_FLUSH(at);
	MACHINE_FENCE();
}
