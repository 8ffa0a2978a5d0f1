/* Values of the traced program. The tracer is a Valgrind tool, as the recorder is: one process
 * image, one thread of it at a time, hence plain global state. A value is a `struct val`
 * (explore/expr/expr.h); whatever does not depend on the input has id 0. */
#ifndef TRACER_VALUE_H
#define TRACER_VALUE_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"

#include "explore/expr/expr.h"

extern struct expr_pool *g_pool;

/* Of up to 256 bits, in parts of 64; bits beyond its width are 0. */
#define PARTS 4
struct wide {
	struct val part[PARTS];
};

struct val val_cut(struct val v, UInt from_bits, UInt low, UInt n); /* expr_extract() */
Bool wide_is_symbolic(const struct wide *w);

#endif
