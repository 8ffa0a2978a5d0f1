/* System calls that Linux has on arm64 alone: none. What other architectures have for themselves
 * are older forms of these. */
#include "arch.h"

const struct buffer_call arch_buffer_calls[] = { { 0 } };
const struct path_call arch_path_calls[] = { { 0 } };
const uint16_t arch_no_pointers[] = { 0 };

long arch_fork_flags(long number)
{
	(void)number;
	return 0;
}
