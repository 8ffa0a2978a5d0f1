/* Values of the traced program. A value is a `struct val` (explore/expr/expr.h); if it does not
 * depend on the input, its id is 0. The tracer is a Valgrind tool that runs one thread at a time,
 * so it uses global state. */
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

/* A value of up to 256 bits, in parts of 64; bits beyond its width are 0. */
#define PARTS 4
struct wide {
	struct val part[PARTS];
};

/* Gives n bits of v from bit `low` on, as expr_extract() does. */
struct val val_cut(struct val v, UInt from_bits, UInt low, UInt n);
Bool wide_is_symbolic(const struct wide *w);

#endif
