/* A frame of a call stack: function, line and address. source/locate.h gives lists of frames. */
#ifndef SOURCE_FRAME_H
#define SOURCE_FRAME_H

#include "trace/symbols.h"

struct frame {
	const struct symbol *symbol;
	uint64_t pc;
	/* a signal interrupted this frame; the frames before it belong to the handler */
	bool is_signal;
};

#endif
