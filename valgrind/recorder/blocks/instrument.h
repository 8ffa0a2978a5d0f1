/* Adds the recorder's code to a block of the program's code before Valgrind executes the block:
 * calls of the recorder at stores, flushes and fences, and code that keeps track of the call
 * stack. */
#ifndef REC_INSTRUMENT_H
#define REC_INSTRUMENT_H

#include "valgrind/recorder/out/basics.h"

#include "pub_tool_tooliface.h"

extern ULong g_ninstructions; /* of the program, if clo_instructions */

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest_word,
		 IRType host_word);

#endif
