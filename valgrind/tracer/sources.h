/* Marks where the input enters the program. */
#ifndef TRACER_SOURCES_H
#define TRACER_SOURCES_H

#include "pub_tool_basics.h"

Bool sources_option(const HChar *arg);
ULong sources_end(void); /* the number of input bytes */
void sources_startup(ThreadId tid);
void sources_after(ThreadId tid, UInt number, UWord *args, UInt nargs, SysRes result);

#endif
