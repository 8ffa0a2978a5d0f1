/* Finds mappings that are PM: writable shared ones of files that survive the program. The trace has
 * an event for each mapping that is made, removed, moved, or protected. */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/pm_internal.h"

void mapping_event(ThreadId tid, enum pmt_kind kind, Addr va, ULong addr, SizeT len, UInt prot)
{
	ULong args[3] = { va, len, prot };

	emit_event(tid, kind, addr, args, NULL, 0);
}

void pm_mapped(ThreadId tid, Addr va, SizeT len, UInt prot, UInt flags, Int fd, ULong offset)
{
	struct vg_stat st;
	const HChar *path;
	HChar text[32];
	UInt file;
	Bool is_new, can_store; /* can_store includes mappings that may become writable */
	ULong addr;
	Long mode;

	len = VG_PGROUNDUP(len);
	pm_unmapped(tid, va, len);
	if ((flags & 3) != VKI_MAP_SHARED && (flags & 3) != 3 /* MAP_SHARED_VALIDATE */)
		return;
	if ((flags & VKI_MAP_ANONYMOUS) || fd < 0)
		return;
	mode = sys_fcntl(fd, 3 /* F_GETFL */, 0);
	can_store = (prot & VKI_PROT_WRITE) || (mode & 3) == VKI_O_RDWR;
	if (VG_(fstat)(fd, &st) != 0 || !file_is_pm(fd, &st, &path) || !can_store) {
		other_insert(va, len);
		if (can_store && VG_(fstat)(fd, &st) == 0)
			made_mapped(&st);
		return;
	}
	old_mapped(tid, fd, &st, path);
	if (VKI_S_ISREG(st.mode))
		beside_add_folder(path);
	else
		st.size = file_device_bytes(&st, offset + len);
	file = file_of_mapping(tid, fd, &st, path, &is_new);
	if (file == 0) {
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, "too many PM files", 17);
		return;
	}
	if (flags & 0x80000 /* MAP_SYNC */) {
		VG_(sprintf)(text, "map_sync_file=%u", file);
		emit_event(tid, PMT_META, 0, NULL, "map_sync=yes", 12);
		emit_event(tid, PMT_META, 0, NULL, text, VG_(strlen)(text));
	}
	addr = PMT_ADDR(file, offset);
	mapping_event(tid, PMT_MAP, va, addr, len, prot);
	range_insert(va, len, addr);
	handed_mapped(file);
	if (clo_old_bytes && is_new && VKI_S_ISCHR(st.mode))
		handed_device(tid, file, fd, st.size, va, offset, len);
}

static void unmap_part(Addr va, ULong addr, SizeT len, void *arg)
{
	mapping_event(*(ThreadId *)arg, PMT_UNMAP, va, addr, len, 0);
}

void pm_unmapped(ThreadId tid, Addr va, SizeT len)
{
	len = VG_PGROUNDUP(len);
	other_remove(va, len);
	if (ranges_are_none())
		return;
	pm_each(va, len, unmap_part, &tid);
	range_remove(va, len);
}

void pm_moved(ThreadId tid, Addr from, SizeT from_len, Addr to, SizeT to_len)
{
	const struct range *r = pm_find(from);
	ULong addr;

	from_len = VG_PGROUNDUP(from_len);
	to_len = VG_PGROUNDUP(to_len);
	if (r == NULL) {
		Bool is_other = other_has(from);

		pm_unmapped(tid, from, from_len);
		pm_unmapped(tid, to, to_len);
		if (is_other)
			other_insert(to, to_len);
		return;
	}
	addr = r->addr + (from - r->va);
	pm_unmapped(tid, from, from_len);
	pm_unmapped(tid, to, to_len);
	mapping_event(tid, PMT_MAP, to, addr, to_len, VKI_PROT_READ | VKI_PROT_WRITE);
	range_insert(to, to_len, addr);
}

struct protect {
	ThreadId tid;
	UInt prot;
};

static void protect_part(Addr va, ULong addr, SizeT len, void *arg)
{
	const struct protect *p = arg;

	mapping_event(p->tid, PMT_PROTECT, va, addr, len, p->prot);
}

void pm_protected(ThreadId tid, Addr va, SizeT len, UInt prot)
{
	struct protect p = { tid, prot };

	pm_each(va, VG_PGROUNDUP(len), protect_part, &p);
}
