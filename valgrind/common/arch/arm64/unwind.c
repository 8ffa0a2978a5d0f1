/* Keeps Valgrind's core from reading unwind information unless g_unwinds is set (debuginfo.c). It
 * is written in assembly, because the arguments are passed on unchanged. */
#include "valgrind/common/debuginfo.h"

asm(".globl __wrap_vgModuleLocal_read_callframe_info_dwarf3\n"
    "__wrap_vgModuleLocal_read_callframe_info_dwarf3:\n"
    "	adrp x16, g_unwinds\n"
    "	ldrb w16, [x16, #:lo12:g_unwinds]\n"
    "	cbz w16, 1f\n"
    "	b __real_vgModuleLocal_read_callframe_info_dwarf3\n"
    "1:	ret\n");
