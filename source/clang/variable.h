/* Answers questions about a variable in the function that uses it: its value, and whether it
 * changes. */
#ifndef SOURCE_CLANG_VARIABLE_H
#define SOURCE_CLANG_VARIABLE_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* Gives the value that the variable has at every use; the null cursor if it has several values. */
CXCursor variable_value(CXCursor function, CXCursor variable);
/* Asks whether the function's body assigns a value to the variable. */
bool variable_is_changed(CXCursor function, CXCursor variable);
/* Gives the index of the parameter that the variable is; PLACE_NO_PARAMETER if it is none. */
int variable_parameter(CXCursor function, CXCursor variable);

#endif
