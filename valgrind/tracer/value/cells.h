/* The shadow of a word of 8 bytes. Registers and memory are made of these. */
#ifndef TRACER_CELLS_H
#define TRACER_CELLS_H

#include "valgrind/tracer/value/value.h"

struct cell {
	UInt whole;   /* 64 bits, or 0: then the bytes count */
	UInt byte[8]; /* 8 bits each, or 0 */
};

/* word: address / 8; may be NULL if it is not to be made */
typedef struct cell *(*cell_find)(Addr word, Bool make);

Bool cell_is_empty(const struct cell *c);
/* where the machine has that value */
struct val cells_get(cell_find find, Addr a, UInt nbytes, ULong concrete);
void cells_put(cell_find find, Addr a, UInt nbytes, struct val v);

#endif
