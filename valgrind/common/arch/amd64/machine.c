/* What a trace says of an x86-64 machine. Its features are shown to the program by CPUID (cpuid.c),
 * not at its start. */
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
