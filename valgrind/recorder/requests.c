/* Handles client requests: pmemcheck's, so that programs and libraries annotated for it (PMDK is)
 * need no change, and those of include/pmend.h. pmemcheck's numbers and meanings come from PMDK
 * 1.12, src/core/valgrind/pmemcheck.h. Of memcheck's requests, those are useful by which an
 * allocator says which memory it gives out uninitialised. PMDK sends them if GET_VBITS is answered.
 * With --old-bytes, all requests of allocators are used: memory that is given out again is filled
 * with old bytes. */
#include "valgrind/recorder/requests.h"

#include "valgrind/recorder/blocks/sync.h"
#include "valgrind/recorder/kernel/client.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/place/stack.h"
#include "valgrind/recorder/pm/pm.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "valgrind.h"
#define PMEND_REQUESTS_ONLY
#include "pmend.h"

enum {
	PMC_BASE = VG_USERREQ_TOOL_BASE('P', 'C'),
	PMC_REGISTER_MAPPING = PMC_BASE,
	PMC_REGISTER_FILE,
	PMC_REMOVE_MAPPING,
	PMC_CHECK_MAPPING,
	PMC_PRINT_MAPPINGS,
	PMC_DO_FLUSH,
	PMC_DO_FENCE,
	PMC_WRITE_STATS = PMC_BASE + 8,
	PMC_SET_CLEAN = PMC_BASE + 17,
	PMC_START_TX,
	PMC_START_TX_N,
	PMC_END_TX,
	PMC_END_TX_N,
	PMC_ADD_TO_TX,
	PMC_ADD_TO_TX_N,
	PMC_REMOVE_FROM_TX,
	PMC_REMOVE_FROM_TX_N,
	PMC_ADD_THREAD_TO_TX_N,
	PMC_REMOVE_THREAD_FROM_TX_N,
	PMC_GLOBAL_TX_IGNORE,
	PMC_EMIT_LOG = PMC_BASE + 30,
	PMC_DEEP_SYNC,
};

enum {
	MC_BASE = VG_USERREQ_TOOL_BASE('M', 'C'),
	MC_MAKE_NOACCESS = MC_BASE,
	MC_MAKE_UNDEFINED = MC_BASE + 1,
	MC_MAKE_DEFINED = MC_BASE + 2,
	MC_GET_VBITS = MC_BASE + 8,
};

/* How a request becomes an event: which of its arguments (from 1) has which meaning; 0 means
 * none. */
struct request {
	UInt number;
	UChar kind; /* enum pmt_kind */
	/* the argument that is an address in PM; the event is dropped if the address is not */
	UChar addr;
	UChar args[3];
	UChar pm_arg; /* the index in args that is an address in PM as well, plus 1 */
	UChar text;   /* the argument that is a string */
};

static const struct request g_requests[] = {
	{ .number = PMC_DO_FLUSH, .kind = PMT_NOTE_FLUSH, .addr = 1, .args = { 2 } },
	{ .number = PMC_DO_FENCE, .kind = PMT_NOTE_FENCE },
	{ .number = PMC_SET_CLEAN, .kind = PMT_SET_CLEAN, .addr = 1, .args = { 2 } },
	{ .number = PMC_START_TX, .kind = PMT_TX_BEGIN },
	{ .number = PMC_START_TX_N, .kind = PMT_TX_BEGIN, .args = { 1 } },
	{ .number = PMC_END_TX, .kind = PMT_TX_END },
	{ .number = PMC_END_TX_N, .kind = PMT_TX_END, .args = { 1 } },
	{ .number = PMC_ADD_TO_TX, .kind = PMT_TX_ADD, .addr = 1, .args = { 2 } },
	{ .number = PMC_ADD_TO_TX_N, .kind = PMT_TX_ADD, .addr = 2, .args = { 3, 1 } },
	{ .number = PMC_REMOVE_FROM_TX, .kind = PMT_TX_REMOVE, .addr = 1, .args = { 2 } },
	{ .number = PMC_REMOVE_FROM_TX_N, .kind = PMT_TX_REMOVE, .addr = 2, .args = { 3, 1 } },
	{ .number = PMC_ADD_THREAD_TO_TX_N, .kind = PMT_TX_JOIN, .args = { 1 } },
	{ .number = PMC_REMOVE_THREAD_FROM_TX_N, .kind = PMT_TX_LEAVE, .args = { 1 } },
	{ .number = PMC_GLOBAL_TX_IGNORE, .kind = PMT_TX_IGNORE, .addr = 1, .args = { 2 } },
	{ .number = PMC_EMIT_LOG, .kind = PMT_LOG, .text = 1 },
	{ .number = MC_MAKE_UNDEFINED, .kind = PMT_UNDEFINED, .addr = 1, .args = { 2 } },
	{ .number = PMEND_REQ_ROI_BEGIN, .kind = PMT_ROI_BEGIN },
	{ .number = PMEND_REQ_ROI_END, .kind = PMT_ROI_END },
	{ .number = PMEND_REQ_FAILURE_POINT, .kind = PMT_FAILURE_POINT },
	{ .number = PMEND_REQ_SKIP_FAILURE_BEGIN, .kind = PMT_SKIP_FAILURE_BEGIN },
	{ .number = PMEND_REQ_SKIP_FAILURE_END, .kind = PMT_SKIP_FAILURE_END },
	{ .number = PMEND_REQ_SKIP_CHECK_BEGIN, .kind = PMT_SKIP_CHECK_BEGIN },
	{ .number = PMEND_REQ_SKIP_CHECK_END, .kind = PMT_SKIP_CHECK_END },
	{ .number = PMEND_REQ_COMMIT_VAR, .kind = PMT_COMMIT_VAR, .addr = 1, .args = { 2 } },
	{ .number = PMEND_REQ_COMMIT_RANGE,
	  .kind = PMT_COMMIT_RANGE,
	  .addr = 1,
	  .args = { 2, 3 },
	  .pm_arg = 1 },
	{ .number = PMEND_REQ_OP_BEGIN, .kind = PMT_OP_BEGIN, .text = 1 },
	{ .number = PMEND_REQ_OP_END, .kind = PMT_OP_END, .text = 1 },
	{ .number = PMEND_REQ_ASSERT_DURABLE,
	  .kind = PMT_ASSERT_DURABLE,
	  .addr = 1,
	  .args = { 2 } },
	{ .number = PMEND_REQ_ASSERT_ORDERED,
	  .kind = PMT_ASSERT_ORDERED,
	  .addr = 1,
	  .args = { 2, 3, 4 },
	  .pm_arg = 2 },
	{ .number = PMEND_REQ_IGNORE, .kind = PMT_IGNORE, .addr = 1, .args = { 2 } },
	{ .number = PMEND_REQ_DONE, .kind = PMT_DONE },
};

/* A part of a range. A range may cover several files, such as the parts of a pool set; there is one
 * event per file. */
struct part {
	ThreadId tid;
	enum pmt_kind kind;
	ULong args[3]; /* the first is the length */
};

static void emit_part(Addr va, ULong addr, SizeT len, void *arg)
{
	struct part *p = arg;

	(void)va;
	p->args[0] = len;
	emit_event(p->tid, p->kind, addr, p->args, NULL, 0);
}

static void emit_range(const struct part *p, Addr va)
{
	struct part copy = *p;

	pm_each(va, p->args[0], emit_part, &copy);
}

static void emit(ThreadId tid, const struct request *r, const UWord *words)
{
	const HChar *text = r->text ? client_string(words[r->text]) : "";
	struct part p = { tid, r->kind, { 0 } };
	ULong addr = 0;

	for (UInt i = 0; i < 3; i++)
		p.args[i] = r->args[i] ? words[r->args[i]] : 0;
	if (r->addr && !r->pm_arg) {
		emit_range(&p, words[r->addr]);
		return;
	}
	if (r->addr && !pm_addr(words[r->addr], &addr))
		return;
	if (r->pm_arg && !pm_addr(p.args[r->pm_arg - 1], &p.args[r->pm_arg - 1]))
		return;
	emit_event(tid, r->kind, addr, p.args, text, VG_(strnlen)(text, PMT_PAGE_BYTES));
}

static void range_event(ThreadId tid, enum pmt_kind kind, Addr va, SizeT len)
{
	emit_range(&(struct part){ tid, kind, { len } }, va);
}

/* Answers memcheck's request GET_VBITS: all bytes are defined. Gives 1: done; 3: the bytes are not
 * addressable. memcheck gives the same numbers. */
static UWord get_vbits(Addr to, SizeT len)
{
	if (!VG_(am_is_valid_for_client)(to, len, VKI_PROT_WRITE))
		return 3;
	VG_(memset)((void *)to, 0, len);
	return 1;
}

/* ---- allocators ---- */

#define MAX_ZEROED 64
static UWord g_zeroed[MAX_ZEROED]; /* pools whose blocks are zero when they are given out */
static UInt g_nzeroed;

static Bool is_zeroed(UWord pool)
{
	for (UInt i = 0; i < g_nzeroed; i++)
		if (g_zeroed[i] == pool)
			return True;
	return g_nzeroed == MAX_ZEROED; /* unknown, so be careful */
}

static void pool_made(UWord pool, Bool has_zeros)
{
	for (UInt i = 0; i < g_nzeroed; i++)
		if (g_zeroed[i] == pool)
			g_zeroed[i--] = g_zeroed[--g_nzeroed];
	if (has_zeros && g_nzeroed < MAX_ZEROED)
		g_zeroed[g_nzeroed++] = pool;
	handed_named(pool);
}

/* Handles Valgrind's own requests. False: it is none of them. */
static Bool allocator_handle(ThreadId tid, const UWord *words)
{
	switch (words[0]) {
	case VG_USERREQ__MALLOCLIKE_BLOCK:
		handed_block(tid, HANDED_MALLOC, words[1], words[2], !words[4]);
		return True;
	case VG_USERREQ__RESIZEINPLACE_BLOCK:
		handed_resized(tid, HANDED_MALLOC, words[1], words[2], words[3]);
		return True;
	case VG_USERREQ__FREELIKE_BLOCK: handed_back(HANDED_MALLOC, words[1]); return True;
	case VG_USERREQ__CREATE_MEMPOOL: pool_made(words[1], words[3] != 0); return True;
	case VG_USERREQ__MEMPOOL_ALLOC:
		handed_block(tid, HANDED_POOL, words[2], words[3], !is_zeroed(words[1]));
		return True;
	case VG_USERREQ__MEMPOOL_FREE: handed_back(HANDED_POOL, words[2]); return True;
	case VG_USERREQ__MEMPOOL_CHANGE:
		handed_moved(tid, HANDED_POOL, words[2], words[3], words[4]);
		return True;
	default: return False;
	}
}

Bool requests_handle(ThreadId tid, UWord *words, UWord *ret)
{
	/* bytes of all PMEND_SYMBOLIC requests, which get consecutive offsets */
	static ULong g_symbolic_bytes;

	if (clo_old_bytes && allocator_handle(tid, words)) {
		*ret = 0;
		return True;
	}
	if (!VG_IS_TOOL_USERREQ('P', 'C', words[0]) && !VG_IS_TOOL_USERREQ('P', 'M', words[0]) &&
	    !VG_IS_TOOL_USERREQ('M', 'C', words[0]))
		return False;
	*ret = 0;
	switch (words[0]) {
	case PMC_REGISTER_MAPPING:
		stack_run(tid);
		pm_register(words[1], words[2]);
		range_event(tid, PMT_IS_PM, words[1], words[2]);
		return True;
	case PMC_REMOVE_MAPPING:
		pm_unregister(words[1], words[2]);
		range_event(tid, PMT_NOT_PM, words[1], words[2]);
		return True;
	case MC_MAKE_NOACCESS: handed_access(tid, HANDED_NOACCESS, words[1], words[2]); return True;
	case MC_MAKE_DEFINED: handed_access(tid, HANDED_DEFINED, words[1], words[2]); return True;
	case MC_MAKE_UNDEFINED: handed_access(tid, HANDED_UNDEFINED, words[1], words[2]); break;
	case MC_GET_VBITS: *ret = get_vbits(words[2], words[3]); return True;
	case PMC_CHECK_MAPPING: *ret = pm_registered(words[1], words[2]); return True;
	case PMC_REGISTER_FILE: /* mmap has told us about the file */
	case PMC_PRINT_MAPPINGS:
	case PMC_WRITE_STATS:
	case PMC_DEEP_SYNC:
	case PMEND_REQ_IN_RECOVERY: /* a recorded run is no recovery */ return True;
	case PMEND_REQ_LOCK: sync_annotated(tid, PMT_LOCK, words[1]); return True;
	case PMEND_REQ_UNLOCK: sync_annotated(tid, PMT_UNLOCK, words[1]); return True;
	case PMEND_REQ_SYMBOLIC:
		*ret = 1 + g_symbolic_bytes;
		g_symbolic_bytes += words[1];
		return True;
	default: break;
	}
	for (UInt i = 0; i < sizeof g_requests / sizeof *g_requests; i++) {
		if (g_requests[i].number == words[0]) {
			emit(tid, &g_requests[i], words);
			return True;
		}
	}
	/* reserved by old versions of pmemcheck */
	return VG_IS_TOOL_USERREQ('M', 'C', words[0]) ||
	       (words[0] > PMC_BASE && words[0] < PMC_DEEP_SYNC);
}
