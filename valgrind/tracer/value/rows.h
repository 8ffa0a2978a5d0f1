/* Finds rows in tables that have one row per operation. */
#ifndef TRACER_ROWS_H
#define TRACER_ROWS_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#define OPS_MAX 2048
/* Finds an operation; gives 1 + the number of its row, or 0. index has OPS_MAX bytes, which are
 * zero at first. */
UInt row_number(IROp op, UChar *index, const void *rows_of, SizeT row_bytes, UInt nrows);

#endif
