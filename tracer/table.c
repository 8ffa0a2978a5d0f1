/* A load from an address that depends on the input by way of one byte (a character class, a step of a checksum, a jump table): all that can be
 * read there, as a table. The memory is taken as it is now. Entries that are no memory are ruled out by a constraint; where too many
 * are symbolic themselves, the address is concretised. */
#include "sym.h"

#include "pub_tool_aspacemgr.h"

#define CHAIN_MAX 16

struct chain { /* from the address down to the index; each is the only operand of the one before that is no constant */
	UInt id[CHAIN_MAX];
	UInt n;
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

static Addr chain_address(const struct chain *c, ULong index)
{
	ULong v = index;

	for (UInt i = c->n - 1; i-- > 0;) {
		const struct expr *e = expr_at(g_pool, c->id[i]);
		uint64_t args[3] = { 0 };

		for (UInt a = 0; a < expr_nargs(e->op); a++)
			args[a] = e->arg[a] == c->id[i + 1] ? v : expr_at(g_pool, e->arg[a])->k;
		v = expr_compute(g_pool, e, args);
	}
	return v;
}

#define SYMBOLIC_MAX 64 /* entries that are symbolic themselves: each is a choice of its own */

static Bool can_read(Addr a, UInt nbytes)
{
	return VG_(am_is_valid_for_client)(a, nbytes, VKI_PROT_READ);
}

/* Entries that depend on the input, too: where the index is theirs, they are it. */
static Bool choices_add(const struct chain *c, struct val index, UInt width, UInt bits, struct val *result)
{
	UInt n = 0;

	for (UInt i = 0; i <= expr_mask(width); i++) {
		Addr a = chain_address(c, i);
		ULong now = 0;

		if (!can_read(a, bits / 8) || !mem_is_symbolic(a, bits / 8))
			continue;
		if (n++ == SYMBOLIC_MAX)
			return False;
		VG_(memcpy)(&now, (void *)a, bits / 8);
		*result = expr_ite(g_pool, bits, expr_binary(g_pool, EXPR_EQ, width, index, val_const(i)), mem_get(a, bits / 8, now), *result);
	}
	return True;
}

Bool table_load(struct val address, UInt bits, ULong noted, struct val *result)
{
	static uint64_t g_entries[EXPR_TABLE_ENTRIES], g_valid[EXPR_TABLE_ENTRIES];
	struct val index, wide, r;
	UInt width, invalid = 0;
	struct chain c;

	if (bits < 8 || !chain_find(address.id, &c))
		return False;
	width = expr_at(g_pool, c.id[c.n - 1])->width;
	index = (struct val){ c.id[c.n - 1], expr_at(g_pool, c.id[c.n - 1])->value };
	for (UInt i = 0; i < EXPR_TABLE_ENTRIES; i++) {
		Addr a = chain_address(&c, i & expr_mask(width));

		g_entries[i] = 0;
		g_valid[i] = can_read(a, bits / 8);
		invalid += !g_valid[i];
		if (g_valid[i] && !mem_is_symbolic(a, bits / 8)) /* so that the table does not depend on the input */
			VG_(memcpy)(&g_entries[i], (void *)a, bits / 8);
	}
	wide = expr_extend(g_pool, EXPR_ZEXT, width, index, 8);
	r = expr_lookup(g_pool, expr_table_add(g_pool, g_entries), bits, wide);
	if (!g_valid[index.v] || !choices_add(&c, index, width, bits, &r) || r.v != (noted & expr_mask(bits)))
		return False;
	if (invalid)
		path_pin(0, expr_lookup(g_pool, expr_table_add(g_pool, g_valid), 1, wide), PMP_PIN_GUARD);
	*result = r;
	count(COUNT_TABLE);
	return True;
}
