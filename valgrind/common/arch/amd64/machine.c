/* Says what a trace must tell about an x86-64 machine. The program learns the processor's features
 * from CPUID (cpuid.c), so nothing happens at its start. */
#include "valgrind/common/arch.h"

const Bool arch_is_weak = False;

void arch_describe(void (*tell)(const HChar *key, const HChar *value))
{
	tell("isa", "amd64");
	tell("line", "64");
}

void arch_begin(Addr sp)
{
}
