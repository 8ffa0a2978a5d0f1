/* What is known of a variable in the function that uses it. */
#ifndef SOURCE_CLANG_VARIABLE_H
#define SOURCE_CLANG_VARIABLE_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* The value that it has wherever it is used; null if there are several. */
CXCursor variable_value(CXCursor function, CXCursor variable);
bool variable_is_changed(CXCursor function, CXCursor variable); /* in the function's body */
int variable_parameter(CXCursor function, CXCursor variable); /* its index, or PLACE_NO_PARAMETER */

#endif
