/* The shadow of registers and memory: which bytes depend on the input, and how. Kept by words of 8 bytes; a word that was written at once is
 * one expression, else each byte has its own. Concrete bytes have none: whoever reads them has the machine's value. If that value is
 * not the expression's (a system call wrote there, say), the expression is out of date and dropped. */
#include "valgrind/tracer/sym.h"

struct cell {
	UInt whole;    /* 64 bits, or 0: then the bytes count */
	UInt byte[8]; /* 8 bits each, or 0 */
};

struct expr_pool *g_pool;
UChar g_lines[LINES];
ULong g_dirty_regs;

struct val val_cut(struct val v, UInt from_bits, UInt low, UInt n)
{
	return expr_extract(g_pool, from_bits, v, low, n);
}

static struct val val_of(UInt id)
{
	return (struct val){ id, expr_at(g_pool, id)->value };
}

static Bool cell_is_empty(const struct cell *c)
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

/* The bytes from `at`, n of them, where the machine has `concrete`. Counts what is out of date. */
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

/* A value that reaches over several cells. */
typedef struct cell *(*cell_find)(Addr word, Bool make);

static struct val cells_get(cell_find find, Addr a, UInt nbytes, ULong concrete)
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

static void cells_put(cell_find find, Addr a, UInt nbytes, struct val v)
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

/* ---- registers ---- */

struct regs {
	ULong dirty;
	UChar nwords[64]; /* for each bit: words that hold something */
	struct cell cells[REG_BYTES_MAX / 8];
};

static struct regs **g_threads, *g_regs;

static struct regs *regs_of(ThreadId tid)
{
	if (!g_threads)
		g_threads = VG_(calloc)("sym.threads", VG_N_THREADS, sizeof *g_threads);
	if (!g_threads[tid])
		g_threads[tid] = VG_(calloc)("sym.regs", 1, sizeof(struct regs));
	return g_threads[tid];
}

void reg_switch(ThreadId tid)
{
	if (g_regs != NULL)
		g_regs->dirty = g_dirty_regs;
	g_regs = regs_of(tid);
	g_dirty_regs = g_regs->dirty;
}

/* Words beyond the first 64, vectors mostly, share the bits. */
static UInt reg_bit_number(UInt offset)
{
	return offset >> 3 & 63;
}

ULong reg_bit(Int offset)
{
	return 1ULL << reg_bit_number(offset);
}

static struct cell *reg_cell(Addr word, Bool make)
{
	return &g_regs->cells[word];
}

struct val reg_get(UInt offset, UInt nbytes, ULong concrete)
{
	return cells_get(reg_cell, offset, nbytes, concrete);
}

void reg_put(UInt offset, UInt nbytes, struct val v)
{
	Bool was[2];

	for (UInt i = 0; i < 2; i++)
		was[i] = !cell_is_empty(&g_regs->cells[offset / 8 + i]);
	cells_put(reg_cell, offset, nbytes, v);
	for (UInt i = 0; i < 2; i++) {
		UInt bit = reg_bit_number((offset / 8 + i) * 8);
		Bool is = !cell_is_empty(&g_regs->cells[offset / 8 + i]);

		g_regs->nwords[bit] += is - was[i];
		if (g_regs->nwords[bit])
			g_dirty_regs |= 1ULL << bit;
		else
			g_dirty_regs &= ~(1ULL << bit);
	}
}

void reg_forget(ThreadId tid, UInt offset, UInt nbytes)
{
	struct regs *now = g_regs;

	if (offset + nbytes > REG_BYTES_MAX - 16)
		return;
	reg_switch(tid);
	for (UInt i = 0; i < nbytes; i++)
		reg_put(offset + i, 1, val_const(0));
	g_regs->dirty = g_dirty_regs;
	if (now != NULL) {
		g_regs = now;
		g_dirty_regs = now->dirty;
	}
}

/* ---- memory ---- */

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

/* Marks count the lines that need them; one that is full stays. */
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
	mark(number - 1, is_empty ? -1 : 1); /* an access that begins there may reach over */
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
