/* A cell says which bytes of a word depend on the input, and how. A word that was written at once
 * has one expression; otherwise each byte has its own. A concrete byte has none, and reading it
 * gives the machine's value. If an expression's value differs from the machine's (a system call
 * wrote there, for example), it is out of date and dropped. */
#include "valgrind/tracer/value/cells.h"

#include "valgrind/tracer/value/counts.h"

static struct val val_of(UInt id)
{
	return (struct val){ id, expr_at(g_pool, id)->value };
}

Bool cell_is_empty(const struct cell *c)
{
	UInt any = c->whole;

	for (UInt i = 0; i < 8; i++)
		any |= c->byte[i];
	return any == 0;
}

static void cell_split(struct cell *c)
{
	if (c->whole == 0)
		return;
	for (UInt i = 0; i < 8; i++)
		c->byte[i] = val_cut(val_of(c->whole), 64, 8 * i, 8).id;
	c->whole = 0;
}

/* Reads n bytes of the cell, from byte `at` on. concrete: the value that the machine has there.
 * Expressions with another value are out of date: they are dropped and counted. */
static struct val cell_get(struct cell *c, UInt at, UInt n, ULong concrete)
{
	struct val r = val_const(0);

	if (c->whole) {
		r = val_cut(val_of(c->whole), 64, 8 * at, 8 * n);
		if (r.v == (concrete & expr_mask(8 * n)))
			return r;
		cell_split(c);
		r = val_const(0);
	}
	for (UInt i = 0; i < n; i++) {
		UChar is = concrete >> 8 * i;
		struct val b = c->byte[at + i] ? val_of(c->byte[at + i]) : val_const(is);

		if (b.v != is) {
			c->byte[at + i] = 0;
			count(COUNT_LOST);
			b = val_const(is);
		}
		r = i == 0 ? b : expr_concat(g_pool, 8, b, 8 * i, r);
	}
	return r;
}

static void cell_put(struct cell *c, UInt at, UInt n, struct val v)
{
	if (n == 8) {
		c->whole = v.id;
		if (v.id == 0)
			VG_(memset)(c->byte, 0, sizeof c->byte);
		return;
	}
	cell_split(c);
	for (UInt i = 0; i < n; i++)
		c->byte[at + i] = v.id ? val_cut(v, 8 * n, 8 * i, 8).id : 0;
}

/* ---- values that span several cells ---- */

struct val cells_get(cell_find find, Addr a, UInt nbytes, ULong concrete)
{
	struct val r = val_const(0);

	for (UInt done = 0; done < nbytes;) {
		UInt at = (a + done) & 7, n = 8 - at < nbytes - done ? 8 - at : nbytes - done;
		struct cell *c = find((a + done) >> 3, False);
		ULong is = concrete >> 8 * done & expr_mask(8 * n);
		struct val v = c ? cell_get(c, at, n, is) : val_const(is);

		r = done == 0 ? v : expr_concat(g_pool, 8 * n, v, 8 * done, r);
		done += n;
	}
	return r;
}

void cells_put(cell_find find, Addr a, UInt nbytes, struct val v)
{
	for (UInt done = 0; done < nbytes;) {
		UInt at = (a + done) & 7, n = 8 - at < nbytes - done ? 8 - at : nbytes - done;
		struct val part = val_cut(v, 8 * nbytes, 8 * done, 8 * n);
		struct cell *c = find((a + done) >> 3, part.id != 0);

		if (c)
			cell_put(c, at, n, part);
		done += n;
	}
}
