/* Counts how often the tracer loses a value: by cause, and for unknown operations by name. After
 * the first 63 of these names, all others share one count. */
#include "valgrind/tracer/value/counts.h"

#include "pub_tool_libcprint.h"

static ULong g_counts[COUNTS];
static struct {
	IROp op;
	const HChar *name;
	ULong n;
} g_leaves[64];

void count(enum count what)
{
	g_counts[what]++;
}

void count_leaf(IROp op, const HChar *name)
{
	UInt i = 0, last = sizeof g_leaves / sizeof *g_leaves - 1;

	while (i < last && g_leaves[i].n && (g_leaves[i].op != op || g_leaves[i].name != name))
		i++;
	g_leaves[i].op = op;
	g_leaves[i].name = name;
	g_leaves[i].n++;
}

void counts_each(void (*f)(const HChar *what, ULong n, Bool is_leaf))
{
	static const HChar *const names[COUNTS] = {
		[COUNT_ADDRESS] = "addresses taken as concrete",
		[COUNT_JUMP] = "jump targets taken as concrete",
		[COUNT_GUARD] = "conditional accesses taken as concrete",
		[COUNT_LOST] = "bytes changed without the tracer seeing it",
		[COUNT_TABLE] = "table lookups",
	};
	HChar what[96];

	for (UInt i = 0; i < COUNTS; i++)
		f(names[i], g_counts[i], False);
	for (UInt i = 0; i < sizeof g_leaves / sizeof *g_leaves && g_leaves[i].n; i++) {
		if (g_leaves[i].name)
			VG_(snprintf)(what, sizeof what, "values lost in %s", g_leaves[i].name);
		else
			VG_(snprintf)
		(what, sizeof what, "values lost in operation 0x%x", g_leaves[i].op);
		f(what, g_leaves[i].n, True);
	}
}
