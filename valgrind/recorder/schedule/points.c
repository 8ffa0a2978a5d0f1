/* Chooses where the running thread gives up the processor. There are many points (accesses to PM,
 * flushes, fences, locked instructions, calls that order threads), and a thread gives up at few of
 * them: at change points, drawn from the seed, where it gets the lowest priority (as PCT does); and
 * at a store where it is held until another thread has come to a load, and has made its own work
 * durable.
 *
 *	mov %rax, (pool)      the point behind it sets Valgrind's event counter to 0
 *	                      here the block is left
 *	clwb (pool)           and here Valgrind's scheduler runs, before the next block
 *
 * A hold ends when the others cannot go on, so it cannot block the program for ever. If no thread
 * has come to the load by then (it may wait for a lock that the held one has), the storing thread
 * is held again at each point until its fence. */
#include "valgrind/recorder/schedule/points.h"

#include "valgrind/common/arch.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/pm/pm.h"
#include "valgrind/recorder/schedule/turns.h"

#include "pub_tool_aspacemgr.h"

#define MAX_CHANGES 32u
#define MAX_WORDS 64u
#define FOREVER (1LL << 62)
#define MISSES_MOST 256u /* so many windows without a meeting, and there are no more */
#define MEETINGS_MOST 4u /* so many with one */
#define HOLD_MOST 5000u  /* points of other threads while one is held */
#define WORK_MOST 500u   /* the same, from a load until the reader's work is durable */

static struct {
	Bool is_set;
	ULong offset;
	const HChar *path;
} g_store_place, g_load_place;

static ULong g_changes[MAX_CHANGES]; /* points, sorted */
static UInt g_nchanges, g_next_change;
static Long g_left = FOREVER; /* points until something happens; counts down */
static ULong g_counted;       /* points before g_left was last set */
static Long g_left_from = FOREVER;
static ULong g_exit; /* nonzero: the block is left at the next instruction */

/* From a store at the place until its thread's fence. */
static struct {
	ThreadId tid; /* whose store; 0: there is none now */
	Addr word[MAX_WORDS];
	UInt nwords;
	ThreadId met; /* the thread that has loaded; 0: none yet */
	Bool has_stored;
	UInt points, skipped, misses, meetings;
} g_window;

/* By thread: the instruction before which it gave up. It passes that when it comes there next. */
static Addr g_stopped[512];

static Bool place_parse(const HChar *text, ULong *offset, const HChar **path)
{
	HChar *end;

	*offset = VG_(strtoull16)(text, &end);
	*path = end + 1;
	return *end == ':' && end[1] == '/';
}

Bool points_hold_store(const HChar *place)
{
	return g_store_place.is_set =
		       place_parse(place, &g_store_place.offset, &g_store_place.path);
}

Bool points_hold_load(const HChar *place)
{
	return g_load_place.is_set = place_parse(place, &g_load_place.offset, &g_load_place.path);
}

static Bool is_at(Addr pc, Bool is_set, ULong offset, const HChar *path)
{
	const NSegment *seg = is_set ? VG_(am_find_nsegment)(pc) : NULL;
	const HChar *name = seg ? VG_(am_get_filename)(seg) : NULL;

	return name != NULL && seg->offset + (pc - seg->start) == offset &&
	       VG_(strcmp)(name, path) == 0;
}

/* ---- counting ---- */

static void set_left(Long left)
{
	g_counted += g_left_from - g_left;
	g_left = g_left_from = left;
}

ULong points_count(void)
{
	return g_counted + (g_left_from - g_left);
}

/* Sets the count to the next change point; in a window, every point is looked at. */
static void set_next(void)
{
	const ULong now = points_count();

	while (g_next_change < g_nchanges && g_changes[g_next_change] <= now)
		g_next_change++;
	if (g_window.tid != 0)
		set_left(1);
	else if (g_next_change < g_nchanges)
		set_left(g_changes[g_next_change] - now);
	else
		set_left(FOREVER);
}

void points_begin(void)
{
	g_nchanges = clo_schedule_changes < MAX_CHANGES ? clo_schedule_changes : MAX_CHANGES;
	for (UInt i = 0; i < g_nchanges; i++) {
		const ULong at = 1 + turns_random() % (clo_schedule_span ? clo_schedule_span : 1);
		UInt k = i;

		for (; k > 0 && g_changes[k - 1] > at; k--)
			g_changes[k] = g_changes[k - 1];
		g_changes[k] = at;
	}
	set_next();
}

void points_run(void)
{
	g_exit = 0;
}

/* ---- at a point ---- */

/* Makes the running thread give up. False: not here, because the guest is between a load-exclusive
 * and its store. */
static Bool give_up(void *guest, enum turns_why why)
{
	if (!arch_give_up(guest))
		return False;
	g_exit = 1;
	turns_ask(why);
	return True;
}

static void close_window(void)
{
	g_window.misses += g_window.met == 0;
	g_window.meetings += g_window.met != 0;
	g_window.tid = 0;
	turns_unhold();
}

void points_ends(ThreadId tid)
{
	g_stopped[tid] = 0;
	if (g_window.tid == tid)
		close_window();
}

void points_in_child(void)
{
	VG_(memset)(g_stopped, 0, sizeof g_stopped);
	g_window.tid = 0;
	set_next();
}

/* Holds the thread whose window it is once more, because others could not go on when it was held
 * before; or ends the window at its fence. */
static void watch_own(enum point kind, void *guest)
{
	if (kind == POINT_FENCE)
		close_window();
	else if (give_up(guest, TURNS_HOLD))
		turns_hold();
}

/* Lets the held thread go on to its next point: the running one has gone on for long, and may wait
 * for it. */
static void let_go_on(void *guest)
{
	g_window.met = 0;
	g_window.points = 0;
	turns_unhold();
	give_up(guest, TURNS_CHANGE);
}

/* Watches whether another thread comes to the load, and makes its own work durable. A thread that
 * has loaded and does nothing else for long may be one that tries again until the held thread is
 * ready. */
static void watch_other(enum point kind, void *guest)
{
	const Bool is_fence = kind == POINT_FENCE || (kind == POINT_LOCKED && !arch_is_weak),
		   is_reader = VG_(get_running_tid)() == g_window.met;

	g_window.points++;
	if (is_reader && is_fence && g_window.has_stored)
		close_window();
	else if (g_window.points > (g_window.met ? WORK_MOST : HOLD_MOST))
		let_go_on(guest);
	else if (is_reader)
		g_window.has_stored |= kind == POINT_STORE;
}

/* Gives whether the thread gives up here. */
static __attribute__((noinline)) Bool point_slow(enum point kind, void *guest)
{
	const Bool is_change =
		g_next_change < g_nchanges && points_count() >= g_changes[g_next_change];

	if (g_window.tid == VG_(get_running_tid)())
		watch_own(kind, guest);
	else if (g_window.tid != 0)
		watch_other(kind, guest);
	if (is_change && g_exit == 0 && !give_up(guest, TURNS_CHANGE))
		set_left(1); /* at the next point */
	else
		set_next();
	return g_exit != 0;
}

static Bool point(enum point kind, void *guest)
{
	return g_many && UNLIKELY(--g_left <= 0) && point_slow(kind, guest);
}

void points_call(void)
{
	if (!g_many || --g_left > 0)
		return;
	if (g_next_change < g_nchanges && points_count() >= g_changes[g_next_change])
		turns_fall_behind();
	set_next();
}

static VG_REGPARM(2) void event_point(ULong kind, void *guest)
{
	point(kind, guest);
}

/* Handles a point before an instruction: if the thread gives up, it comes here again. */
static VG_REGPARM(2) void event_point_before(Addr pc, void *guest)
{
	const ThreadId tid = VG_(get_running_tid)();

	if (g_stopped[tid] == pc)
		g_stopped[tid] = 0;
	else
		g_stopped[tid] = point(POINT_FLUSH, guest) ? pc : 0;
}

static VG_REGPARM(3) void event_access_point(ULong kind, Addr a, void *guest)
{
	if (!g_many || pm_find(a) == NULL)
		return;
	if (kind == POINT_STORE)
		turns_progress();
	point(kind, guest);
}

/* Handles a store at the place where threads are held. */
static VG_REGPARM(3) void event_hold_store(Addr a, ULong size, void *guest)
{
	if (!g_many || pm_find(a) == NULL || g_window.tid != 0 || g_window.misses >= MISSES_MOST ||
	    g_window.meetings >= MEETINGS_MOST)
		return;
	if (g_window.skipped < clo_hold_skip) {
		g_window.skipped++;
		return;
	}
	if (!give_up(guest, TURNS_HOLD))
		return;
	g_window.tid = VG_(get_running_tid)();
	g_window.nwords = 0;
	for (Addr word = a & ~7ul; word < a + size && g_window.nwords < MAX_WORDS; word += 8)
		g_window.word[g_window.nwords++] = word;
	g_window.met = 0;
	g_window.points = 0;
	g_window.has_stored = False;
	turns_hold();
	set_next();
}

/* Handles a load at the place to which another thread should come. */
static VG_REGPARM(2) void event_hold_load(Addr a, ULong size)
{
	const ThreadId tid = VG_(get_running_tid)();

	if (g_window.tid == 0 || g_window.tid == tid || g_window.met != 0 || !turns_is_held())
		return;
	for (UInt i = 0; i < g_window.nwords; i++)
		if (g_window.word[i] < a + size && a < g_window.word[i] + 8) {
			g_window.met = tid;
			g_window.points = 0;
		}
}

/* ---- code ---- */

void points_add(IRSB *sb, IRExpr *guard, enum point kind)
{
	ir_call(sb, guard, "event_point", event_point, mkIRExprVec_2(ir_u64(kind), IRExpr_GSPTR()));
}

void points_add_before(IRSB *sb, Addr pc, Int ip_offset)
{
	ir_call(sb, NULL, "event_point_before", event_point_before,
		mkIRExprVec_2(ir_u64(pc), IRExpr_GSPTR()));
	points_add_exit(sb, pc, ip_offset);
}

void points_add_access(IRSB *sb, IRExpr *guard, enum point kind, Addr pc, IRExpr *addr, UInt size)
{
	if (kind == POINT_LOAD &&
	    is_at(pc, g_load_place.is_set, g_load_place.offset, g_load_place.path))
		ir_call(sb, guard, "event_hold_load", event_hold_load,
			mkIRExprVec_2(addr, ir_u64(size)));
	ir_call(sb, guard, "event_access_point", event_access_point,
		mkIRExprVec_3(ir_u64(kind), addr, IRExpr_GSPTR()));
	if (kind == POINT_STORE &&
	    is_at(pc, g_store_place.is_set, g_store_place.offset, g_store_place.path))
		ir_call(sb, guard, "event_hold_store", event_hold_store,
			mkIRExprVec_3(addr, ir_u64(size), IRExpr_GSPTR()));
}

Bool points_is_quiet(Addr pc)
{
	static const HChar *const quiet[] = { "ld-", "libc.so", "libc-", "libpthread" };
	const NSegment *seg = VG_(am_find_nsegment)(pc);
	const HChar *name = seg ? VG_(am_get_filename)(seg) : NULL;

	name = name ? VG_(strrchr)(name, '/') : NULL;
	for (UInt i = 0; name != NULL && i < sizeof quiet / sizeof *quiet; i++)
		if (VG_(strncmp)(name + 1, quiet[i], VG_(strlen)(quiet[i])) == 0)
			return True;
	return False;
}

void points_add_exit(IRSB *sb, Addr pc, Int ip_offset)
{
	IRExpr *flag = ir_load(sb, Ity_I64, ir_ptr(&g_exit));

	/* arm64's VEX cannot compare bytes in the condition of an exit */
	addStmtToIRSB(sb, IRStmt_Exit(ir_binop(sb, Ity_I1, Iop_CmpNE64, flag, ir_u64(0)),
				      Ijk_Boring, IRConst_U64(pc), ip_offset));
}
