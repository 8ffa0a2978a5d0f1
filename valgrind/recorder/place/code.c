/* Gives numbers to places: to nodes of the calling-context tree, and to sites (an instruction in a
 * calling context). It uses two hash tables with open addressing; both grow only with the number of
 * distinct call paths. */
#include "valgrind/recorder/place/code.h"

#include "valgrind/recorder/out/out.h"

struct slot {
	ULong a, b; /* the key; b is never 0 */
	UWord value;
};

struct table {
	struct slot *slots;
	UInt used, cap; /* cap is a power of two */
};

static struct table g_codes, g_nodes, g_sites;
static UInt g_nnodes, g_nsites;

static UInt slot_of(const struct table *t, ULong a, ULong b)
{
	ULong h = (a ^ (b * 0x9e3779b97f4a7c15ULL)) * 0xff51afd7ed558ccdULL;
	UInt i = (UInt)(h >> 32) & (t->cap - 1);

	while (t->slots[i].b != 0 && (t->slots[i].a != a || t->slots[i].b != b))
		i = (i + 1) & (t->cap - 1);
	return i;
}

static void table_grow(struct table *t)
{
	struct table old = *t;

	t->cap = old.cap ? 2 * old.cap : 1024;
	t->slots = VG_(calloc)("pmend.table", t->cap, sizeof *t->slots);
	for (UInt i = 0; i < old.cap; i++)
		if (old.slots[i].b != 0)
			t->slots[slot_of(t, old.slots[i].a, old.slots[i].b)] = old.slots[i];
	if (old.slots != NULL)
		VG_(free)(old.slots);
}

/* Finds where the value of a key is stored. A new key has the value 0, and the caller fills it
 * in. */
static UWord *table_at(struct table *t, ULong a, ULong b)
{
	UInt i;

	if (t->used * 4 >= t->cap * 3)
		table_grow(t);
	i = slot_of(t, a, b);
	if (t->slots[i].b == 0) {
		t->slots[i] = (struct slot){ a, b, 0 };
		t->used++;
	}
	return &t->slots[i].value;
}

static void table_clear(struct table *t)
{
	if (t->cap)
		VG_(memset)(t->slots, 0, t->cap * sizeof *t->slots);
	t->used = 0;
}

struct code *code_get_arg(Addr pc, enum pmt_kind kind, UInt size_bytes, UChar arg)
{
	static const UChar nargs[PMT_NKINDS] = {
#define X(number, NAME, name, carries, nargs) [number] = nargs,
		PMT_KINDS(X)
#undef X
	};
	UWord *value =
		table_at(&g_codes, pc, 1 + ((ULong)arg << 40 | (ULong)size_bytes << 8 | kind));
	struct code *c = (struct code *)*value;

	if (c == NULL) {
		c = VG_(malloc)("pmend.code", sizeof *c);
		*c = (struct code){ .pc = pc,
				    .size_bytes = size_bytes,
				    .kind = kind,
				    .arg = arg,
				    .has_arg = nargs[kind] == 1,
				    .node = NEVER_NODE };
		*value = (UWord)c;
	}
	return c;
}

struct code *code_get(Addr pc, enum pmt_kind kind, UInt size_bytes)
{
	return code_get_arg(pc, kind, size_bytes, 0);
}

struct code *code_part(const struct code *whole, UInt size_bytes)
{
	return code_get_arg(whole->pc, whole->kind, size_bytes, whole->arg);
}

void code_site(struct code *c, UInt node)
{
	UWord *value = table_at(&g_sites, (ULong)(Addr)c, 1 + (ULong)node);
	struct site *site = (struct site *)*value;

	if (site == NULL) {
		site = VG_(malloc)("pmend.site", sizeof *site);
		*site = (struct site){ .number = ++g_nsites };
		*value = (UWord)site;
		out_site(node, c->pc, c->kind, c->size_bytes);
	}
	c->node = node;
	c->site = site;
}

UInt node_get(UInt parent, Addr pc, Bool is_signal)
{
	UWord *value = table_at(&g_nodes, pc, 1 + ((ULong)parent << 1 | is_signal));

	if (*value == 0) {
		*value = ++g_nnodes;
		out_node(parent, is_signal, pc);
	}
	return (UInt)*value;
}

void code_forget(void)
{
	for (UInt i = 0; i < g_codes.cap; i++)
		if (g_codes.slots[i].b != 0)
			((struct code *)g_codes.slots[i].value)->node = NEVER_NODE;
	table_clear(&g_nodes);
	table_clear(&g_sites);
}
