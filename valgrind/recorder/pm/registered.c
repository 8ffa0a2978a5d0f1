/* Handles memory that a program registers as PM with pmemcheck's request. Memory that is no mapping
 * of a PM file gets a "file" of its own in the trace. */
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/place/stack.h"
#include "valgrind/recorder/pm/pm_internal.h"

static struct area *g_registered;
static UInt g_nregistered, g_registered_cap;

/* Makes a "file" for memory that is no mapping of a file. */
static void register_memory(Addr va, SizeT len)
{
	Bool is_new;
	UInt file = shared_file_id(~0ULL, va, &is_new);
	ULong args[5] = { file, len, PMT_FILE_MEMORY, 0, va };
	HChar name[64];

	if (file == 0)
		return;
	VG_(sprintf)(name, "memory at %#lx", va);
	if (is_new)
		emit_event(g_tid, PMT_FILE, 0, args, name, VG_(strlen)(name));
	mapping_event(g_tid, PMT_MAP, va, PMT_ADDR(file, 0), len, VKI_PROT_READ | VKI_PROT_WRITE);
	range_insert(va, len, PMT_ADDR(file, 0));
}

void pm_register(Addr va, SizeT len)
{
	GROW(g_registered, g_nregistered, g_registered_cap);
	g_registered[g_nregistered++] = (struct area){ va, len };
	/* PMDK registers an int for a moment, to find out whether a tool answers */
	if (len >= PMT_LINE_BYTES && pm_find(va) == NULL && pm_find(va + len - 1) == NULL)
		register_memory(va, len);
}

void pm_unregister(Addr va, SizeT len)
{
	for (UInt i = 0; i < g_nregistered; i++) {
		struct area *r = &g_registered[i];

		if (r->va < va + len && va < r->va + r->len_bytes) {
			Addr end = r->va + r->len_bytes;

			if (end > va + len)
				pm_register(va + len, end - va - len);
			r = &g_registered[i];
			r->len_bytes = va > r->va ? va - r->va : 0;
		}
	}
}

UWord pm_registered(Addr va, SizeT len)
{
	for (UInt i = 0; i < g_nregistered; i++) {
		const struct area *r = &g_registered[i];

		if (r->va <= va && va + len <= r->va + r->len_bytes)
			return 1;
		if (r->va < va + len && va < r->va + r->len_bytes)
			return 2;
	}
	return pm_find(va) != NULL ? 1 : 0;
}
