/* Answers questions about an expression in libclang's tree. */
#ifndef SOURCE_CLANG_CURSOR_H
#define SOURCE_CLANG_CURSOR_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* Gives the n-th child, not counting references to types; the null cursor if there are not so many
 * children. */
CXCursor cursor_child(CXCursor c, unsigned n);
bool cursor_is_wrapper(CXCursor c); /* parentheses, or an implicit cast */
CXCursor cursor_strip(CXCursor c);  /* the expression inside all wrappers */
bool cursor_is_cast(CXCursor c);
CXCursor cursor_cast_operand(CXCursor c);
bool cursor_is_increment(CXCursor c);  /* or a decrement */
bool cursor_is_address(CXCursor c);    /* &x */
bool cursor_is_assignment(CXCursor c); /* also ++, --, and the assignment of an initial value */
bool cursor_constant(CXCursor c, long long *value);

CXType cursor_type(CXCursor c); /* canonical: without typedefs */
bool type_is_array(CXType type);
CXType type_pointee(CXType type); /* for an array, the type of its elements */

#endif
