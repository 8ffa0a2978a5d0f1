/* Keeps the shadow of each thread's registers. One word of bits says which groups of registers of
 * the running thread are symbolic, for translated code to look at. */
#include "valgrind/tracer/value/registers.h"

#include "valgrind/tracer/value/cells.h"

ULong g_dirty_regs;

struct regs {
	ULong dirty;
	UChar nwords[64]; /* per bit of dirty: words with symbolic content */
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

/* Gives the number of the bit that stands for the 8-byte word at this offset. Words beyond the
 * first 64, mostly vectors, share bits. */
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
