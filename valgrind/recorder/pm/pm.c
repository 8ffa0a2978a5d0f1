/* What memory is PM: writable shared mappings of files that survive the program (and match --pm), and memory that the
 * program registers with pmemcheck's request; and what the kernel writes there. Each byte of PM is named by file and offset. */
#include "valgrind/recorder/pm/pm_internal.h"
#include "valgrind/common/sys.h"

#include "pub_tool_machine.h"

static struct area *g_registered;
static UInt g_nregistered, g_registered_cap;

static void map_event(ThreadId tid, enum pmt_kind kind, Addr va, ULong addr, SizeT len, UInt prot)
{
	ULong args[3] = { va, len, prot };

	emit_event(tid, kind, addr, args, NULL, 0);
}

void pm_mapped(ThreadId tid, Addr va, SizeT len, UInt prot, UInt flags, Int fd, ULong offset)
{
	struct vg_stat st;
	const HChar *path;
	UInt file;
	ULong addr;
	Long mode;

	len = VG_PGROUNDUP(len);
	pm_unmapped(tid, va, len);
	if ((flags & 3) != VKI_MAP_SHARED && (flags & 3) != 3 /* MAP_SHARED_VALIDATE */)
		return;
	if ((flags & VKI_MAP_ANONYMOUS) || fd < 0)
		return;
	mode = sys_fcntl(fd, 3 /* F_GETFL */, 0);
	if (VG_(fstat)(fd, &st) != 0 || !file_is_pm(fd, &st, &path) ||
	    (!(prot & VKI_PROT_WRITE) && (mode & 3) != VKI_O_RDWR)) { /* can never become writable */
		other_insert(va, len);
		return;
	}
	file = file_of_mapping(tid, fd, &st, path);
	if (file == 0) {
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, "too many PM files", 17);
		return;
	}
	addr = PMT_ADDR(file, offset);
	map_event(tid, PMT_MAP, va, addr, len, prot);
	range_insert(va, len, addr);
}

static void unmap_part(Addr va, ULong addr, SizeT len, void *arg)
{
	map_event(*(ThreadId *)arg, PMT_UNMAP, va, addr, len, 0);
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
	map_event(tid, PMT_MAP, to, addr, to_len, VKI_PROT_READ | VKI_PROT_WRITE);
	range_insert(to, to_len, addr);
}

struct protect {
	ThreadId tid;
	UInt prot;
};

static void protect_part(Addr va, ULong addr, SizeT len, void *arg)
{
	const struct protect *p = arg;

	map_event(p->tid, PMT_PROTECT, va, addr, len, p->prot);
}

void pm_protected(ThreadId tid, Addr va, SizeT len, UInt prot)
{
	struct protect p = { tid, prot };

	pm_each(va, VG_PGROUNDUP(len), protect_part, &p);
}


/* ---- writes by the kernel ---- */

static void written_line(ThreadId tid, ULong addr, const UChar *data, UInt len)
{
	struct code *c = code_get(VG_(get_IP)(tid) - 1, PMT_STORE_SYS, len);

	emit_place(c);
	emit_store(c, addr, data);
}

static void written(ThreadId tid, ULong addr, const UChar *data, SizeT len)
{
	while (len > 0) {
		SizeT n = PMT_LINE_BYTES - addr % PMT_LINE_BYTES;

		if (n > len)
			n = len;
		written_line(tid, addr, data, n);
		addr += n;
		data += n;
		len -= n;
	}
}

static void written_part(Addr va, ULong addr, SizeT len, void *arg)
{
	written(*(ThreadId *)arg, addr, (const UChar *)va, len);
}

void pm_written(ThreadId tid, Addr va, SizeT len)
{
	if (ranges_are_none())
		return;
	stack_run(tid);
	pm_each(va, len, written_part, &tid);
}

void pm_file_written(ThreadId tid, Int fd, ULong offset, SizeT len)
{
	static UChar page[PMT_PAGE_BYTES];
	UInt file = pm_file_of_fd(fd);
	HChar link[64];
	SysRes r;
	Int own;

	if (file == 0)
		return;
	if (offset + len > *out_file_size(file))
		pm_file_resized(tid, file, offset + len);
	VG_(sprintf)(link, "/proc/self/fd/%d", fd); /* the program's descriptor may be write-only */
	r = VG_(open)(link, VKI_O_RDONLY, 0);
	if (sr_isError(r)) {
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, "a written file cannot be read", 29);
		return;
	}
	own = sr_Res(r);
	stack_run(tid);
	while (len > 0) {
		Long n = sys_pread(own, page, len < sizeof page ? len : sizeof page, offset);

		if (n <= 0)
			break;
		written(tid, PMT_ADDR(file, offset), page, n);
		offset += n;
		len -= n;
	}
	VG_(close)(own);
}


/* ---- memory registered with pmemcheck's request ---- */

/* Memory that is no mapping of a file becomes a "file" of its own. */
static void register_memory(Addr va, SizeT len)
{
	Bool is_new;
	UInt file = out_file_id(~0ULL, va, &is_new);
	ULong args[5] = { file, len, PMT_FILE_MEMORY, 0, va };
	HChar name[64];

	if (file == 0)
		return;
	VG_(sprintf)(name, "memory at %#lx", va);
	if (is_new)
		emit_event(g_tid, PMT_FILE, 0, args, name, VG_(strlen)(name));
	map_event(g_tid, PMT_MAP, va, PMT_ADDR(file, 0), len, VKI_PROT_READ | VKI_PROT_WRITE);
	range_insert(va, len, PMT_ADDR(file, 0));
}

void pm_register(Addr va, SizeT len)
{
	GROW(g_registered, g_nregistered, g_registered_cap);
	g_registered[g_nregistered++] = (struct area){ va, len };
	/* PMDK registers an int for a moment, to learn whether anybody listens */
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
