/* Adds the tracer's code to a block of guest code. Valgrind calls it for each block. */
#ifndef TRACER_INSTRUMENT_H
#define TRACER_INSTRUMENT_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest_word,
		 IRType host_word);

#endif
