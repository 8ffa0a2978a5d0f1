/* Declared here, called from two files. */
#ifndef CELLS_H
#define CELLS_H

#include "pm.h"

struct cell {
	long key, value;
	char text[48];
};

/* Fills a cell. */
void cell_fill(struct cell *c, long key);
int cell_label(struct cell *c, const char *text) __attribute__((nonnull));

static inline void cell_swap(struct cell *c)
{
	long old = c->key;

	c->key = c->value; /* stack: swap0 */
	c->value = old; /* stack: swapped0 */
}

#endif
