/* System calls that only arm64 has: none. Those that only other architectures have are older forms
 * of the same calls. */
#include "arch.h"

const struct buffer_call arch_buffer_calls[] = { { 0 } };
const struct path_call arch_path_calls[] = { { 0 } };
const uint16_t arch_no_pointers[] = { 0 };

long arch_fork_flags(long number)
{
	(void)number;
	return 0;
}
