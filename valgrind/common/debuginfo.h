/* What Valgrind's core reads of debug information: nothing but symbols. */
#ifndef VG_DEBUGINFO_H
#define VG_DEBUGINFO_H

#include "pub_tool_basics.h"

/* Set before the program is loaded: also how to unwind, for VG_(get_StackTrace)(). */
extern Bool g_unwinds;

#endif
