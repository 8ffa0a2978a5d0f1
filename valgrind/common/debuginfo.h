/* Limits what Valgrind's core reads of debug information: it reads only symbols. */
#ifndef VG_DEBUGINFO_H
#define VG_DEBUGINFO_H

#include "pub_tool_basics.h"

/* Set it before the program is loaded to read unwind information, too, for
 * VG_(get_StackTrace)(). */
extern Bool g_unwinds;

#endif
