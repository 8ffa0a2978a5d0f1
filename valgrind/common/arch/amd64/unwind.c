/* Keeps Valgrind's core from reading unwind information unless g_unwinds is set (debuginfo.c). It
 * is written in assembly, because the arguments are passed on unchanged. */
#include "valgrind/common/debuginfo.h"

asm(".globl __wrap_vgModuleLocal_read_callframe_info_dwarf3\n"
    "__wrap_vgModuleLocal_read_callframe_info_dwarf3:\n"
    "	cmpb $0, g_unwinds(%rip)\n"
    "	jne __real_vgModuleLocal_read_callframe_info_dwarf3\n"
    "	ret\n");
