/* The shadow of an 8-byte word says which bytes of the word depend on the input, and how. Registers
 * and memory are made of such cells. */
#ifndef TRACER_CELLS_H
#define TRACER_CELLS_H

#include "valgrind/tracer/value/value.h"

struct cell {
	UInt whole;   /* an expression of 64 bits, or 0: then the bytes count */
	UInt byte[8]; /* expressions of 8 bits, or 0 */
};

/* Finds the cell of a word (address / 8); may give NULL unless make. */
typedef struct cell *(*cell_find)(Addr word, Bool make);

Bool cell_is_empty(const struct cell *c);
/* Reads nbytes bytes of the cells from address a on. concrete: the value that the machine has
 * there. */
struct val cells_get(cell_find find, Addr a, UInt nbytes, ULong concrete);
void cells_put(cell_find find, Addr a, UInt nbytes, struct val v);

#endif
