/* Questions about an expression of libclang's tree. */
#ifndef SOURCE_CLANG_CURSOR_H
#define SOURCE_CLANG_CURSOR_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* the null cursor if there are not so many; leaves out type references */
CXCursor cursor_child(CXCursor c, unsigned n);
bool cursor_is_wrapper(CXCursor c); /* parentheses, or what the compiler adds */
CXCursor cursor_strip(CXCursor c);  /* without them */
bool cursor_is_cast(CXCursor c);
CXCursor cursor_cast_operand(CXCursor c);
bool cursor_is_increment(CXCursor c);  /* or a decrement */
bool cursor_is_address(CXCursor c);    /* &x */
bool cursor_is_assignment(CXCursor c); /* also of ++ and of what is initialised */
bool cursor_constant(CXCursor c, long long *value);

CXType cursor_type(CXCursor c); /* without typedefs */
bool type_is_array(CXType type);
CXType type_pointee(CXType type); /* of an array: its element */

#endif
