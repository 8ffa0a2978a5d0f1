/* --old-bytes: fills memory that the program gets with pmt_old_bytes(), if the memory may have had
 * other contents before. A device is filled when it is first mapped. A file is not: bytes by which
 * it grows are zero, and so is a hole. But a block of a file that was given out and taken back may
 * contain anything when it is given out again.
 *
 * Allocators announce blocks by Valgrind's requests. Most name blocks (MALLOCLIKE_BLOCK,
 * MEMPOOL_ALLOC); some only say which memory may be accessed: what was NOACCESS and becomes
 * UNDEFINED is given out. If blocks are named in a file, only those requests count there, because
 * libpmemobj also sends the other requests, for its own data. When a file is mapped again, blocks
 * that were taken back are forgotten: libpmemobj then names all blocks in use, and another process
 * may have got one. */
#include "valgrind/recorder/pm/pm_internal.h"

#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_oset.h"

/* PM addresses [from, to). The extents of a set do not overlap. */
struct extent {
	ULong from, to;
};

struct block {
	ULong addr; /* of its first byte */
	SizeT len_bytes;
};

/* sets of extents: given out, and taken back; g_used only where nobody names blocks */
static OSet *g_used, *g_free;
static OSet *g_zero; /* extents that were punched or cut off while they were given out */
static OSet *g_blocks[HANDED_WAYS];         /* blocks in use, by address */
static UChar g_is_named[PMT_MAX_FILES + 1]; /* by file: somebody names blocks in it */

/* ---- sets of extents ---- */

static Word compare(const void *key, const void *elem)
{
	const struct extent *a = key, *b = elem;

	return a->to <= b->from ? -1 : a->from >= b->to;
}

static void sets_init(void)
{
	if (g_used != NULL)
		return;
	g_used = VG_(OSetGen_Create)(0, compare, VG_(malloc), "pmend.used", VG_(free));
	g_free = VG_(OSetGen_Create)(0, compare, VG_(malloc), "pmend.free", VG_(free));
	g_zero = VG_(OSetGen_Create)(0, compare, VG_(malloc), "pmend.zero", VG_(free));
	for (UInt i = 0; i < HANDED_WAYS; i++)
		g_blocks[i] = VG_(OSetGen_Create)(0, NULL, VG_(malloc), "pmend.blocks", VG_(free));
}

static void insert(OSet *set, ULong from, ULong to)
{
	struct extent *e;

	if (from >= to)
		return;
	e = VG_(OSetGen_AllocNode)(set, sizeof *e);
	*e = (struct extent){ from, to };
	VG_(OSetGen_Insert)(set, e);
}

/* Removes one extent of the set, or a part of it, that lies in [from, to). False: there is none. */
static Bool take(OSet *set, ULong from, ULong to, struct extent *taken)
{
	struct extent key = { from, to }, *e = VG_(OSetGen_Remove)(set, &key);

	if (e == NULL)
		return False;
	*taken = *e;
	VG_(OSetGen_FreeNode)(set, e);
	insert(set, taken->from, from);
	insert(set, to, taken->to);
	taken->from = taken->from > from ? taken->from : from;
	taken->to = taken->to < to ? taken->to : to;
	return True;
}

static void drop(OSet *set, ULong from, ULong to)
{
	struct extent e;

	while (take(set, from, to, &e))
		;
}

static void add(OSet *set, ULong from, ULong to)
{
	drop(set, from, to);
	insert(set, from, to);
}

static void forget(ULong from, ULong to)
{
	drop(g_used, from, to);
	drop(g_free, from, to);
}

static void give_back(ULong from, ULong to)
{
	struct extent e;

	drop(g_used, from, to);
	add(g_free, from, to);
	while (take(g_zero, from, to, &e)) /* its owner may have stored there since */
		drop(g_free, e.from, e.to);
}

/* ---- filling ---- */

static void fill(ThreadId tid, Addr va, ULong addr, SizeT len)
{
	ULong args[1] = { len };

	if (len == 0 || !VG_(am_is_valid_for_client)(va, len, VKI_PROT_WRITE))
		return;
	pmt_old_bytes((UChar *)va, PMT_OFFSET(addr), len);
	emit_event(tid, PMT_OLD, addr, args, NULL, 0);
}

/* Fills a range where the file has no hole. */
static void fill_data(ThreadId tid, Addr va, ULong addr, SizeT len)
{
	const ULong start = PMT_OFFSET(addr), end = start + len;
	Int own = kept_find(PMT_FILE(addr));
	ULong from = start;

	while (own >= 0 && from < end) {
		Long data = VG_(lseek)(own, from, 3 /* SEEK_DATA */),
		     hole = data < 0 ? -1 : VG_(lseek)(own, data, 4 /* SEEK_HOLE */);
		ULong to = hole < 0 || (ULong)hole > end ? end : (ULong)hole;

		if (data < 0 || (ULong)data >= end)
			return;
		from = (ULong)data > from ? (ULong)data : from;
		fill(tid, va + (from - start), addr + (from - start), to - from);
		from = to;
	}
	if (own < 0)
		fill(tid, va, addr, len);
}

/* Fills the whole device, including parts that the program has not mapped yet: a library may map
 * only the first page at first. Those parts are mapped for a moment. */
void handed_device(ThreadId tid, UInt file, Int fd, ULong size, Addr va, ULong offset, SizeT len)
{
	const Bool is_all = offset == 0 && len >= size;
	Long own = is_all ? -1
			  : sys_mmap(NULL, size, VKI_PROT_READ | VKI_PROT_WRITE, VKI_MAP_SHARED, fd,
				     0);
	ULong args[1] = { size };

	if (own < 0) {
		fill(tid, va, PMT_ADDR(file, offset), len);
		return;
	}
	pmt_old_bytes((UChar *)own, 0, size);
	sys_munmap((void *)own, size);
	emit_event(tid, PMT_OLD, PMT_ADDR(file, 0), args, NULL, 0);
}

/* ---- blocks ---- */

struct handing {
	ThreadId tid;
	Bool is_undefined;
};

static void hand_part(Addr va, ULong addr, SizeT len, void *arg)
{
	const struct handing *h = arg;
	struct extent e;

	drop(g_zero, addr, addr + len);
	while (take(g_free, addr, addr + len, &e))
		if (h->is_undefined)
			fill_data(h->tid, va + (e.from - addr), e.from, e.to - e.from);
}

static void back_part(Addr va, ULong addr, SizeT len, void *arg)
{
	(void)va, (void)arg;
	give_back(addr, addr + len);
}

static void name_file(ULong addr)
{
	if (g_is_named[PMT_FILE(addr)])
		return;
	g_is_named[PMT_FILE(addr)] = 1;
	forget(PMT_ADDR(PMT_FILE(addr), 0), PMT_ADDR(PMT_FILE(addr) + 1, 0));
}

void handed_named(Addr va)
{
	ULong addr;

	if (!clo_old_bytes || !pm_addr(va, &addr))
		return;
	sets_init();
	name_file(addr);
}

void handed_block(ThreadId tid, enum handed_way way, Addr va, SizeT len, Bool is_undefined)
{
	struct handing h = { tid, is_undefined };
	struct block *b;
	ULong addr;

	if (!clo_old_bytes || !pm_addr(va, &addr))
		return;
	sets_init();
	name_file(addr);
	b = VG_(OSetGen_Lookup)(g_blocks[way], &addr);
	if (b == NULL) {
		b = VG_(OSetGen_AllocNode)(g_blocks[way], sizeof *b);
		b->addr = addr;
		VG_(OSetGen_Insert)(g_blocks[way], b);
	}
	b->len_bytes = len;
	pm_each(va, len, hand_part, &h);
}

void handed_back(enum handed_way way, Addr va)
{
	struct block *b;
	ULong addr;

	if (!clo_old_bytes || g_used == NULL || !pm_addr(va, &addr))
		return;
	b = VG_(OSetGen_Remove)(g_blocks[way], &addr);
	if (b == NULL)
		return;
	pm_each(va, b->len_bytes, back_part, NULL);
	VG_(OSetGen_FreeNode)(g_blocks[way], b);
}

void handed_resized(ThreadId tid, enum handed_way way, Addr va, SizeT old, SizeT len)
{
	struct handing h = { tid, True };
	struct block *b;
	ULong addr;

	if (!clo_old_bytes || g_used == NULL || !pm_addr(va, &addr))
		return;
	b = VG_(OSetGen_Lookup)(g_blocks[way], &addr);
	if (b == NULL)
		return;
	b->len_bytes = len;
	if (len > old)
		pm_each(va + old, len - old, hand_part, &h);
	else if (len < old)
		pm_each(va + len, old - len, back_part, NULL);
}

void handed_moved(ThreadId tid, enum handed_way way, Addr from, Addr to, SizeT len)
{
	if (from != to)
		handed_back(way, from);
	handed_block(tid, way, to, len, False); /* with its content */
}

/* ---- ranges that may be accessed ---- */

static void open_part(Addr va, ULong addr, SizeT len, void *arg)
{
	if (g_is_named[PMT_FILE(addr)])
		return;
	hand_part(va, addr, len, arg);
	add(g_used, addr, addr + len);
}

static void close_part(Addr va, ULong addr, SizeT len, void *arg)
{
	struct extent e;

	(void)va, (void)arg;
	while (take(g_used, addr, addr + len, &e))
		give_back(e.from, e.to);
}

void handed_access(ThreadId tid, enum handed_access access, Addr va, SizeT len)
{
	struct handing h = { tid, access == HANDED_UNDEFINED };

	if (!clo_old_bytes || ranges_are_none())
		return;
	sets_init();
	pm_each(va, len, access == HANDED_NOACCESS ? close_part : open_part,
		access == HANDED_NOACCESS ? NULL : &h);
}

/* ---- files ---- */

void handed_zeroed(UInt file, ULong offset, ULong len)
{
	const ULong end = (ULong)1 << PMT_OFFSET_BITS;

	if (g_used == NULL || file == 0 || offset >= end)
		return;
	len = len < end - offset ? len : end - offset;
	drop(g_free, PMT_ADDR(file, offset), PMT_ADDR(file, offset) + len);
	add(g_zero, PMT_ADDR(file, offset), PMT_ADDR(file, offset) + len);
}

void handed_mapped(UInt file)
{
	if (g_used != NULL)
		forget(PMT_ADDR(file, 0), PMT_ADDR(file + 1, 0));
}
