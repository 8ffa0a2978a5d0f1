/* The window: a second mapping of one image, in which no page is closed. Detours (arch.h) read
 * there. Words that are undecided or watched are marked, so that detours do not read them; the mark
 * goes when they are decided. Without protection keys, our handlers load and store there, too,
 * which saves opening and closing pages. */
#include <sys/mman.h>

#include "pm.h"

static struct pm_map g_seen; /* the mapping of the image; start == end: none */
static struct window g_window;

void window_mark(uint32_t file, uint64_t offset, bool is_marked)
{
	if (g_seen.start == g_seen.end || file != g_seen.file ||
	    offset - g_seen.offset >= g_seen.end - g_seen.start)
		return;
	((uint8_t *)g_window.map)[(offset - g_seen.offset) / MAP_WORD] = is_marked;
}

bool window_is_open(void)
{
	return g_seen.start != g_seen.end;
}

bool window_open(const struct pm_map *m, long fd)
{
	uint64_t len = m->end - m->start;
	long map, alias;

	if (window_is_open() || !m->was_guarded || m->is_private || !(m->prot & PROT_READ) ||
	    len < PAGE)
		return false;
	alias = CALL6(SYS_mmap, 0, len, m->prot & (PROT_READ | PROT_WRITE), MAP_SHARED, fd,
		      m->offset);
	map = CALL6(SYS_mmap, 0, PAGE_UP(len / MAP_WORD), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (IS_ERROR(alias) || IS_ERROR(map)) {
		if (!IS_ERROR(alias))
			CALL2(SYS_munmap, alias, len);
		if (!IS_ERROR(map))
			CALL2(SYS_munmap, map, PAGE_UP(len / MAP_WORD));
		return false;
	}
	g_seen = *m;
	g_window = (struct window){ m->start, len - DETOUR_MAX_BYTES, (uint64_t)map,
				    (uint64_t)alias - m->start };
	return true;
}

uint64_t window_distance(const struct access *a)
{
	if (!window_is_open() || a->addr < g_seen.start || a->addr >= g_seen.end ||
	    a->len_bytes > g_seen.end - a->addr)
		return 0;
	return a->kind & ACCESS_WRITE && !(g_seen.prot & PROT_WRITE) ? 0 : g_window.delta;
}

void window_show(void)
{
	detours_lead(&g_window);
}

void window_close(uint64_t start, uint64_t end)
{
	static const struct window none;

	if (!window_is_open() || start >= g_seen.end || end <= g_seen.start)
		return;
	detours_lead(&none);
	/* another thread may be about to read there: its access faults, and is repeated at the
	 * original address */
	CALL2(SYS_munmap, g_seen.start + g_window.delta, g_seen.end - g_seen.start);
	g_seen.end = g_seen.start; /* the map itself stays: another thread may be reading it */
}
