/* Writes expressions into the path file, operands first, each once. A bit per expression says
 * whether it was written. */
#include "valgrind/tracer/path/path_internal.h"

static UChar *g_written; /* a bit per expression */
static UInt g_written_room;

static Bool is_written(UInt id)
{
	return id < g_written_room && (g_written[id / 8] >> id % 8 & 1);
}

static void set_written(UInt id)
{
	if (id >= g_written_room) {
		UInt room = 2 * (id | 4096);
		UChar *grown = VG_(calloc)("sym.written", 1, room / 8 + 1);

		if (g_written) {
			VG_(memcpy)(grown, g_written, g_written_room / 8);
			VG_(free)(g_written);
		}
		g_written = grown;
		g_written_room = room & ~7u;
	}
	g_written[id / 8] |= 1 << id % 8;
}

static void node_write(UInt id)
{
	static UInt g_ntables;
	const struct expr *e = expr_at(g_pool, id);

	for (; e->op == EXPR_TABLE && g_ntables <= e->k; g_ntables++)
		path_record((struct pmp_record){ .kind = PMP_TABLE, .id = g_ntables },
			    expr_table_at(g_pool, g_ntables),
			    EXPR_TABLE_ENTRIES * sizeof(uint64_t));
	path_record((struct pmp_record){ .kind = PMP_EXPR,
					 .op = e->op,
					 .width = e->width,
					 .id = id,
					 .arg = { e->arg[0], e->arg[1], e->arg[2] },
					 .k = e->k },
		    NULL, 0);
	set_written(id);
}

/* Writes an expression after its operands. Without recursion, because the tool's stack is small. */
void path_expr(UInt root)
{
	static UInt *g_todo, g_room;
	UInt n = 0;

	if (g_room == 0)
		g_todo = VG_(malloc)("sym.todo", (g_room = 1024) * sizeof *g_todo);
	g_todo[n++] = root;
	while (n) {
		UInt id = g_todo[n - 1], before = n;
		const struct expr *e = expr_at(g_pool, id);

		if (n + 3 > g_room)
			g_todo = VG_(realloc)("sym.todo", g_todo, (g_room *= 2) * sizeof *g_todo);
		for (UInt i = 0; i < expr_nargs(e->op) && !is_written(id); i++)
			if (!is_written(e->arg[i]))
				g_todo[n++] = e->arg[i];
		if (n > before)
			continue;
		n--;
		if (!is_written(id))
			node_write(id);
	}
}
