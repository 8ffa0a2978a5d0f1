/* Every file of the recorder includes this. The recorder is a Valgrind tool: one process, in which
 * one thread runs at a time, so global state is simple. It uses Valgrind's public tool interface
 * and a few system calls of its own (common/sys.h). */
#ifndef REC_BASICS_H
#define REC_BASICS_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

#include "pmtrace.h"
#include "pmtrace_encode.h"

#endif
