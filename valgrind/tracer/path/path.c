/* Writes the path file (include/pmpath.h). Expressions are written when something that is written needs them. */
#include "valgrind/tracer/path/core.h"
#include "valgrind/tracer/sym.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"

#define BUFFER_BYTES (256u << 10)

static Int g_fd = -1;
static UChar g_buffer[BUFFER_BYTES];
static UInt g_used;
static Int g_pid;

/* ---- the file ---- */

static void flush(void)
{
	if (g_fd >= 0 && g_used)
		VG_(write)(g_fd, g_buffer, g_used);
	g_used = 0;
}

static void put(const void *p, SizeT len)
{
	const UChar *from = p;

	while (len) {
		SizeT n = len < BUFFER_BYTES - g_used ? len : BUFFER_BYTES - g_used;

		VG_(memcpy)(g_buffer + g_used, from, n);
		g_used += n;
		from += n;
		len -= n;
		if (g_used == BUFFER_BYTES)
			flush();
	}
}

static void record(struct pmp_record r, const void *bytes, SizeT nbytes)
{
	static const UChar zeros[8];

	if (g_fd < 0)
		return;
	r.nbytes = nbytes;
	put(&r, sizeof r);
	put(bytes, nbytes);
	put(zeros, PMP_PAD(nbytes) - nbytes);
}

Bool path_open(const HChar *file)
{
	struct pmp_header h = { .magic = PMP_MAGIC, .version = PMP_VERSION, .record_bytes = sizeof(struct pmp_record) };
	SysRes r = VG_(open)(file, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_TRUNC, 0644);
	Int high;

	if (sr_isError(r))
		return False;
	g_fd = sr_Res(r);
	high = VG_(safe_fd)(g_fd); /* where the program does not close it */
	if (high >= 0)
		g_fd = high;
	g_pid = VG_(getpid)();
	put(&h, sizeof h);
	return True;
}

/* A forked process goes its own way: its path is not this file's. */
void path_fork_child(void)
{
	if (g_fd >= 0)
		VG_(close)(g_fd);
	g_fd = -1;
	g_used = 0;
}

/* ---- where code lies ---- */

static void object_write(Addr pc)
{
	static Addr g_from = 1, g_to; /* the last one */
	static const DebugInfo *g_known[512];
	static UInt g_nknown;
	const DebugInfo *di;
	const HChar *name;

	if (pc >= g_from && pc < g_to)
		return;
	di = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), pc);
	if (!di)
		return;
	g_from = VG_(DebugInfo_get_text_avma)(di);
	g_to = g_from + VG_(DebugInfo_get_text_size)(di);
	for (UInt i = 0; i < g_nknown; i++)
		if (g_known[i] == di)
			return;
	if (g_nknown < sizeof g_known / sizeof *g_known)
		g_known[g_nknown++] = di;
	name = VG_(DebugInfo_get_filename)(di);
	record((struct pmp_record){ .kind = PMP_OBJECT, .x = g_from, .y = VG_(DebugInfo_get_text_bias)(di), .k = g_to - g_from }, name,
	       VG_(strlen)(name));
}

/* ---- the call stack ---- */

#define CALLS 4096

static struct call {
	Addr ret, sp;
} g_calls[CALLS];
static UInt g_ncalls, g_ncalls_written;
static ULong g_calls_hash;

/* The stack pointer after the call. Frames below it are gone; nobody tells when a function returns. */
VG_REGPARM(2) void path_call(Addr ret, Addr sp)
{
	while (g_ncalls && g_calls[g_ncalls - 1].sp <= sp)
		g_ncalls--;
	if (g_ncalls == CALLS)
		g_ncalls = 0;
	g_calls[g_ncalls++] = (struct call){ ret, sp };
}

static void stack_write(void)
{
	static Addr g_rets[64];
	Addr sp = VG_(get_SP)(VG_(get_running_tid)());
	ULong hash = 0;
	UInt n = 0;

	while (g_ncalls && g_calls[g_ncalls - 1].sp < sp)
		g_ncalls--;
	for (UInt i = g_ncalls; i-- > 0 && n < sizeof g_rets / sizeof *g_rets;) {
		g_rets[n++] = g_calls[i].ret;
		hash = hash * 31 + g_calls[i].ret;
	}
	if (hash == g_calls_hash && n == g_ncalls_written)
		return;
	g_calls_hash = hash;
	g_ncalls_written = n;
	for (UInt i = 0; i < n; i++)
		object_write(g_rets[i]);
	record((struct pmp_record){ .kind = PMP_STACK }, g_rets, n * sizeof *g_rets);
}

/* ---- expressions ---- */

static UChar *g_written; /* a bit for each number */
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
		record((struct pmp_record){ .kind = PMP_TABLE, .id = g_ntables }, expr_table_at(g_pool, g_ntables),
		       EXPR_TABLE_ENTRIES * sizeof(uint64_t));
	record((struct pmp_record){ .kind = PMP_EXPR, .op = e->op, .width = e->width, .id = id, .arg = { e->arg[0], e->arg[1], e->arg[2] }, .k = e->k },
	       NULL, 0);
	set_written(id);
}

/* Operands first; without recursion, which the tool's stack has no room for. */
static void expr_write(UInt root)
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

/* ---- what happens ---- */

void path_branch(Addr pc, struct val condition, Addr went, Addr other)
{
	if (g_fd < 0)
		return;
	bound_note(condition);
	object_write(pc);
	stack_write();
	expr_write(condition.id);
	record((struct pmp_record){ .kind = PMP_BRANCH, .id = condition.id, .flag = condition.v, .k = pc, .x = went, .y = other }, NULL, 0);
}

void path_pin(Addr pc, struct val v, enum pmp_pin why)
{
	static UInt g_last;

	if (g_fd < 0 || v.id == 0 || v.id == g_last) /* a copy loop pins the same again and again */
		return;
	g_last = v.id;
	count(why == PMP_PIN_ADDRESS ? COUNT_ADDRESS : why == PMP_PIN_JUMP ? COUNT_JUMP : COUNT_GUARD);
	object_write(pc);
	stack_write();
	expr_write(v.id);
	record((struct pmp_record){ .kind = PMP_PIN, .id = v.id, .flag = why, .k = pc, .x = v.v }, NULL, 0);
}

void path_jump(Addr pc, Addr to)
{
	object_write(pc);
	object_write(to);
	record((struct pmp_record){ .kind = PMP_JUMP, .k = pc, .x = to }, NULL, 0);
}

void path_token(Addr pc, ULong index, UInt nbytes, const UChar *wanted, UInt nwanted)
{
	if (g_fd < 0)
		return;
	object_write(pc);
	stack_write();
	record((struct pmp_record){ .kind = PMP_TOKEN, .k = pc, .x = index, .y = nbytes }, wanted, nwanted);
}

void path_cover(Addr pc, UInt nbytes)
{
	object_write(pc);
	record((struct pmp_record){ .kind = PMP_COVER, .k = pc, .x = nbytes }, NULL, 0);
}

void path_bad(Addr pc, ULong expression, ULong machine, IROp op, const HChar *name)
{
	HChar what[64];

	if (name)
		VG_(snprintf)(what, sizeof what, "%s", name);
	else
		VG_(snprintf)(what, sizeof what, "operation 0x%x", op);
	record((struct pmp_record){ .kind = PMP_BAD, .k = pc, .x = expression, .y = machine }, what, VG_(strlen)(what));
}

/* ---- counts ---- */

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

static void counts_write(void)
{
	static const HChar *const names[COUNTS] = {
		[COUNT_ADDRESS] = "addresses taken as concrete",
		[COUNT_JUMP] = "jump targets taken as concrete",
		[COUNT_GUARD] = "conditional accesses taken as concrete",
		[COUNT_LOST] = "bytes changed behind our back",
		[COUNT_TABLE] = "table lookups",
	};
	HChar what[96];

	for (UInt i = 0; i < COUNTS; i++)
		record((struct pmp_record){ .kind = PMP_COUNT, .k = g_counts[i] }, names[i], VG_(strlen)(names[i]));
	for (UInt i = 0; i < sizeof g_leaves / sizeof *g_leaves && g_leaves[i].n; i++) {
		if (g_leaves[i].name)
			VG_(snprintf)(what, sizeof what, "values lost in %s", g_leaves[i].name);
		else
			VG_(snprintf)(what, sizeof what, "values lost in operation 0x%x", g_leaves[i].op);
		record((struct pmp_record){ .kind = PMP_COUNT, .op = 1, .k = g_leaves[i].n }, what, VG_(strlen)(what));
	}
}

void path_close(Int status)
{
	counts_write();
	record((struct pmp_record){ .kind = PMP_END, .k = status }, NULL, 0);
	flush();
}
