/* Turns what instrumented code did into events of the trace. If only a part of a store is in PM,
 * that part is recorded. Ordinary stores, flushes and fences are written here in as few
 * instructions as possible, because this part of the recording time grows with the number of
 * events. emit.c does the rest. */
#include "valgrind/recorder/blocks/events.h"

#include "valgrind/common/arch.h"
#include "valgrind/recorder/blocks/strings.h"
#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/place/stack.h"
#include "valgrind/recorder/pm/pm.h"

#define INLINE inline __attribute__((always_inline))

/* Asks whether the event's site is known: the instruction was reached in the same calling context
 * as the last time. */
static INLINE Bool is_placed(const struct code *c)
{
	return LIKELY(g_top->slot - *g_sp < FRAME_FAR_BYTES && g_top->node == c->node);
}

/* The short way of writing an event: head, site, and what the kind has. */
struct put {
	struct pmt_chunk *chunk;
	struct pmt_site_state *site;
	UChar *start, *p;
	UInt head;
};

static INLINE struct put put_begin(struct pmt_chunk *chunk, struct site *site)
{
	struct put put = { .chunk = chunk, .site = &site->state, .start = out_pos(chunk) };

	put.p = pmt_put_site_number(&put.head, put.start + 1, site->number, g_out.prev);
	g_out.prev = &site->state;
	return put;
}

/* Writes the part of a record that comes after address and value. */
static INLINE void put_arg(struct put *put, const struct code *c)
{
	*put->p = c->arg;
	put->p += c->has_arg;
}

static INLINE void put_end(struct put put)
{
	*put.start = (UChar)put.head;
	g_out.header->seq++;
	__asm__ volatile("" ::: "memory"); /* as in out_move() */
	put.chunk->used += (UInt)(put.p - put.start);
}

/* ---- stores ---- */

static void store_part(Addr va, ULong addr, SizeT len, void *arg)
{
	const struct code *whole = arg;
	struct code *c = code_part(whole, len);

	emit_place(c);
	emit_store(c, addr, (const UChar *)va);
}

static INLINE UChar *put_value(struct put *put, Addr a, UInt size)
{
	switch (size) {
	case 1: return pmt_put_small(&put->head, put->p, put->site, *(const UChar *)a, size);
	case 2: return pmt_put_small(&put->head, put->p, put->site, *(const UShort *)a, size);
	case 4: return pmt_put_small(&put->head, put->p, put->site, *(const UInt *)a, size);
	case 8: return pmt_put_small(&put->head, put->p, put->site, *(const ULong *)a, size);
	default: return pmt_put_value(&put->head, put->p, put->site, (const UChar *)a, size);
	}
}

static INLINE void put_store(struct site *site, struct pmt_chunk *chunk, ULong addr, Addr a,
			     UInt size, const struct code *with_arg)
{
	struct put put = put_begin(chunk, site);

	put.p = pmt_put_addr(&g_out.enc, &put.head, put.p, put.site, addr, size);
	put.p = put_value(&put, a, size);
	if (with_arg != NULL)
		put_arg(&put, with_arg);
	put_end(put);
}

static __attribute__((noinline)) void store_slow(struct code *c, Addr a)
{
	const struct range *r = pm_find(a);

	if (r == NULL || a - r->va + c->size_bytes > r->len_bytes) {
		pm_each(a, c->size_bytes, store_part, c);
		return;
	}
	emit_place(c);
	if (out_is_easy(g_out.chunk))
		put_store(c->site, g_out.chunk, r->addr + (a - r->va), a, c->size_bytes, c);
	else
		emit_store(c, r->addr + (a - r->va), (const UChar *)a);
}

/* Records a store. with_arg: the code, if its kind may have an argument, which is then recorded,
 * too. */
static INLINE void store(struct code *c, Addr a, UInt size, const struct code *with_arg)
{
	struct pmt_chunk *chunk = g_out.chunk;
	ULong offset = a - g_hit.va;

	if (offset < g_hit.room && is_placed(c) && out_is_easy(chunk))
		put_store(c->site, chunk, g_hit.addr + offset, a, size, with_arg);
	else
		store_slow(c, a);
}

VG_REGPARM(2) void event_store(struct code *c, Addr a)
{
	store(c, a, c->size_bytes, c);
	if (c->kind == PMT_STORE_NT)
		g_pending = 1;
}

#define PLAIN_STORE(size) \
	VG_REGPARM(2) void event_store_##size(struct code *c, Addr a) \
	{ \
		store(c, a, size, NULL); \
	}
PLAIN_STORE(1)
PLAIN_STORE(2)
PLAIN_STORE(4)
PLAIN_STORE(8)

VG_REGPARM(3) void event_string(struct code *c, Addr a, ULong left)
{
	const struct range *r = pm_find(a);

	if (r == NULL || a - r->va + c->size_bytes > r->len_bytes)
		event_store(c, a);
	else
		string_add(c, r->addr + (a - r->va), (const UChar *)a, left);
}

VG_REGPARM(3) void event_masked_store(struct code *c, Addr a, ULong mask_lo, ULong mask_hi)
{
	UInt i = 0, start;

	while (i < c->size_bytes) {
		ULong m = i < 8 ? mask_lo >> (8 * i) : mask_hi >> (8 * (i - 8));

		if ((m & 0x80) == 0) {
			i++;
			continue;
		}
		for (start = i; i < c->size_bytes; i++) {
			m = i < 8 ? mask_lo >> (8 * i) : mask_hi >> (8 * (i - 8));
			if ((m & 0x80) == 0)
				break;
		}
		event_store(code_get(c->pc, PMT_STORE_NT, i - start), a + start);
	}
}

/* Records a locked instruction. It is always a fence. If it does not store and nothing is pending,
 * the fence changes nothing and is not recorded. */
VG_REGPARM(3) void event_cas(struct code *c, Addr a, ULong succeeded)
{
	if (succeeded && pm_find(a) != NULL) {
		event_store(c, a);
	} else if (g_pending) {
		c = code_get(c->pc, PMT_RMW_FENCE, 0);
		emit_place(c);
		emit_plain(c);
	}
	g_pending = 0;
	if (g_shared)
		shared_unlock();
}

VG_REGPARM(0) void event_before_cas(void)
{
	shared_lock();
}

/* ---- accesses that order as their own bits say ---- */

/* Locks in ordinary memory order, too, and there are many of them, so only orders that add
 * something are recorded. Between two releases without another event, the second adds nothing to
 * the first. An acquire matters only after a release. A barrier includes both. */
enum {
	TOLD_RELEASE = 1, /* recorded since the last event of another kind */
	TOLD_BARRIER = 2,
	IS_RELEASED = 4, /* a release was recorded, and no acquire after it */
};
static struct {
	ULong seq; /* of the last order that was recorded */
	UInt state;
} g_orders[512];

#define ORDER_BARRIER (PMT_ORDER_ACQUIRE | PMT_ORDER_RELEASE | PMT_ORDER_ATOMIC)

static Bool order_is_new(UInt bits)
{
	if (g_orders[g_tid].seq != g_out.header->seq)
		g_orders[g_tid].state &= IS_RELEASED;
	if (bits == ORDER_BARRIER)
		return !(g_orders[g_tid].state & TOLD_BARRIER);
	return ((bits & PMT_ORDER_RELEASE) && !(g_orders[g_tid].state & TOLD_RELEASE)) ||
	       ((bits & PMT_ORDER_ACQUIRE) && (g_orders[g_tid].state & IS_RELEASED));
}

static void order_told(UInt bits)
{
	UInt *state = &g_orders[g_tid].state;

	g_orders[g_tid].seq = g_out.header->seq;
	if (bits & PMT_ORDER_ACQUIRE)
		*state &= ~(UInt)IS_RELEASED;
	if (bits == ORDER_BARRIER)
		*state = TOLD_BARRIER | TOLD_RELEASE;
	else if (bits & PMT_ORDER_RELEASE)
		*state |= TOLD_RELEASE | IS_RELEASED;
}

static void order(Addr pc, UInt bits)
{
	struct code *c;

	if (!shared_has_files() || !order_is_new(bits))
		return;
	c = code_get_arg(pc, PMT_ORDER, 0, bits);
	emit_place(c);
	emit_plain(c);
	order_told(bits);
}

VG_REGPARM(1) void event_order(struct code *c)
{
	order(c->pc, c->arg);
}

VG_REGPARM(2) void event_ordered_store(struct code *c, Addr a)
{
	if (pm_find(a) == NULL) {
		order(c->pc, c->arg);
		return;
	}
	event_store(c, a);
	if (c->arg & PMT_ORDER_RELEASE)
		g_orders[g_tid].state |= IS_RELEASED;
}

VG_REGPARM(3) void event_atomic(struct code *c, Addr a, ULong succeeded)
{
	if (succeeded)
		event_ordered_store(c, a);
	else
		order(c->pc, c->arg & PMT_ORDER_ACQUIRE);
	if (g_shared)
		shared_unlock();
}

/* ---- loads ---- */

static INLINE void put_addr(struct code *c, struct pmt_chunk *chunk, ULong addr, UInt size)
{
	struct put put = put_begin(chunk, c->site);

	put.p = pmt_put_addr(&g_out.enc, &put.head, put.p, put.site, addr, size);
	put_end(put);
}

static void load_part(Addr va, ULong addr, SizeT len, void *arg)
{
	const struct code *whole = arg;
	struct code *c = code_part(whole, len);

	(void)va;
	emit_place(c);
	emit_addr(c, addr);
}

static __attribute__((noinline)) void load_slow(struct code *c, Addr a)
{
	const Bool waits = string_suspend(c->pc);

	pm_find(a);
	pm_each(a, c->size_bytes, load_part, c);
	string_resume(waits);
}

VG_REGPARM(2) void event_load(struct code *c, Addr a)
{
	struct pmt_chunk *chunk = g_out.chunk;
	ULong offset = a - g_hit.va;

	if (offset < g_hit.room && is_placed(c) && out_is_easy(chunk))
		put_addr(c, chunk, g_hit.addr + offset, c->size_bytes);
	else
		load_slow(c, a);
}

/* ---- flushes and fences ---- */

static void flush_elsewhere(struct code *c, Addr a)
{
	ULong args[1] = { a };

	if (!pm_is_volatile(a))
		return;
	c = code_get(c->pc, PMT_FLUSH_VOLATILE, 0);
	emit_place(c);
	emit_args(c, args);
}

static INLINE void learn_sp(const void *guest)
{
	const Addr *sp = (const Addr *)((const UChar *)guest + arch_sp_offset);

	if (UNLIKELY(g_sp != sp))
		stack_learn_sp(sp);
}

static __attribute__((noinline)) void flush_slow(struct code *c, Addr a, const void *guest)
{
	ULong addr;

	learn_sp(guest);
	if (!pm_addr(a, &addr)) {
		flush_elsewhere(c, a);
		return;
	}
	if (c->kind != PMT_CLFLUSH)
		g_pending = 1;
	emit_place(c);
	if (out_is_easy(g_out.chunk))
		put_addr(c, g_out.chunk, addr, PMT_LINE_BYTES);
	else
		emit_addr(c, addr);
}

VG_REGPARM(3) void event_flush(struct code *c, Addr a, const void *guest)
{
	struct pmt_chunk *chunk = g_out.chunk;
	ULong offset = a - g_hit.va;

	if (offset < g_hit.room && is_placed(c) && out_is_easy(chunk)) {
		if (c->kind != PMT_CLFLUSH)
			g_pending = 1;
		put_addr(c, chunk, g_hit.addr + offset, PMT_LINE_BYTES);
	} else {
		flush_slow(c, a, guest);
	}
}

static INLINE void put_fence(struct code *c, struct pmt_chunk *chunk)
{
	struct put put = put_begin(chunk, c->site);

	put_arg(&put, c);
	put_end(put);
}

static __attribute__((noinline)) void fence_slow(struct code *c, const void *guest)
{
	learn_sp(guest);
	if (!shared_has_files())
		return;
	if (c->kind != PMT_LFENCE)
		g_pending = 0;
	emit_place(c);
	if (out_is_easy(g_out.chunk))
		put_fence(c, g_out.chunk);
	else
		emit_plain(c);
}

VG_REGPARM(2) void event_fence(struct code *c, const void *guest)
{
	struct pmt_chunk *chunk = g_out.chunk;

	/* if it has a place, PM exists */
	if (is_placed(c) && out_is_easy(chunk)) {
		if (c->kind != PMT_LFENCE)
			g_pending = 0;
		put_fence(c, chunk);
	} else {
		fence_slow(c, guest);
	}
}

/* ---- calls of libpmemobj ---- */

VG_REGPARM(3) void event_tx_add(struct code *c, Addr a, ULong len)
{
	ULong args[3] = { len, 0, 0 };

	if (!pm_addr(a, &args[2]))
		return;
	emit_place(c);
	emit_args(c, args);
}

VG_REGPARM(0) void event_tx_add_oid(struct code *c, ULong uuid, ULong offset, ULong len)
{
	ULong args[3] = { len, uuid, offset };

	if (uuid == 0)
		return;
	emit_place(c);
	emit_args(c, args);
}
