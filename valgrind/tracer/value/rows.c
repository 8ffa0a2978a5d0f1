/* Finds the row of an operation through an index of bytes, which is filled at the first use. */
#include "valgrind/tracer/value/rows.h"

/* Finds the row of an operation. Every row must begin with the number of its operation. */
UInt row_number(IROp op, UChar *index, const void *rows_of, SizeT row_bytes, UInt nrows)
{
	const UShort *first = rows_of;
	UInt i = op - Iop_INVALID;

	if (index[*first] == 0)
		for (UInt r = 0; r < nrows; r++)
			index[*(const UShort *)((const UChar *)rows_of + r * row_bytes)] = r + 1;
	return i < OPS_MAX ? index[i] : 0;
}
