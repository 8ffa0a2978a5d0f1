/* Keeps the pool of expressions: numbers them, stores equal ones once (hash-consing), and keeps
 * tables. Expressions lie in chunks that never move, so pointers to them stay valid. */
#include "explore/expr/expr_internal.h"

static const uint8_t nargs[EXPR_OPS] = {
	[EXPR_NONE] = 0,  [EXPR_CONST] = 0,   [EXPR_INPUT] = 0,  [EXPR_TABLE] = 1,  [EXPR_NOT] = 1,
	[EXPR_NEG] = 1,   [EXPR_CLZ] = 1,     [EXPR_CTZ] = 1,    [EXPR_POPCNT] = 1, [EXPR_ZEXT] = 1,
	[EXPR_SEXT] = 1,  [EXPR_EXTRACT] = 1, [EXPR_ADD] = 2,    [EXPR_SUB] = 2,    [EXPR_MUL] = 2,
	[EXPR_UMULH] = 2, [EXPR_SMULH] = 2,   [EXPR_UDIV] = 2,   [EXPR_SDIV] = 2,   [EXPR_UREM] = 2,
	[EXPR_SREM] = 2,  [EXPR_AND] = 2,     [EXPR_OR] = 2,     [EXPR_XOR] = 2,    [EXPR_SHL] = 2,
	[EXPR_LSHR] = 2,  [EXPR_ASHR] = 2,    [EXPR_EQ] = 2,     [EXPR_ULT] = 2,    [EXPR_ULE] = 2,
	[EXPR_SLT] = 2,   [EXPR_SLE] = 2,     [EXPR_CONCAT] = 2, [EXPR_ITE] = 3,
};

unsigned expr_nargs(enum expr_op op)
{
	return nargs[op];
}

struct expr_pool *expr_pool_new(struct expr_memory memory)
{
	struct expr_pool *p = memory.alloc(sizeof *p);

	*p = (struct expr_pool){ .memory = memory, .nslots = 1024 };
	p->slots = memory.alloc(p->nslots * sizeof *p->slots);
	for (uint32_t i = 0; i < p->nslots; i++)
		p->slots[i] = 0;
	return p;
}

void expr_pool_free(struct expr_pool *p)
{
	for (uint32_t i = 0; i < CHUNKS && p->chunk[i]; i++)
		p->memory.free(p->chunk[i]);
	for (uint32_t i = 0; i < p->ntables; i++)
		p->memory.free(p->tables[i]);
	if (p->tables)
		p->memory.free(p->tables);
	p->memory.free(p->slots);
	p->memory.free(p);
}

uint32_t expr_count(const struct expr_pool *p)
{
	return p->n;
}

static struct expr *node_at(const struct expr_pool *p, uint32_t id)
{
	return &p->chunk[id >> CHUNK_BITS][id & ((1u << CHUNK_BITS) - 1)];
}

const struct expr *expr_at(const struct expr_pool *p, uint32_t id)
{
	return node_at(p, id);
}

/* ---- hash-consing ---- */

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static uint64_t hash(const struct expr *e)
{
	uint64_t h = mix((uint64_t)e->op << 8 | e->width, e->k);

	return mix(mix(h, (uint64_t)e->arg[0] << 32 | e->arg[1]), e->arg[2]);
}

static bool is_same(const struct expr *a, const struct expr *b)
{
	return a->op == b->op && a->width == b->width && a->k == b->k && a->arg[0] == b->arg[0] &&
	       a->arg[1] == b->arg[1] && a->arg[2] == b->arg[2];
}

static void slot_fill(struct expr_pool *p, uint32_t id)
{
	uint32_t i = (uint32_t)hash(node_at(p, id)) & (p->nslots - 1);

	while (p->slots[i])
		i = (i + 1) & (p->nslots - 1);
	p->slots[i] = id;
}

static void slots_grow(struct expr_pool *p)
{
	p->memory.free(p->slots);
	p->nslots *= 2;
	p->slots = p->memory.alloc(p->nslots * sizeof *p->slots);
	for (uint32_t i = 0; i < p->nslots; i++)
		p->slots[i] = 0;
	for (uint32_t id = 1; id <= p->n; id++)
		slot_fill(p, id);
}

uint32_t expr_intern(struct expr_pool *p, const struct expr *e)
{
	uint32_t i = (uint32_t)hash(e) & (p->nslots - 1);

	for (; p->slots[i]; i = (i + 1) & (p->nslots - 1))
		if (is_same(node_at(p, p->slots[i]), e))
			return p->slots[i];
	if (p->n + 2 > (uint32_t)CHUNKS << CHUNK_BITS)
		return 0;
	p->n++;
	if (!p->chunk[p->n >> CHUNK_BITS])
		p->chunk[p->n >> CHUNK_BITS] = p->memory.alloc(sizeof *e << CHUNK_BITS);
	*node_at(p, p->n) = *e;
	if (p->n > p->nslots / 2)
		slots_grow(p);
	else
		p->slots[i] = p->n;
	return p->n;
}

/* ---- tables ---- */

uint32_t expr_table_add(struct expr_pool *p, const uint64_t *entries)
{
	uint64_t *copy;
	uint32_t i, j;

	for (i = 0; i < p->ntables; i++) {
		for (j = 0; j < EXPR_TABLE_ENTRIES && p->tables[i][j] == entries[j]; j++)
			;
		if (j == EXPR_TABLE_ENTRIES)
			return i;
	}
	if (p->ntables == p->tables_room) {
		uint64_t **old = p->tables;

		p->tables_room = p->tables_room ? 2 * p->tables_room : 8;
		p->tables = p->memory.alloc(p->tables_room * sizeof *p->tables);
		for (i = 0; i < p->ntables; i++)
			p->tables[i] = old[i];
		if (old)
			p->memory.free(old);
	}
	copy = p->memory.alloc(EXPR_TABLE_ENTRIES * sizeof *copy);
	for (j = 0; j < EXPR_TABLE_ENTRIES; j++)
		copy[j] = entries[j];
	p->tables[p->ntables] = copy;
	return p->ntables++;
}

const uint64_t *expr_table_at(const struct expr_pool *p, uint32_t table)
{
	return p->tables[table];
}
