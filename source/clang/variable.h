/* Questions about a variable in the function that uses it. */
#ifndef SOURCE_CLANG_VARIABLE_H
#define SOURCE_CLANG_VARIABLE_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* The value that it has at every use; null if there are several. */
CXCursor variable_value(CXCursor function, CXCursor variable);
/* whether the function's body assigns it */
bool variable_is_changed(CXCursor function, CXCursor variable);
/* the parameter's index, or PLACE_NO_PARAMETER */
int variable_parameter(CXCursor function, CXCursor variable);

#endif
