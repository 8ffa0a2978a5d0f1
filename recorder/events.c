/* From what instrumented code did to events of the trace. A store that lies in PM only in part is cut to that part. */
#include "events.h"

static void store_part(Addr va, ULong addr, SizeT len, void *arg)
{
	const struct code *c = arg;

	out_store(code_get(c->pc, c->kind, len), addr, (const UChar *)va);
}

VG_REGPARM(2) void event_store(struct code *c, Addr a)
{
	const struct range *r = pm_find(a);

	if (LIKELY(r != NULL && a - r->va + c->size_bytes <= r->len_bytes))
		out_store(c, r->addr + (a - r->va), (const UChar *)a);
	else
		pm_each(a, c->size_bytes, store_part, c);
	if (c->kind == PMT_STORE_NT)
		g_pending = 1;
}

static void load_part(Addr va, ULong addr, SizeT len, void *arg)
{
	const struct code *c = arg;

	(void)va;
	out_addr(code_get(c->pc, c->kind, len), addr);
}

VG_REGPARM(2) void event_load(struct code *c, Addr a)
{
	pm_each(a, c->size_bytes, load_part, c);
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

/* Locked: a fence in any case. Where nothing is pending, a fence on its own changes nothing and is not worth a record. */
VG_REGPARM(3) void event_cas(struct code *store, Addr a, ULong succeeded)
{
	if (succeeded && pm_find(a) != NULL)
		event_store(store, a);
	else if (g_pending)
		out_plain(code_get(store->pc, PMT_RMW_FENCE, 0));
	g_pending = 0;
	if (g_shared)
		out_unlock();
}

VG_REGPARM(0) void event_before_cas(void)
{
	out_lock();
}

static void flush_elsewhere(const struct code *c, Addr a)
{
	ULong args[1] = { a };

	if (pm_is_volatile(a))
		out_args(code_get(c->pc, PMT_FLUSH_VOLATILE, 0), args);
}

VG_REGPARM(2) void event_flush(struct code *c, Addr a)
{
	ULong addr;

	if (!pm_addr(a, &addr)) {
		flush_elsewhere(c, a);
		return;
	}
	out_addr(c, addr);
	if (c->kind != PMT_CLFLUSH)
		g_pending = 1;
}

VG_REGPARM(1) void event_fence(struct code *c)
{
	if (!out_has_files())
		return;
	out_plain(c);
	if (c->kind != PMT_LFENCE)
		g_pending = 0;
}

VG_REGPARM(3) void event_tx_add(struct code *c, Addr a, ULong len)
{
	ULong args[3] = { len, 0, 0 };

	if (pm_addr(a, &args[2]))
		out_args(c, args);
}

VG_REGPARM(0) void event_tx_add_oid(struct code *c, ULong uuid, ULong offset, ULong len)
{
	ULong args[3] = { len, uuid, offset };

	if (uuid != 0)
		out_args(c, args);
}
