/* The tables of system calls (call_tables.h) that only arm64 has: they are empty. Calls that only
 * other architectures have are older forms of calls that all have. */
#include "arch.h"

const struct buffer_call arch_buffer_calls[] = { { 0 } };
const struct path_call arch_path_calls[] = { { 0 } };
const uint16_t arch_no_pointers[] = { 0 };

long arch_fork_flags(long number)
{
	(void)number;
	return 0;
}
