#include "cells.h"

#include <string.h>

static void set_key(struct cell *c, long key)
{
	if (c->key != key) {
		c->key = key; /* stack: fill0 loop0 */
	}
}

static void set_key_pm(struct cell *c, long key)
{
	if (c->key != key) {
		c->key = key; /* stack: fill0 loop0 */
		pm_flush(&c->key, sizeof c->key);
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

void cell_fill_pm(struct cell *c, long key)
{
	set_key_pm(c, key); /* stack: fill1 */
	for (int i = 0; i < 3; i++)
		set_key_pm(c, key + i); /* stack: loop1 */
	if (key < 0) {
		c->value = key;
		pm_flush(&c->value, sizeof c->value);
	}
}

/* The C library stores. */
static void copy_text(char *to, const char *from, size_t len)
{
	memcpy(to, from, len); /* stack: label0 again0 */
}

static void copy_text_pm(char *to, const char *from, size_t len)
{
	memcpy(to, from, len); /* stack: label0 again0 */
	pm_flush(to, len);
	pm_fence();
}

int cell_label(struct cell *c, const char *text)
{
	char scratch[48];

	copy_text(scratch, text, strlen(text) + 1);
	copy_text(c->text, scratch, sizeof scratch); /* stack: label1 again1 */
	return 0;
} /* ends here */

int cell_label_pm(struct cell *c, const char *text)
{
	char scratch[48];

	copy_text(scratch, text, strlen(text) + 1);
	copy_text_pm(c->text, scratch, sizeof scratch); /* stack: label1 again1 */
	return 0;
}
