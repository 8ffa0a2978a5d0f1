/* Handles a load whose address depends on the input: makes what can be read there a table.
 *
 * If the address depends on a single byte (a character class, a step of a checksum, a jump table),
 * that byte is the index, and the table has every possible entry. Otherwise (a position computed
 * from several lengths) the table is the memory around the present address, and a condition keeps
 * the address inside. The content is that of this moment. A condition excludes entries without
 * memory. If too many entries are symbolic themselves, the address becomes concrete. */
#include "valgrind/tracer/shadow/table.h"

#include "valgrind/tracer/path/path.h"
#include "valgrind/tracer/value/bounds.h"
#include "valgrind/tracer/value/counts.h"
#include "valgrind/tracer/value/memory.h"

#include "pub_tool_aspacemgr.h"

#define CHAIN_MAX 16

#define WINDOW_BELOW 128
#define WINDOWS_MAX 256 /* per run: each is a different table, and hard for a solver */

/* The expressions from the address down to the index; each is the only non-constant operand of the
 * one before. */
struct chain {
	UInt id[CHAIN_MAX];
	UInt n;
	Addr first; /* of a window: its first address; else 0 */
};

static UInt only_operand(const struct expr *e)
{
	UInt found = 0;

	for (UInt i = 0; i < expr_nargs(e->op); i++) {
		if (expr_at(g_pool, e->arg[i])->op == EXPR_CONST)
			continue;
		if (found != 0)
			return 0;
		found = e->arg[i];
	}
	return found;
}

/* Makes a window of memory around the present address. Most of it is above the address, because
 * what the address is counted from is usually below. */
static void window_find(struct val address, struct chain *c, struct val *inside)
{
	struct val first = val_const(address.v - WINDOW_BELOW),
		   offset = expr_binary(g_pool, EXPR_SUB, 64, address, first);

	*inside = expr_binary(g_pool, EXPR_ULT, 64, offset, val_const(EXPR_TABLE_ENTRIES));
	c->first = first.v;
	c->n = 1;
	c->id[0] = val_cut(offset, 64, 0, 8).id;
}

static Bool chain_find(UInt id, struct chain *c)
{
	for (c->n = 0; c->n < CHAIN_MAX && id != 0;) {
		c->id[c->n++] = id;
		if (expr_at(g_pool, id)->width <= 8)
			return True;
		id = only_operand(expr_at(g_pool, id));
	}
	return False;
}

/* Computes the address for an index. False if the path excludes the index. */
static Bool chain_address(const struct chain *c, ULong index, Addr *address)
{
	ULong v = index;

	*address = c->first + index;
	if (c->first)
		return True;
	if (v > bound_of(c->id[c->n - 1]))
		return False;
	for (UInt i = c->n - 1; i-- > 0;) {
		const struct expr *e = expr_at(g_pool, c->id[i]);
		uint64_t args[3] = { 0 };

		for (UInt a = 0; a < expr_nargs(e->op); a++)
			args[a] = e->arg[a] == c->id[i + 1] ? v : expr_at(g_pool, e->arg[a])->k;
		v = expr_compute(g_pool, e, args);
		if (v > bound_of(c->id[i]))
			return False;
	}
	*address = v;
	return True;
}

#define SYMBOLIC_MAX 64 /* entries that are symbolic themselves; each adds a choice */

static Bool can_read(Addr a, UInt nbytes)
{
	return VG_(am_is_valid_for_client)(a, nbytes, VKI_PROT_READ);
}

/* Adds a choice for each entry of the table that depends on the input itself: if the index is that
 * of the entry, the result is the entry. */
static Bool choices_add(const struct chain *c, struct val index, UInt width, UInt bits,
			struct val *result)
{
	UInt n = 0;

	for (UInt i = 0; i <= expr_mask(width); i++) {
		ULong now = 0;
		Addr a;

		if (!chain_address(c, i, &a) || !can_read(a, bits / 8) ||
		    !mem_is_symbolic(a, bits / 8))
			continue;
		if (n++ == SYMBOLIC_MAX)
			return False;
		VG_(memcpy)(&now, (void *)a, bits / 8);
		*result = expr_ite(g_pool, bits,
				   expr_binary(g_pool, EXPR_EQ, width, index, val_const(i)),
				   mem_get(a, bits / 8, now), *result);
	}
	return True;
}

Bool table_load(struct val address, UInt bits, ULong noted, struct val *result)
{
	static uint64_t g_entries[EXPR_TABLE_ENTRIES], g_valid[EXPR_TABLE_ENTRIES];
	static UInt g_nwindows;
	struct val index, wide, r, inside = val_const(1);
	UInt width, invalid = 0;
	struct chain c = { 0 };

	if (bits < 8)
		return False;
	if (!chain_find(address.id, &c)) {
		if (g_nwindows++ >= WINDOWS_MAX)
			return False;
		window_find(address, &c, &inside);
	}
	if (c.id[c.n - 1] == 0)
		return False;
	width = expr_at(g_pool, c.id[c.n - 1])->width;
	index = (struct val){ c.id[c.n - 1], expr_at(g_pool, c.id[c.n - 1])->value };
	for (UInt i = 0; i < EXPR_TABLE_ENTRIES; i++) {
		Addr a;

		g_entries[i] = 0;
		g_valid[i] = True;
		if (!chain_address(&c, i & expr_mask(width), &a))
			continue; /* excluded by the path, so any value will do */
		g_valid[i] = can_read(a, bits / 8);
		invalid += !g_valid[i];
		/* left 0, so that the table does not depend on the input */
		if (g_valid[i] && !mem_is_symbolic(a, bits / 8))
			VG_(memcpy)(&g_entries[i], (void *)a, bits / 8);
	}
	wide = expr_extend(g_pool, EXPR_ZEXT, width, index, 8);
	r = expr_lookup(g_pool, expr_table_add(g_pool, g_entries), bits, wide);
	if (!g_valid[index.v] || !choices_add(&c, index, width, bits, &r) ||
	    r.v != (noted & expr_mask(bits)))
		return False;
	path_pin(0, inside, PMP_PIN_GUARD);
	if (invalid)
		path_pin(0, expr_lookup(g_pool, expr_table_add(g_pool, g_valid), 1, wide),
			 PMP_PIN_GUARD);
	*result = r;
	count(COUNT_TABLE);
	return True;
}
