/* Keeps the shadow of memory: a hash table of 64-byte lines. A table of bytes says which lines may
 * contain something symbolic, for translated code to look at. */
#include "valgrind/tracer/value/memory.h"

#include "valgrind/tracer/value/cells.h"

UChar g_lines[LINES];

struct line {
	struct line *next;
	Addr number; /* address >> LINE_SHIFT */
	Bool is_marked;
	struct cell cells[8];
};

#define BUCKETS 65536
static struct line *g_buckets[BUCKETS];

static struct line *line_find(Addr number, Bool make)
{
	struct line **b = &g_buckets[(number ^ number >> 16) % BUCKETS], *l;

	for (l = *b; l; l = l->next)
		if (l->number == number)
			return l;
	if (!make)
		return NULL;
	l = VG_(calloc)("sym.line", 1, sizeof *l);
	l->number = number;
	l->next = *b;
	*b = l;
	return l;
}

static struct cell *mem_cell(Addr word, Bool make)
{
	struct line *l = line_find(word >> (LINE_SHIFT - 3), make);

	return l ? &l->cells[word & 7] : NULL;
}

struct val mem_get(Addr a, UInt nbytes, ULong concrete)
{
	return cells_get(mem_cell, a, nbytes, concrete);
}

/* Adds to the count of lines with this mark. A full count stays, so the mark is never lost. */
static void mark(Addr number, Int change)
{
	UChar *m = &g_lines[number % LINES];

	if (*m != 255)
		*m += change;
}

static void line_mark(Addr number)
{
	struct line *l = line_find(number, False);
	Bool is_empty = True;

	if (!l)
		return;
	for (UInt i = 0; is_empty && i < 8; i++)
		is_empty = cell_is_empty(&l->cells[i]);
	if (l->is_marked == !is_empty)
		return;
	l->is_marked = !is_empty;
	mark(number, is_empty ? -1 : 1);
	/* an access that begins there may reach into this line */
	mark(number - 1, is_empty ? -1 : 1);
}

void mem_put(Addr a, UInt nbytes, struct val v)
{
	cells_put(mem_cell, a, nbytes, v);
	line_mark(a >> LINE_SHIFT);
	if ((a + nbytes - 1) >> LINE_SHIFT != a >> LINE_SHIFT)
		line_mark((a + nbytes - 1) >> LINE_SHIFT);
}

void mem_input(Addr a, SizeT len, ULong first_index)
{
	for (SizeT i = 0; i < len; i++)
		mem_put(a + i, 1, expr_input(g_pool, first_index + i, *(UChar *)(a + i)));
}

static void line_forget(struct line *l, Addr a, SizeT len)
{
	for (UInt i = 0; i < 1u << LINE_SHIFT; i++) {
		Addr at = (l->number << LINE_SHIFT) + i;

		if (at - a < len)
			cells_put(mem_cell, at, 1, val_const(0));
	}
	line_mark(l->number);
}

void mem_forget(Addr a, SizeT len)
{
	Addr first = a >> LINE_SHIFT, last = (a + len - 1) >> LINE_SHIFT;

	if (len == 0)
		return;
	if (last - first < BUCKETS) {
		for (Addr n = first; n <= last; n++) {
			struct line *l = g_lines[n % LINES] ? line_find(n, False) : NULL;

			if (l)
				line_forget(l, a, len);
		}
		return;
	}
	for (UInt i = 0; i < BUCKETS; i++)
		for (struct line *l = g_buckets[i]; l; l = l->next)
			if (l->number >= first && l->number <= last)
				line_forget(l, a, len);
}

Bool mem_is_symbolic(Addr a, SizeT len)
{
	for (SizeT i = 0; i < len; i++) {
		struct cell *c = mem_cell((a + i) >> 3, False);

		if (c && (c->whole || c->byte[(a + i) & 7]))
			return True;
	}
	return False;
}
