/* The images' mappings in this process. Pages with undecided lines are inaccessible: by a protection key, which each thread holds closed,
 * or without keys by PROT_NONE, which only a single thread may rely on. A page is made accessible for good when nothing on it
 * is undecided any more. Other processes may decide lines meanwhile: a page may be closed without need, never open without right. */
#include <cpuid.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "internal.h"

#define MAX_MAPS 512u

int g_pkey = -1;
static struct pm_map g_maps[MAX_MAPS];
static uint32_t g_nmaps;
static uint32_t g_maps_lock;
static uint32_t g_pkru_offset; /* in an XSAVE area of standard form */

/* ---- protection keys ---- */

static uint32_t rdpkru(void)
{
	uint32_t a, d;

	__asm__ volatile("rdpkru" : "=a"(a), "=d"(d) : "c"(0));
	return a;
}

static void wrpkru(uint32_t a)
{
	__asm__ volatile("wrpkru" : : "a"(a), "c"(0), "d"(0) : "memory");
}

int maps_init(void)
{
	uint32_t a, b, c, d;
	long key;

	if (getenv("PMEND_RUN_NO_PKEYS"))
		return 0;
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(c & 1u << 4)) /* OSPKE */
		return 0;
	if (!__get_cpuid_count(0xd, 9, &a, &b, &c, &d) || a == 0)
		return 0;
	g_pkru_offset = b;
	a = rdpkru();
	key = CALL2(SYS_pkey_alloc, 0, PKEY_DISABLE_ACCESS);
	if (IS_ERROR(key))
		return 0;
	if (!(a >> 2 * key & 1)) /* the kernel would open it in every signal handler of the program */
		return (int)CALL1(SYS_pkey_free, key);
	g_pkey = (int)key;
	return 0;
}

/* PKRU of the interrupted program. */
static uint32_t *frame_pkru(ucontext_t *uc)
{
	char *x = (char *)uc->uc_mcontext.fpregs;
	uint64_t *present = (uint64_t *)(x + 512);
	uint32_t *pkru = (uint32_t *)(x + g_pkru_offset);

	if (!(*present & 1u << 9))
		*pkru = 0; /* it has its initial value */
	*present |= 1u << 9;
	return pkru;
}

/* ---- the table ---- */

void maps_lock(void)
{
	uint32_t spins = 0;

	while (__atomic_exchange_n(&g_maps_lock, 1, __ATOMIC_ACQUIRE))
		if (++spins % 64 == 0)
			CALL0(SYS_sched_yield);
}

void maps_unlock(void)
{
	__atomic_store_n(&g_maps_lock, 0, __ATOMIC_RELEASE);
}

static bool overlaps(const struct pm_map *m, uint64_t start, uint64_t end)
{
	return m->start < end && start < m->end;
}

/* The first mapping that overlaps, by address. */
static bool maps_next(uint64_t start, uint64_t end, struct pm_map *found)
{
	const struct pm_map *best = NULL;

	maps_lock();
	for (uint32_t i = 0; i < g_nmaps; i++)
		if (overlaps(&g_maps[i], start, end) && (!best || g_maps[i].start < best->start))
			best = &g_maps[i];
	if (best)
		*found = *best;
	maps_unlock();
	return best != NULL;
}

bool maps_find(uint64_t addr, struct pm_map *m)
{
	return maps_next(addr, addr + 1, m);
}

bool maps_touch(uint64_t addr, uint64_t len_bytes)
{
	if (len_bytes == 0 || !g_is_lazy)
		return false;
	for (uint32_t i = 0; i < __atomic_load_n(&g_nmaps, __ATOMIC_ACQUIRE); i++)
		if (g_maps[i].was_guarded && overlaps(&g_maps[i], addr, addr + len_bytes))
			return true;
	return false;
}

static void maps_add(const struct pm_map *m)
{
	bool is_full;

	maps_lock();
	is_full = g_nmaps >= MAX_MAPS;
	if (!is_full)
		g_maps[g_nmaps++] = *m;
	maps_unlock();
	if (is_full)
		rt_unsound("too many mappings of PM files");
}

/* These addresses are mapped no more, or otherwise. */
static void maps_remove(uint64_t start, uint64_t end)
{
	struct pm_map tail[2];
	uint32_t ntails = 0;

	maps_lock();
	for (uint32_t i = 0; i < g_nmaps;) {
		struct pm_map m = g_maps[i];

		if (!overlaps(&m, start, end)) {
			i++;
			continue;
		}
		g_maps[i] = g_maps[--g_nmaps];
		if (m.start < start) {
			tail[ntails] = m;
			tail[ntails++].end = start;
		}
		if (m.end > end) {
			tail[ntails] = m;
			tail[ntails].start = end;
			tail[ntails++].offset = m.offset + (end - m.start);
		}
	}
	maps_unlock();
	while (ntails)
		maps_add(&tail[--ntails]);
}

/* ---- protecting ---- */

static void protect(uint64_t addr, uint64_t len_bytes, int prot, bool is_closed)
{
	long r;

	if (g_pkey >= 0)
		r = CALL4(SYS_pkey_mprotect, addr, len_bytes, prot, is_closed ? g_pkey : 0);
	else
		r = CALL3(SYS_mprotect, addr, len_bytes, is_closed ? PROT_NONE : prot);
	if (IS_ERROR(r) && r != -12 /* ENOMEM: unmapped meanwhile */)
		rt_unsound("pages of a PM file could not be protected");
	if (r == -12 && is_closed)
		rt_unsound("too many separate pages of a PM file to protect");
}

/* Closes the pages of a part of m that have undecided lines. */
static void guard(struct pm_map *m, uint64_t start, uint64_t end)
{
	uint64_t from = m->offset + (start - m->start), to = m->offset + (end - m->start);

	if (!g_is_lazy)
		return;
	while ((from = lines_undecided_page(m->file, from, to)) < to) {
		uint64_t last = from + PAGE;

		if (m->prot & PROT_EXEC) /* keys do not stop the fetching of instructions */
			rt_unsound("a PM file is mapped for execution");
		while (last < to && lines_undecided_page(m->file, last, last + PAGE) == last)
			last += PAGE;
		protect(m->start + (from - m->offset), last - from, m->prot, true);
		m->was_guarded = true;
		from = last;
	}
}

bool maps_release_page(uint64_t addr)
{
	struct pm_map m;
	uint64_t page = PAGE_DOWN(addr), from;

	if (!maps_find(addr, &m) || !m.was_guarded)
		return true;
	from = m.offset + (page - m.start);
	if (lines_undecided_page(m.file, from, from + PAGE) < from + PAGE)
		return false;
	protect(page, PAGE, m.prot, false);
	return true;
}

/* ---- reading and writing ---- */

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

bool maps_read(uint64_t addr, uint64_t len_bytes)
{
	uint64_t end = addr + len_bytes, at = addr;
	struct pm_map m;
	bool is_listed = false;

	while (at < end && maps_next(at, end, &m)) {
		uint64_t a = max_u64(at, m.start), b = min_u64(end, m.end);

		if (m.was_guarded)
			is_listed |= lines_read(m.file, m.offset + (a - m.start), m.offset + (b - m.start), len_bytes <= 8);
		at = b;
	}
	return is_listed;
}

void maps_read_private(uint64_t addr, uint64_t len_bytes)
{
	struct pm_map m;

	for (uint64_t at = PAGE_DOWN(addr); at < addr + len_bytes; at += PAGE)
		if (maps_find(at, &m) && m.is_private)
			maps_read(at, PAGE);
}

void maps_written(uint64_t addr, uint64_t len_bytes)
{
	uint64_t end = addr + len_bytes, at = addr;
	struct pm_map m;

	while (at < end && maps_next(at, end, &m)) {
		uint64_t a = max_u64(at, m.start), b = min_u64(end, m.end);

		if (m.was_guarded && !m.is_private)
			lines_written(m.file, m.offset + (a - m.start), m.offset + (b - m.start));
		at = b;
	}
}

/* Without keys: opens or closes the pages of a range. */
static void pages_set(uint64_t addr, uint64_t len_bytes, bool is_closed)
{
	uint64_t end = addr + len_bytes, at = addr;
	struct pm_map m;

	while (at < end && maps_next(at, end, &m)) {
		uint64_t a = PAGE_DOWN(max_u64(at, m.start)), b = min_u64(PAGE_UP(end), m.end);

		if (m.was_guarded && is_closed)
			guard(&m, a, b);
		else if (m.was_guarded)
			protect(a, b - a, m.prot, false);
		at = b;
	}
}

void maps_open(uint64_t addr, uint64_t len_bytes)
{
	if (g_pkey >= 0)
		wrpkru(rdpkru() & ~(3u << 2 * g_pkey));
	else
		pages_set(addr, len_bytes, false);
}

void maps_close(uint64_t addr, uint64_t len_bytes)
{
	if (g_pkey >= 0)
		wrpkru(rdpkru() | 1u << 2 * g_pkey);
	else
		pages_set(addr, len_bytes, true);
}

void maps_open_program(ucontext_t *uc, const struct access *list, uint32_t n)
{
	if (g_pkey >= 0)
		*frame_pkru(uc) &= ~(3u << 2 * g_pkey);
	for (uint32_t i = 0; g_pkey < 0 && i < n; i++)
		pages_set(list[i].addr, list[i].len_bytes, false);
}

void maps_close_program(ucontext_t *uc, const struct access *list, uint32_t n)
{
	if (g_pkey >= 0)
		*frame_pkru(uc) |= 1u << 2 * g_pkey;
	for (uint32_t i = 0; g_pkey < 0 && i < n; i++)
		pages_set(list[i].addr, list[i].len_bytes, true);
}

/* ---- the program's calls ---- */

/* At an address where the recorded program had this part of the file, if it is free. */
static long map_as_recorded(uint32_t file, const long a[6])
{
	const struct run_mapping *list = (const struct run_mapping *)((char *)g_region + g_region->mappings);
	uint64_t offset = (uint64_t)a[5];

	for (uint32_t i = 0; i < g_region->nmappings; i++) {
		const struct run_mapping *r = &list[i];
		long at;

		if (r->file != file || offset < r->offset || offset >= r->offset + r->len_bytes)
			continue;
		at = CALL6(SYS_mmap, r->va + (offset - r->offset), a[1], a[2], a[3] | MAP_FIXED_NOREPLACE, a[4], a[5]);
		if (!IS_ERROR(at) && (uint64_t)at == r->va + (offset - r->offset))
			return at;
		if (!IS_ERROR(at))
			CALL2(SYS_munmap, at, a[1]);
	}
	return -1;
}

long call_mmap(long a[6])
{
	struct pm_map m = { 0 };
	int file = a[3] & MAP_ANONYMOUS ? -1 : paths_file_mapped(a[4]);
	long at = -1;

	if (file < 0) {
		if (!(a[3] & MAP_FIXED) || g_nmaps == 0)
			return CALL_PASS;
		at = CALL6(SYS_mmap, a[0], a[1], a[2], a[3], a[4], a[5]);
		if (IS_ERROR(at))
			return at;
		window_close((uint64_t)at, (uint64_t)at + PAGE_UP((uint64_t)a[1]));
		maps_remove((uint64_t)at, (uint64_t)at + PAGE_UP((uint64_t)a[1]));
		return at;
	}
	if ((a[3] & MAP_TYPE) == MAP_SHARED_VALIDATE) /* an image's folder cannot do MAP_SYNC, and need not */
		a[3] = (a[3] & ~(MAP_TYPE | MAP_SYNC)) | MAP_SHARED;
	if (a[0] == 0 && !(a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
		at = map_as_recorded((uint32_t)file, a);
	if (IS_ERROR(at))
		at = CALL6(SYS_mmap, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (IS_ERROR(at))
		return at;
	if (!g_is_lazy)
		return at;
	m.start = (uint64_t)at;
	m.end = m.start + PAGE_UP((uint64_t)a[1]);
	m.offset = (uint64_t)a[5];
	m.file = (uint32_t)file;
	m.prot = (int)a[2];
	m.is_private = (a[3] & MAP_TYPE) == MAP_PRIVATE;
	maps_remove(m.start, m.end);
	window_close(m.start, m.end);
	if (paths_file_of_fd(a[4]) == file) /* not one that recovery made in its place */
		guard(&m, m.start, m.end);
	maps_add(&m);
	window_open(&m, a[4]);
	return at;
}

long call_munmap(long a[6])
{
	long r;

	if (g_nmaps == 0)
		return CALL_PASS;
	r = CALL2(SYS_munmap, a[0], a[1]);
	if (IS_ERROR(r))
		return r;
	window_close((uint64_t)a[0], (uint64_t)a[0] + PAGE_UP((uint64_t)a[1]));
	maps_remove((uint64_t)a[0], (uint64_t)a[0] + PAGE_UP((uint64_t)a[1]));
	return r;
}

long call_mremap(long a[6])
{
	struct pm_map m;
	uint64_t old = (uint64_t)a[0], old_end = old + PAGE_UP((uint64_t)a[1]), new_bytes = PAGE_UP((uint64_t)a[2]);
	long at;

	if (!maps_next(old, old_end ? old_end : old + 1, &m))
		return CALL_PASS;
	if (old < m.start || old_end > m.end || a[1] == 0)
		rt_unsound("mremap of several mappings of PM files at once");
	window_close(old, old_end);
	if (m.was_guarded)
		protect(old, old_end - old, m.prot, false); /* it moves mappings of one kind only */
	at = CALL5(SYS_mremap, a[0], a[1], a[2], a[3], a[4]);
	m.offset += old - m.start;
	if (IS_ERROR(at)) {
		m.start = old;
		m.end = old_end;
		guard(&m, m.start, m.end);
		return at;
	}
	maps_remove(old, old_end);
	m.start = (uint64_t)at;
	m.end = m.start + new_bytes;
	maps_remove(m.start, m.end);
	guard(&m, m.start, m.end);
	maps_add(&m);
	return at;
}

long call_mprotect(long number, long a[6])
{
	uint64_t start = (uint64_t)a[0], end = start + PAGE_UP((uint64_t)a[1]), at = start;
	struct pm_map m;
	long r;

	if (!maps_next(start, end, &m))
		return CALL_PASS;
	if (number == SYS_pkey_mprotect && a[3] != -1)
		rt_unsound("the program uses protection keys on PM");
	r = rt_syscall(number, a[0], a[1], a[2], a[3], 0, 0);
	if (IS_ERROR(r))
		return r;
	if (!(a[2] & PROT_READ))
		window_close(start, end);
	while (at < end && maps_next(at, end, &m)) {
		uint64_t from = max_u64(at, m.start), to = min_u64(end, m.end);

		at = to;
		m.offset += from - m.start;
		m.start = from;
		m.end = to;
		m.prot = (int)a[2];
		maps_remove(from, to);
		guard(&m, from, to);
		maps_add(&m);
	}
	return r;
}
