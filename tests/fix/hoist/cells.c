#include "cells.h"

#include <string.h>

static void set_key(struct cell *c, long key)
{
	if (c->key != key) {
		c->key = key; /* stack: fill0 loop0 */
	}
}

void cell_fill(struct cell *c, long key)
{
	set_key(c, key); /* stack: fill1 */
	for (int i = 0; i < 3; i++)
		set_key(c, key + i); /* stack: loop1 */
	if (key < 0)
		c->value = key;
}

/* The C library stores. */
static void copy_text(char *to, const char *from, size_t len)
{
	memcpy(to, from, len); /* stack: label0 again0 */
}

int cell_label(struct cell *c, const char *text)
{
	char scratch[48];

	copy_text(scratch, text, strlen(text) + 1);
	copy_text(c->text, scratch, sizeof scratch); /* stack: label1 again1 */
	return 0;
} /* ends here */
