/* Keeps the mappings of images in this process. Pages with undecided lines are inaccessible: by a
 * protection key, which each thread keeps closed, or, without keys, by PROT_NONE, which is safe
 * only with a single thread. A page becomes accessible for good when nothing on it is undecided any
 * more. Other processes may decide lines meanwhile. So a page may be closed without need, but a
 * page with undecided bytes is never open. */
#include <sys/mman.h>

#include "pm.h"

#define MAX_MAPS 512u

int g_pkey = -1;
static struct pm_map g_maps[MAX_MAPS];
static uint32_t g_nmaps;
/* read without the lock; so it must not change while a mapping is being cut */
static bool g_has_maps;
static uint32_t g_maps_lock, g_calls_lock;

static bool g_has_keys;

void maps_prepare(void)
{
	g_has_keys = !environment_get("PMEND_RUN_NO_PKEYS") && keys_work();
}

void maps_init(void)
{
	if (g_has_keys)
		g_pkey = keys_init();
}

/* ---- the table ---- */

static void lock(uint32_t *of)
{
	uint32_t spins = 0;

	while (__atomic_exchange_n(of, 1, __ATOMIC_ACQUIRE))
		if (++spins % 64 == 0)
			CALL0(SYS_sched_yield);
}

static void unlock(uint32_t *of)
{
	__atomic_store_n(of, 0, __ATOMIC_RELEASE);
}

void maps_lock(void)
{
	lock(&g_maps_lock);
}

void maps_unlock(void)
{
	unlock(&g_maps_lock);
}

void maps_begin_call(void)
{
	lock(&g_calls_lock);
}

void maps_end_call(void)
{
	unlock(&g_calls_lock);
}

static bool overlaps(const struct pm_map *m, uint64_t start, uint64_t end)
{
	return m->start < end && start < m->end;
}

bool maps_next(uint64_t start, uint64_t end, struct pm_map *found)
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

bool maps_any(void)
{
	return __atomic_load_n(&g_has_maps, __ATOMIC_RELAXED);
}

bool maps_touch(uint64_t addr, uint64_t len_bytes)
{
	bool is_touched = false;

	if (len_bytes == 0 || !g_is_lazy || !maps_any())
		return false;
	maps_lock();
	for (uint32_t i = 0; i < g_nmaps && !is_touched; i++)
		is_touched = g_maps[i].was_guarded && overlaps(&g_maps[i], addr, addr + len_bytes);
	maps_unlock();
	return is_touched;
}

/* Adds a mapping to the table. The caller holds the lock. False: the table is full. */
static bool add(const struct pm_map *m)
{
	if (g_nmaps >= MAX_MAPS)
		return false;
	g_maps[g_nmaps++] = *m;
	return true;
}

/* Removes a range from the mappings. The caller holds the lock. False: the table is too full to
 * keep the parts on both sides. */
static bool cut_out(uint64_t start, uint64_t end)
{
	struct pm_map around[2];
	uint32_t n = 0;
	bool is_ok = true;

	for (uint32_t i = 0; i < g_nmaps;) {
		struct pm_map m = g_maps[i];

		if (!overlaps(&m, start, end)) {
			i++;
			continue;
		}
		g_maps[i] = g_maps[--g_nmaps];
		if (m.start < start) {
			around[n] = m;
			around[n++].end = start;
		}
		if (m.end > end) {
			around[n] = m;
			around[n].start = end;
			around[n++].offset = m.offset + (end - m.start);
		}
	}
	while (n)
		is_ok &= add(&around[--n]);
	return is_ok;
}

static void replace(uint64_t start, uint64_t end, const struct pm_map *with)
{
	bool is_ok;

	maps_lock();
	is_ok = cut_out(start, end) && (!with || add(with));
	__atomic_store_n(&g_has_maps, g_nmaps != 0, __ATOMIC_RELAXED);
	maps_unlock();
	if (!is_ok && g_is_lazy)
		rt_unsound("too many mappings of PM files");
}

void maps_set(const struct pm_map *m)
{
	replace(m->start, m->end, m);
}

void maps_remove(uint64_t start, uint64_t end)
{
	replace(start, end, NULL);
}

/* ---- protecting ---- */

static void protect(uint64_t addr, uint64_t len_bytes, int prot, bool is_closed)
{
	long r;

	if (g_pkey >= 0)
		r = CALL4(SYS_pkey_mprotect, addr, len_bytes, prot, is_closed ? g_pkey : 0);
	else
		r = CALL3(SYS_mprotect, addr, len_bytes, is_closed ? PROT_NONE : prot);
	if (IS_ERROR(r) && r != -12 /* ENOMEM: the pages were unmapped meanwhile */)
		rt_unsound("pages of a PM file could not be protected");
	if (r == -12 && is_closed)
		rt_unsound("too many separate pages of a PM file to protect");
}

void maps_guard(struct pm_map *m, uint64_t start, uint64_t end)
{
	uint64_t from = m->offset + (start - m->start), to = m->offset + (end - m->start);

	if (!g_is_lazy)
		return;
	while ((from = lines_undecided_page(m->file, from, to)) < to) {
		uint64_t last = from + PAGE;

		if (m->prot & PROT_EXEC) /* keys do not stop instruction fetches */
			rt_unsound("a PM file is mapped for execution");
		while (last < to && lines_undecided_page(m->file, last, last + PAGE) == last)
			last += PAGE;
		protect(m->start + (from - m->offset), last - from, m->prot, true);
		m->was_guarded = true;
		from = last;
	}
}

void maps_unguard(const struct pm_map *m, uint64_t start, uint64_t end)
{
	if (m->was_guarded)
		protect(start, end - start, m->prot, false);
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

bool maps_lacks_room(uint64_t addr)
{
	struct pm_map m;

	return maps_find(addr, &m) && images_has_page(m.file, m.offset + (addr - m.start));
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
			is_listed |= lines_read(m.file, m.offset + (a - m.start),
						m.offset + (b - m.start), len_bytes <= 8);
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
			maps_guard(&m, a, b);
		else if (m.was_guarded)
			protect(a, b - a, m.prot, false);
		at = b;
	}
}

void maps_open(uint64_t addr, uint64_t len_bytes)
{
	if (g_pkey >= 0)
		keys_open(g_pkey);
	else
		pages_set(addr, len_bytes, false);
}

void maps_close(uint64_t addr, uint64_t len_bytes)
{
	if (g_pkey >= 0)
		keys_close(g_pkey);
	else
		pages_set(addr, len_bytes, true);
}

void maps_open_program(ucontext_t *uc, const struct access *list, uint32_t n)
{
	if (g_pkey >= 0)
		keys_open_frame(g_pkey, uc);
	for (uint32_t i = 0; g_pkey < 0 && i < n; i++)
		pages_set(list[i].addr, list[i].len_bytes, false);
}

void maps_close_program(ucontext_t *uc, const struct access *list, uint32_t n)
{
	if (g_pkey >= 0)
		keys_close_frame(g_pkey, uc);
	for (uint32_t i = 0; g_pkey < 0 && i < n; i++)
		pages_set(list[i].addr, list[i].len_bytes, true);
}
