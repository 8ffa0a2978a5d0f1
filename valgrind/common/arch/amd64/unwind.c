/* Keeps Valgrind's core from reading how to unwind, unless g_unwinds says so (debuginfo.c). In
 * assembly, because arguments are passed on where they are. */
#include "valgrind/common/debuginfo.h"

asm(".globl __wrap_vgModuleLocal_read_callframe_info_dwarf3\n"
    "__wrap_vgModuleLocal_read_callframe_info_dwarf3:\n"
    "	cmpb $0, g_unwinds(%rip)\n"
    "	jne __real_vgModuleLocal_read_callframe_info_dwarf3\n"
    "	ret\n");
