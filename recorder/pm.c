/* What memory is PM: writable shared mappings of files that survive the program (and match --pm), and memory that the
 * program registers with pmemcheck's request. Mappings are kept sorted; each byte of PM is named by file and offset. */
#include "rec.h"
#include "sys.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"

UChar g_granules[GRANULES];

static struct range *g_ranges;
static UInt g_nranges, g_ranges_cap;
static const struct range *g_found; /* last time; NULL after any change */
struct hit g_hit;

#define MAX_GLOBS 64
static const HChar *g_globs[MAX_GLOBS];
static UInt g_nglobs;

struct inode {
	ULong dev, ino;
};
#define MAX_CREATED 4096
static struct inode g_created[MAX_CREATED]; /* the last files that did not exist before */
static UInt g_ncreated;

struct area {
	Addr va;
	SizeT len_bytes;
};
static struct area *g_registered;
static UInt g_nregistered, g_registered_cap;
static struct area *g_others; /* shared mappings of files that are not PM to us */
static UInt g_nothers, g_others_cap;

#define GROW(array, n, cap)                                                                     \
	do {                                                                                    \
		if ((n) == (cap)) {                                                             \
			(cap) = (cap) ? 2 * (cap) : 16;                                         \
			(array) = VG_(realloc)("pmend." #array, (array), (cap) * sizeof *(array)); \
		}                                                                               \
	} while (0)

/* ---- ranges ---- */

static UInt range_after(Addr a) /* index of the first range that ends beyond a */
{
	UInt lo = 0, hi = g_nranges;

	while (lo < hi) {
		UInt mid = (lo + hi) / 2;

		if (g_ranges[mid].va + g_ranges[mid].len_bytes <= a)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct range *pm_find(Addr a)
{
	UInt i;

	if (LIKELY(g_found != NULL && a - g_found->va < g_found->len_bytes))
		return g_found;
	i = range_after(a);
	if (i == g_nranges || a < g_ranges[i].va)
		return NULL;
	g_found = &g_ranges[i];
	g_hit = (struct hit){ g_found->va, 0, g_found->addr };
	if (g_found->len_bytes >= PMT_STORE_MAX_BYTES)
		g_hit.room = g_found->len_bytes - PMT_STORE_MAX_BYTES + 1;
	return g_found;
}

Bool pm_addr(Addr a, ULong *addr)
{
	const struct range *r = pm_find(a);

	if (r == NULL)
		return False;
	*addr = r->addr + (a - r->va);
	return True;
}

void pm_each(Addr va, SizeT len, void (*f)(Addr va, ULong addr, SizeT len, void *arg), void *arg)
{
	Addr end = va + len;

	for (UInt i = range_after(va); i < g_nranges && g_ranges[i].va < end; i++) {
		const struct range *r = &g_ranges[i];
		Addr from = va > r->va ? va : r->va;
		Addr to = end < r->va + r->len_bytes ? end : r->va + r->len_bytes;

		f(from, r->addr + (from - r->va), to - from, arg);
	}
}

static void forget_hit(void)
{
	g_found = NULL;
	g_hit.room = 0;
}

static void mark_granules(void)
{
	VG_(memset)(g_granules, 0, sizeof g_granules);
	for (UInt i = 0; i < g_nranges; i++) {
		/* from a little before: a store may begin outside and end in PM; and a look may be that far away */
		ULong g = (g_ranges[i].va - PMT_STORE_MAX_BYTES - GRANULE_REACH_BYTES) >> GRANULE_SHIFT;
		ULong last = (g_ranges[i].va + g_ranges[i].len_bytes - 1 + GRANULE_REACH_BYTES) >> GRANULE_SHIFT;

		if (last - g >= GRANULES) {
			VG_(memset)(g_granules, 1, sizeof g_granules);
			return;
		}
		for (; g <= last; g++)
			g_granules[g & (GRANULES - 1)] = 1;
	}
}

static void range_insert(Addr va, SizeT len, ULong addr)
{
	UInt at = range_after(va);

	GROW(g_ranges, g_nranges, g_ranges_cap);
	VG_(memmove)(&g_ranges[at + 1], &g_ranges[at], (g_nranges - at) * sizeof *g_ranges);
	g_ranges[at] = (struct range){ va, len, addr };
	g_nranges++;
	forget_hit();
	mark_granules();
}

static void range_remove(Addr va, SizeT len)
{
	Addr end = va + len;
	UInt i = range_after(va);

	if (i == g_nranges || g_ranges[i].va >= end)
		return;
	while (i < g_nranges && g_ranges[i].va < end) {
		struct range r = g_ranges[i];
		Addr r_end = r.va + r.len_bytes;

		VG_(memmove)(&g_ranges[i], &g_ranges[i + 1], (g_nranges - i - 1) * sizeof *g_ranges);
		g_nranges--;
		if (r.va < va) {
			range_insert(r.va, va - r.va, r.addr);
			i = range_after(va);
		}
		if (r_end > end)
			range_insert(end, r_end - end, r.addr + (end - r.va));
	}
	forget_hit();
	mark_granules();
}

/* ---- memory that is not PM ---- */

static void other_insert(Addr va, SizeT len)
{
	if (len == 0)
		return;
	GROW(g_others, g_nothers, g_others_cap);
	g_others[g_nothers++] = (struct area){ va, len };
}

static void other_remove(Addr va, SizeT len)
{
	Addr end = va + len;

	for (UInt i = 0; i < g_nothers;) {
		struct area o = g_others[i];
		Addr o_end = o.va + o.len_bytes;

		if (o.va >= end || va >= o_end) {
			i++;
			continue;
		}
		g_others[i] = g_others[--g_nothers];
		if (o.va < va)
			other_insert(o.va, va - o.va);
		if (end < o_end)
			other_insert(end, o_end - end);
	}
}

static Bool other_has(Addr a)
{
	for (UInt i = 0; i < g_nothers; i++)
		if (a - g_others[i].va < g_others[i].len_bytes)
			return True;
	return False;
}

Bool pm_is_volatile(Addr a)
{
	const NSegment *seg = VG_(am_find_nsegment)(a);

	return seg != NULL && (seg->kind == SkAnonC || seg->kind == SkFileC) && !other_has(a) && pm_find(a) == NULL;
}

/* ---- files ---- */

void pm_glob(const HChar *glob)
{
	if (g_nglobs == MAX_GLOBS)
		VG_(fmsg_bad_option)(glob, "more than %d --pm options\n", MAX_GLOBS);
	g_globs[g_nglobs++] = glob;
}

static Bool glob_matches(const HChar *path)
{
	for (UInt i = 0; i < g_nglobs; i++) {
		const HChar *glob = g_globs[i];

		if (glob_match(glob, VG_(strchr)(glob, '/') ? path : VG_(basename)(path)))
			return True;
	}
	return False;
}

static Bool path_of_fd(Int fd, HChar *path, SizeT cap)
{
	HChar link[64];
	SSizeT n;

	VG_(sprintf)(link, "/proc/self/fd/%d", fd);
	n = VG_(readlink)(link, path, cap - 1);
	if (n <= 0)
		return False;
	path[n] = '\0';
	return True;
}

static Bool is_device(const struct vg_stat *st)
{
	return VKI_S_ISCHR(st->mode);
}

/* Without --pm: what a crash would leave. Unlinked files and memfds would be gone; semaphores of glibc are no data. */
static Bool is_pm_file(const struct vg_stat *st, const HChar *path)
{
	if (is_device(st))
		return VG_(strncmp)(path, "/dev/dax", 8) == 0 && (g_nglobs == 0 || glob_matches(path));
	if (!VKI_S_ISREG(st->mode))
		return False;
	if (g_nglobs > 0)
		return glob_matches(path);
	return st->nlink > 0 && VG_(strncmp)(path, "/dev/shm/sem.", 13) != 0;
}

void pm_created(Int fd)
{
	struct vg_stat st;

	if (VG_(fstat)(fd, &st) != 0)
		return;
	g_created[g_ncreated++ % MAX_CREATED] = (struct inode){ st.dev, st.ino };
}

static Bool was_created(ULong dev, ULong ino)
{
	for (UInt i = 0; i < g_ncreated && i < MAX_CREATED; i++)
		if (g_created[i].dev == dev && g_created[i].ino == ino)
			return True;
	return False;
}

static Bool is_zero(const UChar *p, SizeT n)
{
	for (SizeT i = 0; i < n; i++)
		if (p[i] != 0)
			return False;
	return True;
}

/* The initial content, without holes and zero pages. */
static void record_content(ThreadId tid, UInt file, Int fd, ULong size)
{
	static UChar page[PMT_PAGE_BYTES];
	ULong offset = 0;

	while (offset < size) {
		Long old = VG_(lseek)(fd, 0, VKI_SEEK_CUR), data, n;

		data = VG_(lseek)(fd, offset, 3 /* SEEK_DATA */);
		VG_(lseek)(fd, old, VKI_SEEK_SET);
		if (data == -1 && offset == 0)
			data = 0; /* the file system cannot tell: read everything */
		if (data < 0)
			return;
		if ((ULong)data > offset)
			offset = (ULong)data & ~(ULong)(PMT_PAGE_BYTES - 1);
		/* one more look for holes every 64 pages is enough */
		for (UInt i = 0; i < 64 && offset < size; i++, offset += PMT_PAGE_BYTES) {
			n = sys_pread(fd, page, sizeof page, offset);
			if (n <= 0)
				return;
			if (!is_zero(page, n))
				emit_event(tid, PMT_CONTENT, PMT_ADDR(file, offset), NULL, page, n);
		}
	}
}

static UInt file_of_stat(const struct vg_stat *st, Bool *is_new)
{
	return is_device(st) ? out_file_id(st->rdev, ~0ULL, is_new) : out_file_id(st->dev, st->ino, is_new);
}

/* The file's number; tells the trace about it the first time. */
static UInt file_of_mapping(ThreadId tid, Int fd, const struct vg_stat *st, const HChar *path)
{
	Bool is_new;
	UInt file = file_of_stat(st, &is_new);
	ULong args[5];

	if (!is_new || file == 0)
		return file;
	args[0] = file;
	args[1] = st->size;
	args[2] = (was_created(st->dev, st->ino) ? PMT_FILE_CREATED : 0) | (is_device(st) ? PMT_FILE_DEVICE : 0);
	args[3] = st->dev;
	args[4] = st->ino;
	emit_event(tid, PMT_FILE, 0, args, path, VG_(strlen)(path));
	*out_file_size(file) = st->size;
	if (!is_device(st))
		record_content(tid, file, fd, st->size);
	return file;
}

static UInt known_file(const struct vg_stat *st)
{
	return out_has_files() && VKI_S_ISREG(st->mode) ? out_file_find(st->dev, st->ino) : 0;
}

UInt pm_file_of_fd(Int fd)
{
	struct vg_stat st;

	return out_has_files() && VG_(fstat)(fd, &st) == 0 ? known_file(&st) : 0;
}

UInt pm_file_of_path(const HChar *path, Bool follow, UInt *nlink)
{
	struct vki_stat link;
	struct vg_stat st;

	if (!out_has_files() || sr_isError(VG_(stat)(path, &st)))
		return 0;
	if (!follow && (sys_lstat(path, &link) < 0 || (link.st_mode & 0170000) == 0120000))
		return 0;
	*nlink = st.nlink;
	return known_file(&st);
}

void pm_file_resized(ThreadId tid, UInt file, ULong size)
{
	ULong args[2] = { file, size };

	if (file == 0 || *out_file_size(file) == size)
		return;
	*out_file_size(file) = size;
	emit_event(tid, PMT_SIZE, 0, args, NULL, 0);
}

void pm_file_gone(UInt file)
{
	out_file_forget(file);
}

/* ---- mappings ---- */

static void map_event(ThreadId tid, enum pmt_kind kind, Addr va, ULong addr, SizeT len, UInt prot)
{
	ULong args[3] = { va, len, prot };

	emit_event(tid, kind, addr, args, NULL, 0);
}

void pm_mapped(ThreadId tid, Addr va, SizeT len, UInt prot, UInt flags, Int fd, ULong offset)
{
	static HChar path[PMT_PAGE_BYTES];
	struct vg_stat st;
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
	if (VG_(fstat)(fd, &st) != 0 || !path_of_fd(fd, path, sizeof path) || !is_pm_file(&st, path) ||
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
	if (g_nranges == 0)
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
	if (g_nranges == 0)
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
